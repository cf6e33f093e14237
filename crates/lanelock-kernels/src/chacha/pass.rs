//! ChaCha20-Poly1305 of one message in one pass: while registers make the keystream of some blocks,
//! plain integers authenticate the ciphertext of those before.

#![allow(unsafe_code)] // the message is raw memory

use core::mem::MaybeUninit;

use super::aead::AeadJob;
use super::block::{BLOCK as STREAM_BLOCK, xor};
use super::consecutive::some;
use super::tags::is_right;
use crate::ahead;
use crate::arch::words::{Alone, Beside, DoubleRow, Kernel, Registers, Rows};
use crate::arrays::map;
use crate::poly1305::{BLOCK, Element, Running, Secret};
use crate::wipe::wipe;

/// Up to how many messages each is faster by itself than in lanes with others, and from how many bytes on, on
/// registers of so many words, eight at most. Those of eight hold rows of two blocks, which a message of few
/// blocks fills.
pub(super) const fn alone(words: usize) -> (usize, usize) {
    if words == 8 {
        (8, STREAM_BLOCK)
    } else {
        (4, 4 * STREAM_BLOCK + 1)
    }
}

/// Blocks of keystream that are made together, at most.
const MOST: usize = 16;

/// See [`Kernels::pass`](super::Kernels::pass).
pub(super) struct Pass<'j, 'k, const SEAL: bool>(pub &'j mut AeadJob<'k>);

impl<const SEAL: bool> Kernel for Pass<'_, '_, SEAL> {
    const BESIDE_INTEGERS: bool = true;

    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        // SAFETY: the contract of `seal_many`.
        unsafe { run::<S::Rows, SEAL>(proof, self.0) }
    }
}

/// Blocks to absorb beside the rounds of ChaCha20: three beside each double round, which take about as
/// long as it does for a register of eight blocks.
struct Absorb {
    /// A copy: what its owner wipes is in memory, and each block would be stored there.
    sum: Running,
    at: *const u8,
    /// Invariant: `at` is valid for reading so many blocks.
    blocks: usize,
}

impl Absorb {
    #[inline(always)]
    fn one(&mut self) {
        if self.blocks > 0 {
            // SAFETY: the invariant.
            self.sum
                .block(unsafe { self.at.cast::<[u8; BLOCK]>().read() });
            self.at = self.at.wrapping_add(BLOCK);
            self.blocks -= 1;
        }
    }
}

impl Beside for Absorb {
    #[inline(always)]
    fn begin(&mut self) {}

    #[inline(always)]
    unsafe fn behind(&mut self, group: usize, _: usize) {
        self.one();
        if group.is_multiple_of(2) {
            self.one();
        }
    }

    #[inline(always)]
    fn end(&mut self) {
        while self.blocks > 0 {
            self.one();
        }
    }
}

/// Memory of keystream, on lines of the cache.
#[repr(align(64))]
struct Place(MaybeUninit<[DoubleRow<u32>; MOST]>);

/// Keystream that waits for its text. Wiped on drop.
struct Stream<'p> {
    /// Apart from the number, or the compiler would initialise both.
    place: &'p mut Place,
    /// Invariant: so many rows have been written.
    filled: usize,
}

impl<'p> Stream<'p> {
    #[inline(always)]
    fn new(place: &'p mut Place) -> Self {
        Self { place, filled: 0 }
    }

    /// Makes it the blocks from number `first` on that are `left`, or as many as there are lanes; returns
    /// how many.
    ///
    /// # Safety
    /// The conditions of `beside` hold.
    #[inline(always)]
    unsafe fn fill<V: Rows, B: Beside>(
        &mut self,
        proof: V::Proof,
        state: &DoubleRow<u32>,
        (first, left): (usize, usize),
        beside: &mut B,
    ) -> usize {
        const { assert!(V::COUNT <= MOST) };
        let rows = self.place.0.as_mut_ptr().cast();
        // SAFETY: there is a row for every lane; the caller's promise.
        let made = unsafe { some::<V, B>(proof, state, first, rows, left, beside) };
        beside.end();
        self.filled = self.filled.max(made);
        made
    }

    /// From block `number` on.
    #[inline(always)]
    fn from(&self, number: usize) -> *const DoubleRow<u32> {
        let rows = self.place.0.as_ptr().cast::<DoubleRow<u32>>();
        rows.wrapping_add(number)
    }
}

impl Drop for Stream<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.filled > 0 {
            let rows = self.place.0.as_mut_ptr().cast::<DoubleRow<u32>>();
            // SAFETY: the invariant.
            wipe(unsafe { core::slice::from_raw_parts_mut(rows, self.filled) });
        }
    }
}

/// # Safety
/// The contract of [`super::seal_many`].
#[inline(always)]
unsafe fn run<V: Rows, const SEAL: bool>(proof: V::Proof, job: &mut AeadJob<'_>) {
    let (aad, len) = (job.aad, job.len);
    let (input, output) = (job.input, job.output);
    // Where the ciphertext is while it is absorbed.
    let ciphertext = if SEAL { output.cast_const() } else { input };
    let state = job.key.state(0, &job.nonce);
    let blocks = 1 + len.div_ceil(STREAM_BLOCK);
    let mut places = [const { Place(MaybeUninit::uninit()) }; 2];
    let [one, other] = &mut places;
    let (mut stream, mut next) = (Stream::new(one), Stream::new(other));
    // SAFETY: the caller's promise: all that is read and written lies within `len` bytes of the text or
    // within the additional data.
    unsafe {
        let mut made = stream.fill::<V, _>(proof, &state, (0, blocks), &mut Alone);
        let mut secret = Secret::new(&*stream.from(0).cast());
        let mut sum = Running::new(&secret, Element::default());
        sum.padded(aad.cast(), aad.len());

        // The chunk that `mask` is for.
        let mut mask = stream.from(1);
        let (mut begin, mut end) = (0, len.min((made - 1) * STREAM_BLOCK));
        let apply = |mask, begin, end| {
            xor::<V>(
                proof,
                mask,
                input.add(begin),
                output.add(begin),
                end - begin,
            );
        };
        loop {
            if SEAL {
                apply(mask, begin, end);
            }
            if end == len {
                break;
            }
            ahead::ask(input, len, begin, end - begin);
            let mut absorb = Absorb {
                sum,
                at: ciphertext.add(begin),
                blocks: (end - begin) / BLOCK,
            };
            let more = next.fill::<V, _>(proof, &state, (made, blocks - made), &mut absorb);
            sum = absorb.sum;
            if !SEAL {
                apply(mask, begin, end);
            }
            core::mem::swap(&mut stream, &mut next);
            made += more;
            (begin, end) = (end, len.min(end + more * STREAM_BLOCK));
            mask = stream.from(0);
        }
        sum.padded(ciphertext.add(begin), end - begin);
        let lengths = map([aad.len() as u64, len as u64], u64::to_le_bytes);
        sum.block(*lengths.as_ptr().cast());
        let tag = secret.tag(sum.sum());
        sum.wipe();
        secret.wipe();
        if SEAL {
            job.tag = tag;
            return;
        }
        job.verified = is_right(&job.tag, &tag);
        if job.verified {
            apply(mask, begin, end);
        } else if begin > 0 {
            output.write_bytes(0, len);
        }
    }
}
