//! A queue's counters.

/// Counters of a [`super::KeyQueue`].
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// use lanelock::public_key::KeyOp;
///
/// let mut queue = device.key_queue(8, FlushPolicy::default());
/// let mut signatures = [[0; 64]; 3];
/// let mut burst = signatures.each_mut().map(|signature| KeyOp::sign(&session, b"a message", signature));
/// let _ = queue.process(&mut burst);
/// let stats = queue.stats();
/// assert_eq!((stats.batches, stats.mean_fill()), (1, 3.0));
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
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
