//! Operations on an engine that may panic, and what is counted of those that have run.

use std::slice;

use crate::group::Batch;
use crate::op::feed::Taken;
use crate::op::{Feed, Likeness, Op, ValidOp};
use crate::queue_pair::BurstOutcome;
use crate::stats::Counters;
use crate::status::Status;

/// A batch on an engine that may panic. Each operation then has a result all the same: one that may
/// have been encrypted is never taken for one that still waits.
pub(super) struct Running<'r, 'b, 'a> {
    pub(super) batch: &'r mut Batch<'b, 'a>,
    pub(super) counters: &'r Counters,
}

impl Drop for Running<'_, '_, '_> {
    #[inline(never)]
    fn drop(&mut self) {
        let _ = count_each(self.batch, self.counters);
    }
}

/// The only operation of a burst on an engine that may panic: as [`Running`].
pub(super) struct RunningLone<'r, 'a> {
    pub(super) op: &'r mut Op<'a>,
    pub(super) counters: &'r Counters,
}

impl RunningLone<'_, '_> {
    #[inline(never)]
    pub(super) fn count(&mut self) -> BurstOutcome {
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
pub(super) struct Feeding<'r, 'f, 'a> {
    pub(super) feed: Feed<'f, 'a>,
    pub(super) engine: usize,
    pub(super) counters: &'r Counters,
}

impl Feeding<'_, '_, '_> {
    /// Counts the operations taken.
    #[inline(always)]
    pub(super) fn count(&mut self) -> BurstOutcome {
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
pub(super) fn count_each(batch: &mut Batch<'_, '_>, counters: &Counters) -> BurstOutcome {
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
