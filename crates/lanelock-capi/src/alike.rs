//! Operations of C's that are alike: the common forms are taken over into the core's in a few loads
//! and stores.

use std::mem::{MaybeUninit, offset_of};
use std::ptr;

use lanelock::Op;
use lanelock::raw::{RawForm, RawOp, RawOutput};

use crate::handle;
use crate::op::{
    LANELOCK_OP_AUTH_RANGE, LANELOCK_OP_CIPHER_RANGE, LANELOCK_OP_OUTPUT_AT, LANELOCK_OP_READ_ONLY,
    LANELOCK_OP_SEPARATE, LANELOCK_OP_TAG_CONST, lanelock_op,
};
use crate::view::NEITHER;

/// Flags of an operation whose IV, additional data and tag are places of their own.
const APART: u16 = LANELOCK_OP_SEPARATE
    | LANELOCK_OP_READ_ONLY
    | LANELOCK_OP_CIPHER_RANGE
    | LANELOCK_OP_AUTH_RANGE
    | LANELOCK_OP_OUTPUT_AT
    | LANELOCK_OP_TAG_CONST;

/// The part of an operation that is in the core's layout begins with the input.
const RAW: usize = offset_of!(lanelock_op, input);

const _: () = {
    assert!(offset_of!(RawOp, output) == offset_of!(lanelock_op, output) - RAW);
    assert!(offset_of!(RawOp, iv) == offset_of!(lanelock_op, iv) - RAW);
    assert!(offset_of!(RawOp, cipher_len) == offset_of!(lanelock_op, cipher_len) - RAW);
    assert!(offset_of!(RawOp, cipher_at) == offset_of!(lanelock_op, cipher_at) - RAW);
    assert!(offset_of!(RawOp, auth_len) == offset_of!(lanelock_op, auth_len) - RAW);
    assert!(offset_of!(RawOp, auth_at) == offset_of!(lanelock_op, auth_at) - RAW);
    assert!(offset_of!(RawOp, tag) == offset_of!(lanelock_op, tag) - RAW);
    assert!(offset_of!(RawOp, aad) == offset_of!(lanelock_op, aad) - RAW);
    assert!(size_of::<RawOp>() == offset_of!(lanelock_op, output_at) - RAW);
};

/// Operations that have the same parts, each in one run: what is decided for one of them holds for
/// all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike {
    /// Of each of them.
    words: Words,
    form: RawForm,
}

/// What is the same in operations that are alike: length and offset of IV, tag and additional data, and
/// what is from the output's offset to the reason.
#[derive(Clone, Copy, Debug)]
struct Words {
    iv: usize,
    tag: usize,
    aad: usize,
    state: usize,
}

impl Words {
    #[inline(always)]
    fn of<const FRESH: bool>(op: &lanelock_op) -> Self {
        if FRESH {
            // Volatile, or the compiler reads several at once.
            fn field<T: Into<u32>>(it: &T) -> usize {
                // SAFETY: a reference is valid for reads.
                let value: u32 = unsafe { ptr::read_volatile(it) }.into();
                value as usize
            }
            return Self {
                iv: field(&op.iv_len) | field(&op.iv_at) << 32,
                tag: field(&op.tag_len) | field(&op.tag_at) << 32,
                aad: field(&op.aad_len) | field(&op.aad_at) << 32,
                state: field(&op.output_at)
                    | field(&op.flags) << 32
                    | field(&op.status) << 48
                    | field(&op.reason) << 56,
            };
        }
        let word = |at: usize| {
            // SAFETY: eight bytes of integers in the operation.
            unsafe { ptr::from_ref(op).byte_add(at).cast::<usize>().read() }
        };
        Self {
            iv: word(offset_of!(lanelock_op, iv_len)),
            tag: word(offset_of!(lanelock_op, tag_len)),
            aad: word(offset_of!(lanelock_op, aad_len)),
            state: word(offset_of!(lanelock_op, output_at)),
        }
    }
}

