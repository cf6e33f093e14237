//! Messages of a few blocks, as many as a register has blocks: each has its block of every register,
//! from its counters to its tag, so that none is left empty and no sum has to be folded.

use super::lot::{Ends, Lot, add_aad, lot, powers, write_tags};
use super::products::Sum;
use super::{Job, iv};
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::{from_fn, map};

/// At least one job. All have a text of as many bytes, which ends in the last of `N` blocks, and as much
/// additional data, at most a block. `ONE_KEY`: all have the same.
///
/// # Safety
/// The contract of [`encrypt_many`](super::encrypt_many); the keys have `ROUNDS` rounds.
pub(super) struct Abreast<
    'j,
    'k,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const ONE_KEY: bool,
    const N: usize,
> {
    pub jobs: &'j mut [Job<'k>],
    /// Whether all have an IV of twelve bytes.
    pub ivs: bool,
}

impl<const ROUNDS: usize, const ENCRYPT: bool, const ONE_KEY: bool, const N: usize> Kernel
    for Abreast<'_, '_, ROUNDS, ENCRYPT, ONE_KEY, N>
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let Self { jobs, ivs } = self;
        let (mut job, mut left) = (jobs.as_mut_ptr(), jobs.len());
        // SAFETY: the creator's promises.
        unsafe {
            let common = Rounds::<V, ROUNDS>::load(proof, (*job).key.cipher().as_ptr());
            let mut blocks = [[0_u8; BLOCK]; N];
            let mut idle = idle(&*job, blocks.as_mut_ptr().cast());
            let ends = Ends::<V, ONE_KEY>::of(proof, job);
            // The hash of each lot waits until the next one's rounds are under way.
            let mut lot_jobs = lot(job, left, &raw mut idle);
            let (mut ciphertexts, mut masks) =
                turn::<V, ROUNDS, ENCRYPT, ONE_KEY, N>(&common, lot_jobs, ivs);
            while left > V::BLOCKS {
                (job, left) = (job.add(V::BLOCKS), left - V::BLOCKS);
                let next = lot(job, left, &raw mut idle);
                let turned = turn::<V, ROUNDS, ENCRYPT, ONE_KEY, N>(&common, next, ivs);
                hash::<V, ENCRYPT, ONE_KEY, N>(lot_jobs, ends.sum(lot_jobs), ciphertexts, masks);
                (lot_jobs, (ciphertexts, masks)) = (next, turned);
            }
            hash::<V, ENCRYPT, ONE_KEY, N>(lot_jobs, ends.sum(lot_jobs), ciphertexts, masks);
        }
    }
}

/// A message beside the last ones, of the key, the IV and the lengths of `job`. Its text, and its additional
/// data, is at `text`.
#[inline(always)]
fn idle<'k>(job: &Job<'k>, text: *mut u8) -> Job<'k> {
    Job::new(job.key, job.iv)
        .text(text, text, job.len)
        .aad(text, job.aad_len)
}

/// Encrypts or decrypts the texts; the ciphertexts, zeros behind each, and the masks of the tags.
///
/// # Safety
/// As for [`Abreast`].
#[inline(always)]
unsafe fn turn<
    V: Vector,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const ONE_KEY: bool,
    const N: usize,
