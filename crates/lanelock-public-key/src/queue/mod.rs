//! One thread's handle to the public-key engines.

use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::time::Instant;

use lanelock_core::job::OwnedBuffer;
use lanelock_core::stats::{QueueStats, StatsReader};
use lanelock_core::{BurstOutcome, Status};
use smallvec::SmallVec;

use super::flush::FlushPolicy;
use super::job::{KeyJob, Outcome, Outcomes};
use super::observer::{Completion, KeyObserver, Tickets};
use super::op::KeyOp;
use super::runner::Runner;
use super::schedule::{Cutoff, Entry, Schedule, Ticket};
use super::session::KeyGroup;
use super::stats::KeyQueueStats;
use super::status::KeyReason;

/// One thread's handle for public-key operations, next to its [`lanelock_core::QueuePair`]: `Send`,
/// not `Sync`; it owns every context that its operations need.
///
/// [`KeyQueue::process`] runs a burst to completion. Jobs that are enqueued one by one wait until
/// [`KeyQueue::poll`] runs them, as the [`FlushPolicy`] says: in batches of one algorithm and size,
/// with any mix of keys. Time and the number of submitters are arguments: the queue does not sleep,
/// has no thread, and reads no clock to decide.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// use std::time::Instant;
///
/// use lanelock::public_key::KeyJob;
///
/// let mut queue = device.key_queue(16, FlushPolicy::default());
/// let job = KeyJob::sign(&session, b"a message".to_vec(), vec![0; 64]);
/// queue.enqueue(job, Instant::now()).expect("a queue of 16");
/// assert_eq!(queue.waiting(), 1); // for others, until its deadline
/// queue.flush();
/// assert_eq!(queue.dequeue(&mut Vec::new(), 16), 1);
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Debug)]
pub struct KeyQueue<B: OwnedBuffer = Vec<u8>> {
    runner: Runner,
    policy: FlushPolicy,
    schedule: Schedule<KeyGroup, KeyJob<B>>,
    finished: VecDeque<(Ticket, KeyJob<B>)>,
    /// The batch that runs; kept for its memory.
    running: Vec<Entry<KeyJob<B>>>,
    /// The operations of a burst that had no status before it ran, if that is observed.
    fresh: Vec<Run>,
    depth: usize,
    one_thread: PhantomData<Cell<()>>,
}