impl Alike {
    /// None that has a status of the library.
    pub(crate) fn none() -> Self {
        Self {
            words: Words {
                iv: !0,
                tag: !0,
                aad: !0,
                state: !0,
            },
            form: RawForm::new(RawOutput::Nowhere),
        }
    }

    /// Those like `op`, if it needs no closer look.
    pub(crate) fn of(op: &lanelock_op) -> Option<Self> {
        let apart = op.flags & !APART == 0 && op.flags & NEITHER != NEITHER;
        if !apart || op.iv_at | op.tag_at | op.aad_at != 0 {
            return None;
        }
        let mut form = RawForm::new(match op.flags & NEITHER {
            0 => RawOutput::InPlace,
            LANELOCK_OP_SEPARATE => RawOutput::Separate,
            _ => RawOutput::Nowhere,
        });
        if has(op, LANELOCK_OP_TAG_CONST) {
            form = form.tag_read_only();
        }
        if has(op, LANELOCK_OP_CIPHER_RANGE) {
            form = form.cipher_range();
        }
        if has(op, LANELOCK_OP_AUTH_RANGE) {
            form = form.auth_range();
        }
        if has(op, LANELOCK_OP_OUTPUT_AT) {
            form = form.output_at(op.output_at as usize);
        }
        let words = Words::of::<false>(op);
        Some(Self { words, form })
    }

