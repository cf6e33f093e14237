//! Two numbers in one word.

/// A length and what goes with it, an offset or a count, in one word: operations are written,
/// read and compared by the word.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(transparent)]
pub(crate) struct Halves(u64);

impl Halves {
    /// With nothing beside it, the word is the length.
    #[inline(always)]
    pub(crate) const fn new(len: u32, beside: u32) -> Self {
        Self(len as u64 | (beside as u64) << 32)
    }

    /// The two of `word`.
    #[inline(always)]
    pub(crate) const fn of_word(word: u64) -> Self {
        Self(word)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    pub(crate) const fn len(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) const fn beside(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Both as one number: the length, if there is nothing beside it, and otherwise more than any.
    #[inline(always)]
    pub(crate) const fn word(self) -> u64 {
        self.0
    }
}
