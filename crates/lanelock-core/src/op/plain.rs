//! Operations in the most common form: their ranges are the whole input, in one run; IV and tag
//! are slices of their own, and so is additional data, which only [`PlainAeads`] may have; what is
//! written goes to the start of the output.

#![allow(unsafe_code)] // opens the spans and places that validation has checked

use std::slice;

use super::{Ciphertext, LastSession, Op};
use crate::cursor::Run;
use crate::engine::EngineSession;

/// Operations one by one, each with the engine's part of its session.
///
/// Invariant: each has passed validation in the most common form; their sessions are of one
/// kind.
#[derive(Debug)]
struct Walk<'w, 'a, S> {
    ops: slice::IterMut<'w, Op<'a>>,
    last: LastSession<'a, S>,
}

/// Payloads and IVs.
#[derive(Debug)]
pub struct PlainPayloads<'w, 'a, S>(Walk<'w, 'a, S>);

/// One of [`PlainPayloads`].
#[derive(Debug)]
pub struct PlainPayload<'w, 'a, S> {
    /// The engine's part of the session.
    pub session: &'a S,
    /// The payload; empty for a session that has none.
    pub payload: Run<'w>,
    /// As long as the session demands.
    pub iv: &'w [u8],
}

/// What a MAC or hash authenticates, and where its tag goes.
///
/// Invariant: the sessions authenticate and compute a tag.
#[derive(Debug)]
pub struct PlainTags<'w, 'a, S> {
    walk: Walk<'w, 'a, S>,
    ciphertext: Ciphertext,
}

/// One of [`PlainTags`].
#[derive(Debug)]
pub struct PlainTag<'w, 'a, S> {
    /// The engine's part of the session.
    pub session: &'a S,
    /// What is authenticated.
    pub message: &'w [u8],
    /// Where to write the tag.
    pub tag: &'w mut [u8],
}

/// The messages of an AEAD.
///
/// Invariant: the sessions are of an AEAD.
#[derive(Debug)]
pub struct PlainAeads<'w, 'a, S>(Walk<'w, 'a, S>);

/// One of [`PlainAeads`].
#[derive(Debug)]
pub struct PlainAead<'w, 'a, S> {
    /// The engine's part of the session.
    pub session: &'a S,
    /// The payload.
    pub payload: Run<'w>,
    /// As long as the session demands.
    pub iv: &'w [u8],
    /// Empty if there is none.
    pub aad: &'w [u8],
    /// Where to write the tag; empty for a session that verifies.
    pub tag: &'w mut [u8],
}

impl<'w, 'a, S: EngineSession> Walk<'w, 'a, S> {
    #[inline(always)]
    fn new(ops: &'w mut [Op<'a>]) -> Self {
        Self {
            ops: ops.iter_mut(),
            last: LastSession::default(),
        }
    }

    /// # Panics
    /// If the engine's part of the session is not an `S`.
    #[inline(always)]
    fn next(&mut self) -> Option<(&'a S, &'w mut Op<'a>)> {
        let op = self.ops.next()?;
        let session = self.last.next(op.session);
        Some((
            session.expect("the sessions of a group are of one type"),
            op,
        ))
    }
}

impl<'w, 'a, S: EngineSession> PlainPayloads<'w, 'a, S> {
    /// Those of `ops`, for which the invariant holds.
    #[inline(always)]
    pub(crate) fn new(ops: &'w mut [Op<'a>]) -> Self {
        Self(Walk::new(ops))
    }
}

impl<'w, 'a, S: EngineSession> Iterator for PlainPayloads<'w, 'a, S> {
    type Item = PlainPayload<'w, 'a, S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (session, op) = self.0.next()?;
        let (input, output) = (op.input.base, op.output.base);
        // SAFETY: the invariant: the cipher range is all of the input or, where nothing may be
        // written, nothing. Both are one run, the output at least as long and writable, the same
        // memory or disjoint. The operation is borrowed exclusively for 'w.
        let payload = unsafe { Run::new(input, output, op.cipher.len() as usize) };
        let iv: &[u8] = if op.iv.is_separate() {
            // SAFETY: the invariant of `Place`; an IV is only ever read.
            unsafe { slice::from_raw_parts(op.iv.base, op.iv.len() as usize) }
        } else {
            &[]
        };
        Some(PlainPayload {
            session,
            payload,
            iv,
        })
    }
}

impl<'w, 'a, S: EngineSession> PlainTags<'w, 'a, S> {
    /// Those of `ops`, for which the invariants hold.
    #[inline(always)]
    pub(crate) fn new(ops: &'w mut [Op<'a>], ciphertext: Ciphertext) -> Self {
        let walk = Walk::new(ops);
        Self { walk, ciphertext }
    }
}

impl<'w, 'a, S: EngineSession> Iterator for PlainTags<'w, 'a, S> {
    type Item = PlainTag<'w, 'a, S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (session, op) = self.walk.next()?;
        let base = match self.ciphertext {
            Ciphertext::InOutput => op.output.base,
            Ciphertext::InInput => op.input.base,
        };
        // SAFETY: the invariant: the authenticated range is all of the input, in one run; where
        // all of it is payload, the output holds as much, and otherwise is the input. The tag is
        // a slice of its own that may be written. The operation is borrowed exclusively for 'w.
        Some(unsafe {
            PlainTag {
                session,
                message: slice::from_raw_parts(base, op.auth.len() as usize),
                tag: slice::from_raw_parts_mut(op.tag.base, op.tag.len() as usize),
            }
        })
    }
}

impl<'w, 'a, S: EngineSession> PlainAeads<'w, 'a, S> {
    /// Those of `ops`, for which the invariants hold.
    #[inline(always)]
    pub(crate) fn new(ops: &'w mut [Op<'a>]) -> Self {
        Self(Walk::new(ops))
    }
}

impl<'w, 'a, S: EngineSession> Iterator for PlainAeads<'w, 'a, S> {
    type Item = PlainAead<'w, 'a, S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (session, op) = self.0.next()?;
        let (input, output) = (op.input.base, op.output.base);
        let aad_len = op.aad.len() as usize;
        let tag_len = if op.session.rules.is_forward() {
            op.tag.len() as usize
        } else {
            0
        };
        // SAFETY: the invariant: the cipher range is all of the input, in one run, and the output
        // as for `PlainPayloads`. IV and tag are slices of their own, and so is additional data,
        // if there is any; the tag of a session that computes it may be written. The operation is
        // borrowed exclusively for 'w.
        Some(unsafe {
            PlainAead {
                session,
                payload: Run::new(input, output, op.cipher.len() as usize),
                iv: slice::from_raw_parts(op.iv.base, op.iv.len() as usize),
                aad: if aad_len > 0 {
                    slice::from_raw_parts(op.aad.base, aad_len)
                } else {
                    &[]
                },
                tag: if tag_len > 0 {
                    slice::from_raw_parts_mut(op.tag.base, tag_len)
                } else {
                    &mut []
                },
            }
        })
    }
}
