//! Other work between the rounds of a hash or a cipher.

/// Instructions that fill the waiting times between the rounds.
///
/// Everything is called in code compiled for the registers that the rounds run on.
pub trait Beside {
    /// Called before the first block.
    fn begin(&mut self);
    /// Called behind the `group`-th of the `groups` parts of a block's rounds, in order. A block of a
    /// hash has been read when it is called for group 3.
    ///
    /// # Safety
    /// The conditions under which the implementation was handed over hold.
    unsafe fn behind(&mut self, group: usize, groups: usize);
    /// Called behind the last block.
    fn end(&mut self);
}

/// The rounds by themselves.
pub(crate) struct Alone;

impl Beside for Alone {
    #[inline(always)]
    fn begin(&mut self) {}

    #[inline(always)]
    unsafe fn behind(&mut self, _: usize, _: usize) {}

    #[inline(always)]
    fn end(&mut self) {}
}
