//! The tiers with registers.

#![allow(unsafe_code)] // instantiates the kernels per instruction set

use super::Kernels;
use crate::chacha::{block, lone};
use crate::cpu::{Avx2, Avx512, Ifma};
use crate::lanes::{DoubleRow, Pair, avx2::U32x8, avx512::U32x16};
use crate::poly1305;

impl Kernels {
    pub(super) fn of_avx512(_: Avx512, ifma: Option<Ifma>) -> Self {
        Self {
            blocks: blocks_zmm,
            run: run_zmm,
            consecutive: consecutive_zmm,
            wide: 32,
            poly1305: ifma.map_or(poly1305::Kernel::Integer, poly1305::Kernel::Ifma),
            name: "avx512",
        }
    }

    pub(super) fn of_avx2(_: Avx2) -> Self {
        Self {
            blocks: blocks_ymm,
            run: run_ymm,
            consecutive: consecutive_ymm,
            wide: 16,
            poly1305: poly1305::Kernel::Integer,
            name: "avx2",
        }
    }
}

/// One register where it has lanes enough, two otherwise.
macro_rules! tier {
    ($blocks:ident, $run:ident, $consecutive:ident, $features:literal, $lanes:ty) => {
        /// # Safety
        /// As [`lone::consecutive`], and the CPU has the instructions.
        #[target_feature(enable = $features)]
        unsafe fn $consecutive(state: &DoubleRow<u32>, rows: *mut DoubleRow<u32>, blocks: usize) {
            // SAFETY: the caller's promise, passed on.
            unsafe { lone::consecutive::<$lanes>(state, rows, blocks) }
        }

        /// # Safety
        /// As [`block::blocks`], in groups of two registers, and the CPU has the instructions.
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
