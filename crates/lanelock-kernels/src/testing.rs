//! What the unit tests share: a random source, and the registers that they run on. Kernels are
//! tested through their entry points in `lanelock-jobs`, which links them as they are built once.

use std::prelude::v1::*;
use std::vec;

use crate::Machine;

/// Whether the CPU has a feature of x86-64, by the standard library's word.
macro_rules! has {
    ($feature:tt) => {{
        #[cfg(target_arch = "x86_64")]
        let has = std::is_x86_feature_detected!($feature);
        #[cfg(not(target_arch = "x86_64"))]
        let has = false;
        has
    }};
}
pub(crate) use has;

/// The machines of this CPU that differ in their registers of digits.
pub(crate) fn machines() -> Vec<Machine> {
    let mut machines: Vec<_> = Machine::all().collect();
    let mut met = Vec::new();
    machines.retain(|machine| {
        let kind = core::mem::discriminant(&machine.digits);
        let is_new = !met.contains(&kind);
        met.push(kind);
        is_new
    });
    machines
}

/// Enough to choose shapes and fill buffers, and the same on each run.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.fill(&mut bytes);
        bytes
    }
}
