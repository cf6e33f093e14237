//! Where tags go once they are computed.

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::engine::{Batch, ValidOp};
use lanelock_core::transform::Direction;
use lanelock_kernels::aes::BLOCK;
use lanelock_kernels::taint::{declassify, is_none};

use crate::burst::BURST;

/// Ends an operation by its tag: written, or compared with the one expected. If that differs, no
/// plaintext stays in the output.
#[inline]
pub(crate) fn settle(mut op: ValidOp<'_, '_>, tag: &[u8]) {
    if op.direction() == Direction::Forward {
        op.write_tag(tag);
        op.complete(Status::Success);
    } else if declassify(op.tag_matches(tag)) {
        op.complete(Status::Success);
    } else {
        op.wipe_output();
        op.complete(Status::AuthFailed);
    }
}

/// Whether the tags of operations that verify are all right: one verdict, and one branch, for the
/// batch. `tag_of` has that of an operation by its number in the batch; `None` is a wrong one.
#[inline]
pub(crate) fn all_match<'t>(
    batch: &mut Batch<'_, '_>,
    tag_of: impl Fn(usize) -> Option<&'t [u8]>,
) -> bool {
    let (mut difference, mut number) = (0, 0);
    batch.for_each(|op| {
        difference |= tag_of(number).map_or(1, |tag| op.tag_difference(tag));
        number += 1;
    });
    is_none(difference)
}

/// Ends operations that verify, by one verdict if all are right.
#[inline]
pub(crate) fn verify_each<'t>(
    batch: &mut Batch<'_, '_>,
    tag_of: impl Fn(usize) -> Option<&'t [u8]>,
) {
    if all_match(batch, &tag_of) {
        return batch.complete(Status::Success);
    }
    let mut number = 0;
    batch.for_each(|mut op| {
        match tag_of(number) {
            Some(tag) => settle(op, tag),
            None => op.complete(Status::AuthFailed),
        }
        number += 1;
    });
}

/// Ends operations that compute tags: `tag_of` has the whole one of an operation by its number in the
/// batch.
#[inline]
pub(crate) fn write_each<'t>(batch: &mut Batch<'_, '_>, tag_of: impl Fn(usize) -> &'t [u8; BLOCK]) {
    let mut number = 0;
    batch.for_each(|mut op| {
        op.write_tag(tag_of(number));
        number += 1;
    });
    batch.complete(Status::Success);
}

/// Places of tags that a kernel does not write itself, but leaves in its jobs.
pub(crate) struct Left<'w>(ArrayVec<(usize, &'w mut [u8]), BURST>);

impl<'w> Left<'w> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(ArrayVec::new())
    }

    /// The tag of job `number` is left in it.
    #[inline(always)]
    pub(crate) fn push(&mut self, number: usize, place: &'w mut [u8]) {
        self.0.push((number, place));
    }

    /// Where a kernel writes the tag of job `number`, if it writes whole blocks: null for a place
    /// that is shorter.
    #[inline(always)]
    pub(crate) fn unless_whole(&mut self, number: usize, place: &'w mut [u8]) -> *mut [u8; BLOCK] {
        if place.len() == BLOCK {
            return place.as_mut_ptr().cast();
        }
        if !place.is_empty() {
            self.push(number, place);
        }
        std::ptr::null_mut()
    }

    /// Writes the tags, cut to their places. `tag_of` has that of a job.
    #[inline(always)]
    pub(crate) fn write<'j>(&mut self, tag_of: impl Fn(usize) -> &'j [u8; BLOCK]) {
        for (number, place) in &mut self.0 {
            let tag = tag_of(*number);
            match <&mut [u8; BLOCK]>::try_from(&mut **place) {
                Ok(whole) => *whole = *tag,
                Err(_) => place.copy_from_slice(&tag[..place.len()]),
            }
        }
    }
}
