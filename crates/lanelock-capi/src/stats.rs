//! Counters of a queue pair.

use std::ffi::c_char;

use crate::boundary::boundary;
use crate::error::{Failure, copy_text};
use crate::handle::lend;
use crate::queue_pair::lanelock_queue_pair;
use crate::sized::{self, Sized32};

/// Counters of a queue pair.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_stats {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// Rows that `lanelock_queue_pair_engine_stats` has.
    pub engines: u32,
    /// Bursts handed over.
    pub bursts: u64,
    /// Operations refused before an engine saw them.
    pub refused: u64,
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_stats {
    const NAME: &'static str = "lanelock_stats";
    const FIRST: usize = 24;
}

/// Counters of one engine's work for a queue pair.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_engine_stats {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// The engine's name.
    pub name: [c_char; 24],
    /// Message bytes in operations that succeeded.
    pub bytes: u64,
    /// Operations by status: the status is the index.
    pub by_status: [u64; 5],
    /// Calls to the engine by number of operations: at index `i`, calls with 2^i to 2^(i+1) - 1
    /// operations; at the last index, all larger ones.
    pub group_sizes: [u64; 9],
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_engine_stats {
    const NAME: &'static str = "lanelock_engine_stats";
    const FIRST: usize = 152;
}

const _: () = assert!(size_of::<lanelock_stats>() == 24);
const _: () = assert!(size_of::<lanelock_engine_stats>() == 152);

/// Writes a queue pair's counters, as of some recent time. Set `stats->size` before the call.
/// Threads: any.
///
/// # Safety
/// No thread frees the queue pair meanwhile; `stats` is NULL or valid for reads and writes of the size
/// that it begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_queue_pair_stats(
    queue_pair: *const lanelock_queue_pair,
    stats: *mut lanelock_stats,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let found = lend(queue_pair)?.stats.snapshot();
        let value = lanelock_stats {
            size: 0,
            engines: u32::try_from(found.engines.len()).unwrap_or(u32::MAX),
            bursts: found.bursts,
            refused: found.refused,
        };
        sized::write(&value, stats)
    })
}

/// Writes the counters of the engine at `index`, in the device's order. Set `stats->size` before
/// the call. Threads: any.
///
/// # Safety
/// No thread frees the queue pair meanwhile; `stats` is NULL or valid for reads and writes of the size
/// that it begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_queue_pair_engine_stats(
    queue_pair: *const lanelock_queue_pair,
    index: usize,
    stats: *mut lanelock_engine_stats,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let found = lend(queue_pair)?.stats.snapshot();
        let Some(row) = found.engines.get(index) else {
            return Err(Failure::unknown(format!("engine {index}: not found")));
        };
        let mut value = lanelock_engine_stats {
            size: 0,
            reserved: 0,
            name: [0; _],
            bytes: row.bytes,
            by_status: row.by_status,
            group_sizes: row.group_sizes,
        };
        copy_text(row.engine, &mut value.name);
        sized::write(&value, stats)
    })
}
