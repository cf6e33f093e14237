//! What is out of the ordinary about an operation, a bit each: the common forms have none.

use std::ops::{BitOr, BitOrAssign};

use crate::status::Status;

/// Bits that tell an operation from a message that its result replaces. They are known where an
/// operation is described, so that the compiler makes one number of them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[repr(transparent)]
pub(crate) struct Flags(u8);

impl Flags {
    /// The tag's slice may only be read.
    pub(crate) const TAG_READ_ONLY: Self = Self(1);
    /// The buffer has no output.
    pub(crate) const READ_ONLY: Self = Self(1 << 1);
    /// The output is other memory than the input.
    pub(crate) const SEPARATE: Self = Self(1 << 2);
    /// Input and output may overlap.
    pub(crate) const UNCHECKED: Self = Self(1 << 3);
    /// A cipher range, authenticated range or output offset was given.
    pub(crate) const RANGES: Self = Self(1 << 4);
    /// An output offset although the result replaces the input.
    pub(crate) const OUTPUT_AT_IN_PLACE: Self = Self(1 << 5);
    /// Set by validation: the tag lies inside the cipher range of a MAC-then-encrypt chain.
    pub(crate) const TAG_IN_PAYLOAD: Self = Self(1 << 6);

    /// Those that take the whole check whatever the session is.
    pub(crate) const CLOSER_LOOK: Self = Self(Self::UNCHECKED.0 | Self::OUTPUT_AT_IN_PLACE.0);

    #[inline]
    pub(crate) const fn with(self, bits: Self) -> Self {
        Self(self.0 | bits.0)
    }

    #[inline]
    pub(crate) const fn without(self, bits: Self) -> Self {
        Self(self.0 & !bits.0)
    }

    /// Whether it has any of `bits`.
    #[inline]
    pub(crate) const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Self;

    #[inline]
    fn bitor(self, bits: Self) -> Self {
        self.with(bits)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, bits: Self) {
        *self = self.with(bits);
    }
}

/// An operation's status and flags in one word, which takes one look: no bit is set in a new operation that has
/// no flags.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[repr(transparent)]
pub(crate) struct Standing(u16);

impl Standing {
    #[inline(always)]
    pub(crate) const fn new(status: Status, flags: Flags) -> Self {
        Self(u16::from_ne_bytes([status as u8, flags.0]))
    }

    /// Any status but that of a new operation, and any of `flags`.
    pub(crate) const fn other_than_new(flags: Flags) -> Self {
        Self(u16::from_ne_bytes([u8::MAX, flags.0]))
    }

    /// The bits of `other` that it has: 0 for none.
    #[inline(always)]
    pub(crate) const fn among(self, other: Self) -> u64 {
        (self.0 & other.0) as u64
    }

    /// Whether it has any bit of `other`.
    #[inline(always)]
    pub(crate) const fn has(self, other: Self) -> bool {
        self.among(other) != 0
    }
}

impl BitOrAssign for Standing {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

const _: () = assert!(
    Status::NotProcessed as u8 == 0,
    "`Standing` of a new operation"
);
