//! Where what happened differs from what should have.

use std::fmt;

use lanelock_core::Status;

use super::{Expected, Message, Observed, Output};

/// One difference, with the bytes on both sides.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mismatch {
    /// What differs.
    pub what: String,
    /// The bytes there should be; empty if the difference is no matter of bytes.
    pub expected: Vec<u8>,
    /// The bytes there are.
    pub got: Vec<u8>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// The first difference that matters.
#[must_use]
pub fn compare(message: &Message, expected: &Expected, observed: &Observed) -> Option<Mismatch> {
    if let Some(stray) = observed.strays.first() {
        return Some(in_words(stray.clone()));
    }
    if let Some(mismatch) = compare_status(expected, observed) {
        return Some(mismatch);
    }
    let separate = matches!(message.output, Output::Separate(_));
    let zeroable = |buffer: bool| {
        if buffer == separate {
            expected.may_be_zeroed.clone()
        } else {
            0..0
        }
    };
    let (input, output) = if separate {
        ("input (which is only read)", "output")
    } else {
        ("buffer", "output")
    };
    bytes(input, &expected.input, &observed.input, zeroable(false))
        .or_else(|| bytes(output, &expected.output, &observed.output, zeroable(true)))
        .or_else(|| bytes("tag", &expected.tag, &observed.tag, 0..0))
        .or_else(|| {
            bytes(
                "IV (which is only read)",
                message.iv.separate(),
                &observed.iv,
                0..0,
            )
        })
        .or_else(|| {
            let given = message.aad.separate();
            bytes(
                "additional data (which is only read)",
                given,
                &observed.aad,
                0..0,
            )
        })
}

fn compare_status(expected: &Expected, observed: &Observed) -> Option<Mismatch> {
    if expected.status != observed.status {
        let why = match observed.reason {
            Some(reason) => format!(" ({reason:?})"),
            None => String::new(),
        };
        return Some(in_words(format!(
            "status: expected {}, got {}{why}",
            expected.status.name(),
            observed.status.name(),
        )));
    }
    let refused = observed.status == Status::InvalidArgs;
    if refused && expected.reason != observed.reason {
        return Some(in_words(format!(
            "reason of the refusal: expected {:?}, got {:?}",
            expected.reason, observed.reason
        )));
    }
    None
}

fn bytes(
    name: &str,
    expected: &[u8],
    got: &[u8],
    zeroable: std::ops::Range<usize>,
) -> Option<Mismatch> {
    if expected == got {
        return None;
    }
    let mut zeroed = expected.to_vec();
    zeroed[zeroable.clone()].fill(0);
    if zeroed == got {
        return None;
    }
    let at = expected
        .iter()
        .zip(got)
        .position(|(e, g)| e != g)
        .unwrap_or(expected.len().min(got.len()));
    let what = if zeroable.contains(&at) {
        format!(
            "{name}: byte {at} of {} after a failed verification is neither what it was nor zero",
            expected.len()
        )
    } else {
        format!("{name}: byte {at} of {} is wrong", expected.len())
    };
    Some(Mismatch {
        what,
        expected: expected.to_vec(),
        got: got.to_vec(),
    })
}

fn in_words(what: String) -> Mismatch {
    Mismatch {
        what,
        expected: Vec::new(),
        got: Vec::new(),
    }
}
