//! Observers that see a queue's events as they happen: for counters, histograms and probes.

use std::fmt;
use std::ops::Range;
use std::time::Instant;

use lanelock_core::Status;

use super::algorithm::KeySpec;
use super::schedule::Ticket;

/// Sees the events of one [`super::KeyQueue`], in order, on the thread that uses the queue.
///
/// Every operation is submitted once, and then completed or cancelled once; if an engine panics,
/// its batch does not end, and the operations of a burst ([`super::KeyQueue::process`]) are left
/// without a completion. Batches do not nest. An observer must not panic: it is called while an
/// engine's panic unwinds, too.
pub trait KeyObserver: Send {
    /// Operations have been handed over: one as a job, or a run of one kind in a burst.
    fn submitted(&mut self, ops: Tickets, spec: KeySpec);

    /// An engine will now run a batch.
    fn batch_started(&mut self, batch: BatchStart);

    /// The engine has returned.
    fn batch_ended(&mut self);

    /// Operations have their status: one that was a job, or a run of a burst with one outcome.
    fn completed(&mut self, done: Completion);

    /// A job has been taken back before it ran.
    fn cancelled(&mut self, op: Ticket, spec: KeySpec);
}

/// A batch that will now run.
#[derive(Clone, Copy, Debug)]
pub struct BatchStart {
    /// What its first operation does. Operations that share lanes, such as an RSA key's signatures
    /// of either padding and its decryptions, share batches.
    pub spec: KeySpec,
    /// Operations in it.
    pub filled: usize,
    /// Operations that run in lockstep; 1 if they run one at a time.
    pub lanes: usize,
}

/// Operations that have their status.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The operations.
    pub ops: Tickets,
    /// What they do.
    pub spec: KeySpec,
    /// When they were enqueued; `None` for operations of a burst, which do not wait, and for one
    /// that was refused.
    pub queued_at: Option<Instant>,
    /// The status of each.
    pub status: Status,
}

/// Tickets that a queue gave out in succession.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Tickets {
    pub(super) first: Ticket,
    pub(super) count: usize,
}

impl Tickets {
    /// How many; at least 1.
    #[must_use]
    pub const fn count(self) -> usize {
        self.count
    }

    /// Their numbers, as [`Ticket::number`] gives them.
    #[must_use]
    pub const fn numbers(self) -> Range<u64> {
        let first = self.first.number();
        first..first + self.count as u64
    }
}

impl From<Ticket> for Tickets {
    fn from(first: Ticket) -> Self {
        Self { first, count: 1 }
    }
}

/// Makes the observer of each queue of a device; `None` for a queue without one.
pub type ObserverMaker = fn() -> Option<Box<dyn KeyObserver>>;

/// A queue's observer, if it has one.
#[derive(Default)]
pub(super) struct Observer(Option<Box<dyn KeyObserver>>);

impl Observer {
    pub(super) fn set(&mut self, observer: Option<Box<dyn KeyObserver>>) {
        self.0 = observer;
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Calls `f` with the observer.
    #[inline]
    pub(super) fn tell(&mut self, f: impl FnOnce(&mut dyn KeyObserver)) {
        if let Some(observer) = &mut self.0 {
            f(&mut **observer);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.is_set()).finish()
    }
}