impl<B: OwnedBuffer> KeyQueue<B> {
    pub(super) fn new(
        device: u32,
        engines: &[&'static str],
        depth: usize,
        policy: FlushPolicy,
    ) -> Self {
        Self {
            runner: Runner::new(device, engines),
            policy,
            schedule: Schedule::new(),
            finished: VecDeque::new(),
            running: Vec::new(),
            fresh: Vec::new(),
            depth: depth.max(1),
            one_thread: PhantomData,
        }
    }

    /// Runs a burst to completion: afterwards every operation has a status other than
    /// [`Status::NotProcessed`]. One that has a status already is left alone and not counted.
    pub fn process(&mut self, ops: &mut [KeyOp<'_>]) -> BurstOutcome {
        if !self.runner.calls.observer.is_set() {
            return self.runner.process(ops);
        }
        self.process_observed(ops)
    }

    /// Takes a job at time `now`. One that is refused is finished at once.
    ///
    /// # Errors
    /// The job, untouched, if [`KeyQueue::depth`] jobs are already in flight.
    pub fn enqueue(&mut self, mut job: KeyJob<B>, now: Instant) -> Result<Ticket, KeyJob<B>> {
        if self.in_flight() >= self.depth {
            return Err(job);
        }
        if job.check(self.runner.device()) {
            let session = job.session().inner();
            let (group, lanes) = (session.group, session.lanes);
            let spec = session.spec();
            let ticket = self.schedule.push(group, lanes, job, now);
            self.runner
                .calls
                .observer
                .tell(|it| it.submitted(ticket.into(), spec));
            return Ok(ticket);
        }
        self.runner.calls.refused();
        let ticket = self.schedule.ticket();
        self.runner.calls.observer.tell(|observer| {
            observer.submitted(ticket.into(), job.session().spec());
            observer.completed(job_done(ticket, None, &job));
        });
        self.finished.push_back((ticket, job));
        Ok(ticket)
    }

    /// Takes back a job that has not run: its status is [`Status::NotProcessed`], and nothing was
    /// written. `None` if it has finished; it can then still be dequeued.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<KeyJob<B>> {
        let job = self.schedule.cancel(ticket)?;
        self.runner.calls.stats.cancelled += 1;
        let spec = job.session().spec();
        self.runner
            .calls
            .observer
            .tell(|it| it.cancelled(ticket, spec));
        Some(job)
    }

    /// Whether the jobs that wait for a batch with this one, itself among them, are enough for lanes to be
    /// faster: [`KeySession::break_even`](crate::KeySession::break_even). `None` if it does not wait.
    #[must_use]
    pub fn is_worth_lanes(&self, ticket: Ticket) -> Option<bool> {
        let (job, count) = self.schedule.find(ticket)?;
        Some(count >= job.session().break_even())
    }

    /// Runs what the policy says is due at `now`, and returns how many jobs finished. `submitters`
    /// is the number of tasks that could have a job waiting here; `None` if unknown.
    pub fn poll(&mut self, now: Instant, submitters: Option<usize>) -> usize {
        let alone = self.policy.is_alone(self.schedule.len(), submitters);
        self.run(now, alone)
    }

    /// As [`KeyQueue::poll`], but runs at most one batch; returns 0 if none is due. To get fuller
    /// batches and shorter waits under load, enqueue what has arrived before each call: a batch has
    /// the size that gives the most operations per unit of time ([`FlushPolicy::batch`]), and later
    /// arrivals join the operations that it leaves.
    pub fn poll_one(&mut self, now: Instant, submitters: Option<usize>) -> usize {
        let alone = self.policy.is_alone(self.schedule.len(), submitters);
        let cutoff = alone.then(|| self.schedule.cutoff());
        self.run_one(now, cutoff, best_part)
    }

    /// Runs everything that waits, and returns how many jobs finished.
    pub fn flush(&mut self) -> usize {
        // With everything due, time decides nothing.
        self.run(Instant::now(), true)
    }

    /// When the first deadline passes and the next poll has something to do, unless something is
    /// enqueued before; `None` if nothing waits, or for a deadline that never passes. Full batches
    /// are due already: call [`KeyQueue::poll_one`] until it returns 0.
    #[must_use]
    pub fn due_at(&self) -> Option<Instant> {
        self.schedule.due_at(&self.policy)
    }

    /// Moves up to `limit` finished jobs to the end of `done`, in the order in which they
    /// finished, and returns how many. It runs nothing: see [`KeyQueue::poll`].
    pub fn dequeue(&mut self, done: &mut Vec<KeyJob<B>>, limit: usize) -> usize {
        let count = limit.min(self.finished.len());
        done.extend(self.finished.drain(..count).map(|(_, job)| job));
        count
    }

    /// The job that finished first, with its ticket.
    pub fn dequeue_one(&mut self) -> Option<(Ticket, KeyJob<B>)> {
        self.finished.pop_front()
    }

    /// Jobs that wait to be run.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.schedule.len()
    }

    /// Jobs enqueued and not yet dequeued.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.schedule.len() + self.finished.len()
    }

    /// Most jobs that can be in flight.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> FlushPolicy {
        self.policy
    }

    /// Replaces the policy, from the next poll on.
    pub fn set_policy(&mut self, policy: FlushPolicy) {
        self.policy = policy;
    }

    /// Replaces the observer that the device gave this queue, or removes it.
    pub fn set_observer(&mut self, observer: Option<Box<dyn KeyObserver>>) {
        self.runner.calls.observer.set(observer);
    }

    /// The queue's counters.
    #[must_use]
    pub fn stats(&self) -> KeyQueueStats {
        self.runner.calls.stats
    }

    /// What each engine did for the queue.
    #[must_use]
    pub fn engine_stats(&self) -> QueueStats {
        self.runner.calls.counters.snapshot()
    }

    /// A handle that reads what [`KeyQueue::engine_stats`] returns from any thread.
    #[must_use]
    pub fn stats_reader(&self) -> StatsReader {
        StatsReader::new(self.runner.calls.counters.clone())
    }

    fn run(&mut self, now: Instant, everything: bool) -> usize {
        let cutoff = everything.then(|| self.schedule.cutoff());
        let mut count = 0;
        loop {
            match self.run_one(now, cutoff, |_, count| count) {
                0 => return count,
                ran => count += ran,
            }
        }
    }

    /// Runs the next batch that is due; `part` as for [`Schedule::take_due`].
    fn run_one(
        &mut self,
        now: Instant,
        cutoff: Option<Cutoff>,
        part: impl FnOnce(&KeyJob<B>, usize) -> usize,
    ) -> usize {
        let mut running = Running {
            outcomes: Outcomes::new(),
            jobs: &mut self.running,
            finished: &mut self.finished,
            runner: &mut self.runner,
        };
        let (policy, jobs) = (&self.policy, &mut *running.jobs);
        if self.schedule.take_due(policy, now, cutoff, part, jobs) {
            run_jobs(running.runner, jobs, &mut running.outcomes);
        }
        jobs.len()
    }

    fn process_observed(&mut self, ops: &mut [KeyOp<'_>]) -> BurstOutcome {
        self.fresh.clear();
        for (index, op) in ops.iter().enumerate() {
            if op.status != Status::NotProcessed {
                continue;
            }
            let ticket = self.schedule.ticket();
            match self.fresh.last_mut() {
                Some(run) if run.is_followed_by(index, ops) => run.tickets.count += 1,
                _ => self.fresh.push(Run {
                    start: index,
                    tickets: ticket.into(),
                }),
            }
        }
        for &Run { start, tickets } in &self.fresh {
            let spec = ops[start].session.spec();
            self.runner
                .calls
                .observer
                .tell(|it| it.submitted(tickets, spec));
        }
        let outcome = self.runner.process(ops);
        for &Run { start, tickets } in &self.fresh {
            let mut first = tickets.first;
            let ops = &ops[start..start + tickets.count];
            for same in ops.chunk_by(|one, other| one.status == other.status) {
                let count = same.len();
                let done = Completion {
                    ops: Tickets { first, count },
                    spec: same[0].session.spec(),
                    queued_at: None,
                    status: same[0].status,
                };
                self.runner.calls.observer.tell(|it| it.completed(done));
                first.0 += count as u64;
            }
        }
        outcome
    }
}

