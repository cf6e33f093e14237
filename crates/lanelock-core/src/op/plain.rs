//! Plain operations: their ranges are the whole input, in one run; IV and tag are slices of their
//! own, and so is additional data, which only those of an AEAD may have; what is written goes to the
//! start of the output.

#![allow(unsafe_code)] // opens the spans and places that validation has checked

use std::marker::PhantomData;
use std::{ptr, slice};

use super::{Ciphertext, Op};
use crate::cursor::Run;
use crate::engine::EngineSession;
use crate::transform::Direction;

/// Operations that are all plain: their ranges are the whole input, in one run, IV and tag are slices
/// of their own, and so is additional data, which only those of an AEAD have.
///
/// Invariant: there is at least one, each has been admitted by validation's `Whole`, and none has
/// additional data unless it is of an AEAD; their sessions are of one kind.
#[derive(Debug)]
pub struct Plain<'w, 'a> {
    ops: &'w mut [Op<'a>],
    likeness: Likeness,
}

/// What is known of plain operations together.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Likeness {
    /// All are of the same session.
    pub one_session: bool,
    /// All have payloads of the same length, and additional data of the same length.
    pub one_length: bool,
}

/// Operations one by one, each with the engine's part of its session.
///
/// Invariant: that of [`Plain`]; the engine's parts are of type `S`.
#[derive(Debug)]
pub(super) struct Walk<'w, 'a, S> {
    pub(super) ops: slice::IterMut<'w, Op<'a>>,
    engine: PhantomData<&'a S>,
}

/// Payloads and IVs, as they lie in their operations.
///
/// Invariant: that of [`Plain`]; the sessions encrypt or decrypt, and the engine's parts of them are of type
/// `S`.
#[derive(Debug)]
pub struct PlainPayloads<'w, 'a, S> {
    ops: &'w mut [Op<'a>],
    likeness: Likeness,
    engine: PhantomData<&'a S>,
}

/// Where the fields of [`PlainPayloads`] are: in a record of `stride` bytes for each of `count`
/// operations. Each pointer is to the field of the first.
///
/// What a field points to is valid as it is for the operation: a source for reads and a target for
/// writes of the length, in bytes; they are the same or disjoint. An IV is as long as the session
/// demands; it is not valid for sessions without one.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'w> {
    /// Where a payload is read.
    pub source: *const *const u8,
    /// Where it is written.
    pub target: *const *mut u8,
    /// Its length.
    pub len: *const u32,
    /// Where its IV is.
    pub iv: *const *const u8,
    /// Bytes from an operation to the next.
    pub stride: usize,
    /// Number of operations.
    pub count: usize,
    ops: PhantomData<&'w mut u8>,
}

/// What a MAC or hash authenticates, and where its tag goes.
///
/// Invariant: the sessions have an authenticated range and a tag; the lengths, in bytes, are those of
/// each operation's parts.
#[derive(Debug)]
pub struct PlainTags<'w, 'a, S> {
    walk: Walk<'w, 'a, S>,
    ciphertext: Ciphertext,
    iv_len: usize,
    /// Of a tag to write; 0 if the sessions verify.
    tag_len: usize,
}

/// One of [`PlainTags`].
#[derive(Debug)]
pub struct PlainTag<'w, 'a, S> {
    /// The engine's part of the session.
    pub session: &'a S,
    /// What is authenticated.
    pub message: &'w [u8],
    /// As long as the session demands; empty for one without.
    pub iv: &'w [u8],
    /// Where to write the tag; empty for a session that verifies.
    pub tag: &'w mut [u8],
}

/// The messages of an AEAD.
///
/// Invariant: the sessions are of an AEAD; the lengths, in bytes, are those of each operation's parts.
#[derive(Debug)]
pub struct PlainAeads<'w, 'a, S> {
    pub(super) walk: Walk<'w, 'a, S>,
    iv_len: usize,
    /// Of a tag to write; 0 if the sessions verify.
    pub(super) tag_len: usize,
    /// Of a tag to compare; 0 if the sessions compute.
    expected_len: usize,
    pub(super) likeness: Likeness,
}

/// One of [`PlainAeads`].
#[derive(Debug)]
pub struct PlainAead<'w, 'a, S> {
    /// The engine's part of the session.
    pub session: &'a S,
    /// The payload.
    pub payload: Run<'w>,
    /// As long as the session demands.
    pub iv: &'w [u8],
    /// Valid for reads for 'w; null and empty if there is none.
    pub aad: *const [u8],
    /// Where to write the tag; empty for a session that verifies.
    pub tag: &'w mut [u8],
    /// The tag to compare; empty for a session that computes.
    pub expected: &'w [u8],
}

