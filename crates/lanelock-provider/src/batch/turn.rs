//! A thread's operations between submission and result.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use lanelock::public_key::{FlushPolicy, KeyDevice, KeyJob, KeyQueue, Ticket};

use super::wait::Descriptor;
use super::{Bytes, device, process, wait};
use crate::event_loop;
use crate::lasting::Retry;

/// Jobs that a thread can have in flight; operations beyond run by themselves.
const DEPTH: usize = 4096;

/// How often a job may be resumed before its time without its operation being run: applications
/// resume jobs for other reasons, too, and one whose pauses do nothing must come to an end.
pub(super) const MOST_PAUSES: u32 = 1000;

/// Most lone operations between two that pause to look for company.
const MOST_SKIPPED: u32 = 32;

/// Operations of which it was worth it to pause. Two by themselves save little, and a program with two
/// clients would have both wait for the server at the same time, and then the server for both.
const ENOUGH: usize = 3;

/// Between submissions only what is full runs.
const FULL_ONLY: FlushPolicy = FlushPolicy {
    deadline: Duration::from_secs(3600),
    when_alone: false,
};

struct Turn {
    generation: u32,
    queue: KeyQueue<Bytes>,
    /// By the ticket of each operation's first job.
    entries: HashMap<Ticket, Entry>,
    /// The first job of the operation that another belongs to.
    firsts: HashMap<Ticket, Ticket>,
    /// Operations whose results their jobs have not fetched.
    unclaimed: usize,
    /// Whether it is worth pausing where no other operation waits: a pause costs a turn of the event
    /// loop, and the time until the others come.
    company: Retry,
    closed_elsewhere: usize,
}

struct Entry {
    parts: [Option<Part>; MOST_JOBS],
    /// Gone with its wait context; then nobody asks for the result.
    descriptor: Weak<Descriptor>,
    deadline: Duration,
    due: Instant,
}

/// A job of an operation.
struct Part {
    ticket: Ticket,
    done: Option<KeyJob<Bytes>>,
}

/// Most jobs of an operation.
const MOST_JOBS: usize = 2;

/// The jobs of an operation: at least the first.
pub(super) type Jobs = [Option<KeyJob<Bytes>>; MOST_JOBS];

/// What became of an operation that was submitted.
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box is an allocation"
)]
pub(super) enum Submitted {
    /// Its jobs filled batches, which have run.
    Done(Jobs),
    Waiting(Ticket),
}

/// What a resumed job finds.
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box is an allocation"
)]
pub(super) enum Resumed {
    Done(Jobs),
    /// It is not due: the job pauses again.
    TooEarly,
    /// Too few joined it for lanes to be faster: the job runs it by itself.
    Alone,
    /// Nobody wants it: the job is to end.
    Cancelled,
}

