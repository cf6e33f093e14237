//! Where tags go once they are computed.

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::engine::ValidOp;
use lanelock_core::transform::Direction;
use lanelock_kernels::aes::BLOCK;
use lanelock_kernels::taint::declassify;

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
