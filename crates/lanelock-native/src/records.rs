//! Messages that kernels read where their operations have them, and what becomes of their tags.

#![allow(unsafe_code)] // reads what kernels have written to records

use lanelock_core::engine::{Feed, Record};
use lanelock_kernels::taint::is_none;

use crate::tags::settle;

/// Bytes of a whole tag, of those that a record has room for.
pub(crate) const TAG: usize = 16;

/// Whether the tags of `count` records from `first` on, which have run, are those expected: one verdict.
///
/// # Safety
/// There are so many records, each with a tag to compare, of [`TAG`] bytes.
#[inline(always)]
pub(crate) unsafe fn all_match<K>(first: *const Record<K>, count: usize) -> bool {
    let mut difference = 0;
    for i in 0..count {
        // SAFETY: the caller's promise: a tag to compare is valid for reads of so many bytes.
        let (computed, expected) = unsafe {
            let record = &*first.add(i);
            (record.block, record.tag.cast::<[u8; TAG]>().read())
        };
        difference |= u128::from_ne_bytes(computed) ^ u128::from_ne_bytes(expected);
    }
    is_none(difference)
}

/// Compares the tags of what was fed with those expected.
///
/// # Safety
/// All that was taken was taken as records of keys of type `K`, and has run, with [whole](TAG) tags to compare.
#[inline(always)]
pub(crate) unsafe fn verify_fed<K>(feed: &mut Feed<'_, '_>) {
    let (first, count) = feed.taken_records::<K>();
    // SAFETY: the caller's promise.
    unsafe {
        if !all_match(first, count) {
            feed.settle(|op, tag| settle(op, &tag));
        }
    }
}
