//! An operation of C's as the core's, whatever it looks like.

use std::mem::MaybeUninit;
use std::{ptr, slice};

use lanelock::buffer::Segment;
use lanelock::{Buffer, Op};

use crate::alike::Alike;
use crate::handle;
use crate::op::{
    LANELOCK_OP_AAD_AT, LANELOCK_OP_AUTH_RANGE, LANELOCK_OP_CIPHER_RANGE, LANELOCK_OP_IV_AT,
    LANELOCK_OP_OUTPUT_AT, LANELOCK_OP_READ_ONLY, LANELOCK_OP_SEPARATE, LANELOCK_OP_TAG_AT,
    LANELOCK_OP_TAG_CONST, LANELOCK_REASON_ALIGNMENT, LANELOCK_REASON_FLAGS,
    LANELOCK_REASON_POINTER_NULL, LANELOCK_REASON_SESSION_FREED, LANELOCK_REASON_SESSION_NULL,
    lanelock_op,
};

/// Room for a buffer of one run that has to be described as a list of segments.
pub(crate) type Spare = MaybeUninit<[Segment; 2]>;

/// Every flag there is.
const KNOWN: u16 = 0x1ff;

/// Flags that exclude each other.
pub(crate) const NEITHER: u16 = LANELOCK_OP_SEPARATE | LANELOCK_OP_READ_ONLY;

/// Writes the operation in the core's form to `place`, or gives the number of the reason why there is
/// none. `like` becomes those like this one, if it needs no closer look.
///
/// # Safety
/// As for `lanelock_process`; what is written and `spare` live no longer than what the operation points
/// to, and `spare` stays where it is as long as what is written is used.
#[cold]
#[inline(never)]
pub(crate) unsafe fn view(
    op: *const lanelock_op,
    like: &mut Alike,
    spare: &mut Spare,
    place: &mut MaybeUninit<Op<'static>>,
) -> Result<(), u8> {
    // SAFETY: valid, says the caller.
    let it = unsafe { &*op };
    if it.session.is_null() {
        return Err(LANELOCK_REASON_SESSION_NULL);
    }
    if cfg!(debug_assertions) && handle::check(it.session).is_err() {
        return Err(LANELOCK_REASON_SESSION_FREED);
    }
    if it.input_segments | it.output_segments != 0 {
        // Those that follow are not compared in vain.
        *like = Alike::none();
    } else if let Some(alike) = Alike::of(it) {
        *like = alike;
        // SAFETY: the caller's promise.
        let written = unsafe { alike.take_over(|_| op.cast_mut(), 0, slice::from_mut(place)) };
        if written == 1 {
            return Ok(());
        }
    }
    // SAFETY: the caller's promise.
    place.write(unsafe { view_any(it, spare)? });
    Ok(())
}

/// An address that is not null, and a length.
type Run = (*mut u8, usize);

/// What an operation points to, apart from segments.
struct Parts {
    input: Run,
    output: Run,
    iv: Run,
    aad: Run,
    tag: Run,
}

impl Parts {
    /// `None` if something is null and is not empty.
    #[inline(always)]
    fn of(op: &lanelock_op) -> Option<Self> {
        Some(Self {
            input: run(op.input.cast(), op.input_len)?,
            output: run(op.output.cast(), op.output_len)?,
            iv: run(op.iv.cast_mut(), op.iv_len)?,
            aad: run(op.aad.cast_mut(), op.aad_len)?,
            tag: run(op.tag, op.tag_len)?,
        })
    }

