//! What an engine sees of an operation: parts that validation has found to be inside their
//! buffers.

#![allow(unsafe_code)] // opens the spans and places that validation has checked

use std::fmt;
use std::hint::black_box;
use std::ops::Range;

use super::flags::Flags;
use super::tag::{copy_tag, difference};
use super::{Extent, Op, Place};
use crate::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use crate::buffer::{Access, Span};
use crate::cursor::{Cursor, Run, for_each_piece};
use crate::engine::EngineSession;
use crate::session::SessionInner;
use crate::status::Status;
use crate::transform::Direction;

/// An operation that passed validation; only a [`crate::engine::Batch`] hands it out.
///
/// Invariant: every range, inline part and separate part lies within its memory, and input and
/// output of the payload are identical or disjoint (validation has run, and the fields it checked
/// are private to this crate).
#[derive(Debug)]
pub struct ValidOp<'o, 'a>(pub(crate) &'o mut Op<'a>);

/// The session that [`ValidOp::session_after`] last saw.
pub struct LastSession<'a, T> {
    of: Option<&'a SessionInner>,
    engine: Option<&'a T>,
}

impl<T> fmt::Debug for LastSession<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = self.of.map(SessionInner::spec);
        f.debug_struct("LastSession").field("of", &spec).finish()
    }
}

impl<'a, T> LastSession<'a, T> {
    /// The engine's part of it, if it was a `T`.
    #[must_use]
    pub fn engine(&self) -> Option<&'a T> {
        self.engine
    }
}

impl<'a, T: EngineSession> LastSession<'a, T> {
    /// The engine's part of `session`, if it is a `T`.
    #[inline(always)]
    fn next(&mut self, session: &'a SessionInner) -> Option<&'a T> {
        if !self.of.is_some_and(|of| std::ptr::eq(of, session)) {
            *self = Self {
                of: Some(session),
                engine: session.engine_as(),
            };
        }
        self.engine
    }
}

impl<T> Default for LastSession<'_, T> {
    /// None so far.
    fn default() -> Self {
        Self {
            of: None,
            engine: None,
        }
    }
}

/// From where a MAC reads the bytes of its range that the cipher rewrites.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ciphertext {
    /// From the input: they have not been rewritten yet, or must not have been.
    InInput,
    /// From the output, where the cipher has put them.
    InOutput,
}

