//! The overlap rule for buffers that raw pointers describe.
//!
//! Every byte of the payload has identical or disjoint input and output, which includes an exact
//! alias of a part (the trailer of a TLS record that shares its page). No byte is written twice,
//! and nothing written is read as IV, additional data, tag, or authenticated bytes outside the
//! payload.

use crate::buffer::Span;
use crate::op::flags::Flags;
use crate::op::{Extent, Op, Place};
use crate::status::InvalidReason;

/// A contiguous piece: address of its first byte, length, and offset in the payload.
#[derive(Clone, Copy)]
struct Piece {
    address: usize,
    len: usize,
    position: usize,
}

/// Refuses an operation whose input and output alias in any other way. Allocates nothing; compares
/// each segment with each.
pub(super) fn check(op: &Op<'_>) -> Result<(), InvalidReason> {
    let rules = &op.session.rules;
    let payload = if rules.ciphers() {
        op.cipher()
    } else {
        Extent::default()
    };
    let input = pieces(&op.input, payload);
    let output = pieces(&op.output, Extent::new(op.output_at, payload.len()));
    // A tag inside the payload is written and read with it.
    let tag = if !op.flags.has(Flags::TAG_IN_PAYLOAD) {
        op.tag
    } else {
        Place::ABSENT
    };
    let (tag_written, tag_read) = if rules.is_forward() {
        (place(tag, &op.output), place(Place::ABSENT, &op.input))
    } else {
        (place(Place::ABSENT, &op.output), place(tag, &op.input))
    };
    let read_beside = place(op.iv, &op.input).chain(place(op.aad, &op.input));
    let (before, after) = op.auth_around_payload();
    let authenticated = pieces(&op.input, before).chain(pieces(&op.input, after));
    let clean = alike_or_apart(&input, &output)
        && written_once(output.clone())
        && written_once(tag_written.clone())
        && apart(&tag_written, &output)
        && apart(&tag_written, &input)
        && apart(&tag_read, &output)
        && apart(&read_beside, &output)
        && apart(&read_beside, &tag_written)
        && apart(&authenticated, &output)
        && apart(&authenticated, &tag_written);
    if clean {
        Ok(())
    } else {
        Err(InvalidReason::BufferOverlap)
    }
}

/// Whether pieces that meet hold the same byte at the same position.
fn alike_or_apart(
    input: &(impl Iterator<Item = Piece> + Clone),
    output: &(impl Iterator<Item = Piece> + Clone),
) -> bool {
    input.clone().all(|a| {
        output.clone().all(|b| {
            !meets(a, b) || a.address.wrapping_sub(a.position) == b.address.wrapping_sub(b.position)
        })
    })
}

fn apart(
    these: &(impl Iterator<Item = Piece> + Clone),
    those: &(impl Iterator<Item = Piece> + Clone),
) -> bool {
    these.clone().all(|a| those.clone().all(|b| !meets(a, b)))
}

fn written_once(mut pieces: impl Iterator<Item = Piece> + Clone) -> bool {
    while let Some(first) = pieces.next() {
        if pieces.clone().any(|other| meets(first, other)) {
            return false;
        }
    }
    true
}

fn meets(a: Piece, b: Piece) -> bool {
    a.len > 0
        && b.len > 0
        && a.address < b.address.saturating_add(b.len)
        && b.address < a.address.saturating_add(a.len)
}

/// The memory of a part: its own, or inline in `span`.
fn place(part: Place, span: &Span) -> impl Iterator<Item = Piece> + Clone {
    let own = part.is_separate().then_some(Piece {
        address: part.base as usize,
        len: part.len() as usize,
        position: 0,
    });
    let inline = if part.is_separate() || part.is_absent() {
        Extent::default()
    } else {
        part.extent()
    };
    own.into_iter().chain(pieces(span, inline))
}

/// The memory behind `extent` of a span.
fn pieces(span: &Span, extent: Extent) -> impl Iterator<Item = Piece> + Clone {
    let whole = (span.segments() == 0).then_some((span.base as usize, span.len() as usize));
    let (start, end) = (
        extent.at() as usize,
        extent.at() as usize + extent.len() as usize,
    );
    whole
        .into_iter()
        .chain(span.list().iter().map(|s| (s.base as usize, s.len)))
        .scan(0_usize, |offset, (address, len)| {
            let at = *offset;
            *offset += len;
            Some((address, at, at + len))
        })
        .filter_map(move |(address, from, to)| {
            let (first, last) = (from.max(start), to.min(end));
            (first < last).then(|| Piece {
                address: address + (first - from),
                len: last - first,
                position: first - start,
            })
        })
}
