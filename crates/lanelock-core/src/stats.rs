//! Counters of a queue, one row for each engine.
//!
//! The queue's thread alone writes them, with plain loads and stores; other threads may read
//! them at any time through a [`StatsReader`] and see each counter at some recent value.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::status::Status;
use crate::wiped::Wiped;

/// Buckets of groups by number of operations: bucket `i` counts groups of `2^i` to `2^(i+1) - 1`
/// operations, the last one all larger groups.
pub const SIZE_BUCKETS: usize = 9;

/// What one engine did for one queue.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Buffer, Hash, Op, Status, Transform};
///
/// let session = device.session(Transform::hash(Hash::Sha256))?;
/// let mut queue_pair = device.queue_pair(1);
/// let mut digest = [0; 32];
/// let op = Op::new(&session, Buffer::read_only(b"ten bytes!")).tag(&mut digest);
/// let _ = queue_pair.process(&mut [op]);
/// let stats = &queue_pair.stats().engines[0];
/// assert_eq!((stats.engine, stats.ops, stats.bytes), ("toy", 1, 10));
/// assert_eq!(stats.by_status[Status::Success as usize], 1);
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EngineStats {
    /// The engine's name.
    pub engine: &'static str,
    /// Operations that ended, in any status.
    pub ops: u64,
    /// Message bytes in operations that succeeded: the cipher or authenticated range, whichever is
    /// longer; for public keys, the input.
    pub bytes: u64,
    /// Operations by status, in the order of [`Status::ALL`].
    pub by_status: [u64; 5],
    /// Calls to the engine; each runs one group of a burst.
    pub groups: u64,
    /// Calls by number of operations.
    pub group_sizes: [u64; SIZE_BUCKETS],
}

/// A snapshot of a queue's counters.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// let queue_pair = device.queue_pair(1);
/// let stats = queue_pair.stats();
/// assert_eq!((stats.bursts, stats.refused, stats.engines.len()), (0, 0, 1));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct QueueStats {
    /// Bursts handed to the queue.
    pub bursts: u64,
    /// Operations refused by validation.
    pub refused: u64,
    /// One row for each engine of the device.
    pub engines: Vec<EngineStats>,
}

/// Reads a queue's counters from any thread, even after the queue is gone.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// let queue_pair = device.queue_pair(1);
/// let reader = queue_pair.stats_reader();
/// let watcher = std::thread::spawn(move || reader.snapshot().bursts);
/// assert_eq!(watcher.join().unwrap(), 0);
/// ```
#[derive(Clone, Debug)]
pub struct StatsReader(Arc<Counters>);

/// The counters themselves, on cache lines that nothing else is written on; their padding, which
/// may hold what was on the stack when they were made, is wiped with them. One thread at a time
/// counts.
#[derive(Debug)]
pub struct Counters {
    totals: Box<Wiped<Totals>>,
    engines: Box<Wiped<[EngineCounters]>>,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Totals {
    bursts: AtomicU64,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct EngineCounters {
    engine: &'static str,
    bytes: AtomicU64,
    by_status: [AtomicU64; 5],
    group_sizes: [AtomicU64; SIZE_BUCKETS],
}

impl StatsReader {
    /// Reads `counters`.
    #[must_use]
    pub fn new(counters: Arc<Counters>) -> Self {
        Self(counters)
    }

    /// The counters now.
    #[must_use]
    pub fn snapshot(&self) -> QueueStats {
        self.0.snapshot()
    }
}

impl Counters {
    /// A row for each of `engines`.
    #[must_use]
    pub fn new(engines: &[&'static str]) -> Self {
        let row = |&engine| EngineCounters {
            engine,
            ..EngineCounters::default()
        };
        Self {
            totals: Box::new(Wiped::new(Totals::default())),
            engines: Wiped::boxed(engines.iter().map(row).collect()),
        }
    }

    /// Counts one burst, of which `refused` operations were refused.
    #[inline]
    pub fn count_burst(&self, refused: u64) {
        add(&self.totals.bursts, 1);
        if refused > 0 {
            self.count_refused(refused);
        }
    }

    /// Counts operations that no engine sees.
    #[inline]
    pub fn count_refused(&self, refused: u64) {
        add(&self.totals.refused, refused);
    }

    /// Counts one group that the `engine`-th row has run: bytes of message of the operations that
    /// succeeded, and operations by status, in the order of [`Status::ALL`].
    #[inline]
    pub fn count_group(&self, engine: usize, bytes: u64, by_status: &[u64; 5]) {
        let Some(row) = self.engines.get(engine) else {
            return;
        };
        let ops: u64 = by_status.iter().sum();
        add(&row.bytes, bytes);
        for (counter, &n) in row.by_status.iter().zip(by_status) {
            if n > 0 {
                add(counter, n);
            }
        }
        let bucket = (ops.max(1).ilog2() as usize).min(SIZE_BUCKETS - 1);
        add(&row.group_sizes[bucket], 1);
    }

    /// The counters now.
    #[must_use]
    pub fn snapshot(&self) -> QueueStats {
        QueueStats {
            bursts: self.totals.bursts.load(Relaxed),
            refused: self.totals.refused.load(Relaxed),
            engines: self.engines.iter().map(EngineCounters::snapshot).collect(),
        }
    }
}

impl EngineCounters {
    fn snapshot(&self) -> EngineStats {
        let by_status = Status::ALL.map(|s| self.by_status[s as usize].load(Relaxed));
        let group_sizes = std::array::from_fn(|i| self.group_sizes[i].load(Relaxed));
        EngineStats {
            engine: self.engine,
            ops: by_status.iter().sum(),
            bytes: self.bytes.load(Relaxed),
            by_status,
            groups: group_sizes.iter().sum(),
            group_sizes,
        }
    }
}

/// One writer: a load and a store, no read-modify-write.
#[inline]
fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(n), Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_fall_in_the_bucket_of_their_size() {
        let counters = Counters::new(&["a"]);
        for size in [1, 2, 3, 4, 127, 128, 255, 256, 511, 100_000] {
            counters.count_group(0, 0, &[0, size, 0, 0, 0]);
        }
        let row = &counters.snapshot().engines[0];
        assert_eq!(row.group_sizes, [1, 2, 1, 0, 0, 0, 1, 2, 3]);
        assert_eq!(row.groups, 10);
    }

    #[test]
    fn rows_are_kept_apart_and_an_unknown_engine_counts_nowhere() {
        let counters = Counters::new(&["a", "b"]);
        counters.count_group(1, 70, &[0, 3, 2, 0, 1]);
        counters.count_group(2, 9, &[0, 9, 0, 0, 0]);
        counters.count_burst(4);
        counters.count_burst(0);
        let stats = counters.snapshot();
        assert_eq!((stats.bursts, stats.refused), (2, 4));
        assert_eq!(
            stats.engines[0],
            EngineStats {
                engine: "a",
                ..EngineStats::default()
            }
        );
        assert_eq!((stats.engines[1].ops, stats.engines[1].bytes), (6, 70));
        assert_eq!(stats.engines[1].by_status, [0, 3, 2, 0, 1]);
    }

    #[test]
    fn counters_share_no_cache_line_with_anything_else() {
        assert_eq!((align_of::<Totals>(), size_of::<Totals>() % 128), (128, 0));
        assert_eq!(align_of::<EngineCounters>(), 128);
        assert_eq!(size_of::<EngineCounters>() % 128, 0);
    }
}
