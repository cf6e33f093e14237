//! Operations in the most common form: their ranges are the whole input, in one run; IV and tag
//! are slices of their own, and so is additional data, which only [`PlainAeads`] may have; what is
//! written goes to the start of the output.

#![allow(unsafe_code)] // opens the spans and places that validation has checked

use std::slice;

use super::{Ciphertext, Op};
use crate::cursor::Run;

/// Payloads and IVs, empty for sessions that have none.
///
/// Invariant: each operation has passed validation in the most common form.
#[derive(Debug)]
pub struct PlainPayloads<'w, 'a>(slice::IterMut<'w, Op<'a>>);

/// What a MAC or hash authenticates, and where its tag goes.
///
/// Invariant: each operation has passed validation in the most common form, for a session that
/// authenticates and computes a tag.
#[derive(Debug)]
pub struct PlainTags<'w, 'a> {
    ops: slice::IterMut<'w, Op<'a>>,
    ciphertext: Ciphertext,
}

/// The messages of an AEAD.
///
/// Invariant: each operation has passed validation in the most common form, for a session of an
/// AEAD.
#[derive(Debug)]
pub struct PlainAeads<'w, 'a>(slice::IterMut<'w, Op<'a>>);

/// One of [`PlainAeads`].
#[derive(Debug)]
pub struct PlainAead<'w> {
    /// The payload.
    pub payload: Run<'w>,
    /// As long as the session demands.
    pub iv: &'w [u8],
    /// Empty if there is none.
    pub aad: &'w [u8],
    /// Where to write the tag; empty for a session that verifies.
    pub tag: &'w mut [u8],
}

impl<'w, 'a> PlainPayloads<'w, 'a> {
    /// Those of `ops`, for which the invariant holds.
    #[inline(always)]
    pub(crate) fn new(ops: &'w mut [Op<'a>]) -> Self {
        Self(ops.iter_mut())
    }
}

impl<'w> Iterator for PlainPayloads<'w, '_> {
    type Item = (Run<'w>, &'w [u8]);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let op = self.0.next()?;
        let (input, output) = (op.input.base, op.output.base);
        // SAFETY: the invariant: the cipher range is all of the input or, where nothing may be
        // written, nothing. Both are one run, the output at least as long and writable, the same
        // memory or disjoint. The operation is borrowed exclusively for 'w.
        let run = unsafe { Run::new(input, output, op.cipher.len() as usize) };
        let iv: &[u8] = if op.iv.is_separate() {
            // SAFETY: the invariant of `Place`; an IV is only ever read.
            unsafe { slice::from_raw_parts(op.iv.base, op.iv.len() as usize) }
        } else {
            &[]
        };
        Some((run, iv))
    }
}

impl<'w, 'a> PlainTags<'w, 'a> {
    /// Those of `ops`, for which the invariant holds.
    #[inline(always)]
    pub(crate) fn new(ops: &'w mut [Op<'a>], ciphertext: Ciphertext) -> Self {
        let ops = ops.iter_mut();
        Self { ops, ciphertext }
    }
}

impl<'w> Iterator for PlainTags<'w, '_> {
    type Item = (&'w [u8], &'w mut [u8]);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let op = self.ops.next()?;
        let base = match self.ciphertext {
            Ciphertext::InOutput => op.output.base,
            Ciphertext::InInput => op.input.base,
        };
        // SAFETY: the invariant: the authenticated range is all of the input, in one run; where
        // all of it is payload, the output holds as much, and otherwise is the input. The tag is
        // a slice of its own that may be written. The operation is borrowed exclusively for 'w.
        Some(unsafe {
            (
                slice::from_raw_parts(base, op.auth.len() as usize),
                slice::from_raw_parts_mut(op.tag.base, op.tag.len() as usize),
            )
        })
    }
}

impl<'w, 'a> PlainAeads<'w, 'a> {
    /// Those of `ops`, for which the invariant holds.
    #[inline(always)]
    pub(crate) fn new(ops: &'w mut [Op<'a>]) -> Self {
        Self(ops.iter_mut())
    }
}

impl<'w> Iterator for PlainAeads<'w, '_> {
    type Item = PlainAead<'w>;

    #[inline(always)]
    fn next(&mut self) -> Option<PlainAead<'w>> {
        let op = self.0.next()?;
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