>(
    common: &Rounds<V, ROUNDS>,
    jobs: Lot<'_>,
    ivs: bool,
) -> ([V; N], V) {
    let proof = common.proof();
    let single = V::single(proof);
    // SAFETY: the caller's promises.
    unsafe {
        let (mut masks, mut stream);
        if ivs {
            let blocks = map(jobs, |job| V::Single::splat(single, iv((*job).iv)));
            let none = V::from_singles(proof, blocks);
            let counter = |n: usize| none.xor(V::splat(proof, (n as u128) << 120));
            masks = [counter(1)];
            stream = from_fn(|n| counter(n + 2));
        } else {
            let blocks = map(jobs, |job| V::Single::splat(single, (*job).j0()));
            masks = [V::from_singles(proof, blocks)];
            let first = masks[0].reverse();
            stream = from_fn(|n| first.add32(V::splat(proof, n as u128 + 1)).reverse());
        }
        macro_rules! key {
            ($common:expr, $r:expr) => {
                if ONE_KEY {
                    $common
                } else {
                    let keys = map(jobs, |job| {
                        let schedule = (*job).key.cipher().as_ptr();
                        V::Single::load(single, schedule.add(BLOCK * $r))
                    });
                    V::from_singles(proof, keys)
                }
            };
        }
        macro_rules! round {
            ($step:ident, $key:expr) => {
                let key = $key;
                for state in &mut stream {
                    *state = state.$step(key);
                }
                masks[0] = masks[0].$step(key);
            };
        }
        round!(xor, key!(common.at(0), 0));
        each_round!(common.count(), |r| {
            round!(aes_enc, key!(common.at(r), r));
        });
        round!(aes_enc_last, key!(common.last(), common.count()));
        // Else the rounds of each register would move to where it is used, and wait there.
        V::pin(&mut stream);
        V::pin(&mut masks);
        (xor::<V, ENCRYPT, N>(jobs, stream), masks[0])
    }
}

/// Adds the key stream to the texts; returns the ciphertexts, zeros behind each.
///
/// # Safety
/// As for [`Abreast`].
#[inline(always)]
unsafe fn xor<V: Vector, const ENCRYPT: bool, const N: usize>(
    jobs: Lot<'_>,
    mut stream: [V; N],
) -> [V; N] {
    let proof = stream[0].proof();
    let single = V::single(proof);
    // SAFETY: the caller's promises: each text has `len` bytes.
    unsafe {
        let len = (*jobs[0]).len;
        let is_whole = len == BLOCK * N;
        for n in 0..N {
            if n < N - 1 || is_whole {
                let at = BLOCK * n;
                let blocks = map(jobs, |job| V::Single::load(single, (*job).source.add(at)));
                let data = V::from_singles(proof, blocks);
                let turned = data.xor(stream[n]);
                turned.scatter(map(jobs, |job| (*job).target.add(at)).as_ptr());
                stream[n] = if ENCRYPT { turned } else { data };
            }
        }
        if is_whole {
            return stream;
        }
        let (at, within) = (BLOCK * (N - 1), len - BLOCK * (N - 1));
        let mut blocks = [V::Single::zero(single); 4];
        let mut turning = stream[N - 1];
        for m in (0..V::BLOCKS).rev() {
            // The last block becomes the first.
            turning = turning.shift_in(turning);
            let data = V::Single::load_bytes(single, (*jobs[m]).source.add(at), within);
            let turned = data.xor(turning.first());
            turned.store_bytes((*jobs[m]).target.add(at), within);
            blocks[m] = if ENCRYPT {
                turned.keep_bytes(within)
            } else {
                data
            };
        }
        stream[N - 1] = V::from_singles(proof, blocks);
        stream
    }
}

/// Hashes additional data and ciphertexts, and leaves the tags in their places; `sum` has the lengths.
///
/// # Safety
/// As for [`Abreast`]; there may be no text.
#[inline(always)]
pub(super) unsafe fn hash<V: Vector, const ENCRYPT: bool, const ONE_KEY: bool, const N: usize>(
    jobs: Lot<'_>,
    mut sum: Sum<V>,
    ciphertexts: [V; N],
    masks: V,
) {
    let proof = masks.proof();
    // SAFETY: the caller's promises; each key has a block at each power.
    unsafe {
        add_aad::<V, ONE_KEY>(&mut sum, jobs, N);
        for (n, ciphertext) in ciphertexts.into_iter().enumerate() {
            let (h, h_sum) = powers::<V, ONE_KEY>(proof, jobs, N + 1 - n);
            sum.add(ciphertext.coefficients(), h, h_sum);
        }
        write_tags::<V, ENCRYPT>(jobs, sum, masks);
    }
}
