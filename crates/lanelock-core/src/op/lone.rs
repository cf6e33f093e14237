//! The only operation of a burst: what it takes to run one is paid for by no other, so it goes to its engine
//! by the shortest way.

#![allow(unsafe_code)] // opens the spans and places that validation has checked

use std::slice;

use super::plain::{Likeness, PlainAead, PlainTag};
use super::record::{HAS_RECORDS, Record, fill};
use super::{Ciphertext, FedPayload, Op};
use crate::engine::Batch;
use crate::status::Status;
use crate::transform::Direction;

/// The only operation of a burst, in the most common form: its ranges are the whole input, in one run; IV,
/// additional data and tag are slices of their own; what is written goes to the start of the output.
///
/// Invariant: validation's `Whole` has admitted it.
#[derive(Debug)]
pub struct Lone<'w, 'a>(&'w mut Op<'a>);

impl<'w, 'a> Lone<'w, 'a> {
    /// Of an operation for which the invariant holds.
    #[inline(always)]
    pub(crate) fn new(op: &'w mut Op<'a>) -> Self {
        Self(op)
    }

    /// Whether the session protects messages or opens them.
    #[inline(always)]
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.0.session.rules.direction()
    }

    /// Bytes of the tag.
    #[inline(always)]
    #[must_use]
    pub fn tag_len(&self) -> usize {
        self.0.session.rules.tag_len()
    }

    /// The message of an AEAD, as [`PlainAeads::records`](super::PlainAeads::records) has several; `None`
    /// where a machine's words and pointers differ. With `placed`, the tag is to be written where the
    /// operation wants it. The record is valid for as long as operation and key are borrowed.
    #[inline(always)]
    #[must_use]
    pub fn record<K>(&mut self, key: &K, placed: bool) -> Option<*mut Record<K>> {
        if !HAS_RECORDS {
            return None;
        }
        let record = std::ptr::from_mut(self.0).cast();
        // SAFETY: an operation in its most common form, borrowed exclusively.
        unsafe { fill(record, key, placed) };
        Some(record)
    }

    /// Payload and IV.
    ///
    /// # Panics
    /// Unless the session encrypts or decrypts.
    #[inline(always)]
    #[must_use]
    pub fn payload<'s, S>(&mut self, session: &'s S) -> FedPayload<'s, S> {
        assert!(self.0.session.rules.ciphers(), "a session of a cipher");
        FedPayload::of(self.0, session)
    }

    /// What a MAC or hash authenticates, and the place of its tag; `None` if there is additional data.
    ///
    /// # Panics
    /// Unless the session is of a MAC or hash.
    #[inline(always)]
    pub fn tag<'s, S>(&mut self, session: &'s S) -> Option<PlainTag<'_, 's, S>> {
        let rules = &self.0.session.rules;
        let is_alone = rules.is_of_mac() && !rules.ciphers();
        assert!(is_alone, "a session of a MAC or hash");
        if self.0.aad.word() > 0 {
            return None;
        }
        let written = match rules.direction() {
            Direction::Forward => rules.tag_len(),
            Direction::Reverse => 0,
        };
        // SAFETY: the invariant: the operation is plain, and borrowed for as long as this is.
        Some(unsafe {
            PlainTag::of(
                self.0,
                session,
                Ciphertext::InInput,
                rules.iv_len(),
                written,
            )
        })
    }

    /// The message of an AEAD.
    ///
    /// # Panics
    /// Unless the session is of an AEAD.
    #[inline(always)]
    #[must_use]
    pub fn aead<'s, S>(&mut self, session: &'s S) -> PlainAead<'_, 's, S> {
        let rules = &self.0.session.rules;
        assert!(rules.is_of_aead(), "a session of an AEAD");
        let (written, expected) = match rules.direction() {
            Direction::Forward => (rules.tag_len(), 0),
            Direction::Reverse => (0, rules.tag_len()),
        };
        // SAFETY: the invariant: the operation is plain, and borrowed for as long as this is.
        unsafe { PlainAead::of(self.0, session, rules.iv_len(), written, expected) }
    }

    /// Has `run` end the operation as a batch of one; returns how it ended.
    #[inline]
    pub fn in_batch(self, run: impl FnOnce(&mut Batch<'_, 'a>)) -> Status {
        let op = self.0;
        let aad = op.aad.word() > 0;
        let alone = Likeness {
            one_session: true,
            one_length: true,
        };
        run(&mut Batch::alike(slice::from_mut(op), aad, alone));
        op.status
    }
}
