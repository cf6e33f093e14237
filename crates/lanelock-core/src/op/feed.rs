//! Operations that an engine takes one by one, each validated when it is taken: the CPU does that while it
//! waits for the rounds of the messages before.

#![allow(unsafe_code)] // engine's parts of sessions whose kind was compared

use std::fmt;
use std::marker::PhantomData;

use super::Op;
use crate::engine::EngineSession;
use crate::session::SessionInner;
use crate::status::Status;

/// Operations for an engine to take, in the burst's order, as long as they are alike and in their most
/// common form.
pub struct Feed<'f, 'a> {
    ops: &'f mut [Op<'a>],
    /// Of the first operation: those of the others are to be of its kind.
    session: &'a SessionInner,
    /// How many are taken: those have [`Status::Success`].
    taken: usize,
    /// Of the inputs of those.
    bytes: u64,
}

/// Payloads and IVs of the operations of a [`Feed`], which learns when this is dropped how many were taken:
/// until then the count is where nothing that a kernel writes can be, in registers.
///
/// Invariant: the session of the first operation encrypts or decrypts, and its engine's part is an `S`.
pub struct FedPayloads<'w, 'f, 'a, S> {
    feed: &'w mut Feed<'f, 'a>,
    /// Those of the feed.
    session: &'a SessionInner,
    taken: usize,
    bytes: u64,
    engine: PhantomData<&'a S>,
}

/// One of [`FedPayloads`]. What the pointers say is valid as it is for the operation, for as long as the
/// [`Feed`] is borrowed: a source for reads and a target for writes of the length; they are the same or
/// disjoint.
#[derive(Debug)]
pub struct FedPayload<'a, S> {
    /// The engine's part of the session.
    pub session: &'a S,
    /// Where the payload is read.
    pub source: *const u8,
    /// Where it is written.
    pub target: *mut u8,
    /// Its length, in bytes.
    pub len: u32,
    /// As long as the session demands; not valid for one without.
    pub iv: *const u8,
}

impl<'f, 'a> Feed<'f, 'a> {
    /// Of `ops`, at least one.
    #[inline(always)]
    pub(crate) fn new(ops: &'f mut [Op<'a>]) -> Self {
        Self {
            session: ops[0].session,
            ops,
            taken: 0,
            bytes: 0,
        }
    }

    /// Payloads and IVs, for sessions that encrypt or decrypt. The engine has to run each one that it takes,
    /// and to drop what this returns, not to forget it: else those are not counted.
    ///
    /// # Panics
    /// Unless the session of the first operation encrypts or decrypts, and has an `S` as the engine's part.
    #[inline(always)]
    pub fn payloads<S: EngineSession>(&mut self) -> FedPayloads<'_, 'f, 'a, S> {
        assert!(self.session.rules.ciphers(), "sessions of a cipher");
        let of_type = self.session.engine_as::<S>().is_some();
        assert!(of_type, "the sessions of a kind are of one type");
        FedPayloads {
            session: self.session,
            taken: self.taken,
            bytes: self.bytes,
            feed: self,
            engine: PhantomData,
        }
    }

    /// Operations taken, and the bytes of their inputs.
    #[inline(always)]
    pub(crate) fn taken(&self) -> (usize, u64) {
        (self.taken, self.bytes)
    }

    /// Ends those taken, any of which may not have run.
    #[cold]
    pub(crate) fn fail(&mut self) {
        for op in &mut self.ops[..self.taken] {
            op.status = Status::EngineError;
        }
    }
}

impl fmt::Debug for Feed<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("ops", &self.ops.len())
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for FedPayloads<'_, '_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FedPayloads")
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl<'a, S: EngineSession> Iterator for FedPayloads<'_, '_, 'a, S> {
    type Item = FedPayload<'a, S>;

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "of one run that is admitted: below 4 GiB"
    )]
    fn next(&mut self) -> Option<FedPayload<'a, S>> {
        let first = self.session;
        let op = self.feed.ops.get_mut(self.taken)?;
        let alike = std::ptr::eq(op.session, first) || op.session.kind == first.kind;
        if !alike || !first.rules.whole.admits_new(op) {
            return None;
        }
        let len = op.input.size.word();
        op.status = Status::Success;
        self.taken += 1;
        self.bytes += len;
        Some(FedPayload {
            // SAFETY: the invariant: sessions of one kind have engine's parts of one type.
            session: unsafe { op.session.engine_that_is() },
            source: op.input.base.cast_const().cast(),
            target: op.output.base.cast(),
            len: len as u32,
            iv: op.iv.base.cast_const(),
        })
    }

    /// The upper bound is the number of operations left.
    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.feed.ops.len() - self.taken))
    }
}

impl<S> Drop for FedPayloads<'_, '_, '_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        (self.feed.taken, self.feed.bytes) = (self.taken, self.bytes);
    }
}