impl<'w, 'a> Plain<'w, 'a> {
    /// Those of `ops`, for which the invariant holds.
    #[inline(always)]
    pub(crate) fn new(ops: &'w mut [Op<'a>], likeness: Likeness) -> Self {
        Self { ops, likeness }
    }

    /// Whether the sessions protect messages or open them.
    #[inline(always)]
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.ops[0].session.rules.direction()
    }

    /// What is known of them together.
    #[inline(always)]
    #[must_use]
    pub fn likeness(&self) -> Likeness {
        self.likeness
    }

    /// Payloads and IVs, for sessions that encrypt or decrypt.
    ///
    /// # Panics
    /// Unless the sessions encrypt or decrypt, and have an `S` as the engine's part.
    #[inline(always)]
    pub fn payloads<S: EngineSession>(&mut self) -> PlainPayloads<'_, 'a, S> {
        let rules = &self.ops[0].session.rules;
        assert!(rules.ciphers(), "sessions of a cipher");
        assert_of_type::<S>(self.ops);
        PlainPayloads {
            ops: self.ops,
            likeness: self.likeness,
            engine: PhantomData,
        }
    }

    /// What is authenticated, with the bytes that a cipher rewrites from where `ciphertext` says,
    /// and the places of tags.
    ///
    /// # Panics
    /// Unless the sessions have a tag over an authenticated range, and an `S` as the engine's part.
    #[inline(always)]
    pub fn tags<S: EngineSession>(&mut self, ciphertext: Ciphertext) -> PlainTags<'_, 'a, S> {
        let rules = &self.ops[0].session.rules;
        assert!(rules.is_of_mac(), "sessions of a MAC, hash or chain");
        // Only a cipher has something in the output.
        let ciphertext = if rules.ciphers() {
            ciphertext
        } else {
            Ciphertext::InInput
        };
        PlainTags {
            iv_len: rules.iv_len(),
            tag_len: match self.direction() {
                Direction::Forward => rules.tag_len(),
                Direction::Reverse => 0,
            },
            walk: Walk::new(self.ops),
            ciphertext,
        }
    }

    /// The messages of an AEAD.
    ///
    /// # Panics
    /// Unless the sessions are of an AEAD, and have an `S` as the engine's part.
    #[inline(always)]
    pub fn aeads<S: EngineSession>(&mut self) -> PlainAeads<'_, 'a, S> {
        let rules = &self.ops[0].session.rules;
        assert!(rules.is_of_aead(), "sessions of an AEAD");
        let (tag_len, expected_len) = match self.direction() {
            Direction::Forward => (rules.tag_len(), 0),
            Direction::Reverse => (0, rules.tag_len()),
        };
        PlainAeads {
            iv_len: rules.iv_len(),
            tag_len,
            expected_len,
            likeness: self.likeness,
            walk: Walk::new(self.ops),
        }
    }
}

impl<'w, 'a, S: EngineSession> Walk<'w, 'a, S> {
    /// # Panics
    /// If the engine's part of the sessions is not an `S`.
    #[inline(always)]
    fn new(ops: &'w mut [Op<'a>]) -> Self {
        assert_of_type::<S>(ops);
        Self {
            ops: ops.iter_mut(),
            engine: PhantomData,
        }
    }

    #[inline(always)]
    fn next(&mut self) -> Option<(&'a S, &'w mut Op<'a>)> {
        let op = self.ops.next()?;
        // SAFETY: the invariant.
        Some((unsafe { op.session.engine_that_is() }, op))
    }
}

/// Looks at the session of the first of plain operations: the others are of its kind.
///
/// # Panics
/// If the engine's part of it is not an `S`.
#[inline(always)]
fn assert_of_type<S: EngineSession>(ops: &[Op<'_>]) {
    let of_type = ops[0].session.engine_is::<S>();
    assert!(of_type, "the sessions of a group are of one type");
}

impl<'w, 'a, S: EngineSession> PlainPayloads<'w, 'a, S> {
    /// Whether all operations are known to be of the same session.
    #[inline(always)]
    #[must_use]
    pub fn is_of_one_session(&self) -> bool {
        self.likeness.one_session
    }

    /// The engine's part of each operation's session.
    #[inline(always)]
    pub fn sessions(&self) -> impl ExactSizeIterator<Item = &'a S> {
        // SAFETY: the invariant.
        self.ops
            .iter()
            .map(|op| unsafe { op.session.engine_that_is() })
    }

    /// Where the fields are. The invariant makes the cipher range all of the input, both sides one
    /// run, and the output at least as long.
    #[inline(always)]
    #[must_use]
    pub fn columns(self) -> Columns<'w> {
        let (first, count) = (self.ops.as_mut_ptr(), self.ops.len());
        // SAFETY: fields of the first operation, which the slice has; their places alone are taken.
        unsafe {
            let word: *const u64 = (&raw const (*first).input.size).cast();
            Columns {
                source: (&raw const (*first).input.base).cast(),
                target: (&raw const (*first).output.base).cast(),
                len: word.cast::<u32>().add(LOW_HALF),
                iv: (&raw const (*first).iv.base).cast(),
                stride: size_of::<Op<'_>>(),
                count,
                ops: PhantomData,
            }
        }
    }
}

