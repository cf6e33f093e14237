//! How this thread rounds.

use core::arch::asm;
use core::arch::x86_64::{_mm256_cvtsd_f64, _mm256_set1_pd};

/// MXCSR that rounds toward zero, with all exceptions masked and no flags set.
const TOWARD_ZERO: u32 = 0x7f80;

/// While it lives, this thread rounds the results of floating-point instructions toward zero. What it
/// did before, and which exceptions it had seen, is back when it is dropped.
///
/// The compiler takes rounding to nearest for granted. So the only arithmetic meanwhile is that of
/// [`Fma`], in functions that it cannot inline into the one that holds this, nor move: they have
/// other instructions, and they write memory.
///
/// [`Fma`]: super::Fma
pub(crate) struct TowardZero {
    before: u32,
}

impl TowardZero {
    #[inline(always)]
    pub(crate) fn set() -> Self {
        let mut before = 0_u32;
        // SAFETY: every x86-64 CPU has the instruction; it writes the variable.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack)) };
        load(TOWARD_ZERO);
        Self { before }
    }
}

impl Drop for TowardZero {
    #[inline(always)]
    fn drop(&mut self) {
        load(self.before);
    }
}

/// Whether fused multiply-adds round toward zero when they are told to. A CPU's do; Valgrind's round to
/// nearest whatever they are told.
#[target_feature(enable = "avx,fma")]
pub(crate) fn rounds_as_told() -> bool {
    // 1 + 3/4 of the last bit, which to nearest is the next number.
    let (mut sum, factor) = (
        _mm256_set1_pd(1.0),
        _mm256_set1_pd(1.5 * (f64::EPSILON / 2.0)),
    );
    let one = sum;
    let rounding = TowardZero::set();
    // SAFETY: the function is compiled for the instruction.
    unsafe {
        asm!("vfmadd231pd {0}, {1}, {2}", inout(ymm_reg) sum, in(ymm_reg) factor, in(ymm_reg) one, options(nomem, nostack));
    }
    drop(rounding);
    _mm256_cvtsd_f64(sum) == 1.0
}

#[inline(always)]
fn load(control: u32) {
    // SAFETY: every x86-64 CPU has the instruction; all bits that are set are known ones. That the
    // rounding is not to nearest concerns no code of the compiler's: see `TowardZero`.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, readonly)) };
}
