//! Operations that an engine takes one by one, each validated when it is taken: the CPU does that while it
//! waits for the rounds of the messages before.

#![allow(unsafe_code)] // engine's parts of sessions whose kind was compared

use std::marker::PhantomData;
use std::{fmt, mem, slice};

use super::record::{HAS_RECORDS, Record, fill};
use super::{Likeness, Op, ValidOp};
use crate::engine::{Batch, EngineSession};
use crate::session::SessionInner;
use crate::status::Status;
use crate::transform::Direction;
use crate::validate::Whole;

/// Operations for an engine to take, in the burst's order, as long as they are alike and in their most
/// common form.
pub struct Feed<'f, 'a> {
    ops: &'f mut [Op<'a>],
    /// Of the first operation: those of the others are to be of its kind.
    session: &'a SessionInner,
    /// Those have [`Status::Success`], unless they are settled.
    taken: Taken,
    /// Whether those taken may have another status.
    settled: bool,
}

/// The operations that were taken, the first ones.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) count: usize,
    /// Of their inputs.
    pub(crate) bytes: u64,
}

/// What takes operations from a [`Feed`], which learns when this is dropped how many were taken: until then
/// that is where nothing that a kernel writes can be, in registers.
struct Taking<'w, 'a> {
    /// Of the first operation.
    session: &'a SessionInner,
    /// Those to come; none after one that is not to be had.
    ops: slice::IterMut<'w, Op<'a>>,
    /// How many this began with, but for those never to be had.
    count: usize,
    /// Of the inputs of those taken.
    bytes: u64,
    /// The feed's, to which what this has taken is added.
    taken: &'w mut Taken,
}

/// Payloads and IVs of the operations of a [`Feed`], each taken when it is yielded.
///
/// Invariant: the session of the first operation is of a cipher, and its engine's part is an `S`.
pub struct FedPayloads<'w, 'a, S> {
    ops: Taking<'w, 'a>,
    engine: PhantomData<&'a S>,
}

/// Messages as they lie in the operations of a [`Feed`], each taken when it is yielded.
///
/// Invariant: the engine's part of the session of the first operation is an `S`.
pub struct FedRecords<'w, 'a, S, F> {
    ops: Taking<'w, 'a>,
    /// Makes what a kernel needs of a session.
    key: F,
    placed: bool,
    /// Whether the operations may have additional data.
    aad: bool,
    engine: PhantomData<&'a S>,
}

/// One of [`FedPayloads`], or that of a [`Lone`](super::Lone) operation. What the pointers say is valid as it is
/// for the operation, for as long as that or the [`Feed`] is borrowed: a source for reads and a target for writes
/// of the length; they are the same or disjoint.
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
            taken: Taken { count: 0, bytes: 0 },
            settled: false,
        }
    }

    /// Whether the sessions protect messages or open them.
    #[inline(always)]
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.session.rules.direction()
    }

    /// Bytes of each IV.
    #[inline(always)]
    #[must_use]
    pub fn iv_len(&self) -> usize {
        self.session.rules.iv_len()
    }

    /// Bytes of each tag.
    #[inline(always)]
    #[must_use]
    pub fn tag_len(&self) -> usize {
        self.session.rules.tag_len()
    }

    /// Bytes of the first operation's input, if it is in one run and not yet taken; else any number.
    #[inline(always)]
    #[must_use]
    pub fn first_len(&self) -> u32 {
        u32::try_from(self.ops[0].input.size.word()).unwrap_or(u32::MAX)
    }

    /// Payloads and IVs, for sessions of a cipher. The engine has to run each one that it takes, and to drop what
    /// this returns, not to forget it: else those are not counted. Once some are taken, others are to be had from
    /// what this returned alone.
    ///
    /// # Panics
    /// Unless the session of the first operation encrypts or decrypts, has neither tags nor additional data, and
    /// has an `S` as the engine's part.
    #[inline(always)]
    pub fn payloads<S: EngineSession>(&mut self) -> FedPayloads<'_, 'a, S> {
        let of_cipher = self.session.rules.is_of_cipher();
        assert!(of_cipher, "sessions of a cipher");
        FedPayloads {
            ops: self.take_for::<S>(),
            engine: PhantomData,
        }
    }

    /// Messages of an AEAD or a MAC, as [`PlainAeads::records`](super::PlainAeads::records) has them; those of
    /// a MAC have no additional data. `None` where a machine's words and pointers differ. With `placed`, tags
    /// are to be written where the operations want them. The engine has to run each message that it takes, and
    /// to drop what this returns, not to forget it; tags to compare are left to it, and to [`Feed::settle`].
    ///
    /// # Panics
    /// Unless the session of the first operation has an `S` as the engine's part.
    #[inline(always)]
    pub fn records<S: EngineSession, K: 'a, F: Fn(&'a S) -> &'a K>(
        &mut self,
        placed: bool,
        key: F,
    ) -> Option<FedRecords<'_, 'a, S, F>> {
        if !HAS_RECORDS {
            return None;
        }
        Some(FedRecords {
            aad: self.session.rules.is_of_aead(),
            ops: self.take_for::<S>(),
            key,
            placed,
            engine: PhantomData,
        })
    }

    /// # Panics
    /// Unless the session of the first operation has an `S` as the engine's part.
    #[inline(always)]
    fn take_for<S: EngineSession>(&mut self) -> Taking<'_, 'a> {
        let of_type = self.session.engine_is::<S>();
        assert!(of_type, "the sessions of a kind are of one type");
        Taking {
            session: self.session,
            count: self.ops.len(),
            // Those that were taken before have a status, and are not taken again.
            ops: self.ops.iter_mut(),
            bytes: 0,
            taken: &mut self.taken,
        }
    }

    /// Where the first operation lies that was taken, and how many follow each other from there: records, if
    /// that is how they were taken.
    #[inline(always)]
    #[must_use]
    pub fn taken_records<K>(&mut self) -> (*mut Record<K>, usize) {
        (self.ops.as_mut_ptr().cast(), self.taken.count)
    }

    /// Has `end` end each of those taken, not all of which succeeded, by what its record's block holds.
    ///
    /// # Safety
    /// All were taken as [`Feed::records`].
    #[cold]
    pub unsafe fn settle(&mut self, mut end: impl FnMut(ValidOp<'_, 'a>, [u8; 16])) {
        self.settled = true;
        for op in &mut self.ops[..self.taken.count] {
            // SAFETY: the caller's promise: the block was zeroed when the operation was taken.
            let [low, high] = unsafe { op.scratch.assume_init() }.map(u64::to_ne_bytes);
            let mut block = [0; 16];
            block[..8].copy_from_slice(&low);
            block[8..].copy_from_slice(&high);
            end(ValidOp(op), block);
        }
    }

    /// Those taken, if there are any.
    pub(crate) fn batch(&mut self) -> Option<Batch<'_, 'a>> {
        let ops = &mut self.ops[..self.taken.count];
        (!ops.is_empty()).then(|| Batch::alike(ops, true, Likeness::default()))
    }

    /// Whether those taken are to be looked at one by one.
    #[inline(always)]
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    #[inline(always)]
    pub(crate) fn taken(&self) -> Taken {
        self.taken
    }

    /// Ends those taken, any of which may not have run; what was decrypted may not be authentic.
    #[cold]
    pub(crate) fn fail(&mut self) {
        for op in &mut self.ops[..self.taken.count] {
            let rules = &op.session.rules;
            if !rules.is_forward() && rules.tag_len() > 0 {
                ValidOp(op).wipe_output();
            }
            op.status = Status::EngineError;
        }
    }
}

