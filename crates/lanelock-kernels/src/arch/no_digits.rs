//! An architecture without registers of digits: plain integers.

/// Which registers of digits kernels run on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DigitSet {
    /// Plain integers, lane by lane.
    Portable,
}

impl DigitSet {
    /// Whether these are plain integers.
    pub(crate) fn is_portable(self) -> bool {
        true
    }

    /// Whether a multiply-add is one instruction.
    pub(crate) fn multiplies_at_once(self) -> bool {
        false
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
