//! From a slice of operations to their statuses.

mod running;

use std::sync::Arc;
use std::{mem, slice};

use crate::ahead::ask_for_key;
use crate::group::{Batch, Grouping, SLICE};
use crate::op::{Feed, Likeness, Lone, Op};
use crate::per_queue::QueueToken;
use crate::queue_pair::BurstOutcome;
use crate::stats::Counters;
use crate::status::Status;
use crate::validate::{Joint, validate};
use running::{Feeding, Running, RunningLone, count_each};

/// What runs a thread's bursts, and counts what becomes of them.
#[derive(Debug)]
pub(crate) struct Burst {
    device: u32,
    token: QueueToken,
    grouping: Box<Grouping>,
    counters: Arc<Counters>,
}

impl Burst {
    pub(crate) fn new(device: u32, engines: &[&'static str]) -> Self {
        Self {
            device,
            token: QueueToken::new(),
            grouping: Box::new(Grouping::new()),
            counters: Arc::new(Counters::new(engines)),
        }
    }

    pub(crate) fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

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
        if session.rules.group.device() != self.device || !session.rules.whole.admits(op) {
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
    let (mut joint, mut one_session) = (Joint::default(), true);
    for op in ops {
        if !std::ptr::eq(op.session, first) {
            one_session = false;
            ask_for_key(op.session);
            if op.session.kind != first.kind {
                return None;
            }
        }
        rules.join(op, &mut joint);
    }
    rules.admits_all(&joint, ops).then_some(Alike {
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
