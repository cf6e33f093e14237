//! What a queue has done.

/// Counters of a [`super::KeyQueue`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct KeyQueueStats {
    /// Batches run on lanes.
    pub batches: u64,
    /// Operations in them.
    pub in_lanes: u64,
    /// Operations run one at a time.
    pub single: u64,
    /// Operations refused before an engine saw them.
    pub refused: u64,
    /// Jobs cancelled before they ran.
    pub cancelled: u64,
}

impl KeyQueueStats {
    /// Lanes filled in the average batch.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // counts of operations, not of atoms
    pub fn mean_fill(&self) -> f64 {
        match self.batches {
            0 => 0.0,
            batches => self.in_lanes as f64 / batches as f64,
        }
    }
}
