//! What the provider in a server counts of the private-key operations with the server's key.

use std::ops::{AddAssign, Sub};

use lanelock::telemetry::reader::Reader;

/// Batches and the operations in them, since the server's start or of some time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Lanes {
    batches: u64,
    operations: u64,
}

impl Lanes {
    /// Of the process `pid`, for algorithms of the kind of key `key`. Nothing, if it has no
    /// provider or that has not worked yet.
    pub(super) fn of(pid: u32, key: &str) -> Self {
        let snapshot = Reader::open(pid).ok().and_then(|reader| reader.read().ok());
        let queues = snapshot.map_or_else(Vec::new, |snapshot| snapshot.queues);
        let ours = queues
            .iter()
            .filter(|queue| queue.algorithm.starts_with(key));
        ours.fold(Self::default(), |sum, queue| Self {
            batches: sum.batches + queue.stats.batches,
            operations: sum.operations + queue.stats.in_lanes,
        })
    }

    /// Lanes filled in the average batch.
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    pub(super) fn filled(self) -> Option<f64> {
        (self.batches > 0).then(|| self.operations as f64 / self.batches as f64)
    }

    /// Operations in batches, in percent of `all`.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn share_percent(self, all: u64) -> Option<f64> {
        (self.batches > 0).then(|| 100.0 * self.operations as f64 / all as f64)
    }
}

impl Sub for Lanes {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            batches: self.batches.saturating_sub(earlier.batches),
            operations: self.operations.saturating_sub(earlier.operations),
        }
    }
}

impl AddAssign for Lanes {
    fn add_assign(&mut self, more: Self) {
        self.batches += more.batches;
        self.operations += more.operations;
    }
}
