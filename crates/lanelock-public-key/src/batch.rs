//! The operations of one engine call.

use std::any::Any;

use lanelock_core::Status;
use lanelock_core::engine::{Counters, QueueToken};
use zeroize::Zeroize;

use super::engine::KeyEngineSession;
use super::op::KeyOp;
use super::session::KeySessionInner;
use super::status::KeyReason;

/// Operations of one group that run together on one engine; each has passed validation.
#[derive(Debug)]
pub struct KeyBatch<'b, 'a> {
    ops: &'b mut [KeyOp<'a>],
    order: &'b [u16],
    counters: &'b Counters,
}

/// An operation that has passed validation, as an engine sees it.
#[derive(Debug)]
pub struct ValidKeyOp<'o, 'a> {
    op: &'o mut KeyOp<'a>,
}

impl<'b, 'a> KeyBatch<'b, 'a> {
    /// The operations of `ops` at the indices `order`; until the engine says otherwise, each has
    /// failed.
    pub(super) fn new(ops: &'b mut [KeyOp<'a>], order: &'b [u16], counters: &'b Counters) -> Self {
        for &index in order {
            ops[usize::from(index)].status = Status::EngineError;
            ops[usize::from(index)].reason = Some(KeyReason::Engine);
        }
        Self {
            ops,
            order,
            counters,
        }
    }

    /// Number of operations; at least 1.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Always false: a batch has operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The operation at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`KeyBatch::len`].
    pub fn get(&mut self, index: usize) -> ValidKeyOp<'_, 'a> {
        ValidKeyOp {
            op: &mut self.ops[usize::from(self.order[index])],
        }
    }

    /// Calls `f` with each operation, in order.
    pub fn for_each(&mut self, mut f: impl FnMut(ValidKeyOp<'_, 'a>)) {
        for index in 0..self.len() {
            f(self.get(index));
        }
    }

    /// Hands the batch to its engine.
    pub(super) fn run(mut self, queue: &mut QueueToken) {
        self.session().engine.process(queue, &mut self);
    }

    /// The session whose engine runs the batch.
    fn session(&self) -> &'a KeySessionInner {
        self.ops[usize::from(self.order[0])].session
    }
}

/// However the engine returned, even by a panic: what is not done leaves nothing in its outputs,
/// and everything is counted.
impl Drop for KeyBatch<'_, '_> {
    fn drop(&mut self) {
        let engine = self.session().group.engine.into();
        let (mut bytes, mut by_status) = (0, [0; 5]);
        for &index in self.order {
            let op = &mut self.ops[usize::from(index)];
            by_status[op.status as usize] += 1;
            if op.status == Status::Success {
                bytes += op.input.len() as u64;
            }
            if matches!(op.status, Status::EngineError | Status::AuthFailed) {
                let room = op.room();
                op.output[..room].zeroize();
                let second = op.session.shape.second;
                op.second[..second].zeroize();
            }
        }
        self.counters.count_group(engine, bytes, &by_status);
    }
}

impl<'a> ValidKeyOp<'_, 'a> {
    /// The engine's part of the operation's session, if it is a `T`.
    #[must_use]
    pub fn session<T: KeyEngineSession>(&self) -> Option<&'a T> {
        let session: &'a dyn Any = &**self.op.session.engine;
        session.downcast_ref()
    }

    /// Message, digest, plaintext, ciphertext or peer's key; of a length that the session allows.
    #[must_use]
    pub fn input(&self) -> &'a [u8] {
        self.op.input
    }

    /// The signature to check, of any length.
    #[must_use]
    pub fn signature(&self) -> &'a [u8] {
        self.op.signature
    }

    /// Room for the longest result.
    #[must_use]
    pub fn output(&mut self) -> &mut [u8] {
        let room = self.op.room();
        &mut self.op.output[..room]
    }

    /// Room for the longest result and for the second one.
    #[must_use]
    pub fn outputs(&mut self) -> (&mut [u8], &mut [u8]) {
        let (room, second) = (self.op.room(), self.op.session.shape.second);
        (&mut self.op.output[..room], &mut self.op.second[..second])
    }

    /// The result is in the first `written` bytes of the output.
    ///
    /// # Panics
    /// If the output has no room for them.
    pub fn succeed(&mut self, written: usize) {
        self.succeed_both(written, 0);
    }

    /// The results are in the first bytes of the outputs.
    ///
    /// # Panics
    /// If the outputs have no room for them.
    pub fn succeed_both(&mut self, written: usize, second: usize) {
        assert!(
            written <= self.op.room() && second <= self.op.session.shape.second,
            "a result fits its output"
        );
        self.op.written = written;
        self.op.second_written = second;
        self.op.status = Status::Success;
        self.op.reason = None;
    }

    /// The operation has no result. Where the reason is a bad input, the engine has written
    /// nothing; for other reasons, anything it has written is wiped.
    pub fn fail(&mut self, reason: KeyReason) {
        self.op.status = reason.status();
        self.op.reason = Some(reason);
    }
}

impl KeyOp<'_> {
    /// Room for the longest result, which validation has found there.
    fn room(&self) -> usize {
        self.session.shape.output.needed(self.input.len())
    }
}
