//! What is done to a message once it is laid out: made one that verifies, or spoiled.

use std::ops::Range;

use lanelock_core::Algorithm;
use lanelock_core::transform::Direction;

use crate::message::{Message, Outcome, Part, Setup, compute};
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

/// Makes the message one that verifies: what the reference makes of its bytes when it protects
/// them.
pub(super) fn protect(setup: &Setup, message: &mut Message) {
    if matches!(setup.algorithm, Algorithm::Cipher(_)) {
        return;
    }
    let forward = setup.with_direction(Direction::Forward);
    let Outcome { payload, tag, .. } = compute(&forward, message);
    let cipher = message.cipher_range();
    let inside = match &message.tag {
        Part::Inline(at) => setup.ciphers() && at.start < cipher.end && at.end > cipher.start,
        _ => false,
    };
    if setup.ciphers() {
        message.input[cipher].copy_from_slice(&payload);
    }
    match &mut message.tag {
        _ if inside => {}
        Part::Inline(at) => message.input[at.clone()].copy_from_slice(&tag),
        Part::Separate(bytes) => *bytes = tag,
        Part::None => {}
    }
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
