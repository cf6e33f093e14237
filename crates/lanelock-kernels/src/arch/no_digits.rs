//! An architecture without registers of digits: plain integers.

use crate::arch::digits::{DigitLanes, Portable};
use crate::machine::Digits;

/// Which registers of digits kernels run on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DigitSet {
    /// Plain integers, lane by lane.
    Portable,
}

impl DigitSet {
    /// How these multiply.
    pub(crate) fn kind(self) -> Digits {
        Digits::Plain
    }

    /// Lanes of a register.
    pub(crate) fn lanes(self) -> usize {
        Portable::LANES
    }
}

/// Evaluates an expression on the registers of a set.
macro_rules! on {
    ($set:expr, |$lanes:ident, $proof:ident $(, $name:ident: $type:ty)*| $body:expr) => {{
        let $crate::arch::DigitSet::Portable = $set;
        type $lanes = $crate::arch::digits::Portable;
        let $proof = ();
        $body;
    }};
}
pub(crate) use on;
