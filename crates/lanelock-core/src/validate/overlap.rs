//! The overlap rule for buffers that raw pointers describe.
//!
//! Every byte of the payload has identical or disjoint input and output, which includes an exact
//! alias of a part (the trailer of a TLS record that shares its page); the separate parts and the
//! authenticated bytes outside the payload lie outside all that is written.

use crate::buffer::Span;
use crate::op::{Extent, Op};
use crate::status::InvalidReason;

/// A contiguous piece: address of its first byte, length, and offset in the payload.
#[derive(Clone, Copy)]
struct Piece {
    address: usize,
    len: usize,
    position: usize,
}

/// Refuses an operation whose input and output alias in any other way.
pub(super) fn check(op: &Op<'_>) -> Result<(), InvalidReason> {
    let rules = &op.session.rules;
    let payload = if rules.ciphers() {
        op.cipher
    } else {
        Extent::default()
    };
    let written = pieces(
        &op.output,
        Extent {
            at: op.output_at,
            len: payload.len,
        },
    );
    let mut clean = pieces(&op.input, payload).all(|input| {
        written.clone().all(|output| {
            !meets(input, output)
                || input.address.wrapping_sub(input.position)
                    == output.address.wrapping_sub(output.position)
        })
    });
    let tag_written: Vec<Piece> = match (rules.is_forward(), op.tag.is_separate()) {
        (false, _) => Vec::new(),
        (true, true) => vec![own(&op.tag)],
        (true, false) if op.tag.is_absent() => Vec::new(),
        (true, false) => pieces(&op.output, op.tag.extent()).collect(),
    };
    let untouched = |part: Piece| {
        !written
            .clone()
            .chain(tag_written.iter().copied())
            .any(|output| meets(part, output))
    };
    for part in [&op.iv, &op.aad] {
        if part.is_separate() {
            clean &= untouched(own(part));
        } else if !part.is_absent() {
            clean &= pieces(&op.input, part.extent()).all(untouched);
        }
    }
    let (before, after) = op.auth_around_payload();
    clean &= [before, after]
        .into_iter()
        .all(|part| pieces(&op.input, part).all(untouched));
    if clean {
        Ok(())
    } else {
        Err(InvalidReason::BufferOverlap)
    }
}

fn meets(a: Piece, b: Piece) -> bool {
    a.len > 0
        && b.len > 0
        && a.address < b.address.saturating_add(b.len)
        && b.address < a.address.saturating_add(a.len)
}

fn own(part: &crate::op::Place) -> Piece {
    Piece {
        address: part.base as usize,
        len: part.len as usize,
        position: 0,
    }
}

/// The memory behind `extent` of a span.
fn pieces(span: &Span, extent: Extent) -> impl Iterator<Item = Piece> + Clone {
    let whole = (span.segments == 0).then_some((span.base as usize, span.len as usize));
    let (start, end) = (extent.at as usize, extent.at as usize + extent.len as usize);
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
