//! One thread's handle to the engines.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::{mem, slice};

use crate::ahead::ask_for_key;
use crate::group::{Batch, Grouping, SLICE};
use crate::job::{Job, JobQueue, OwnedBuffer};
use crate::op::feed::Taken;
use crate::op::{Feed, Likeness, Lone, Op, ValidOp};
use crate::per_queue::QueueToken;
use crate::stats::{Counters, QueueStats, StatsReader};
use crate::status::Status;
use crate::validate::{Joint, validate};

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
    /// Operations that ended with [`Status::Success`].
    pub succeeded: usize,
    /// Operations that ended with another status.
    pub failed: usize,
}

/// The borrowed half: from a slice of operations to their statuses.
#[derive(Debug)]
pub(crate) struct Burst {
    device: u32,
    token: QueueToken,
    grouping: Box<Grouping>,
    counters: Arc<Counters>,
}

impl<B: OwnedBuffer> QueuePair<B> {
    pub(crate) fn new(device: u32, engines: &[&'static str], depth: usize) -> Self {
        Self {
            lane: Burst {
                device,
                token: QueueToken::new(),
                grouping: Box::new(Grouping::new()),
                counters: Arc::new(Counters::new(engines)),
            },
            jobs: JobQueue::new(depth.max(1)),
            one_thread: PhantomData,
        }
    }

    /// Runs a burst to completion: afterwards every operation has a status other than
    /// [`Status::NotProcessed`].
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
        self.lane.counters.snapshot()
    }

    /// A handle that reads the counters from any thread.
    #[must_use]
    pub fn stats_reader(&self) -> StatsReader {
        StatsReader::new(self.lane.counters.clone())
    }
}

