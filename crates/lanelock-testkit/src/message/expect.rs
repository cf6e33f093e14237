//! What the reference says should come of a message.

use lanelock_core::algorithm::Order;
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Status};

use super::{Expected, Message, Output, Part, Reference, Setup};

/// What becomes of a message apart from where its bytes lie.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The payload, encrypted or decrypted.
    pub payload: Vec<u8>,
    /// The computed tag; may be empty for sessions that verify.
    pub tag: Vec<u8>,
    /// A tag was to be compared and is another.
    pub refused: bool,
}

/// What `message` should leave behind in a session of `setup`, by `reference`.
///
/// # Panics
/// If there is no reference for the algorithm, or the message has a range past the end of its buffer and
/// no [`Message::refusal`].
#[must_use]
pub fn expect(setup: &Setup, message: &Message, reference: &Reference) -> Expected {
    if message.refusal.is_some() {
        return untouched(message);
    }
    place(setup, message, compute(setup, message, reference))
}

/// What `message` leaves behind if `outcome` becomes of it.
///
/// # Panics
/// If a range extends past the end of its buffer.
#[must_use]
pub fn place(setup: &Setup, message: &Message, outcome: Outcome) -> Expected {
    let mut expected = untouched(message);
    expected.reason = None;
    if outcome.refused {
        let at = message.payload_at();
        let len = if setup.ciphers() {
            message.cipher_range().len()
        } else {
            0
        };
        expected.status = Status::AuthFailed;
        expected.may_be_zeroed = at..at + len;
        return expected;
    }
    expected.status = Status::Success;
    let Expected { input, output, .. } = &mut expected;
    let destination = match message.output {
        Output::Separate(_) => output,
        _ => input,
    };
    if setup.ciphers() {
        let at = message.payload_at();
        destination[at..at + outcome.payload.len()].copy_from_slice(&outcome.payload);
    }
    if setup.is_forward() {
        match &message.tag {
            Part::None => {}
            Part::Separate(_) => expected.tag = outcome.tag,
            // Inside the payload it has been encrypted with it.
            Part::Inline(_) if tag_in_payload(setup, message).is_some() => {}
            Part::Inline(range) => destination[range.clone()].copy_from_slice(&outcome.tag),
        }
    }
    expected
}

/// Everything as it was before, and the status of a refusal.
fn untouched(message: &Message) -> Expected {
    Expected {
        status: Status::InvalidArgs,
        reason: message.refusal,
        input: message.input.clone(),
        output: match &message.output {
            Output::Separate(output) => output.clone(),
            _ => Vec::new(),
        },
        tag: message.tag.separate().to_vec(),
        may_be_zeroed: 0..0,
    }
}

/// What becomes of `message` by `reference`.
///
/// # Panics
/// If there is no reference for the algorithm, or a range extends past the end of the input.
#[must_use]
pub fn compute(setup: &Setup, message: &Message, reference: &Reference) -> Outcome {
    let iv = message.bytes(&message.iv);
    let aad = message.bytes(&message.aad);
    let payload = &message.input[if setup.ciphers() {
        message.cipher_range()
    } else {
        0..0
    }];
    let Setup {
        direction,
        ref key,
        ref customization,
        tag_len,
        ..
    } = *setup;
    match setup.algorithm {
        Algorithm::Cipher(c) => Outcome {
            payload: (reference.cipher)(c, direction, key, iv, payload),
            tag: Vec::new(),
            refused: false,
        },
        Algorithm::Hash(h) => Outcome {
            payload: Vec::new(),
            tag: (reference.hash)(
                h,
                customization,
                tag_len,
                &message.input[message.auth_range()],
            ),
            refused: false,
        },
        Algorithm::Mac(m) => {
            let data = [aad, &message.input[message.auth_range()]].concat();
            let tag = (reference.mac)(m, key, customization, iv, &data, tag_len);
            let refused = !setup.is_forward() && tag != message.bytes(&message.tag);
            Outcome {
                payload: Vec::new(),
                tag,
                refused,
            }
        }
        Algorithm::Aead(a) if setup.is_forward() => {
            let (payload, tag) = (reference.seal)(a, key, iv, aad, payload, tag_len);
            Outcome {
                payload,
                tag,
                refused: false,
            }
        }
        Algorithm::Aead(a) => {
            let opened = (reference.open)(a, key, iv, aad, payload, message.bytes(&message.tag));
            Outcome {
                refused: opened.is_none(),
                payload: opened.unwrap_or_default(),
                tag: Vec::new(),
            }
        }
        Algorithm::Chain(order, ..) => chain(setup, message, order, reference),
        other => panic!("no reference for {other:?}"),
    }
}

fn chain(setup: &Setup, message: &Message, order: Order, reference: &Reference) -> Outcome {
    let Algorithm::Chain(_, cipher, mac) = setup.algorithm else {
        unreachable!("called for chains");
    };
    let range = message.cipher_range();
    let run = |payload: &[u8]| {
        let iv = message.bytes(&message.iv);
        (reference.cipher)(cipher, setup.direction, &setup.key, iv, payload)
    };
    // The MAC of the authenticated range, its part inside the cipher range taken from `payload`.
    let authenticate = |payload: &[u8]| {
        let mut image = message.input.clone();
        image[range.clone()].copy_from_slice(payload);
        let data = [message.bytes(&message.aad), &image[message.auth_range()]].concat();
        (reference.mac)(mac, &setup.mac_key, &[], &[], &data, setup.tag_len)
    };
    let payload = &message.input[range.clone()];
    let inside = tag_in_payload(setup, message);
    match (order, setup.direction) {
        (Order::EncryptThenMac, Direction::Forward) => {
            let payload = run(payload);
            Outcome {
                tag: authenticate(&payload),
                payload,
                refused: false,
            }
        }
        (Order::EncryptThenMac, Direction::Reverse) => {
            let tag = authenticate(payload);
            Outcome {
                refused: tag != message.bytes(&message.tag),
                payload: run(payload),
                tag,
            }
        }
        (Order::MacThenEncrypt, Direction::Forward) => {
            let tag = authenticate(payload);
            let mut payload = payload.to_vec();
            if let Some(at) = inside {
                payload[at..at + tag.len()].copy_from_slice(&tag);
            }
            Outcome {
                payload: run(&payload),
                tag,
                refused: false,
            }
        }
        (Order::MacThenEncrypt, Direction::Reverse) => {
            let payload = run(payload);
            let tag = authenticate(&payload);
            let given = match inside {
                Some(at) => &payload[at..at + setup.tag_len],
                None => message.bytes(&message.tag),
            };
            Outcome {
                refused: tag != given,
                payload,
                tag,
            }
        }
    }
}

/// The tag's offset in the payload, if a MAC-then-encrypt chain has it there.
fn tag_in_payload(setup: &Setup, message: &Message) -> Option<usize> {
    let Part::Inline(tag) = &message.tag else {
        return None;
    };
    if !setup.is_mac_first() {
        return None;
    }
    // A computed tag is in offsets of the output, one to compare in offsets of the input.
    let start = if setup.is_forward() {
        message.payload_at()
    } else {
        message.cipher_range().start
    };
    let end = start + message.cipher_range().len();
    (tag.start >= start && tag.end <= end && !tag.is_empty()).then(|| tag.start - start)
}
