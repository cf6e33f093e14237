//! Which parts an operation has, in one word: the common forms pass validation by a comparison.

use std::ops::BitOrAssign;

/// Bits of an operation's parts. A session knows what its operations should look like (the
/// `Rules` of validation), so that one comparison answers a dozen questions.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Signature(u32);

impl Signature {
    /// Nothing but a buffer.
    pub(crate) const EMPTY: Self = Self(0);
    /// The tag's slice may be written.
    pub(crate) const TAG_WRITABLE: Self = Self(1 << 24);
    /// The buffer has no output.
    pub(crate) const READ_ONLY: Self = Self(1 << 25);
    /// Something that takes a closer look: an inline part, raw pointers, an odd length.
    pub(crate) const CLOSER_LOOK: Self = Self(1 << 26);
    /// An output offset although the result replaces the input.
    pub(crate) const OUTPUT_AT_IN_PLACE: Self = Self(1 << 27 | Self::CLOSER_LOOK.0);
    /// Set by validation: the tag lies inside the cipher range of a MAC-then-encrypt chain.
    pub(crate) const TAG_IN_PAYLOAD: Self = Self(1 << 28);
    /// In no operation's signature: a session with this bit gives every one a closer look.
    pub(crate) const UNMATCHED: Self = Self(1 << 29);
    /// A cipher range, authenticated range or output offset was given.
    pub(crate) const RANGES: Self = Self(1 << 30);
    /// The output is other memory than the input.
    pub(crate) const SEPARATE: Self = Self(1 << 31);

    const IV: Self = Self(0xff);
    const TAG: Self = Self(0xffff << 8);

    /// A separate IV of `len` bytes; 0 for none.
    #[inline]
    pub(crate) const fn with_iv(self, len: usize) -> Self {
        self.without(Self::IV).with(if len < 0xff {
            Self(low(len))
        } else {
            Self::CLOSER_LOOK
        })
    }

    /// A separate tag of `len` bytes; 0 for none.
    #[inline]
    pub(crate) const fn with_tag(self, len: usize) -> Self {
        let bits = if len < 0xffff {
            Self(low(len) << 8)
        } else {
            Self::CLOSER_LOOK
        };
        self.without(Self::TAG)
            .without(Self::TAG_WRITABLE)
            .with(bits)
    }

    #[inline]
    pub(crate) const fn with(self, bits: Self) -> Self {
        Self(self.0 | bits.0)
    }

    #[inline]
    pub(crate) const fn without(self, bits: Self) -> Self {
        Self(self.0 & !bits.0)
    }

    /// The bits in which it differs from `other`.
    #[inline]
    pub(crate) const fn unlike(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline]
    pub(crate) const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }
}

impl BitOrAssign for Signature {
    #[inline]
    fn bitor_assign(&mut self, bits: Self) {
        *self = self.with(bits);
    }
}

/// The low half of a length that was found below 2^16.
#[expect(
    clippy::cast_possible_truncation,
    reason = "both callers have compared"
)]
#[inline]
const fn low(len: usize) -> u32 {
    len as u32
}
