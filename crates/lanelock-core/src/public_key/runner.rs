//! From a slice of operations to engine calls.

use super::batch::KeyBatch;
use super::observer::{BatchStart, Observer};
use super::op::KeyOp;
use super::session::KeySessionInner;
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

    /// Runs operations of one group: on lanes in batches that fill them, as far as there are
    /// enough.
    fn run_group(&mut self, ops: &mut [KeyOp<'_>], order: &[u32]) {
        let session = ops[order[0] as usize].session;
        if session.lanes == 1 {
            self.stats.single += order.len() as u64;
            return self.run_batch(session, ops, order);
        }
        for batch in order.chunks(session.lanes) {
            self.stats.batches += 1;
            self.stats.in_lanes += batch.len() as u64;
            self.run_batch(session, ops, batch);
        }
    }

    /// Hands a batch to its engine.
    fn run_batch(&mut self, session: &KeySessionInner, ops: &mut [KeyOp<'_>], order: &[u32]) {
        self.observer.tell(|observer| {
            observer.batch_started(BatchStart {
                spec: session.spec(),
                filled: order.len(),
                lanes: session.lanes,
            });
        });
        KeyBatch::new(ops, order).run(&mut self.token);
        self.observer.tell(|observer| observer.batch_ended());
    }
}
