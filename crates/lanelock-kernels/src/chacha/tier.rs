//! Which block function runs on this CPU.

#![allow(unsafe_code)] // instantiates the kernels per instruction set

#[cfg(target_arch = "x86_64")]
mod x86;

use super::block::{self, COUNTER};
use crate::cpu::{Avx2, Avx512, Ifma};
use crate::lanes::DoubleRow;
use crate::poly1305;

/// Rows that [`Kernels::blocks`] may read and write, whatever the number of lanes.
pub(super) const ROWS: usize = 32;

/// The block function and the authenticator of a tier: chosen once, when a session is made.
///
/// A value of this type is the proof that its instructions exist.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    blocks: unsafe fn(*mut DoubleRow<u32>, usize),
    run: unsafe fn(&DoubleRow<u32>, *const u8, *mut u8, usize, *mut DoubleRow<u32>),
    consecutive: unsafe fn(&DoubleRow<u32>, *mut DoubleRow<u32>, usize),
    /// Blocks of one message that fill two registers.
    wide: usize,
    poly1305: poly1305::Kernel,
    name: &'static str,
}

impl Kernels {
    /// Sixteen blocks per register, two registers in flight; Poly1305 in sixteen lanes where the
    /// CPU has IFMA.
    #[must_use]
    pub fn avx512(token: Avx512, ifma: Option<Ifma>) -> Self {
        Self::of_avx512(token, ifma)
    }

    /// Eight blocks per register, two registers in flight.
    #[must_use]
    pub fn avx2(token: Avx2) -> Self {
        Self::of_avx2(token)
    }

    /// Plain integers, on any CPU.
    #[must_use]
    pub fn portable() -> Self {
        Self {
            blocks: block::blocks::<u32>,
            run: block::run::<u32>,
            consecutive: consecutive_portable,
            wide: 1,
            poly1305: poly1305::Kernel::Integer,
            name: "portable",
        }
    }

    /// The tier's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Blocks of one message that fill two registers; fewer go to the batch.
    #[inline]
    pub(super) fn wide(&self) -> usize {
        self.wide
    }

    pub(super) fn poly1305(&self) -> poly1305::Kernel {
        self.poly1305
    }

    /// Replaces the first `lanes` states by their blocks of keystream; overwrites the others.
    #[inline]
    pub(super) fn blocks(&self, rows: &mut [DoubleRow<u32>; ROWS], lanes: usize) {
        debug_assert!(lanes <= ROWS);
        // SAFETY: the widest group divides `ROWS`, so `lanes` rounded up to a group stays in
        // `rows`. The instructions exist: the constructor took the token.
        unsafe { (self.blocks)(rows.as_mut_ptr(), lanes.min(ROWS)) }
    }

    /// Writes `blocks` blocks of keystream from the state's counter on.
    ///
    /// # Safety
    /// `rows` is valid for writing [`lone::ROOM`] rows, and `blocks` is at most [`lone::MOST`].
    #[inline]
    pub(super) unsafe fn consecutive(
        &self,
        state: &DoubleRow<u32>,
        rows: *mut DoubleRow<u32>,
        blocks: usize,
    ) {
        // SAFETY: as the caller promises; the instructions exist.
        unsafe { (self.consecutive)(state, rows, blocks) }
    }

    /// XORs `blocks` blocks of one message.
    ///
    /// # Safety
    /// `input` is valid for reading and `output` for writing `blocks` blocks; they are the same
    /// memory or disjoint.
    #[inline]
    pub(super) unsafe fn run(
        &self,
        state: &DoubleRow<u32>,
        input: *const u8,
        output: *mut u8,
        blocks: usize,
        scratch: &mut [DoubleRow<u32>; ROWS],
    ) {
        // SAFETY: as the caller promises; no tier has more lanes than `ROWS`, and its
        // instructions exist.
        unsafe { (self.run)(state, input, output, blocks, scratch.as_mut_ptr()) }
    }
}

/// # Safety
/// `rows` is valid for writing `blocks` rows.
unsafe fn consecutive_portable(state: &DoubleRow<u32>, rows: *mut DoubleRow<u32>, blocks: usize) {
    let mut state = *state;
    // SAFETY: `blocks` rows.
    unsafe {
        for i in 0..blocks {
            rows.add(i).write(state);
            state[COUNTER] = state[COUNTER].wrapping_add(1);
        }
        block::blocks::<u32>(rows, blocks);
    }
}

/// Never called: the token does not exist on other architectures.
#[cfg(not(target_arch = "x86_64"))]
impl Kernels {
    fn of_avx512(token: Avx512, _: Option<Ifma>) -> Self {
        token.never()
    }

    fn of_avx2(token: Avx2) -> Self {
        token.never()
    }
}