impl<'a> ValidOp<'_, 'a> {
    /// The engine's part of the operation's session, if it is a `T`.
    #[inline]
    #[must_use]
    pub fn session<T: EngineSession>(&self) -> Option<&'a T> {
        self.0.session.engine_as()
    }

    /// As [`ValidOp::session`], with a look at `last` first: most often it is the same session
    /// as the previous operation's.
    #[inline]
    pub fn session_after<T: EngineSession>(&self, last: &mut LastSession<'a, T>) -> Option<&'a T> {
        last.next(self.0.session)
    }

    /// Whether the session protects messages or opens them.
    #[inline]
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.0.session.rules.direction()
    }

    /// The payload: what a cipher or AEAD encrypts or decrypts. Empty for MACs and hashes.
    #[inline]
    pub fn payload(&mut self) -> Cursor<'_> {
        let op = &*self.0;
        // SAFETY: the invariant: both ranges lie in their spans, which are alike or disjoint, and
        // the operation is borrowed exclusively as long as the cursor lives.
        unsafe {
            Cursor::new(
                &op.input,
                op.cipher().at(),
                &op.output,
                op.output_at,
                op.cipher().len(),
            )
        }
    }

    /// The payload as one run, if it is contiguous; an empty one always is.
    #[inline]
    pub fn whole_payload(&mut self) -> Option<Run<'_>> {
        let op = &*self.0;
        if op.input.segments() == 0 && op.output.segments() == 0 {
            let input = op.input.base.wrapping_add(op.cipher().at() as usize);
            let output = op.output.base.wrapping_add(op.output_at as usize);
            // SAFETY: the invariant, as in `payload`, for spans of one run.
            return Some(unsafe { Run::new(input, output, op.cipher().len() as usize) });
        }
        payload_in_one_segment(op)
    }

    /// Length of the payload, in bytes.
    #[inline]
    #[must_use]
    pub fn payload_len(&self) -> usize {
        self.0.cipher().len() as usize
    }

    /// Length of the authenticated range, in bytes; 0 for ciphers and AEADs.
    #[inline]
    #[must_use]
    pub fn auth_len(&self) -> usize {
        self.0.auth().len() as usize
    }

    /// The IV: where it lies, or gathered into `scratch` if it lies across segments.
    #[inline]
    pub fn iv<'s>(&'s self, scratch: &'s mut [u8; MAX_IV_LEN]) -> &'s [u8] {
        self.part(&self.0.iv, &self.0.input, scratch)
    }

    /// The IV where it lies, if that is one slice.
    #[inline]
    #[must_use]
    pub fn whole_iv(&self) -> Option<&[u8]> {
        let op = &*self.0;
        if op.iv.is_separate() {
            Some(self.separate(&op.iv))
        } else if op.iv.is_absent() {
            Some(&[])
        } else {
            self.whole(&op.input, op.iv.extent())
        }
    }

    /// Length of the additional data, in bytes.
    #[inline]
    #[must_use]
    pub fn aad_len(&self) -> usize {
        if self.0.aad.is_absent() {
            0
        } else {
            self.0.aad.len() as usize
        }
    }

    /// Calls `f` with each contiguous piece of the additional data, in order.
    ///
    /// # Errors
    /// The first that `f` returns.
    #[inline]
    pub fn for_each_aad<E>(&self, mut f: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let aad = self.0.aad;
        if self.aad_len() == 0 {
            return Ok(());
        }
        if aad.is_separate() {
            return f(self.separate(&aad));
        }
        self.pieces(&self.0.input, aad.extent(), f)
    }

    /// The additional data as one slice, if it is one; empty if there is none.
    #[inline]
    #[must_use]
    pub fn whole_aad(&self) -> Option<&[u8]> {
        let aad = self.0.aad;
        if self.aad_len() == 0 {
            Some(&[])
        } else if aad.is_separate() {
            Some(self.separate(&aad))
        } else {
            self.whole(&self.0.input, aad.extent())
        }
    }

    /// What a MAC or hash authenticates as one slice, if it obviously is one: no additional data,
    /// and a contiguous range of which nothing lies elsewhere.
    #[inline]
    #[must_use]
    pub fn whole_authenticated(&self, ciphertext: Ciphertext) -> Option<&[u8]> {
        let op = &*self.0;
        let in_input = ciphertext == Ciphertext::InInput || op.access == Access::InPlace;
        if in_input && self.aad_len() == 0 {
            self.whole(&op.input, op.auth())
        } else {
            None
        }
    }

    /// Calls `f` with each contiguous piece of what a MAC or hash authenticates, in order: the
    /// additional data, then the authenticated range.
    ///
    /// # Errors
    /// The first that `f` returns.
    #[inline]
    pub fn for_each_authenticated<E>(
        &self,
        ciphertext: Ciphertext,
        mut f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_aad(&mut f)?;
        let op = &*self.0;
        if ciphertext == Ciphertext::InInput || op.access == Access::InPlace {
            return self.pieces(&op.input, op.auth(), f);
        }
        let (before, after) = op.auth_around_payload();
        let inside = u64::from(op.auth().len()) - u64::from(before.len()) - u64::from(after.len());
        let first = op.auth().at().max(op.cipher().at());
        self.pieces(&op.input, before, &mut f)?;
        if let Ok(len @ 1..) = u32::try_from(inside) {
            let at = first - op.cipher().at() + op.output_at;
            self.pieces(&op.output, Extent::new(at, len), &mut f)?;
        }
        self.pieces(&op.input, after, f)
    }

    /// Which bytes of the payload are authenticated, counted from its start.
    #[inline]
    #[must_use]
    pub fn authenticated_payload(&self) -> Range<usize> {
        let op = &*self.0;
        let (before, after) = op.auth_around_payload();
        let len = (op.auth().len() - before.len() - after.len()) as usize;
        let start = op.auth().at().saturating_sub(op.cipher().at()) as usize;
        start..start + len
    }

    /// As [`ValidOp::for_each_authenticated`], for what lies before the payload: the additional
    /// data, then a part of the range.
    ///
    /// # Errors
    /// The first that `f` returns.
    #[inline]
    pub fn for_each_authenticated_before<E>(
        &self,
        mut f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_aad(&mut f)?;
        self.pieces(&self.0.input, self.0.auth_around_payload().0, f)
    }

    /// As [`ValidOp::for_each_authenticated`], for what lies after the payload.
    ///
    /// # Errors
    /// The first that `f` returns.
    #[inline]
    pub fn for_each_authenticated_behind<E>(
        &self,
        f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pieces(&self.0.input, self.0.auth_around_payload().1, f)
    }

    /// Writes the tag or digest, of which the session's length is kept.
    ///
    /// # Panics
    /// If `tag` is shorter than the session's tag, or the session verifies: its tag may be memory
    /// that can only be read.
    #[inline]
    pub fn write_tag(&mut self, tag: &[u8]) {
        let tag = &tag[..self.0.session.rules.tag_len()];
        if !self.0.tag.is_separate() {
            return self.write_inline_tag(tag);
        }
        if let Some(place) = self.tag_mut() {
            copy_tag(tag, place);
        }
    }

    #[inline(never)]
    fn write_inline_tag(&mut self, tag: &[u8]) {
        if tag.is_empty() {
            return;
        }
        if let Some(place) = self.tag_mut() {
            return copy_tag(tag, place);
        }
        let place = self.0.tag.extent();
        self.output_at(place).copy_out(tag);
    }

    /// Where the tag or digest is written, if that is one slice.
    ///
    /// # Panics
    /// As [`ValidOp::write_tag`].
    #[inline]
    pub fn tag_mut(&mut self) -> Option<&mut [u8]> {
        let op = &mut *self.0;
        let rules = &op.session.rules;
        assert!(
            rules.is_forward(),
            "a session that verifies a tag does not write one"
        );
        let base = if op.tag.is_separate() {
            op.tag.base
        } else if op.output.segments() == 0 && !op.tag.is_absent() {
            op.output.base.wrapping_add(op.tag.at() as usize)
        } else {
            return None;
        };
        // SAFETY: for a session that computes tags, as asserted, validation found the slice, or
        // the place in the output, writable and of the session's tag length.
        Some(unsafe { std::slice::from_raw_parts_mut(base, rules.tag_len()) })
    }

    /// Hands `fill` where the tag or digest is written, piece by contiguous piece, in order: for a
    /// digest of any length that is computed as it is written.
    ///
    /// # Panics
    /// As [`ValidOp::tag_mut`].
    pub fn fill_tag(&mut self, mut fill: impl FnMut(&mut [u8])) {
        if let Some(place) = self.tag_mut() {
            return fill(place);
        }
        if self.0.session.rules.tag_len() == 0 {
            return;
        }
        let mut places = self.output_at(self.0.tag.extent());
        while let Some(mut place) = places.next_run(usize::MAX) {
            fill(place.output_bytes());
        }
    }

    /// Whether `tag` is the operation's tag, compared in constant time over the session's tag
    /// length.
    ///
    /// # Panics
    /// If `tag` is shorter than the session's tag.
    #[inline]
    #[must_use]
    pub fn tag_matches(&self, tag: &[u8]) -> bool {
        black_box(self.tag_difference(tag)) == 0
    }

    /// Zero if [`ValidOp::tag_matches`]: a verdict on several operations collects their differences, and
    /// compares them with zero behind [`black_box`].
    ///
    /// # Panics
    /// As [`ValidOp::tag_matches`].
    #[inline]
    #[must_use]
    pub fn tag_difference(&self, tag: &[u8]) -> u128 {
        if !self.0.tag.is_separate() {
            return self.inline_tag_difference(tag);
        }
        let expected = self.separate(&self.0.tag);
        difference(&tag[..expected.len()], expected)
    }

    #[inline(never)]
    fn inline_tag_difference(&self, tag: &[u8]) -> u128 {
        let mut scratch = [0; MAX_TAG_LEN];
        let expected = self.expected_tag(&mut scratch);
        difference(&tag[..expected.len()], expected)
    }

    /// The tag to compare: where it lies, or gathered into `scratch`. For a tag inside the payload
    /// of a chain, the decrypted one.
    #[inline]
    pub fn expected_tag<'s>(&'s self, scratch: &'s mut [u8; MAX_TAG_LEN]) -> &'s [u8] {
        let op = &*self.0;
        if !self.tag_in_payload() {
            return self.part(&op.tag, &op.input, scratch);
        }
        let at = op.tag.at() - op.cipher().at() + op.output_at;
        self.part(&op.tag.moved_to(at), &op.output, scratch)
    }

    /// Whether the tag lies inside the payload, as MAC-then-encrypt chains allow: it is encrypted
    /// after it was written, and decrypted before it is compared.
    #[inline]
    #[must_use]
    pub fn tag_in_payload(&self) -> bool {
        self.0.flags.has(Flags::TAG_IN_PAYLOAD)
    }

    /// Copies the payload from a separate input to the output, for what follows to go on there in
    /// [`ValidOp::output_payload`]: a tag inside the payload can then be encrypted with it.
    pub fn copy_payload_to_output(&mut self) {
        let mut cursor = self.payload();
        while let Some(mut run) = cursor.next_run(usize::MAX) {
            run.copy_through();
        }
    }

    /// The payload where it is written, as input and output.
    pub fn output_payload(&mut self) -> Cursor<'_> {
        let payload = Extent::new(self.0.output_at, self.0.cipher().len());
        self.output_at(payload)
    }

    /// Zeroes the payload's output, so that no unauthenticated plaintext stays in it.
    pub fn wipe_output(&mut self) {
        let mut cursor = self.output_payload();
        while let Some(mut run) = cursor.next_run(usize::MAX) {
            run.output_bytes().fill(0);
        }
    }

    /// Whether no result is recorded yet.
    #[inline]
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.0.status == Status::NotProcessed
    }

    /// Records the result.
    #[inline]
    pub fn complete(&mut self, status: Status) {
        self.0.status = status;
    }

    /// A cursor over `extent` of the output alone.
    fn output_at(&mut self, extent: Extent) -> Cursor<'_> {
        let op = &*self.0;
        // SAFETY: the callers' extents are the payload's output and the tag of a session that
        // computes it, which validation found inside the output and writable.
        unsafe {
            Cursor::new(
                &op.output,
                extent.at(),
                &op.output,
                extent.at(),
                extent.len(),
            )
        }
    }

    /// A small part as one slice.
    #[inline]
    fn part<'s>(&'s self, part: &Place, span: &'s Span, scratch: &'s mut [u8]) -> &'s [u8] {
        if part.is_separate() {
            return self.separate(part);
        }
        self.inline_part(part, span, scratch)
    }

    #[inline(never)]
    fn inline_part<'s>(&'s self, part: &Place, span: &'s Span, scratch: &'s mut [u8]) -> &'s [u8] {
        if part.is_absent() {
            return &[];
        }
        if let Some(whole) = self.whole(span, part.extent()) {
            return whole;
        }
        let mut len = 0;
        let _infallible: Result<(), std::convert::Infallible> =
            self.pieces(span, part.extent(), |piece| {
                scratch[len..len + piece.len()].copy_from_slice(piece);
                len += piece.len();
                Ok(())
            });
        &scratch[..len]
    }

    /// `extent` of a span of one run.
    #[inline]
    fn whole<'s>(&'s self, span: &'s Span, extent: Extent) -> Option<&'s [u8]> {
        if span.segments() > 0 {
            return None;
        }
        let first = span.base.wrapping_add(extent.at() as usize);
        // SAFETY: validation found the extent inside the span; writing takes `&mut self`.
        Some(unsafe { std::slice::from_raw_parts(first, extent.len() as usize) })
    }

    #[inline]
    fn separate(&self, part: &Place) -> &[u8] {
        // SAFETY: `part` is one of the operation's places, whose invariant is to be valid for
        // reads of `len` bytes while the operation lives; writing takes `&mut self`.
        unsafe { std::slice::from_raw_parts(part.base, part.len() as usize) }
    }

    #[inline]
    fn pieces<E>(
        &self,
        span: &Span,
        extent: Extent,
        f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        // SAFETY: validation found the extent inside the span; writing takes `&mut self`.
        unsafe { for_each_piece(span, extent.at(), extent.len(), f) }
    }
}