/// Neighbours in a burst that are of one kind and had no status before it ran.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: usize,
    tickets: Tickets,
}

impl Run {
    fn is_followed_by(&self, index: usize, ops: &[KeyOp<'_>]) -> bool {
        let spec = |index: usize| ops[index].session.spec();
        index == self.start + self.tickets.count && spec(self.start) == spec(index)
    }
}

/// How many of `count` jobs of `job`'s group are best run now, if others come meanwhile.
fn best_part<B: OwnedBuffer>(job: &KeyJob<B>, count: usize) -> usize {
    FlushPolicy::batch(count, job.session().inner().per_pass)
}

/// The jobs of a batch, which are finished however the engine returns.
struct Running<'q, B: OwnedBuffer> {
    /// Of the jobs, in their order, once they have run.
    outcomes: Outcomes,
    jobs: &'q mut Vec<Entry<KeyJob<B>>>,
    finished: &'q mut VecDeque<(Ticket, KeyJob<B>)>,
    runner: &'q mut Runner,
}

impl<B: OwnedBuffer> Drop for Running<'_, B> {
    fn drop(&mut self) {
        let outcomes = std::mem::take(&mut self.outcomes);
        for (entry, outcome) in self.jobs.iter_mut().zip(outcomes) {
            entry.item.outcome = outcome;
        }
        for entry in self.jobs.drain(..) {
            let Entry {
                ticket,
                since,
                item,
            } = entry;
            let done = job_done(ticket, Some(since), &item);
            self.runner.calls.observer.tell(|it| it.completed(done));
            self.finished.push_back((ticket, item));
        }
    }
}

fn job_done<B: OwnedBuffer>(op: Ticket, queued_at: Option<Instant>, job: &KeyJob<B>) -> Completion {
    Completion {
        ops: op.into(),
        spec: job.session().spec(),
        queued_at,
        status: job.status(),
    }
}

fn run_jobs<B: OwnedBuffer>(
    runner: &mut Runner,
    jobs: &mut [Entry<KeyJob<B>>],
    outcomes: &mut Outcomes,
) {
    let ops = jobs.iter_mut().map(|Entry { item: job, .. }| {
        let status = job.status();
        job.presume_failed();
        let mut op = job.op();
        op.status = status;
        op
    });
    let mut ran = Ran {
        ops: ops.collect(),
        outcomes,
    };
    let _each_job_has_its_own_status = runner.process(&mut ran.ops);
}

/// The operations of jobs, whose outcomes are noted however the engine returns: if it panicked,
/// those that had their results keep them, and all others have failed.
struct Ran<'r, 'a> {
    ops: SmallVec<[KeyOp<'a>; 8]>,
    outcomes: &'r mut Outcomes,
}

impl Drop for Ran<'_, '_> {
    fn drop(&mut self) {
        for op in &mut self.ops {
            if op.status == Status::NotProcessed {
                op.status = KeyReason::Engine.status();
                op.reason = Some(KeyReason::Engine);
            }
            self.outcomes.push(Outcome::of(op));
        }
    }
}

#[cfg(test)]
mod tests;