impl Burst {
    // Each way is a function of its own, which saves the registers that it needs and no more.
    pub(crate) fn process(&mut self, ops: &mut [Op<'_>]) -> BurstOutcome {
        self.counters.count_burst(0);
        match ops {
            [op] => self.process_lone(op),
            [op, ..] if op.session.rules.feeds(ops) => self.process_fed(ops),
            ops if ops.len() <= SLICE => self.process_several(ops),
            ops => self.process_slices(ops),
        }
    }

    /// Feeds operations to the engine of the first, and runs those that it does not take.
    #[inline(never)]
    fn process_fed(&mut self, ops: &mut [Op<'_>]) -> BurstOutcome {
        let session = ops[0].session;
        if session.rules.group.device() != self.device {
            return self.process_slices(ops);
        }
        let mut feeding = Feeding {
            feed: Feed::new(ops),
            engine: session.rules.group.engine(),
            counters: &self.counters,
        };
        session.engine.feed(&mut feeding.feed);
        let mut outcome = feeding.count();
        mem::forget(feeding);
        let taken = outcome.succeeded + outcome.failed;
        if taken < ops.len() {
            outcome.add(self.process_slices(&mut ops[taken..]));
        }
        outcome
    }

    /// Runs the only operation of a burst, which takes little longer than its instructions and its stores: its
    /// way has no loops.
    #[inline(never)]
    fn process_lone(&mut self, op: &mut Op<'_>) -> BurstOutcome {
        let session = op.session;
        if session.rules.group.device() != self.device || !session.rules.whole.admits_new(op) {
            return self.process_mixed(slice::from_mut(op));
        }
        let counters = &*self.counters;
        let mut running = RunningLone { op, counters };
        let lone = Lone::new(running.op);
        let status = session.engine.process_lone(&mut self.token, lone);
        running.op.status = status;
        let bytes = running.op.input.size.word();
        if status != Status::Success {
            let outcome = running.count();
            mem::forget(running);
            return outcome;
        }
        mem::forget(running);
        counters.count_group(session.rules.group.engine(), bytes, &[0, 1, 0, 0, 0]);
        BurstOutcome {
            succeeded: 1,
            failed: 0,
        }
    }

    /// Runs at most [`SLICE`] operations.
    #[inline(never)]
    fn process_several(&mut self, ops: &mut [Op<'_>]) -> BurstOutcome {
        self.process_slice(ops)
    }

    #[inline(never)]
    fn process_slices(&mut self, ops: &mut [Op<'_>]) -> BurstOutcome {
        let mut all = BurstOutcome::default();
        for ops in ops.chunks_mut(SLICE) {
            all.add(self.process_several(ops));
        }
        all
    }

    /// Runs at most [`SLICE`] operations.
    #[inline(always)]
    fn process_slice(&mut self, ops: &mut [Op<'_>]) -> BurstOutcome {
        let Some(Alike {
            bytes,
            aad,
            likeness,
        }) = all_alike(ops, self.device)
        else {
            return self.process_mixed(ops);
        };
        let count = ops.len();
        let mut batch = Batch::alike(ops, aad, likeness);
        let engine = batch.session().rules.group.engine();
        run(&mut self.token, &self.counters, &mut batch);
        if !batch.has_succeeded() {
            return count_each(&mut batch, &self.counters);
        }
        let by_status = [0, count as u64, 0, 0, 0];
        self.counters.count_group(engine, bytes, &by_status);
        BurstOutcome {
            succeeded: count,
            failed: 0,
        }
    }

    /// Validates and groups at most [`SLICE`] operations, and runs the groups.
    #[inline(never)]
    fn process_mixed(&mut self, ops: &mut [Op<'_>]) -> BurstOutcome {
        let Self {
            device,
            token,
            grouping,
            counters,
        } = self;
        let (refused, uniform) = admit(ops, *device, grouping);
        let mut outcome = BurstOutcome {
            succeeded: 0,
            failed: refused,
        };
        let group = |op: &Op<'_>| op.session.rules.group;
        grouping.for_each_group(ops, uniform, group, |ops, order| {
            let mut batch = Batch::new(ops, order);
            run(token, counters, &mut batch);
            outcome.add(count_each(&mut batch, counters));
        });
        if refused > 0 {
            counters.count_refused(refused as u64);
        }
        outcome
    }
}

impl BurstOutcome {
    fn add(&mut self, other: Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
    }
}

/// Runs a batch on its engine.
#[inline(always)]
fn run(token: &mut QueueToken, counters: &Counters, batch: &mut Batch<'_, '_>) {
    let session = batch.session();
    let running = Running { batch, counters };
    session.engine.process(token, running.batch);
    mem::forget(running);
}

/// Operations of one kind of session, all valid in the most common form.
struct Alike {
    /// Of all messages.
    bytes: u64,
    /// Whether any has additional data.
    aad: bool,
    likeness: Likeness,
}

/// Whether there are operations, and all are alike.
#[inline]
fn all_alike(ops: &[Op<'_>], device: u32) -> Option<Alike> {
    let first = ops.first()?.session;
    if first.rules.group.device() != device {
        return None;
    }
    let rules = &first.rules.whole;
    let (mut joint, mut statuses, mut one_session) = (Joint::default(), 0, true);
    for op in ops {
        if !std::ptr::eq(op.session, first) {
            one_session = false;
            ask_for_key(op.session);
            if op.session.kind != first.kind {
                return None;
            }
        }
        statuses |= op.status as u8;
        rules.join(op, &mut joint);
    }
    let all = statuses == Status::NotProcessed as u8 && rules.admits_all(&joint, ops);
    all.then_some(Alike {
        bytes: joint.bytes,
        aad: joint.aad > 0,
        likeness: Likeness {
            one_session,
            one_length: joint.is_of_one_length(),
        },
    })
}

/// Validates operations and notes those to run; returns how many were refused, and whether all
/// others are of one group. On its own, so that its loop has the registers to itself.
#[inline(never)]
fn admit(ops: &mut [Op<'_>], device: u32, grouping: &mut Grouping) -> (usize, bool) {
    let (mut admitted, mut refused, mut uniform) = (0, 0, true);
    // Any operation's group would do to compare with: it only has to be the same one.
    let first = ops.first().map(|op| op.session.rules.group);
    for (index, op) in (0_u16..).zip(ops) {
        if op.status != Status::NotProcessed {
            continue;
        }
        match validate(op, device) {
            Ok(()) => {
                uniform &= Some(op.session.rules.group) == first;
                grouping.set(admitted, index);
                admitted += 1;
            }
            Err(reason) => {
                op.status = Status::InvalidArgs;
                op.reason = Some(reason);
                refused += 1;
            }
        }
    }
    grouping.set_len(admitted);
    (refused, uniform)
}

/// A batch on an engine that may panic. Each operation then has a result all the same: one that may
/// have been encrypted is never taken for one that still waits.
struct Running<'r, 'b, 'a> {
    batch: &'r mut Batch<'b, 'a>,
    counters: &'r Counters,
}

impl Drop for Running<'_, '_, '_> {
    #[inline(never)]
    fn drop(&mut self) {
        let _ = count_each(self.batch, self.counters);
    }
}

/// The only operation of a burst on an engine that may panic: as [`Running`].
struct RunningLone<'r, 'a> {
    op: &'r mut Op<'a>,
    counters: &'r Counters,
}

impl RunningLone<'_, '_> {
    #[inline(never)]
    fn count(&mut self) -> BurstOutcome {
        let op = slice::from_mut(&mut *self.op);
        let mut batch = Batch::alike(op, true, Likeness::default());
        count_each(&mut batch, self.counters)
    }
}

impl Drop for RunningLone<'_, '_> {
    #[inline(never)]
    fn drop(&mut self) {
        let _ = self.count();
    }
}

/// Operations fed to an engine that may panic: as [`Running`].
struct Feeding<'r, 'f, 'a> {
    feed: Feed<'f, 'a>,
    engine: usize,
    counters: &'r Counters,
}

impl Feeding<'_, '_, '_> {
    /// Counts the operations taken.
    #[inline(always)]
    fn count(&mut self) -> BurstOutcome {
        if self.feed.is_settled() {
            return self.count_each();
        }
        let Taken { count, bytes } = self.feed.taken();
        if count > 0 {
            let by_status = [0, count as u64, 0, 0, 0];
            self.counters.count_group(self.engine, bytes, &by_status);
        }
        BurstOutcome {
            succeeded: count,
            failed: 0,
        }
    }

    #[cold]
    fn count_each(&mut self) -> BurstOutcome {
        match self.feed.batch() {
            Some(mut batch) => count_each(&mut batch, self.counters),
            None => BurstOutcome::default(),
        }
    }
}

impl Drop for Feeding<'_, '_, '_> {
    #[inline(never)]
    fn drop(&mut self) {
        self.feed.fail();
        let _ = self.count_each();
    }
}

/// Adds a finished batch to the counters, and ends operations without a result.
#[inline(never)]
fn count_each(batch: &mut Batch<'_, '_>, counters: &Counters) -> BurstOutcome {
    let engine = batch.session().rules.group.engine();
    let (mut succeeded, mut bytes) = (0, 0);
    let mut by_status = [0; 5];
    batch.for_each(|op| {
        if op.0.status == Status::Success {
            succeeded += 1;
            bytes += u64::from(op.0.cipher().len().max(op.0.auth().len()));
        } else {
            by_status[count_failed(op) as usize] += 1;
        }
    });
    by_status[Status::Success as usize] = succeeded as u64;
    counters.count_group(engine, bytes, &by_status);
    BurstOutcome {
        succeeded,
        failed: batch.len() - succeeded,
    }
}

/// What to count of an operation that did not succeed. An engine that leaves one without a result
/// has failed it; what it decrypted may not be authentic.
#[cold]
#[inline(never)]
fn count_failed(mut op: ValidOp<'_, '_>) -> Status {
    if op.0.status == Status::NotProcessed {
        let rules = &op.0.session.rules;
        if !rules.is_forward() && rules.tag_len() > 0 {
            op.wipe_output();
        }
        op.complete(Status::EngineError);
    }
    op.0.status
}