thread_local! {
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
    static CANCELLING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f` with this thread's operations; `None` when the thread ends, and if there are no
/// engines.
fn with<R>(f: impl FnOnce(&mut Turn) -> R) -> Option<R> {
    let result = TURN.try_with(|turn| {
        let mut turn = turn.try_borrow_mut().ok()?;
        let generation = process::generation()?;
        if turn
            .as_ref()
            .is_some_and(|turn| turn.generation != generation)
        {
            // A parent's: another of its threads may have held a lock that dropping it takes.
            std::mem::forget(turn.take());
        }
        if turn.is_none() {
            *turn = Some(Turn::new(generation)?);
        }
        turn.as_mut().map(f)
    });
    result.ok().flatten()
}

/// Whether an operation that pauses can hope for others.
pub(super) fn has_company() -> Option<bool> {
    with(|turn| turn.queue.waiting() > 0 || turn.unclaimed > 0 || turn.company.is_due())
}

/// Takes an operation, and runs the batches that it fills. `None` if there is no room for it.
pub(super) fn submit(
    jobs: Jobs,
    descriptor: &Arc<Descriptor>,
    deadline: Duration,
) -> Option<Submitted> {
    with(|turn| {
        turn.drop_orphans();
        let now = Instant::now();
        let ticket = turn.enqueue(jobs, descriptor, now, deadline)?;
        turn.run(now, FULL_ONLY, Some(ticket));
        Some(match turn.claim(ticket) {
            Some(jobs) => Submitted::Done(jobs),
            None => Submitted::Waiting(ticket),
        })
    })?
}

/// A job is resumed for the `pauses`th time. `force`: it cannot pause again.
pub(super) fn resume(ticket: Ticket, pauses: u32, force: bool) -> Option<Resumed> {
    with(|turn| {
        if is_cancelling() {
            turn.remove(ticket);
            return Some(Resumed::Cancelled);
        }
        if let Some(jobs) = turn.claim(ticket) {
            return Some(Resumed::Done(jobs));
        }
        // In a child process the parent's operations are gone.
        let entry = turn.entries.get(&ticket)?;
        let (deadline, due, untouched) = (entry.deadline, entry.due, entry.untouched());
        let now = Instant::now();
        // Jobs with results that are resumed in this turn of the event loop may submit again.
        let others_first = pauses == 1 && deadline.is_zero() && turn.unclaimed > 0;
        if !force && (now < due || others_first) {
            return Some(Resumed::TooEarly);
        }
        if untouched == Some(turn.queue.waiting()) || turn.is_better_alone(ticket) {
            turn.remove(ticket);
            turn.company.failed();
            return Some(Resumed::Alone);
        }
        let deadline = if force { Duration::ZERO } else { deadline };
        let policy = FlushPolicy {
            deadline,
            when_alone: false,
        };
        turn.run(now, policy, Some(ticket));
        turn.claim(ticket).map(Resumed::Done)
    })?
}

/// Whether an operation of this thread has a result that its job has not fetched.
pub(crate) fn is_done(ticket: Ticket) -> bool {
    let done = |turn: &mut Turn| turn.entries.get(&ticket).is_none_or(Entry::is_done);
    with(done).unwrap_or(true)
}

/// Drops an operation and its result.
pub(super) fn cancel(ticket: Ticket) {
    with(|turn| turn.remove(ticket));
}

/// Whether jobs that are resumed are to end.
pub(super) fn is_cancelling() -> bool {
    CANCELLING.get()
}

pub(super) fn set_cancelling(on: bool) {
    CANCELLING.set(on);
}

/// Whether an operation of this thread waits with one of these descriptors.
pub(super) fn owns(descriptors: &[c_int]) -> bool {
    let waits = |entry: &Entry| {
        let descriptor = entry.descriptor.upgrade();
        descriptor.is_some_and(|it| it.has_fd() && descriptors.contains(&it.as_raw_fd()))
    };
    with(|turn| turn.entries.values().any(waits)).unwrap_or(false)
}

impl Turn {
    fn new(generation: u32) -> Option<Self> {
        Some(Self {
            generation,
            queue: device()?.key_queue_of(DEPTH, FULL_ONLY),
            entries: HashMap::new(),
            firsts: HashMap::new(),
            unclaimed: 0,
            company: Retry::new(MOST_SKIPPED),
            closed_elsewhere: 0,
        })
    }

    /// Puts the jobs of an operation into the queue, all or none; the ticket of the first.
    fn enqueue(
        &mut self,
        jobs: Jobs,
        descriptor: &Arc<Descriptor>,
        now: Instant,
        deadline: Duration,
    ) -> Option<Ticket> {
        let count = jobs.iter().flatten().count();
        if self.queue.in_flight() + count > self.queue.depth() {
            return None;
        }
        let parts = jobs.map(|job| {
            let ticket = self.queue.enqueue(job?, now).ok()?;
            Some(Part { ticket, done: None })
        });
        let mut tickets = parts.iter().flatten().map(|part| part.ticket);
        let first = tickets.next()?;
        self.firsts.extend(tickets.map(|ticket| (ticket, first)));
        let entry = Entry {
            parts,
            descriptor: Arc::downgrade(descriptor),
            deadline,
            due: now + deadline,
        };
        self.entries.insert(first, entry);
        Some(first)
    }

    /// Whether none of an operation's jobs has run, and none has enough company for lanes to be faster.
    fn is_better_alone(&self, ticket: Ticket) -> bool {
        let entry = self.entries.get(&ticket);
        entry.is_some_and(|entry| {
            let mut parts = entry.parts.iter().flatten();
            parts.all(|part| self.queue.is_worth_lanes(part.ticket) == Some(false))
        })
    }

    /// Runs what is due by `policy`, and wakes the jobs whose operations that were, but for
    /// `awake`.
    fn run(&mut self, now: Instant, policy: FlushPolicy, awake: Option<Ticket>) {
        self.queue.set_policy(policy);
        // An engine that panics leaves the queue consistent and its batch finished, whose other
        // jobs are told below like those of any batch.
        let ran = catch_unwind(AssertUnwindSafe(|| self.queue.poll(now, None)));
        match ran.unwrap_or(0) {
            0 => {}
            1..ENOUGH => self.company.failed(),
            _ => self.company.succeeded(),
        }
        while let Some((ticket, job)) = self.queue.dequeue_one() {
            let first = self.firsts.remove(&ticket).unwrap_or(ticket);
            let Some(entry) = self.entries.get_mut(&first) else {
                continue;
            };
            let Some(descriptor) = entry.descriptor.upgrade() else {
                self.remove(first);
                continue;
            };
            entry.finish(ticket, job);
            if entry.is_done() {
                if awake != Some(first) {
                    descriptor.signal();
                    event_loop::batch_ran();
                }
                self.unclaimed += 1;
            }
        }
    }

    /// The results of an operation, if all its jobs have run.
    fn claim(&mut self, ticket: Ticket) -> Option<Jobs> {
        if !self.entries.get(&ticket)?.is_done() {
            return None;
        }
        let entry = self.entries.remove(&ticket)?;
        self.unclaimed -= 1;
        Some(entry.parts.map(|part| part?.done))
    }

    fn remove(&mut self, ticket: Ticket) {
        if self.claim(ticket).is_some() {
            return;
        }
        let entry = self.entries.remove(&ticket);
        for part in entry.into_iter().flat_map(|entry| entry.parts).flatten() {
            self.firsts.remove(&part.ticket);
            if part.done.is_none() {
                self.queue.cancel(part.ticket);
            }
        }
    }

    /// Lets go of operations whose wait contexts another thread freed.
    fn drop_orphans(&mut self) {
        let closed = wait::closed_elsewhere();
        if self.closed_elsewhere == closed {
            return;
        }
        self.closed_elsewhere = closed;
        let gone = |entry: &Entry| entry.descriptor.strong_count() == 0;
        let orphans = self.entries.iter().filter(|(_, entry)| gone(entry));
        let orphans: Vec<_> = orphans.map(|(&ticket, _)| ticket).collect();
        for ticket in orphans {
            self.remove(ticket);
        }
    }
}

impl Entry {
    /// Takes the result of one of its jobs.
    fn finish(&mut self, ticket: Ticket, job: KeyJob<Bytes>) {
        let mut parts = self.parts.iter_mut().flatten();
        if let Some(part) = parts.find(|part| part.ticket == ticket) {
            part.done = Some(job);
        }
    }

    fn is_done(&self) -> bool {
        self.parts.iter().flatten().all(|part| part.done.is_some())
    }

    /// How many jobs it has, if none of them has run.
    fn untouched(&self) -> Option<usize> {
        let mut parts = self.parts.iter().flatten();
        let count = parts.clone().count();
        parts.all(|part| part.done.is_none()).then_some(count)
    }
}