/// The IV of `op`.
///
/// # Safety
/// The operation is plain, borrowed for 'w, and of a session that demands an IV of `len` bytes.
#[inline(always)]
unsafe fn plain_iv<'w>(op: &Op<'_>, len: usize) -> &'w [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the invariant of plain operations: an IV is a slice of its own, as long as demanded.
    unsafe { slice::from_raw_parts(op.iv.base, len) }
}

/// Where the low half of a word is: the length of a run that is valid.
const LOW_HALF: usize = if cfg!(target_endian = "big") { 1 } else { 0 };

impl<'w, 'a, S: EngineSession> Iterator for PlainTags<'w, 'a, S> {
    type Item = PlainTag<'w, 'a, S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (session, op) = self.walk.next()?;
        // SAFETY: the invariant; the operation is borrowed exclusively for 'w.
        Some(unsafe { PlainTag::of(op, session, self.ciphertext, self.iv_len, self.tag_len) })
    }
}

impl<'w, 'a, S> PlainTag<'w, 'a, S> {
    /// # Safety
    /// The operation is plain, borrowed exclusively for 'w, and its session has an authenticated range, IVs
    /// of `iv_len` bytes and, if it computes them, tags of `tag_len`, which else is 0. Only ciphertext of a
    /// session that encrypts or decrypts is in the output.
    #[inline(always)]
    pub(super) unsafe fn of(
        op: &Op<'_>,
        session: &'a S,
        ciphertext: Ciphertext,
        iv_len: usize,
        tag_len: usize,
    ) -> Self {
        let base = match ciphertext {
            Ciphertext::InOutput => op.output.base,
            Ciphertext::InInput => op.input.base,
        };
        // SAFETY: the authenticated range is all of the input, in one run; where all of it is payload, the
        // output holds as much, and otherwise is the input. The IV, if there is one, is a slice of its own,
        // and so is the tag, which may be written if the session computes it. The caller's promises.
        unsafe {
            Self {
                session,
                message: slice::from_raw_parts(base, op.input.len() as usize),
                iv: plain_iv(op, iv_len),
                tag: slice::from_raw_parts_mut(op.tag.base, tag_len),
            }
        }
    }
}

impl<S> PlainAeads<'_, '_, S> {
    /// Bytes of each tag that is written; 0 if the sessions verify.
    #[inline(always)]
    #[must_use]
    pub fn tag_len(&self) -> usize {
        self.tag_len
    }

    /// Bytes of each tag that is compared; 0 if the sessions compute.
    #[inline(always)]
    #[must_use]
    pub fn expected_len(&self) -> usize {
        self.expected_len
    }
}

impl<'w, 'a, S: EngineSession> Iterator for PlainAeads<'w, 'a, S> {
    type Item = PlainAead<'w, 'a, S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (session, op) = self.walk.next()?;
        // SAFETY: the invariant; the operation is borrowed exclusively for 'w.
        Some(unsafe { PlainAead::of(op, session, self.iv_len, self.tag_len, self.expected_len) })
    }
}

impl<'w, 'a, S> PlainAead<'w, 'a, S> {
    /// # Safety
    /// The operation is plain, borrowed exclusively for 'w, and of a session of an AEAD with IVs of `iv_len`
    /// bytes and tags of `tag_len` if it computes them, else of `expected_len`; the other is 0.
    #[inline(always)]
    pub(super) unsafe fn of(
        op: &Op<'_>,
        session: &'a S,
        iv_len: usize,
        tag_len: usize,
        expected_len: usize,
    ) -> Self {
        let (input, output) = (op.input.base, op.output.base);
        // SAFETY: the cipher range is all of the input, in one run, and the output as for `PlainPayloads`.
        // The tag is a slice of its own, and so is the IV, if there is one; a tag to compute may be written.
        // The caller's promises.
        unsafe {
            Self {
                session,
                payload: Run::new(input, output, op.input.len() as usize),
                iv: plain_iv(op, iv_len),
                aad: ptr::slice_from_raw_parts(op.aad.base, op.aad.len() as usize),
                tag: slice::from_raw_parts_mut(op.tag.base, tag_len),
                expected: slice::from_raw_parts(op.tag.base, expected_len),
            }
        }
    }
}
