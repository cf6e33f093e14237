//! What concerns the whole process: descriptors, forks, threads, configuration, unloading. One at
//! a time, because they count what the process has.

#![allow(unsafe_code, missing_docs)]
#![allow(clippy::undocumented_unsafe_blocks, clippy::unwrap_used)] // calls as an application makes them
#![allow(dead_code)] // the modules shared with the other suite have more

#[path = "../suite/jobs.rs"]
mod jobs;
#[path = "../suite/openssl.rs"]
mod openssl;

mod configuration;
mod generation;
mod lifetimes;
mod stack;
mod tls;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by each test.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Descriptors that the process has open.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}

/// Whether this CPU has lanes for public keys; elsewhere nothing pauses.
pub(crate) fn has_lanes() -> bool {
    let forced = std::env::var("LANELOCK_TIER").is_ok_and(|tier| tier != "avx512");
    #[cfg(target_arch = "x86_64")]
    let ifma = is_x86_feature_detected!("avx512ifma") && is_x86_feature_detected!("vaes");
    #[cfg(not(target_arch = "x86_64"))]
    let ifma = false;
    if forced || !ifma {
        eprintln!("skipped: this machine, or LANELOCK_TIER, has no lanes for public keys");
    }
    !forced && ifma
}