    /// Writes operations in the core's form, a few loads and stores each, as long as they are some of
    /// these and take no closer look: from that of index `from` to `places`, which ends where they end.
    /// Returns the index of the first that is not written.
    ///
    /// # Safety
    /// As for [`view`](crate::view::view), for each that `at` gives, unless that is null or not aligned.
    #[inline(always)]
    pub(crate) unsafe fn take_over(
        &self,
        at: impl Fn(usize) -> *mut lanelock_op,
        from: usize,
        places: &mut [MaybeUninit<Op<'static>>],
    ) -> usize {
        // SAFETY: the caller's promise; what is in the angle brackets is the form's.
        unsafe {
            match (self.form.is_separate(), self.form.has_ranges()) {
                (false, false) => self.take::<false, false>(at, from, places),
                (false, true) => self.take::<false, true>(at, from, places),
                (true, false) => self.take::<true, false>(at, from, places),
                (true, true) => self.take::<true, true>(at, from, places),
            }
        }
    }

    /// On its own, so that its loop has the registers to itself.
    ///
    /// # Safety
    /// As for [`Alike::take_over`]; the form is separate and has ranges as said.
    #[inline(never)]
    unsafe fn take<const SEPARATE: bool, const RANGES: bool>(
        &self,
        at: impl Fn(usize) -> *mut lanelock_op,
        from: usize,
        places: &mut [MaybeUninit<Op<'static>>],
    ) -> usize {
        let it = *self;
        for index in from..places.len() {
            // SAFETY: the index is one of `places`; the caller's promise.
            unsafe {
                let place = places.get_unchecked_mut(index);
                if !it.take_this::<SEPARATE, RANGES, false>(at(index), place) {
                    return index;
                }
            }
        }
        places.len()
    }

    /// As [`Alike::take_over`], for one operation that its program may just have written; returns
    /// whether it is one of these.
    ///
    /// # Safety
    /// As for [`Alike::take_over`].
    #[inline(always)]
    pub(crate) unsafe fn take_one(
        &self,
        op: *mut lanelock_op,
        place: &mut MaybeUninit<Op<'static>>,
    ) -> bool {
        // SAFETY: the caller's promise; what is in the angle brackets is the form's.
        unsafe {
            match (self.form.is_separate(), self.form.has_ranges()) {
                (false, false) => self.take_this::<false, false, true>(op, place),
                (false, true) => self.take_this::<false, true, true>(op, place),
                (true, false) => self.take_this::<true, false, true>(op, place),
                (true, true) => self.take_this::<true, true, true>(op, place),
            }
        }
    }

    /// # Safety
    /// As for [`Alike::take_over`]; the form is separate and has ranges as said.
    #[inline(always)]
    unsafe fn take_this<const SEPARATE: bool, const RANGES: bool, const FRESH: bool>(
        &self,
        op: *mut lanelock_op,
        place: &mut MaybeUninit<Op<'static>>,
    ) -> bool {
        let Self { words, form } = self;
        if op.is_null() || !op.is_aligned() {
            return false;
        }
        // SAFETY: valid, says the caller.
        let it = unsafe { &*op };
        let found = Words::of::<FRESH>(it);
        if it.session.is_null()
            || found.state != words.state
            || found.iv != words.iv
            || found.tag != words.tag
            || found.aad != words.aad
            || !words.is_clear::<SEPARATE, RANGES>(it)
            || cfg!(debug_assertions) && handle::check(it.session).is_err()
        {
            return false;
        }
        // SAFETY: the session is live, says the caller. What the operation has is valid, says the
        // caller; it has the form's lengths and is not null and clear of the rest, as just checked.
        unsafe {
            let (session, raw) = (&(*it.session).session, op.byte_add(RAW).cast());
            Op::write_raw::<SEPARATE, RANGES, FRESH>(place, session, raw, form);
        }
        true
    }
}

impl Words {
    /// Whether everything that an operation has lies in one run that is not null, and what is written
    /// is obviously clear of everything else. Branches, which always go the same way, leave the
    /// registers to what follows.
    #[inline(always)]
    fn is_clear<const SEPARATE: bool, const RANGES: bool>(&self, op: &lanelock_op) -> bool {
        // Offsets in them are 0.
        let run = |base: *const u8, len: usize| (base as usize, len);
        let input = run(op.input.cast(), op.input_len as usize);
        if op.input.is_null() || op.input_segments != 0 {
            return false;
        }
        let written = if SEPARATE {
            let output = run(op.output.cast(), op.output_len as usize);
            if op.output.is_null() || op.output_segments != 0 || may_meet(input, output) {
                return false;
            }
            output
        } else if RANGES && has(op, LANELOCK_OP_CIPHER_RANGE) {
            let at = input.0.wrapping_add(op.cipher_at as usize);
            (at, op.cipher_len as usize)
        } else {
            input
        };
        let (iv, aad) = (run(op.iv, self.iv), run(op.aad, self.aad));
        if self.iv != 0 && (op.iv.is_null() || may_meet(iv, written)) {
            return false;
        }
        if self.aad != 0 && (op.aad.is_null() || may_meet(aad, written)) {
            return false;
        }
        if self.tag == 0 {
            return true;
        }
        let tag = run(op.tag, self.tag);
        let met = op.tag.is_null()
            || may_meet(tag, input)
            || SEPARATE && may_meet(tag, written)
            || self.iv != 0 && may_meet(tag, iv)
            || self.aad != 0 && may_meet(tag, aad);
        !met
    }
}

#[inline(always)]
fn has(op: &lanelock_op, flag: u16) -> bool {
    op.flags & flag != 0
}

/// Whether they have a byte in common, or may have as one is empty: one compare.
#[inline(always)]
fn may_meet(a: (usize, usize), b: (usize, usize)) -> bool {
    // Around the circle of addresses, from the start of one to the end of the other is more than nothing
    // and less than the two are long.
    let last = a.0.wrapping_add(a.1).wrapping_sub(1);
    last.wrapping_sub(b.0) < a.1.wrapping_add(b.1).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_may_meet_where_they_share_a_byte_or_one_is_empty() {
        for (a, b, meet) in [
            ((100, 4), (104, 4), false),
            ((104, 4), (100, 4), false),
            ((100, 4), (103, 2), true),
            ((103, 2), (104, 4), true),
            ((100, 4), (100, 4), true),
            ((100, 8), (102, 1), true),
            ((102, 1), (100, 8), true),
            ((usize::MAX - 3, 4), (8, 4), false),
            ((8, 4), (usize::MAX - 3, 4), false),
            ((100, 4), (102, 0), true),
            ((102, 0), (100, 4), true),
        ] {
            assert_eq!(may_meet(a, b), meet, "{a:?} {b:?}");
        }
    }
}
