//! A bit of a message flipped.

use std::ops::Range;

use crate::message::{Message, Part, Setup};
use crate::rng::Rng;

/// A bit of what a verifying session reads, flipped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Flip {
    Tag,
    Body,
    Aad,
    Iv,
    Authenticated,
}

/// Flips a bit, if the message has such a part. The reference decides what should come of it.
pub(super) fn flip_bit(flip: Flip, setup: &Setup, message: &mut Message, rng: &mut Rng) {
    let range = |range: Range<usize>, there: bool| {
        if there {
            Part::Inline(range)
        } else {
            Part::None
        }
    };
    let part = match flip {
        Flip::Tag => message.tag.clone(),
        Flip::Aad => message.aad.clone(),
        Flip::Iv => message.iv.clone(),
        Flip::Body => range(message.cipher_range(), setup.ciphers()),
        Flip::Authenticated => range(message.auth_range(), setup.authenticates()),
    };
    let own = match flip {
        Flip::Tag => &mut message.tag,
        Flip::Aad => &mut message.aad,
        _ => &mut message.iv,
    };
    let bytes = match (part, own) {
        (Part::Inline(range), _) => &mut message.input[range],
        (Part::Separate(_), Part::Separate(bytes)) => &mut bytes[..],
        _ => return,
    };
    if !bytes.is_empty() {
        let at = rng.below(bytes.len());
        bytes[at] ^= 1 << rng.below(8);
    }
}
