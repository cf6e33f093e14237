//! Known answers with a flipped bit, which must be refused.

use lanelock_core::Algorithm;
use lanelock_core::transform::Direction;

use super::layout::Layout;
use super::{Case, KnownAnswer};
use crate::message::{Message, Outcome, Part, compute};
use crate::reference::REFERENCE;

impl KnownAnswer {
    /// The message with one bit flipped, once in each place that the tag protects.
    pub(super) fn tampered(&self, layout: Layout) -> Vec<Case> {
        let reverse = self.case(layout, Direction::Reverse);
        let iv_counts = match self.algorithm {
            Algorithm::Chain(..) => false, // unless it is part of the header
            _ => !self.iv.is_empty(),
        };
        let body = if reverse.setup.ciphers() {
            reverse.message.cipher.clone()
        } else {
            reverse.message.auth.clone()
        };
        let body = body.map_or(Part::None, Part::Inline);
        let header = match self.algorithm {
            Algorithm::Chain(..) => reverse
                .message
                .auth
                .clone()
                .map_or(Part::None, Part::Inline),
            _ => Part::None,
        };
        let mut cases = Vec::new();
        for (name, part, counts) in [
            ("tag", &reverse.message.tag, true),
            ("message", &body, true),
            ("header or trailer", &header, true),
            ("additional data", &reverse.message.aad, true),
            ("IV", &reverse.message.iv, iv_counts),
        ] {
            for last in [false, true] {
                let mut message = reverse.message.clone();
                // The reference has a say: under a degenerate Poly1305 key (RFC 8439, A.3, has
                // some) many messages share a tag.
                if counts
                    && flip(&mut message, part, last)
                    && compute(&reverse.setup, &message, &REFERENCE).refused
                {
                    cases.push(Case {
                        setup: reverse.setup.clone(),
                        message,
                        outcome: Outcome {
                            refused: true,
                            ..Outcome::default()
                        },
                        what: format!("a bit of the {name} flipped, {}", layout.name),
                    });
                }
            }
        }
        cases
    }
}

/// Flips a bit of the first or the last byte of a part of `message`; false if it has none.
fn flip(message: &mut Message, part: &Part, last: bool) -> bool {
    let index = |len: usize| if last { len - 1 } else { 0 };
    let byte = match part {
        Part::Inline(range) if !range.is_empty() => {
            &mut message.input[range.start + index(range.len())]
        }
        Part::Separate(bytes) if !bytes.is_empty() => {
            let own = [&mut message.iv, &mut message.aad, &mut message.tag]
                .into_iter()
                .find(|own| *own == part);
            let Some(Part::Separate(own)) = own else {
                return false;
            };
            let at = index(own.len());
            &mut own[at]
        }
        _ => return false,
    };
    *byte ^= if last { 0x80 } else { 1 };
    true
}
