//! What concerns the whole process: descriptors, forks, threads, configuration, unloading. One at
//! a time, because they count what the process has.

#![allow(unsafe_code, missing_docs)]
#![allow(clippy::undocumented_unsafe_blocks, clippy::unwrap_used)] // calls as an application makes them
#![allow(dead_code)] // the modules shared with the other suite have more

#[path = "../suite/jobs.rs"]
mod jobs;
#[path = "../suite/openssl.rs"]
mod openssl;
#[path = "../suite/shares.rs"]
mod shares;

mod callbacks;
mod child;
mod closing;
mod configuration;
mod event_loop;
mod generation;
mod inactive;
mod lifetimes;
mod policy;
mod preload;
mod privileged;
mod rustls_peer;
mod scarce;
mod stack;
mod threads;
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
