//! Messages of a few blocks, as many as a register has blocks: each has its block of every register,
//! from its counters to its tag, so that none is left empty and no sum has to be folded.

use super::products::{POWERS, SUMS, Sum, lengths, powers_from};
use super::together::{Lot, idle, lot};
use super::{Job, aad_of, iv, place_of};
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::{from_fn, map};

/// The jobs that `list` names, at least one. All have a text of as many bytes, which ends in the last of
/// `N` blocks, and as much additional data, at most a block. `ONE_KEY`: all have the same.
///
/// # Safety
/// The numbers in `list` are different and below the number of jobs at `jobs`, which keep the
/// contract of [`encrypt_many`](super::encrypt_many); their keys have `ROUNDS` rounds.
pub(super) struct Abreast<
    'l,
    'k,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const ONE_KEY: bool,
    const N: usize,
> {
    pub jobs: *mut Job<'k>,
    pub list: &'l [u8],
    /// Whether all have an IV of twelve bytes.
    pub ivs: bool,
}

impl<const ROUNDS: usize, const ENCRYPT: bool, const ONE_KEY: bool, const N: usize> Kernel
    for Abreast<'_, '_, ROUNDS, ENCRYPT, ONE_KEY, N>
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let Self { jobs, list, ivs } = self;
        // SAFETY: the creator's promises.
        unsafe {
            let first = jobs.add(list[0].into());
            let common = Rounds::<V, ROUNDS>::load(proof, (*first).key.cipher().as_ptr());
            let mut blocks = [[0_u8; BLOCK]; N];
            let text = blocks.as_mut_ptr().cast();
            let mut idle = idle(&*first, text, (*first).len);
            idle.aad_len = (*first).aad_len;
            let ends = Ends::<V, ONE_KEY>::of(proof, first);
            // The hash of each lot waits until the next one's rounds are under way.
            let (first, rest) = list.split_at(V::BLOCKS.min(list.len()));
            let mut lot_jobs = lot(jobs, first, &raw mut idle);
            let (mut ciphertexts, mut masks) =
                turn::<V, ROUNDS, ENCRYPT, ONE_KEY, N>(&common, lot_jobs, ivs);
            for list in rest.chunks(V::BLOCKS) {
                let next = lot(jobs, list, &raw mut idle);
                let turned = turn::<V, ROUNDS, ENCRYPT, ONE_KEY, N>(&common, next, ivs);
                hash::<V, ONE_KEY, N>(lot_jobs, ends.sum(lot_jobs), ciphertexts, masks);
                (lot_jobs, (ciphertexts, masks)) = (next, turned);
            }
            hash::<V, ONE_KEY, N>(lot_jobs, ends.sum(lot_jobs), ciphertexts, masks);
        }
    }
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

/// What comes last in each hash: the lengths, the same in all, and with one key their product.
pub(super) struct Ends<V, const ONE_KEY: bool> {
    lengths: V,
    product: Sum<V>,
}

impl<V: Vector, const ONE_KEY: bool> Ends<V, ONE_KEY> {
    /// # Safety
    /// As for [`Abreast`]; `first` is one of the jobs.
    #[inline(always)]
    pub unsafe fn of(proof: V::Proof, first: *mut Job<'_>) -> Self {
        // SAFETY: the caller's promise.
        let (aad_len, len) = unsafe { ((*first).aad_len, (*first).len) };
        let mut ends = Self {
            lengths: lengths(proof, aad_len, len),
            product: Sum::zero(proof),
        };
        if ONE_KEY {
            // SAFETY: the caller's promise.
            unsafe { ends.product = ends.times([first; 4]) };
        }
        ends
    }

    /// The sums of `jobs`, with nothing before the lengths.
    ///
    /// # Safety
    /// As for [`Abreast`].
    #[inline(always)]
    pub unsafe fn sum(&self, jobs: Lot<'_>) -> Sum<V> {
        if ONE_KEY {
            return self.product;
        }
        // SAFETY: the caller's promise.
        unsafe { self.times(jobs) }
    }

    /// # Safety
    /// As for [`Abreast`].
    #[inline(always)]
    unsafe fn times(&self, jobs: Lot<'_>) -> Sum<V> {
        let proof = self.lengths.proof();
        let mut sum = Sum::zero(proof);
        // SAFETY: the caller's promise.
        let (h, h_sum) = unsafe { powers::<V, ONE_KEY>(proof, jobs, 1) };
        sum.add(self.lengths, h, h_sum);
        sum
    }
}

/// Hashes additional data and ciphertexts, and leaves the tags in their places; `sum` has the lengths.
///
/// # Safety
/// As for [`Abreast`]; there may be no text.
#[inline(always)]
pub(super) unsafe fn hash<V: Vector, const ONE_KEY: bool, const N: usize>(
    jobs: Lot<'_>,
    mut sum: Sum<V>,
    ciphertexts: [V; N],
    masks: V,
) {
    let proof = masks.proof();
    // SAFETY: the caller's promises; each key has a block at each power.
    unsafe {
        let len = (*jobs[0]).aad_len;
        if len > 0 {
            let aad = map(jobs, |job| aad_of::<V>(proof, (*job).aad, len));
            let (h, h_sum) = powers::<V, ONE_KEY>(proof, jobs, N + 2);
            sum.add(V::from_singles(proof, aad).coefficients(), h, h_sum);
        }
        for (n, ciphertext) in ciphertexts.into_iter().enumerate() {
            let (h, h_sum) = powers::<V, ONE_KEY>(proof, jobs, N + 1 - n);
            sum.add(ciphertext.coefficients(), h, h_sum);
        }
        let tags = sum.values().xor(masks);
        tags.scatter(map(jobs, |job| place_of(job)).as_ptr());
    }
}

/// A power of each job's H, and the sums of their halves.
///
/// # Safety
/// As for [`Abreast`]; `power` is 1 to [`POWERS`].
#[inline(always)]
unsafe fn powers<V: Vector, const ONE_KEY: bool>(
    proof: V::Proof,
    jobs: Lot<'_>,
    power: usize,
) -> (V, V) {
    // SAFETY: the caller's promises.
    unsafe {
        if ONE_KEY {
            let h = (*jobs[0]).key.powers().add(BLOCK * (POWERS - power));
            return (V::broadcast(proof, h), V::broadcast(proof, h.add(SUMS)));
        }
        let single = V::single(proof);
        let of_each = map(jobs, |job| {
            powers_from::<V::Single>(single, (*job).key.powers(), power)
        });
        let h = V::from_singles(proof, map(of_each, |(h, _)| h));
        (h, V::from_singles(proof, map(of_each, |(_, h_sum)| h_sum)))
    }
}