    /// The operation on `buffer`, for flags that [`APART`] has.
    ///
    /// # Safety
    /// The caller's promise of [`view`].
    #[inline(always)]
    unsafe fn on(&self, op: &lanelock_op, buffer: Buffer<'static>) -> Op<'static> {
        // SAFETY: live, says the caller.
        let mut view = Op::new(unsafe { &(*op.session).session }, buffer);
        if self.iv.1 != 0 {
            // SAFETY: not null; valid, says the caller.
            view = view.iv(unsafe { slice::from_raw_parts(self.iv.0, self.iv.1) });
        }
        if self.aad.1 != 0 {
            // SAFETY: as the IV.
            view = view.aad(unsafe { slice::from_raw_parts(self.aad.0, self.aad.1) });
        }
        if self.tag.1 != 0 {
            // SAFETY: as the IV; for writes too, unless the flag says that it is not.
            view = unsafe {
                if op.flags & LANELOCK_OP_TAG_CONST == 0 {
                    view.tag(slice::from_raw_parts_mut(self.tag.0, self.tag.1))
                } else {
                    view.expected_tag(slice::from_raw_parts(self.tag.0, self.tag.1))
                }
            };
        }
        if op.flags & (LANELOCK_OP_CIPHER_RANGE | LANELOCK_OP_AUTH_RANGE | LANELOCK_OP_OUTPUT_AT)
            != 0
        {
            view = ranges(op, view);
        }
        view
    }
}

#[inline(always)]
fn ranges(op: &lanelock_op, mut view: Op<'static>) -> Op<'static> {
    let range = |at: u32, len: u32| at as usize..at as usize + len as usize;
    if op.flags & LANELOCK_OP_CIPHER_RANGE != 0 {
        view = view.cipher_range(range(op.cipher_at, op.cipher_len));
    }
    if op.flags & LANELOCK_OP_AUTH_RANGE != 0 {
        view = view.auth_range(range(op.auth_at, op.auth_len));
    }
    if op.flags & LANELOCK_OP_OUTPUT_AT != 0 {
        view = view.output_at(op.output_at as usize);
    }
    view
}

#[inline(always)]
fn run(base: *mut u8, len: u32) -> Option<Run> {
    if !base.is_null() {
        return Some((base, len as usize));
    }
    (len == 0).then_some((ptr::dangling_mut(), 0))
}

/// Whether they have a byte in common; an empty one has none that lies inside of another.
#[inline(always)]
fn meet(a: Run, b: Run) -> bool {
    let (start, other) = (a.0 as usize, b.0 as usize);
    (start < other.wrapping_add(b.1)) & (other < start.wrapping_add(a.1)) & (a.1 != 0) & (b.1 != 0)
}

/// As [`view`], for lists of segments, inline parts, null, and memory that may overlap.
///
/// # Safety
/// As for [`view`].
unsafe fn view_any(op: &lanelock_op, spare: &mut Spare) -> Result<Op<'static>, u8> {
    let kind = op.flags & NEITHER;
    if op.flags & !KNOWN != 0 || kind == NEITHER {
        return Err(LANELOCK_REASON_FLAGS);
    }
    // What lies inline is not looked at.
    let mut apart = *op;
    for (flag, len) in [
        (LANELOCK_OP_IV_AT, &mut apart.iv_len),
        (LANELOCK_OP_TAG_AT, &mut apart.tag_len),
        (LANELOCK_OP_AAD_AT, &mut apart.aad_len),
    ] {
        if op.flags & flag != 0 {
            *len = 0;
        }
    }
    if op.input_segments != 0 {
        apart.input_len = 0;
    }
    if op.output_segments != 0 {
        apart.output_len = 0;
    }
    if kind != LANELOCK_OP_SEPARATE {
        (apart.output_len, apart.output_segments) = (0, 0);
    }
    let parts = Parts::of(&apart).ok_or(LANELOCK_REASON_POINTER_NULL)?;
    let empty = (ptr::dangling_mut(), 0);
    let output = if kind == LANELOCK_OP_SEPARATE {
        parts.output
    } else {
        empty
    };
    let [first, second] =
        spare.write([parts.input, output].map(|(base, len)| Segment { base, len }));
    // SAFETY: lists that are valid, says the caller, for longer than the result.
    let (input, output) = unsafe {
        (
            list(apart.input.cast(), apart.input_segments, first)?,
            list(apart.output.cast(), apart.output_segments, second)?,
        )
    };
    let written = if kind == 0 { input } else { output };
    let met = |part: Run, list: &[Segment]| {
        part.1 != 0 && list.iter().any(|it| meet(part, (it.base, it.len)))
    };
    let met_any = met(parts.iv, written)
        || met(parts.aad, written)
        || met(parts.tag, input)
        || kind != 0 && met(parts.tag, written)
        || meet(parts.tag, parts.iv)
        || meet(parts.tag, parts.aad);
    let in_place_at = if op.flags & LANELOCK_OP_CIPHER_RANGE != 0 {
        op.cipher_at
    } else {
        0
    };
    // SAFETY: valid lists; where they may overlap, the constructor that has this checked.
    let mut view = unsafe {
        match kind {
            0 if !met_any => parts.on(&apart, Buffer::from_raw_segments_in_place(input)),
            // Then the tag alone is written, apart from all that is read.
            LANELOCK_OP_READ_ONLY if !met_any => {
                parts.on(&apart, Buffer::from_raw_segments_read_only(input))
            }
            // The same memory on both sides, where the check finds it alike.
            0 if op.flags & LANELOCK_OP_OUTPUT_AT == 0 => parts
                .on(&apart, Buffer::from_raw_segments(input, input))
                .output_at(in_place_at as usize),
            _ => parts.on(&apart, Buffer::from_raw_segments(input, output)),
        }
    };
    if op.flags & LANELOCK_OP_IV_AT != 0 {
        view = view.iv_at(op.iv_at as usize);
    }
    if op.flags & LANELOCK_OP_AAD_AT != 0 {
        let at = op.aad_at as usize;
        view = view.aad_range(at..at + op.aad_len as usize);
    }
    if op.flags & LANELOCK_OP_TAG_AT != 0 {
        view = view.tag_at(op.tag_at as usize);
    }
    Ok(view)
}

/// The segments at `base`, or the one of `single`.
///
/// # Safety
/// `base` is null or valid for `count` segments as long as the result is used, and so is `single`.
unsafe fn list(
    base: *const Segment,
    count: u32,
    single: &mut Segment,
) -> Result<&'static [Segment], u8> {
    // SAFETY: the caller's promise.
    let list = unsafe {
        if count == 0 {
            return Ok(slice::from_raw_parts(ptr::from_mut(single), 1));
        }
        if base.is_null() {
            return Err(LANELOCK_REASON_POINTER_NULL);
        }
        if !base.is_aligned() {
            return Err(LANELOCK_REASON_ALIGNMENT);
        }
        slice::from_raw_parts(base, count as usize)
    };
    if list
        .iter()
        .any(|segment| segment.base.is_null() && segment.len != 0)
    {
        return Err(LANELOCK_REASON_POINTER_NULL);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_meet_where_they_share_a_byte() {
        let mut bytes = [0_u8; 8];
        let start = bytes.as_mut_ptr();
        let at = |from: usize, len| (start.wrapping_add(from), len);
        let (a, b, c, none) = (at(0, 4), at(4, 4), at(3, 2), at(2, 0));
        assert!(!meet(a, b) && !meet(b, a) && !meet(a, none) && !meet(none, a));
        assert!(meet(a, c) && meet(c, b) && meet(a, a));
    }
}
