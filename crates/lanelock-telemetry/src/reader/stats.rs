//! What a page says.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::Inactive;
use crate::histogram::Histogram;
use crate::layout::LANES_FILLED_WORDS;

/// The page of a process at one moment.
///
/// ```
/// # use lanelock_telemetry as telemetry;
/// use telemetry::reader::Reader;
///
/// /// Of a thousand operations, how many failed, by algorithm.
/// fn failures(pid: u32) -> Result<Vec<(String, u64)>, Box<dyn std::error::Error>> {
///     let snapshot = Reader::open(pid)?.read()?;
///     let by_algorithm = snapshot.by_algorithm().into_iter();
///     let rates = by_algorithm.map(|(name, stats)| (name, 1000 * stats.failed / stats.completed.max(1)));
///     Ok(rates.collect())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Number of the process, as it knows it.
    pub pid: u32,
    /// When it made the page, at its first operation.
    pub started: SystemTime,
    /// Whether the process has loaded the OpenSSL provider.
    pub is_module: bool,
    /// Whether the provider was given a private-key operation outside of asynchronous mode.
    pub outside_jobs: bool,
    /// Why the provider runs nothing in lanes; `None` if it does, or would at the next operation.
    pub inactive: Option<Inactive>,
    /// How often a queue found no room for an algorithm, which it then did not count.
    pub uncounted: u64,
    /// Each queue's algorithms, and those of the queues that have gone.
    pub queues: Vec<QueueStats>,
}

/// One algorithm on one queue.
#[derive(Clone, Debug)]
pub struct QueueStats {
    /// Whose it is.
    pub owner: Owner,
    /// The algorithm's name, such as `rsa-2048-sign`.
    pub algorithm: String,
    /// The numbers.
    pub stats: Stats,
}

/// Whose numbers these are.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Owner {
    /// A queue, by the number of the thread that first used it for the algorithm.
    Thread(u32),
    /// All queues that have gone.
    Ended,
}

/// Counters and histograms of an algorithm.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Operations handed over.
    pub submitted: u64,
    /// Operations that have a status.
    pub completed: u64,
    /// Of those, the ones whose status is not success: bad arguments and wrong signatures too.
    pub failed: u64,
    /// Jobs taken back before they ran.
    pub cancelled: u64,
    /// Operations run one at a time.
    pub singles: u64,
    /// Batches run on lanes. One that mixes algorithms, such as signatures and decryptions with
    /// RSA keys of one size, counts with its first operation's.
    pub batches: u64,
    /// Operations in them.
    pub in_lanes: u64,
    /// Batches by the lanes that they filled: the index, the last of which counts what is more.
    pub lanes_filled: Vec<u64>,
    /// Time from an operation's submission to its batch's start. What was handed over as a burst
    /// waits for nobody and is not in it.
    pub wait: Histogram,
    /// Time of a batch in the engine, or of an operation that ran alone.
    pub compute: Histogram,
}

impl Snapshot {
    /// The numbers of all queues, by algorithm.
    #[must_use]
    pub fn by_algorithm(&self) -> BTreeMap<String, Stats> {
        let mut sums: BTreeMap<String, Stats> = BTreeMap::new();
        for queue in &self.queues {
            let sum = sums.entry(queue.algorithm.clone()).or_default();
            sum.merge(&queue.stats);
        }
        sums
    }
}

impl Stats {
    /// Lanes filled in the average batch; `None` without batches.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a mean")]
    pub fn mean_lanes(&self) -> Option<f64> {
        (self.batches > 0).then(|| self.in_lanes as f64 / self.batches as f64)
    }

    /// Adds what `other` counts.
    pub fn merge(&mut self, other: &Self) {
        let pairs = self.counters_mut().into_iter().zip(other.counters());
        for (mine, theirs) in pairs {
            *mine = mine.saturating_add(theirs);
        }
        for (mine, theirs) in self.lanes_filled.iter_mut().zip(&other.lanes_filled) {
            *mine = mine.saturating_add(*theirs);
        }
        self.wait.merge(&other.wait);
        self.compute.merge(&other.compute);
    }

    /// What was counted since `earlier`, a reading of the same process.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = self.clone();
        let pairs = difference
            .counters_mut()
            .into_iter()
            .zip(earlier.counters());
        for (now, then) in pairs {
            *now = now.saturating_sub(then);
        }
        let lanes = difference.lanes_filled.iter_mut();
        for (now, then) in lanes.zip(&earlier.lanes_filled) {
            *now = now.saturating_sub(*then);
        }
        difference.wait = self.wait.since(&earlier.wait);
        difference.compute = self.compute.since(&earlier.compute);
        difference
    }

    fn counters(&self) -> [u64; 7] {
        [
            self.submitted,
            self.completed,
            self.failed,
            self.cancelled,
            self.singles,
            self.batches,
            self.in_lanes,
        ]
    }

    fn counters_mut(&mut self) -> [&mut u64; 7] {
        [
            &mut self.submitted,
            &mut self.completed,
            &mut self.failed,
            &mut self.cancelled,
            &mut self.singles,
            &mut self.batches,
            &mut self.in_lanes,
        ]
    }
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            submitted: 0,
            completed: 0,
            failed: 0,
            cancelled: 0,
            singles: 0,
            batches: 0,
            in_lanes: 0,
            lanes_filled: vec![0; LANES_FILLED_WORDS],
            wait: Histogram::new(),
            compute: Histogram::new(),
        }
    }
}
