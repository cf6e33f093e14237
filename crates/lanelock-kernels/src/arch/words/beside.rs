//! Other work between the rounds of a hash.

/// Instructions that fill the waiting times between the rounds.
///
/// # Safety
/// Everything is called in code compiled for [`sha::Registers`](crate::arch::sha::Registers);
/// further conditions are those under which the implementation was handed over.
pub trait Beside {
    /// Called before the first block.
    unsafe fn begin(&mut self);
    /// Called behind the `group`-th of the `groups` times four rounds of a block, in order. The
    /// block has been read when it is called for group 3.
    unsafe fn behind(&mut self, group: usize, groups: usize);
    /// Called behind the last block.
    unsafe fn end(&mut self);
}

/// The rounds by themselves.
pub(crate) struct Alone;

impl Beside for Alone {
    #[inline(always)]
    unsafe fn begin(&mut self) {}

    #[inline(always)]
    unsafe fn behind(&mut self, _: usize, _: usize) {}

    #[inline(always)]
    unsafe fn end(&mut self) {}
}
