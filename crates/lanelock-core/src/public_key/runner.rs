//! From a slice of operations to engine calls.

use std::time::Instant;

use super::batch::KeyBatch;
use super::observer::{BatchStart, Observer};
use super::op::KeyOp;
use super::session::{KeySessionInner, Side};
use super::stats::KeyQueueStats;
use crate::engine::QueueToken;
use crate::queue_pair::BurstOutcome;
use crate::status::Status;

/// Runs operations on the contexts of one queue.
#[derive(Debug)]
pub(super) struct Runner {
    device: u32,
    token: QueueToken,
    pub(super) stats: KeyQueueStats,
    pub(super) observer: Observer,
    order: Vec<u32>,
    rest: Vec<u32>,
}

impl Runner {
    pub(super) fn new(device: u32) -> Self {
        Self {
            device,
            token: QueueToken::new(),
            stats: KeyQueueStats::default(),
            observer: Observer::default(),
            order: Vec::new(),
            rest: Vec::new(),
        }
    }

    pub(super) fn device(&self) -> u32 {
        self.device
    }

    /// Gives each operation that has no status yet one.
    pub(super) fn process(&mut self, ops: &mut [KeyOp<'_>]) -> BurstOutcome {
        let mut order = std::mem::take(&mut self.order);
        let mut rest = std::mem::take(&mut self.rest);
        order.clear();
        let mut outcome = BurstOutcome::default();
        for (index, op) in (0_u32..).zip(&mut *ops) {
            if op.status != Status::NotProcessed {
                continue;
            }
            match op.check(self.device) {
                Ok(()) => order.push(index),
                Err(reason) => {
                    op.status = reason.status();
                    op.reason = Some(reason);
                    outcome.failed += 1;
                    self.stats.refused += 1;
                }
            }
        }
        while let Some(&first) = order.first() {
            let group = ops[first as usize].session.group;
            rest.clear();
            order.retain(|&index| {
                let same = ops[index as usize].session.group == group;
                if !same {
                    rest.push(index);
                }
                same
            });
            self.run_group(ops, &order);
            for &index in &order {
                match ops[index as usize].status {
                    Status::Success => outcome.succeeded += 1,
                    _ => outcome.failed += 1,
                }
            }
            std::mem::swap(&mut order, &mut rest);
        }
        (self.order, self.rest) = (order, rest);
        outcome
    }

    /// Runs operations of one group: full batches on lanes, what is left where it is faster.
    fn run_group(&mut self, ops: &mut [KeyOp<'_>], mut order: &[u32]) {
        let session = ops[order[0] as usize].session;
        if session.primary.lanes == 1 {
            self.stats.single += order.len() as u64;
            return self.run_batch(session, Side::Lanes, ops, order);
        }
        while !order.is_empty() {
            let step = session.costs.first_step(order.len());
            let (chunk, rest) = order.split_at(step.count);
            match step.side {
                Side::Single => self.stats.single += chunk.len() as u64,
                Side::Lanes => {
                    self.stats.batches += 1;
                    self.stats.in_lanes += chunk.len() as u64;
                }
            }
            self.run_measured(session, step.side, ops, chunk);
            order = rest;
        }
    }

    /// Runs a batch, and times it while its cost is unknown.
    fn run_measured(
        &mut self,
        session: &KeySessionInner,
        side: Side,
        ops: &mut [KeyOp<'_>],
        chunk: &[u32],
    ) {
        // The first operation of a session makes its contexts, which is no part of what later
        // ones cost.
        let mut wanted = session.costs.wants(side, chunk.len());
        if wanted {
            for &index in chunk {
                wanted &= ops[index as usize].session.on(side).has_run();
            }
        }
        let start = wanted.then(Instant::now);
        self.run_batch(session, side, ops, chunk);
        if let Some(start) = start {
            session.costs.record(side, chunk.len(), start.elapsed());
        }
    }

    /// Hands a batch to its engine.
    fn run_batch(
        &mut self,
        session: &KeySessionInner,
        side: Side,
        ops: &mut [KeyOp<'_>],
        order: &[u32],
    ) {
        self.observer.tell(|observer| {
            observer.batch_started(BatchStart {
                spec: session.spec(),
                filled: order.len(),
                lanes: match side {
                    Side::Lanes => session.primary.lanes,
                    Side::Single => 1,
                },
            });
        });
        KeyBatch::new(ops, order, side).run(&mut self.token);
        self.observer.tell(|observer| observer.batch_ended());
    }
}
