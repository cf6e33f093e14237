//! One thread's handle to the engines.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::burst::Burst;
use crate::job::{Job, JobQueue, OwnedBuffer};
use crate::op::Op;
use crate::stats::{QueueStats, StatsReader};

/// One thread's handle: it owns every context that its operations need.
///
/// It can move to another thread, but serves one at a time:
///
/// ```
/// # use lanelock_core as lanelock;
/// fn is_send<T: Send>() {}
/// is_send::<lanelock::QueuePair>();
/// ```
///
/// ```compile_fail,E0277
/// # use lanelock_core as lanelock;
/// fn is_sync<T: Sync>() {}
/// is_sync::<lanelock::QueuePair>();
/// ```
#[derive(Debug)]
pub struct QueuePair<B: OwnedBuffer = Vec<u8>> {
    lane: Burst,
    jobs: JobQueue<B>,
    one_thread: PhantomData<Cell<()>>,
}

/// The outcome of a burst.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Buffer, Hash, Op, Transform};
///
/// let session = device.session(Transform::hash(Hash::Sha256))?;
/// let mut queue_pair = device.queue_pair(32);
/// let mut digest = [0; 32];
/// let mut burst = [
///     Op::new(&session, Buffer::read_only(b"a message")).tag(&mut digest),
///     Op::new(&session, Buffer::read_only(b"no room for its digest")),
/// ];
/// let outcome = queue_pair.process(&mut burst);
/// assert_eq!((outcome.succeeded, outcome.failed), (1, 1));
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[must_use = "a burst may hold operations that failed"]
pub struct BurstOutcome {
    /// Operations that ended with [`Status::Success`](crate::Status::Success).
    pub succeeded: usize,
    /// Operations that ended with another status.
    pub failed: usize,
}

impl<B: OwnedBuffer> QueuePair<B> {
    pub(crate) fn new(device: u32, engines: &[&'static str], depth: usize) -> Self {
        Self {
            lane: Burst::new(device, engines),
            jobs: JobQueue::new(depth.max(1)),
            one_thread: PhantomData,
        }
    }

    /// Runs a burst to completion: afterwards every operation has a status other than
    /// [`Status::NotProcessed`](crate::Status::NotProcessed).
    ///
    /// An operation that has a status already is left alone and not counted, so handing a burst
    /// over again never encrypts twice.
    pub fn process(&mut self, ops: &mut [Op<'_>]) -> BurstOutcome {
        self.lane.process(ops)
    }

    /// Takes as many jobs from the front of `jobs` as there is room for, and returns how many. The
    /// others stay in `jobs`, untouched: dequeue some results, then call again.
    pub fn enqueue(&mut self, jobs: &mut Vec<Job<B>>) -> usize {
        self.jobs.enqueue(jobs)
    }

    /// Moves up to `limit` finished jobs to the end of `done`, in the order in which they were
    /// enqueued, and returns how many. Jobs waiting are run first, together.
    pub fn dequeue(&mut self, done: &mut Vec<Job<B>>, limit: usize) -> usize {
        self.jobs.dequeue(&mut self.lane, done, limit)
    }

    /// Jobs enqueued and not yet dequeued.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.jobs.len()
    }

    /// Most jobs that can be in flight.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.jobs.depth()
    }

    /// The counters now.
    #[must_use]
    pub fn stats(&self) -> QueueStats {
        self.lane.counters().snapshot()
    }

    /// A handle that reads the counters from any thread.
    #[must_use]
    pub fn stats_reader(&self) -> StatsReader {
        StatsReader::new(self.lane.counters().clone())
    }
}

impl BurstOutcome {
    pub(crate) fn add(&mut self, other: Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
    }
}
