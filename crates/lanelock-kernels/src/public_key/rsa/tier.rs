//! Code written over the lanes, run where their instructions are enabled.

#![allow(unsafe_code)] // enters functions that need a CPU feature, under its token

#[cfg(target_arch = "x86_64")]
use super::super::lanes::Ifma;
use super::super::lanes::{Lanes, Portable};

/// A function over lanes, with its arguments. Its `run` is to be inlined, so that it becomes code
/// of the function that [`Tier::run`] enters.
pub(super) trait Routine {
    fn run(self);
}

/// Lanes whose instructions can be enabled for a routine.
pub(super) trait Tier: Lanes {
    /// Runs `routine` as a function of its own. The proof is that of the lanes it works on.
    fn run(proof: Self::Proof, routine: impl Routine);
}

impl Tier for Portable {
    #[inline(always)]
    fn run((): (), routine: impl Routine) {
        #[inline(never)]
        fn plain(routine: impl Routine) {
            routine.run();
        }
        plain(routine);
    }
}

#[cfg(target_arch = "x86_64")]
impl Tier for Ifma {
    #[inline(always)]
    fn run(_: Self::Proof, routine: impl Routine) {
        #[inline(never)]
        #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,bmi2")]
        fn enabled(routine: impl Routine) {
            routine.run();
        }
        // SAFETY: the token is the proof of these features.
        unsafe { enabled(routine) };
    }
}
