//! What a batch runs with: a queue and a stack, and spare keys. A process has as many as it ever had
//! batches at once, however many threads it has.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Instant;

use lanelock::Status;
use lanelock::public_key::{FlushPolicy, KeyDevice, KeyJob, KeyKind, KeyQueue, Ticket};

use super::line::{Claimed, Waiter};
use super::primitives::Arc;
use crate::batch::{Bytes, Stack, device};
use crate::lanes;
use crate::spare::{Pair, Spares};

/// Jobs that a workspace takes at once: a whole line.
const DEPTH: usize = 64;

/// Workspaces that are kept for the next batch; a process that has more batches at once makes others
/// and frees them.
const MOST: usize = 16;

pub(super) type Work = KeyJob<Bytes>;

pub(super) struct Workspace {
    queue: KeyQueue<Bytes>,
    stack: Stack,
    spares: Spares,
}

/// Those that no batch uses.
pub(super) struct Workspaces([AtomicPtr<Workspace>; MOST]);

impl Workspaces {
    pub(super) const fn new() -> Self {
        Self([const { AtomicPtr::new(std::ptr::null_mut()) }; MOST])
    }

    /// One for a batch; `None` if there are no engines or no memory, this time.
    pub(super) fn take(&self) -> Option<Box<Workspace>> {
        let null = std::ptr::null_mut();
        let mut idle = self
            .0
            .iter()
            .map(|place| place.swap(null, Ordering::Acquire));
        match idle.find(|it| !it.is_null()) {
            // SAFETY: from `put`, and this thread's alone since it was taken.
            Some(found) => Some(unsafe { Box::from_raw(found) }),
            None => Workspace::new().map(Box::new),
        }
    }

    /// Keeps it for the next batch.
    pub(super) fn put(&self, workspace: Box<Workspace>) {
        let null = std::ptr::null_mut();
        let ours = Box::into_raw(workspace);
        let place = |place: &AtomicPtr<_>| {
            let placed = place.compare_exchange(null, ours, Ordering::Release, Ordering::Relaxed);
            placed.is_ok()
        };
        if !self.0.iter().any(place) {
            // SAFETY: made above, and nowhere else.
            drop(unsafe { Box::from_raw(ours) });
        }
    }
}

impl Workspace {
    fn new() -> Option<Self> {
        let made = device().zip(Stack::new());
        if made.is_none() {
            lanes::refused();
        }
        let (device, stack) = made?;
        lanes::granted();
        let queue = device.key_queue_of(DEPTH, FlushPolicy::immediate());
        Some(Self {
            queue,
            stack,
            spares: Spares::default(),
        })
    }

    /// Calls `f` on the stack. `None` if it panicked.
    pub(super) fn on_stack<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        self.stack.run(f)
    }

    /// A key pair that nobody else has; `None` if there are no lanes for it.
    pub(super) fn spare(&mut self, kind: KeyKind) -> Option<Pair> {
        let (stack, queue) = (&self.stack, &mut self.queue);
        self.spares.take(kind, |ops| {
            let count = ops.len();
            stack.run(|| queue.process(ops).succeeded) == Some(count)
        })
    }

    /// Runs what waiters brought and gives each its result. False if the engine panicked: the
    /// workspace is then to be dropped, with what has not run.
    pub(super) fn run(&mut self, claimed: Vec<Claimed<Work>>) -> bool {
        let kind = |work: &Work| work.session().spec().kind;
        let kinds: Vec<_> = claimed.iter().map(|(_, work)| kind(work)).collect();
        let (mut batch, now) = (Batch(Vec::with_capacity(claimed.len())), Instant::now());
        for (waiter, work) in claimed {
            let alike = kinds.iter().filter(|&&other| other == kind(&work)).count();
            let is_worth_it = alike >= work.session().break_even().max(2);
            let ticket = is_worth_it.then(|| self.queue.enqueue(work, now).ok());
            batch.0.push((ticket.flatten(), waiter));
        }
        let queue = &mut self.queue;
        let ran = self.stack.run(|| queue.flush());
        while let Some((ticket, work)) = self.queue.dequeue_one() {
            batch.finish(ticket, work);
        }
        ran.is_some()
    }
}

/// The waiters of a batch. Whoever has no result when it goes is told that there is none.
pub(super) struct Batch(pub(super) Vec<(Option<Ticket>, Arc<Waiter<Work>>)>);

impl Batch {
    fn finish(&mut self, ticket: Ticket, work: Work) {
        let place = self.0.iter().position(|(known, _)| *known == Some(ticket));
        if let Some(place) = place {
            let (_, waiter) = self.0.swap_remove(place);
            waiter.finish(Some(work).filter(|work| work.status() == Status::Success));
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        for (_, waiter) in self.0.drain(..) {
            waiter.finish(None);
        }
    }
}