/// [`ValidOp::whole_payload`] for segments. On its own, as is whatever else is rare, so that an
/// engine's loop over a burst has the registers to itself.
#[inline(never)]
fn payload_in_one_segment<'o>(op: &'o Op<'_>) -> Option<Run<'o>> {
    let len = op.cipher().len();
    if len == 0 {
        return Some(Run::in_place(&mut []));
    }
    // SAFETY: as in `ValidOp::payload`, whose exclusive borrow the caller has.
    let mut payload =
        unsafe { Cursor::new(&op.input, op.cipher().at(), &op.output, op.output_at, len) };
    payload.next_if_whole()
}

impl Op<'_> {
    /// The parts of the authenticated range before and after the cipher range.
    #[inline]
    pub(crate) fn auth_around_payload(&self) -> (Extent, Extent) {
        let (auth, cipher) = (self.auth(), self.cipher());
        let narrow = |n: u64| u32::try_from(n).expect("within a validated range");
        let before_end = auth
            .end()
            .min(u64::from(cipher.at()))
            .max(u64::from(auth.at()));
        let after_start = cipher.end().max(before_end).min(auth.end());
        (
            Extent::new(auth.at(), narrow(before_end) - auth.at()),
            Extent::new(narrow(after_start), narrow(auth.end() - after_start)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_differ_if_any_bit_does() {
        for len in 0..=MAX_TAG_LEN {
            let tag: Vec<u8> = (0..len).map(|n| (7 * n).to_le_bytes()[0]).collect();
            assert_eq!(difference(&tag, &tag.clone()), 0, "{len}");
            for bit in 0..8 * len {
                let mut other = tag.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                let bits = difference(&tag, &other);
                assert_ne!(bits, 0, "bit {bit} of {len} bytes");
            }
        }
    }
}
