//! From a slice of operations to engine calls.

use std::mem;
use std::sync::Arc;

use lanelock_core::engine::{Counters, Grouping, QueueToken};
use lanelock_core::{BurstOutcome, Status};
use smallvec::SmallVec;

use super::batch::KeyBatch;
use super::observer::{BatchStart, Observer};
use super::op::KeyOp;
use super::session::KeySessionInner;
use super::stats::KeyQueueStats;

/// Runs operations on the contexts of one queue.
#[derive(Debug)]
pub(super) struct Runner {
    device: u32,
    grouping: Box<Grouping>,
    pub(super) calls: Calls,
}

/// Calls of engines, and what is told of them.
#[derive(Debug)]
pub(super) struct Calls {
    token: QueueToken,
    pub(super) counters: Arc<Counters>,
    pub(super) stats: KeyQueueStats,
    pub(super) observer: Observer,
}

impl Runner {
    pub(super) fn new(device: u32, engines: &[&'static str]) -> Self {
        Self {
            device,
            grouping: Box::new(Grouping::new()),
            calls: Calls {
                token: QueueToken::new(),
                counters: Arc::new(Counters::new(engines)),
                stats: KeyQueueStats::default(),
                observer: Observer::default(),
            },
        }
    }

    pub(super) fn device(&self) -> u32 {
        self.device
    }

    /// Gives each operation that has no status yet one.
    pub(super) fn process(&mut self, ops: &mut [KeyOp<'_>]) -> BurstOutcome {
        let mut outcome = BurstOutcome::default();
        for slice in ops.chunks_mut(Grouping::SLICE) {
            self.process_slice(slice, &mut outcome);
        }
        self.calls.counters.count_burst(0);
        outcome
    }

    fn process_slice(&mut self, ops: &mut [KeyOp<'_>], outcome: &mut BurstOutcome) {
        let mut admitted = 0;
        for (index, op) in (0_u16..).zip(&mut *ops) {
            if op.status != Status::NotProcessed {
                continue;
            }
            match op.check(self.device) {
                Ok(()) => {
                    self.grouping.set(admitted, index);
                    admitted += 1;
                }
                Err(reason) => {
                    op.status = reason.status();
                    op.reason = Some(reason);
                    outcome.failed += 1;
                    self.calls.refused();
                }
            }
        }
        self.grouping.set_len(admitted);
        let group = |op: &KeyOp<'_>| op.session.group;
        self.grouping
            .for_each_group(ops, false, group, |ops, order| {
                self.calls.run_group(ops, order);
                for &index in order {
                    match ops[usize::from(index)].status {
                        Status::Success => outcome.succeeded += 1,
                        _ => outcome.failed += 1,
                    }
                }
            });
    }
}

impl Calls {
    /// No engine sees an operation.
    pub(super) fn refused(&mut self) {
        self.stats.refused += 1;
        self.counters.count_refused(1);
    }

    /// Runs operations of one group: on lanes in batches that fill them, as far as there are
    /// enough; what is left by itself where that is faster.
    fn run_group<'a>(&mut self, ops: &mut [KeyOp<'a>], order: &[u16]) {
        let session = ops[order[0] as usize].session;
        if session.lanes == 1 {
            self.stats.single += order.len() as u64;
            return self.run_batch(session, ops, order);
        }
        for batch in order.chunks(session.lanes) {
            if let Some(sessions) = alone(ops, batch) {
                for (session, &index) in sessions.iter().zip(batch) {
                    self.run_alone(session, ops, index);
                }
                continue;
            }
            self.stats.batches += 1;
            self.stats.in_lanes += batch.len() as u64;
            self.run_batch(session, ops, batch);
        }
    }

    /// Runs an operation by itself on `session`, which has its own session's key.
    fn run_alone<'a>(&mut self, session: &'a KeySessionInner, ops: &mut [KeyOp<'a>], index: u16) {
        self.stats.single += 1;
        let in_lanes = mem::replace(&mut ops[usize::from(index)].session, session);
        self.run_batch(session, ops, &[index]);
        ops[usize::from(index)].session = in_lanes;
    }

    /// Hands a batch to its engine.
    fn run_batch(&mut self, session: &KeySessionInner, ops: &mut [KeyOp<'_>], order: &[u16]) {
        self.observer.tell(|observer| {
            observer.batch_started(BatchStart {
                spec: session.spec(),
                filled: order.len(),
                lanes: session.lanes,
            });
        });
        KeyBatch::new(ops, order, &self.counters).run(&mut self.token);
        self.observer.tell(|observer| observer.batch_ended());
    }
}

/// The sessions that run the operations of a batch one at a time, if it is too short for lanes and
/// each has one.
fn alone<'a>(ops: &[KeyOp<'a>], batch: &[u16]) -> Option<SmallVec<[&'a KeySessionInner; 8]>> {
    let sessions = batch.iter().map(|&index| ops[usize::from(index)].session);
    sessions.map(|session| session.alone(batch.len())).collect()
}
