//! The engine's part of a session: a key prepared for one operation.

use arrayvec::ArrayVec;
use lanelock_core::engine::QueueToken;
use lanelock_core::session::SessionMemory;
use lanelock_kernels::Machine;
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession, ValidKeyOp};

/// Most operations that run in lockstep.
pub(super) const LANES: usize = 8;

/// One entry for each operation of a batch.
pub(super) type PerLane<T> = ArrayVec<T, LANES>;

/// A key prepared for one operation.
pub(super) trait Prepared: Send + Sync + Sized + 'static {
    /// Operations that run in lockstep, at most [`LANES`].
    fn lanes(machine: Machine) -> usize {
        machine.digit_lanes()
    }

    /// Runs the operations of `batch`, whose keys and inputs are `inputs`, in the same order.
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>);
}

/// As [`Prepared`], and something is kept for each queue.
pub(super) trait PreparedPerQueue: Send + Sync + Sized + 'static {
    /// Operations that run in lockstep, at most [`LANES`].
    fn lanes(machine: Machine) -> usize {
        machine.digit_lanes()
    }

    /// Operations that one pass over the registers runs.
    fn per_pass(machine: Machine) -> usize;

    /// As [`Prepared::run`], on `queue`.
    fn run(
        machine: Machine,
        queue: &mut QueueToken,
        inputs: &[Input<'_, Self>],
        batch: &mut KeyBatch<'_, '_>,
    );

    /// Bytes kept for each queue.
    fn kept_per_queue(&self) -> usize;
}

impl<K: Prepared> PreparedPerQueue for K {
    fn lanes(machine: Machine) -> usize {
        <Self as Prepared>::lanes(machine)
    }

    fn per_pass(machine: Machine) -> usize {
        <Self as Prepared>::lanes(machine)
    }

    fn run(
        machine: Machine,
        _: &mut QueueToken,
        inputs: &[Input<'_, Self>],
        batch: &mut KeyBatch<'_, '_>,
    ) {
        <Self as Prepared>::run(machine, inputs, batch);
    }

    fn kept_per_queue(&self) -> usize {
        0
    }
}

/// What an operation reads.
pub(super) struct Input<'a, K> {
    pub(super) key: &'a K,
    /// Message, digest or peer's key.
    pub(super) bytes: &'a [u8],
    /// The signature to check.
    pub(super) signature: &'a [u8],
}

/// The session of a prepared key.
pub(super) struct Session<K> {
    machine: Machine,
    group: u32,
    key: K,
}

impl<K: PreparedPerQueue> Session<K> {
    pub(super) fn boxed(machine: Machine, group: u32, key: K) -> Box<dyn KeyEngineSession> {
        Box::new(Self {
            machine,
            group,
            key,
        })
    }
}

impl<K: PreparedPerQueue> KeyEngineSession for Session<K> {
    fn group(&self) -> u32 {
        self.group
    }

    fn lanes(&self) -> usize {
        K::lanes(self.machine)
    }

    fn per_pass(&self) -> usize {
        K::per_pass(self.machine)
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut KeyBatch<'_, '_>) {
        let mut inputs = PerLane::new();
        batch.for_each(|op| {
            // A group's sessions are of one type; without one the batch would stay failed.
            if let Some(session) = op.session::<Self>() {
                inputs.push(Input {
                    key: &session.key,
                    bytes: op.input(),
                    signature: op.signature(),
                });
            }
        });
        debug_assert_eq!(inputs.len(), batch.len(), "sessions of one group");
        if inputs.len() == batch.len() {
            K::run(self.machine, queue, &inputs, batch);
        }
    }

    /// All that there is, key included.
    fn memory(&self) -> SessionMemory {
        SessionMemory {
            session: size_of::<Self>(),
            per_queue_pair: self.key.kept_per_queue(),
        }
    }
}

/// Hands a generated key pair over.
pub(super) fn settle_pair(op: &mut ValidKeyOp<'_, '_>, secret: &[u8], public: &[u8]) {
    let (secret_out, public_out) = op.outputs();
    secret_out[..secret.len()].copy_from_slice(secret);
    public_out[..public.len()].copy_from_slice(public);
    op.succeed_both(secret.len(), public.len());
}
