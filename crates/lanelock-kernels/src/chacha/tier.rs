//! Which block function runs on this CPU.

#![allow(unsafe_code)] // instantiates the kernels per instruction set

use super::block::{self, COUNTER};
#[cfg(target_arch = "x86_64")]
use super::lone;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512, Ifma};
use crate::lanes::DoubleRow;
#[cfg(target_arch = "x86_64")]
use crate::lanes::{Pair, avx2::U32x8, avx512::U32x16};
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
    poly1305: PolyTier,
    name: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum PolyTier {
    #[cfg(target_arch = "x86_64")]
    Ifma(Ifma),
    Integer,
}

impl Kernels {
    /// Sixteen blocks per register, two registers in flight; Poly1305 in sixteen lanes where the
    /// CPU has IFMA.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn avx512(_: Avx512, ifma: Option<Ifma>) -> Self {
        Self {
            blocks: blocks_zmm,
            run: run_zmm,
            consecutive: consecutive_zmm,
            wide: 32,
            poly1305: ifma.map_or(PolyTier::Integer, PolyTier::Ifma),
            name: "avx512",
        }
    }

    /// Eight blocks per register, two registers in flight.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn avx2(_: Avx2) -> Self {
        Self {
            blocks: blocks_ymm,
            run: run_ymm,
            consecutive: consecutive_ymm,
            wide: 16,
            poly1305: PolyTier::Integer,
            name: "avx2",
        }
    }

    /// Plain integers, on any CPU.
    #[must_use]
    pub fn portable() -> Self {
        Self {
            blocks: block::blocks::<u32>,
            run: block::run::<u32>,
            consecutive: consecutive_portable,
            wide: 1,
            poly1305: PolyTier::Integer,
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
        match self.poly1305 {
            #[cfg(target_arch = "x86_64")]
            PolyTier::Ifma(token) => poly1305::Kernel::Ifma(token),
            PolyTier::Integer => poly1305::Kernel::Integer,
        }
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

/// One register where it has lanes enough, two otherwise.
macro_rules! tier {
    ($blocks:ident, $run:ident, $consecutive:ident, $features:literal, $lanes:ty) => {
        /// # Safety
        /// As [`lone::consecutive`], and the CPU has the instructions.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $consecutive(state: &DoubleRow<u32>, rows: *mut DoubleRow<u32>, blocks: usize) {
            // SAFETY: the caller's promise, passed on.
            unsafe { lone::consecutive::<$lanes>(state, rows, blocks) }
        }

        /// # Safety
        /// As [`block::blocks`], in groups of two registers, and the CPU has the instructions.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $blocks(rows: *mut DoubleRow<u32>, lanes: usize) {
            const ONE: usize = <$lanes as crate::lanes::Lanes>::COUNT;
            crate::frame::align();
            let whole = lanes.div_ceil(ONE) / 2 * (2 * ONE);
            // SAFETY: both parts lie inside the caller's rows.
            unsafe {
                block::blocks::<Pair<$lanes>>(rows, whole);
                if whole < lanes {
                    block::blocks::<$lanes>(rows.add(whole), lanes - whole);
                }
            }
        }

        /// # Safety
        /// As [`block::run`], in groups of two registers, and the CPU has the instructions.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $run(
            state: &DoubleRow<u32>,
            input: *const u8,
            output: *mut u8,
            blocks: usize,
            scratch: *mut DoubleRow<u32>,
        ) {
            const ONE: usize = <$lanes as crate::lanes::Lanes>::COUNT;
            crate::frame::align();
            // SAFETY: the caller's promise, passed on.
            unsafe {
                if blocks > ONE {
                    block::run::<Pair<$lanes>>(state, input, output, blocks, scratch);
                } else {
                    block::run::<$lanes>(state, input, output, blocks, scratch);
                }
            }
        }
    };
}

tier!(
    blocks_zmm,
    run_zmm,
    consecutive_zmm,
    "avx512f,avx512bw,avx512dq,avx512vl",
    U32x16
);
tier!(blocks_ymm, run_ymm, consecutive_ymm, "avx2", U32x8);