impl<'s, S> FedPayload<'s, S> {
    /// Of an operation that is admitted.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "of one run that is admitted: below 4 GiB"
    )]
    pub(super) fn of(op: &Op<'_>, session: &'s S) -> Self {
        Self {
            session,
            source: op.input.base.cast_const().cast(),
            target: op.output.base.cast(),
            len: op.input.size.word() as u32,
            iv: op.iv.base.cast_const(),
        }
    }
}

impl fmt::Debug for Feed<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("ops", &self.ops.len())
            .field("taken", &self.taken.count)
            .finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for FedPayloads<'_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FedPayloads")
            .field("left", &self.ops.ops.len())
            .finish_non_exhaustive()
    }
}

impl<S, F> fmt::Debug for FedRecords<'_, '_, S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FedRecords")
            .field("left", &self.ops.ops.len())
            .finish_non_exhaustive()
    }
}

impl<'a> Taking<'_, 'a> {
    /// The next operation, if it is of the kind and the session's rules admit it as `admit` says.
    #[inline(always)]
    fn next(&mut self, admit: impl FnOnce(Whole, &Op<'a>) -> bool) -> Option<&mut Op<'a>> {
        let first = self.session;
        let op = self.ops.next()?;
        let alike = std::ptr::eq(op.session, first) || op.session.kind == first.kind;
        if !alike || !admit(first.rules.whole, op) {
            self.count -= 1 + mem::take(&mut self.ops).len();
            return None;
        }
        op.status = Status::Success;
        self.bytes += op.input.size.word();
        Some(op)
    }
}

impl Drop for Taking<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.taken.count += self.count - self.ops.len();
        self.taken.bytes += self.bytes;
    }
}

impl<'a, S: EngineSession> Iterator for FedPayloads<'_, 'a, S> {
    type Item = FedPayload<'a, S>;

    #[inline(always)]
    fn next(&mut self) -> Option<FedPayload<'a, S>> {
        let op = self.ops.next(Whole::admits_bare)?;
        // SAFETY: the invariant: sessions of one kind have engine's parts of one type.
        let session = unsafe { op.session.engine_that_is() };
        Some(FedPayload::of(op, session))
    }
}

impl<'a, S: EngineSession, K: 'a, F: Fn(&'a S) -> &'a K> Iterator for FedRecords<'_, 'a, S, F> {
    type Item = *mut Record<K>;

    #[inline(always)]
    fn next(&mut self) -> Option<*mut Record<K>> {
        let (placed, aad) = (self.placed, self.aad);
        let op = self
            .ops
            .next(|rules, op| rules.admits(op) && (aad || op.aad.word() == 0))?;
        // SAFETY: the invariant: sessions of one kind have engine's parts of one type. An operation that is
        // admitted is in its most common form, and borrowed exclusively.
        unsafe {
            let key = (self.key)(op.session.engine_that_is());
            let record = std::ptr::from_mut(op).cast();
            fill(record, key, placed);
            Some(record)
        }
    }
}
