//! AEAD messages in pieces that run together: copied to one place, and from there to where they go.
//! Copies cost less than a kernel call for each piece, and messages in one piece share lanes.

#![allow(unsafe_code)] // hands memory of its own to the kernels

use std::mem::MaybeUninit;
use std::sync::atomic;
use std::{hint, mem, slice};

use arrayvec::ArrayVec;
use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::engine::ValidOp;
use lanelock_core::transform::Direction;
use lanelock_kernels::taint::declassify;

use crate::aead::{Aead, Message, Scattered, expected_tag};
use crate::burst::{BURST, Text};

/// Bytes of all messages that run together, with additional data that is in pieces, too: half of the
/// smallest L1 data cache.
const ROOM: usize = 16 * 1024;

/// Where messages lie begins on a line of the cache.
const LINE: usize = 64;

#[repr(align(64))]
struct Room([MaybeUninit<u8>; ROOM]);

impl Room {
    /// Overwrites the first `used` bytes, all at once: byte by byte would take longer than to decrypt
    /// them.
    fn wipe(&mut self, used: usize) {
        self.0[..used].fill(MaybeUninit::new(0));
        // What happens to the pointer here is not known to the compiler, which has to keep the zeros.
        hint::black_box(self.0.as_mut_ptr());
        atomic::compiler_fence(atomic::Ordering::SeqCst);
    }
}

/// Runs messages in pieces; one that has no room runs by itself.
#[inline(never)]
pub(crate) fn run<A: Aead>(aead: &A, mut messages: &mut [Scattered<'_, '_, '_, A>]) {
    let mut room = Room([MaybeUninit::uninit(); ROOM]);
    while !messages.is_empty() {
        let (mut count, mut used) = (0, 0);
        for message in &*messages {
            used += bytes(message.op);
            if used > ROOM || count == BURST {
                break;
            }
            count += 1;
        }
        let (now, later) = mem::take(&mut messages).split_at_mut(count.max(1));
        match now {
            [first] if count == 0 => first.tag = first.aead.run_pieces(first.op),
            _ => run_some(aead, now, &mut room),
        }
        messages = later;
    }
}

/// Bytes that a message takes of the room.
fn bytes(op: &ValidOp<'_, '_>) -> usize {
    let aad = match op.whole_aad() {
        Some(_) => 0,
        None => op.aad_len().next_multiple_of(LINE),
    };
    aad.saturating_add(op.payload_len())
        .div_ceil(LINE)
        .saturating_mul(LINE)
}

/// Runs messages that have room.
fn run_some<A: Aead>(aead: &A, messages: &mut [Scattered<'_, '_, '_, A>], room: &mut Room) {
    let mut jobs = ArrayVec::<_, BURST>::new();
    let mut texts = ArrayVec::<_, BURST>::new();
    let begin: *mut u8 = room.0.as_mut_ptr().cast();
    let mut used = 0;
    for Scattered { aead, op, .. } in &mut *messages {
        let mut take = |len: usize| {
            let at = begin.wrapping_add(used);
            used += len.next_multiple_of(LINE);
            assert!(used <= ROOM, "a message that has room");
            // SAFETY: `len` bytes of the room that no other slice has; zeros are written first, as they
            // were not initialised.
            unsafe {
                at.write_bytes(0, len);
                slice::from_raw_parts_mut(at, len)
            }
        };
        let aad: *const [u8] = match op.whole_aad() {
            Some(aad) => aad,
            None => {
                let aad = take(op.aad_len());
                let mut done = 0;
                let _infallible: Result<(), std::convert::Infallible> = op.for_each_aad(|piece| {
                    aad[done..][..piece.len()].copy_from_slice(piece);
                    done += piece.len();
                    Ok(())
                });
                aad
            }
        };
        let text = take(op.payload_len());
        op.payload().copy_in(text);
        let text = Text {
            source: text.as_ptr(),
            target: text.as_mut_ptr(),
            len: text.len(),
        };
        texts.push(text);
        let mut scratch = [0; MAX_IV_LEN];
        let whole = Message {
            text,
            aad,
            iv: op.iv(&mut scratch),
            is_iv_kept: false,
        };
        jobs.push(aead.job(whole, || expected_tag(op)));
    }
    // SAFETY: the jobs are of this group. Texts are disjoint, and so is the additional data.
    unsafe { aead.run(&mut jobs) };
    let mut opens = false;
    for ((message, job), text) in messages.iter_mut().zip(&jobs).zip(&texts) {
        let op = &mut *message.op;
        opens |= op.direction() == Direction::Reverse;
        let tag = A::tag(job).filter(|tag| {
            op.direction() == Direction::Forward || declassify(op.tag_matches(&tag[..]))
        });
        message.is_refused = tag.is_none();
        if let Some(tag) = tag {
            message.tag = *tag;
            // SAFETY: the kernel has run; the text is initialised.
            op.payload()
                .copy_out(unsafe { slice::from_raw_parts(text.source, text.len) });
        }
    }
    if opens {
        room.wipe(used);
    }
}
