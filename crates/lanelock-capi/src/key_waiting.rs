//! What a key queue has inside: operations of C's between `lanelock_key_enqueue` and
//! `lanelock_key_dequeue`, and bursts.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use lanelock::public_key::{KeyBuffers, KeyJob, KeyOp, KeyQueue, Ticket};

use crate::error::Failure;
use crate::key_op::{Memory, lanelock_key_op, number_of, parts};
use crate::op::{LANELOCK_INVALID_ARGS, LANELOCK_NOT_PROCESSED};
use crate::timer::{Due, Timer};

/// What one thread at a time uses.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) queue: KeyQueue<Memory>,
    /// The names in the queue of operations that have not been dequeued.
    pub(crate) tickets: HashMap<usize, Ticket>,
    /// Operations that were finished before they came to the queue.
    settled: VecDeque<*mut lanelock_key_op>,
    pub(crate) timer: Option<Timer>,
    /// Since the last poll as many wait as fill a batch.
    pub(crate) may_be_full: bool,
}

impl Inner {
    pub(crate) fn new(queue: KeyQueue<Memory>) -> Self {
        Self {
            queue,
            tickets: HashMap::new(),
            settled: VecDeque::new(),
            timer: None,
            may_be_full: false,
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.queue.in_flight() + self.settled.len()
    }

    pub(crate) fn room(&self) -> usize {
        self.queue.depth().saturating_sub(self.in_flight())
    }

    /// Takes an operation, for which there is room, unless it is here already.
    ///
    /// # Safety
    /// `op` is valid as for `lanelock_key_enqueue`.
    pub(crate) unsafe fn enqueue(&mut self, op: *mut lanelock_key_op, now: Instant) -> bool {
        if self.tickets.contains_key(&(op as usize)) || self.settled.contains(&op) {
            return false;
        }
        // SAFETY: the caller's promise.
        let record = unsafe { &mut *op };
        // SAFETY: the caller's promise; dequeued or freed, the queue has dropped the memory.
        let memory = match unsafe { waiting(record) } {
            Some(memory) => memory,
            None => {
                self.settled.push_back(op);
                return true;
            }
        };
        // SAFETY: live, as `waiting` has found.
        let session = unsafe { &(*record.session).session };
        let job = KeyJob::of(session, memory).user_data(op.expose_provenance() as u64);
        match self.queue.enqueue(job, now) {
            Ok(ticket) => {
                self.tickets.insert(op as usize, ticket);
                self.may_be_full |= self.queue.waiting() >= session.lanes();
                true
            }
            // No room, which there was.
            Err(_) => false,
        }
    }

    /// The operation that finished first, with its results.
    pub(crate) fn dequeue(&mut self) -> Option<*mut lanelock_key_op> {
        if let Some(op) = self.settled.pop_front() {
            return Some(op);
        }
        let (_, job) = self.queue.dequeue_one()?;
        let address = usize::try_from(job.data()).expect("`enqueue` gave it one");
        let op = std::ptr::with_exposed_provenance_mut::<lanelock_key_op>(address);
        self.tickets.remove(&(op as usize));
        // SAFETY: `enqueue` took it, and its owner leaves it to this queue until now.
        let record = unsafe { &mut *op };
        record.status = job.status() as u8;
        record.reason = job.error().map_or(0, |error| number_of(error.reason()));
        record.written = job.result().len();
        record.second_written = job.second_result().len();
        Some(op)
    }

    /// When there is something to do.
    pub(crate) fn due(&self) -> Due {
        if self.may_be_full || self.in_flight() > self.queue.waiting() {
            return Due::Now;
        }
        self.queue.due_at().map_or(Due::Never, Due::At)
    }

    pub(crate) fn set_timer(&mut self) -> Result<(), Failure> {
        let due = self.due();
        match &mut self.timer {
            Some(timer) => timer.set(due),
            None => Ok(()),
        }
    }
}

/// What an operation points to; `None` if it has a status, or has been given one.
///
/// # Safety
/// As for [`lanelock_key_op::memory`].
unsafe fn waiting(op: &mut lanelock_key_op) -> Option<KeyBuffers<Memory>> {
    if op.status != LANELOCK_NOT_PROCESSED {
        return None;
    }
    // SAFETY: the caller's promise.
    match unsafe { op.memory() } {
        Ok(memory) => Some(memory),
        Err(reason) => {
            (op.status, op.reason) = (LANELOCK_INVALID_ARGS, reason);
            None
        }
    }
}

/// Runs a burst, and returns how many succeeded.
///
/// # Safety
/// The operations are valid as for `lanelock_key_process`.
pub(crate) unsafe fn run(queue: &mut KeyQueue<Memory>, ops: &mut [lanelock_key_op]) -> usize {
    let mut results = Results {
        ran: Vec::with_capacity(ops.len()),
        to: Vec::with_capacity(ops.len()),
    };
    for op in ops {
        // SAFETY: the caller's promise; a session that is live, as `waiting` has found.
        unsafe {
            if let Some(memory) = waiting(op) {
                let session = &(*op.session).session;
                results.ran.push(KeyOp::of(session, parts(memory)));
                results.to.push(op);
            }
        }
    }
    queue.process(&mut results.ran).succeeded
}

/// Operations that have run, and where their results go, however the engine returns.
struct Results<'a> {
    ran: Vec<KeyOp<'a>>,
    to: Vec<&'a mut lanelock_key_op>,
}

impl Drop for Results<'_> {
    fn drop(&mut self) {
        for (ran, op) in self.ran.iter().zip(&mut self.to) {
            op.status = ran.status() as u8;
            op.reason = ran.error().map_or(0, |error| number_of(error.reason()));
            (op.written, op.second_written) = (ran.written(), ran.second_written());
        }
    }
}
