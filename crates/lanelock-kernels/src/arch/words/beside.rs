//! Other work between the rounds of a hash.

/// Instructions that fill the waiting times between the rounds.
///
/// Everything is called in code compiled for [`sha::Registers`](crate::arch::sha::Registers).
pub trait Beside {
    /// Called before the first block.
    fn begin(&mut self);
    /// Called behind the `group`-th of the `groups` times four rounds of a block, in order. The
    /// block has been read when it is called for group 3.
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
