//! The tags of ChaCha20-Poly1305 messages: of one by itself, and of many whose blocks share lanes.

#![allow(unsafe_code)] // the messages are raw memory

use core::mem::MaybeUninit;

use super::Kernels;
use super::aead::{AeadJob, CHUNK, TAG};
use crate::bytes::copy_short;
use crate::poly1305::{self, BLOCK, Element, Item, Running, Secret, Shape};
use crate::taint::is_none;
use crate::wipe::wipe;

/// Bytes of scratch per message; a message whose authenticated blocks fit is put together there.
const SCRATCH: usize = 256;

/// The tag of one message.
///
/// # Safety
/// `aad` is valid for reading, and `text` for `len` bytes.
#[inline(always)] // so that the secret does not pass through memory
pub(super) unsafe fn tag(
    kernels: &Kernels,
    secret: &Secret,
    aad: *const [u8],
    text: *const u8,
    len: usize,
) -> [u8; TAG] {
    let mut sum = Running::new(secret, Element::default());
    let whole = len / BLOCK;
    // SAFETY: the caller's promise; what is left of the text is less than a block.
    unsafe {
        sum.padded(aad.cast(), aad.len());
        poly1305::absorb_run(kernels.authenticator(), secret, &mut sum, text, whole);
        sum.padded(text.add(whole * BLOCK), len % BLOCK);
        sum.block(lengths(aad.len(), len));
    }
    let tag = sum.tag(secret);
    sum.wipe();
    tag
}

/// The last block that is authenticated.
#[inline(always)]
fn lengths(aad: usize, text: usize) -> [u8; BLOCK] {
    (aad as u128 | (text as u128) << 64).to_le_bytes()
}

/// The verdict on a tag, in a time that does not depend on where it differs from the one computed.
#[inline(always)]
pub(super) fn is_right(tag: &[u8; TAG], computed: &[u8; TAG]) -> bool {
    is_none(u128::from_ne_bytes(*tag) ^ u128::from_ne_bytes(*computed))
}

/// Computes the tags of the jobs that share registers and hands them to `done`. Wipes the one-time keys.
///
/// # Safety
/// `text` yields memory valid for reading the job's `len` bytes; `aad` is valid.
#[inline(always)]
pub(super) unsafe fn tags<'k>(
    kernels: &Kernels,
    jobs: &mut [AeadJob<'k>],
    shares: impl Fn(&AeadJob<'k>) -> bool,
    keys: &mut [[u32; 8]],
    text: impl Fn(&AeadJob<'k>) -> *const u8,
    done: impl Fn(&mut AeadJob<'k>, [u8; TAG]),
) {
    let authenticator = kernels.authenticator();
    let lens = || jobs.iter().filter(|job| shares(job)).map(|job| job.len);
    let burst = Shape {
        messages: lens().count(),
        are_alike: lens().min() == lens().max(),
    };
    let mut items = [const { MaybeUninit::<Item>::uninit() }; CHUNK];
    let mut scratch = [const { MaybeUninit::<[u8; SCRATCH]>::uninit() }; CHUNK];
    let mut owner = [0; CHUNK];
    let (mut count, mut laned) = (0, 0);
    for (at, job) in jobs.iter_mut().enumerate().filter(|(_, job)| shares(job)) {
        let mut secret = Secret::new(&keys[count]);
        count += 1;
        // SAFETY: `scratch[laned]` is `SCRATCH` writable bytes; the rest is the caller's promise.
        unsafe {
            if authenticator.runs_alone(burst, job.len / BLOCK) {
                let tag = tag(kernels, &secret, job.aad, text(job), job.len);
                done(job, tag);
                secret.wipe();
                continue;
            }
            let scratch = scratch[laned].as_mut_ptr().cast();
            items[laned].write(Item {
                secret,
                runs: runs(job.aad, text(job), job.len, scratch),
                sum: Element::default(),
            });
        }
        secret.wipe();
        owner[laned] = at;
        laned += 1;
    }
    if laned > 0 {
        // SAFETY: so many items are initialised, and their runs valid.
        let items = unsafe {
            let items = core::slice::from_raw_parts_mut(items.as_mut_ptr().cast::<Item>(), laned);
            poly1305::authenticate(authenticator, items);
            items
        };
        for (item, &at) in items.iter_mut().zip(&owner) {
            done(&mut jobs[at], item.secret.tag(item.sum));
            item.secret.wipe();
        }
    }
    wipe(&mut keys[..count]);
}

/// The blocks that are authenticated: associated data, text, both padded with zeros, and lengths.
///
/// # Safety
/// `aad` is valid for reading, `text` for `len` bytes, and `scratch` for writing `SCRATCH` bytes.
#[inline(always)]
unsafe fn runs(
    aad: *const [u8],
    text: *const u8,
    len: usize,
    scratch: *mut u8,
) -> [(*const u8, usize); poly1305::RUNS] {
    let (aad, aad_len) = (aad.cast::<u8>(), aad.len());
    let (aad_rest, rest) = (aad_len % BLOCK, len % BLOCK);
    let lengths = lengths(aad_len, len);
    let none = (scratch.cast_const(), 0);
    let (aad_blocks, blocks) = (aad_len.div_ceil(BLOCK), len.div_ceil(BLOCK));
    if aad_len <= SCRATCH / 2 && len <= SCRATCH / 2 && aad_blocks + blocks < SCRATCH / BLOCK {
        // All in one run: short messages finish together then.
        let text_at = aad_blocks * BLOCK;
        let lengths_at = text_at + blocks * BLOCK;
        // SAFETY: `lengths_at` + a block ≤ `SCRATCH`; the sources are the caller's, of at most
        // 128 bytes each.
        unsafe {
            if aad_rest > 0 {
                scratch
                    .add(text_at - BLOCK)
                    .cast::<[u8; BLOCK]>()
                    .write([0; BLOCK]);
            }
            if rest > 0 {
                scratch
                    .add(lengths_at - BLOCK)
                    .cast::<[u8; BLOCK]>()
                    .write([0; BLOCK]);
            }
            copy_short(aad, scratch, aad_len);
            copy_short(text, scratch.add(text_at), len);
            scratch.add(lengths_at).cast::<[u8; BLOCK]>().write(lengths);
        }
        return [
            (scratch.cast_const(), aad_blocks + blocks + 1),
            none,
            none,
            none,
        ];
    }
    // SAFETY: three blocks of scratch; the tails are inside the sources.
    unsafe {
        scratch.cast::<[u8; 2 * BLOCK]>().write([0; 2 * BLOCK]);
        copy_short(aad.add(aad_len - aad_rest), scratch, aad_rest);
        let tail = scratch.add(BLOCK);
        copy_short(text.add(len - rest), tail, rest);
        let after = if rest > 0 { 1 } else { 0 };
        tail.add(after * BLOCK).cast::<[u8; BLOCK]>().write(lengths);
        [
            (aad, aad_len / BLOCK),
            (scratch.cast_const(), aad_blocks - aad_len / BLOCK),
            (text, len / BLOCK),
            (tail.cast_const(), after + 1),
        ]
    }
}
