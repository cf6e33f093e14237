//! Short messages side by side, as many as a register has blocks: their rounds of AES run in
//! step, and what each message has one block of shares a register with the others' — the masks
//! of the tags, additional data, lengths, and the reduction.

use super::products::{POWERS, SUMS, Sum, powers_from};
use super::text::Counters;
use super::{Job, aad_of, place_of};
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::{from_fn, map};

/// The jobs that `list` names, at least one. Each has at most a block of
/// additional data, and a text that ends in the last of `G` registers.
/// `ONE_KEY`: all have the same.
///
/// # Safety
/// The numbers in `list` are different and below the number of jobs at `jobs`, which keep the
/// contract of [`encrypt_many`](super::encrypt_many); their keys have `ROUNDS` rounds. `G` is
/// small: the texts of two lots are in registers.
pub(super) struct Together<
    'l,
    'k,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const G: usize,
    const ONE_KEY: bool,
> {
    pub jobs: *mut Job<'k>,
    pub list: &'l [u8],
}

impl<const ROUNDS: usize, const ENCRYPT: bool, const G: usize, const ONE_KEY: bool> Kernel
    for Together<'_, '_, ROUNDS, ENCRYPT, G, ONE_KEY>
{
    type Output = ();

    /// The hash of each lot waits until the next one's rounds are under way.
    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let Self { jobs, list } = self;
        // SAFETY: the creator's promises.
        unsafe {
            let mut line = [0; BLOCK];
            let mut idle = idle(&*jobs, line.as_mut_ptr(), BLOCK);
            let idle = &raw mut idle;
            let (first, rest) = list.split_at(V::BLOCKS.min(list.len()));
            let mut lot_jobs: Lot<'_> = lot(jobs, first, idle);
            let common = Rounds::<V, ROUNDS>::load(proof, (*lot_jobs[0]).key.cipher().as_ptr());
            let mut turned = turn::<V, ROUNDS, ENCRYPT, G, ONE_KEY>(&common, lot_jobs);
            for list in rest.chunks(V::BLOCKS) {
                let next = lot(jobs, list, idle);
                let texts = turn::<V, ROUNDS, ENCRYPT, G, ONE_KEY>(&common, next);
                hash::<V, G, ONE_KEY>(lot_jobs, &turned);
                (lot_jobs, turned) = (next, texts);
            }
            hash::<V, G, ONE_KEY>(lot_jobs, &turned);
        }
    }
}

/// A message beside a last one that has no neighbour, of the key and the IV of `job`: `len` bytes of
/// text, and additional data that may be as many.
#[inline(always)]
pub(super) fn idle<'k>(job: &Job<'k>, text: *mut u8, len: usize) -> Job<'k> {
    Job::new(job.key, job.iv).text(text, text, len).aad(text, 0)
}

/// As many jobs as a register has blocks, and others to make four.
pub(super) type Lot<'k> = [*mut Job<'k>; 4];

/// The jobs that `list` names, at most four, and `filler`.
///
/// # Safety
/// The numbers are below the number of jobs.
#[inline(always)]
pub(super) unsafe fn lot<'k>(jobs: *mut Job<'k>, list: &[u8], filler: *mut Job<'k>) -> Lot<'k> {
    // SAFETY: the caller's promise.
    let job = |&number: &u8| unsafe { jobs.add(number.into()) };
    from_fn(|i| list.get(i).map_or(filler, job))
}

/// The ciphertexts of a lot, zeros behind each, and the masks of its tags.
struct Turned<V, const G: usize> {
    texts: [[V; G]; 4],
    masks: V,
}

/// Encrypts or decrypts the texts.
///
/// # Safety
/// As for [`Together`]; the first [`Vector::BLOCKS`] jobs are different, or the idle one.
#[inline(always)]
unsafe fn turn<
    V: Vector,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const G: usize,
    const ONE_KEY: bool,
>(
    common: &Rounds<V, ROUNDS>,
    jobs: Lot<'_>,
) -> Turned<V, G> {
    // SAFETY: the caller's promises.
    unsafe {
        let proof = common.proof();
        let single = V::single(proof);
        let mut texts = [[V::zero(proof); G]; 4];
        let mut masks = [V::Single::zero(single); 4];
        let mut together = V::zero(proof);
        if ONE_KEY {
            for i in 0..V::BLOCKS {
                masks[i] = V::Single::splat(single, (*jobs[i]).j0());
            }
            together = V::from_singles(proof, masks);
        }
        let mut states = [[V::zero(proof); G]; 4];
        for m in 0..V::BLOCKS {
            let job = &*jobs[m];
            let j0 = V::splat(proof, job.j0());
            states[m] = if job.counts_from_one() {
                Counters::of_first(j0)
            } else {
                Counters::after(j0).next()
            };
            if !ONE_KEY {
                masks[m] = j0.first();
            }
        }
        // Round keys: those of all, in registers, or each job's own, in memory.
        macro_rules! round {
            ($step:ident, $r:expr, $common:expr) => {
                if ONE_KEY {
                    together = together.$step($common);
                }
                for m in 0..V::BLOCKS {
                    let key = if ONE_KEY {
                        $common
                    } else {
                        V::broadcast(proof, (*jobs[m]).key.cipher().as_ptr().add(BLOCK * $r))
                    };
                    for state in &mut states[m] {
                        *state = state.$step(key);
                    }
                    if !ONE_KEY {
                        masks[m] = masks[m].$step(key.first());
                    }
                }
            };
        }
        round!(xor, 0, common.at(0));
        each_round!(common.count(), |r| {
            round!(aes_enc, r, common.at(r));
        });
        round!(aes_enc_last, common.count(), common.last());
        for m in 0..V::BLOCKS {
            let job = &*jobs[m];
            texts[m] = xor::<V, ENCRYPT, G>(job, states[m]);
        }
        let mut masks = [if ONE_KEY {
            together
        } else {
            V::from_singles(proof, masks)
        }];
        // Else its rounds would move to where it is used, and wait there.
        V::pin(&mut masks);
        let [masks] = masks;
        Turned { texts, masks }
    }
}

/// Adds the key stream to a text; returns the ciphertext, zeros behind it.
///
/// # Safety
/// As for [`turn`].
#[inline(always)]
pub(super) unsafe fn xor<V: Vector, const ENCRYPT: bool, const G: usize>(
    job: &Job<'_>,
    stream: [V; G],
) -> [V; G] {
    let (source, target, len) = (job.source, job.target, job.len);
    // SAFETY: the text reaches the last register; there `within` cuts loads and stores off at its
    // end.
    unsafe {
        let proof = stream[0].proof();
        let mut ciphertext = stream;
        for g in 0..G {
            let from = source.wrapping_add(V::BYTES * g);
            let to = target.wrapping_add(V::BYTES * g);
            let within = len.saturating_sub(V::BYTES * g).min(V::BYTES);
            if g < G - 1 || !V::MASKS && within == V::BYTES {
                let data = V::load(proof, from);
                let turned = data.xor(stream[g]);
                turned.store(to);
                ciphertext[g] = if ENCRYPT { turned } else { data };
            } else {
                let data = V::load_bytes(proof, from, within);
                let turned = data.xor(stream[g]);
                turned.store_bytes(to, within);
                ciphertext[g] = if ENCRYPT {
                    turned.keep_bytes(within)
                } else {
                    data
                };
            }
        }
        ciphertext
    }
}

/// Leaves the tags in the jobs.
///
/// # Safety
/// As for [`turn`].
#[inline(always)]
unsafe fn hash<V: Vector, const G: usize, const ONE_KEY: bool>(
    jobs: Lot<'_>,
    turned: &Turned<V, G>,
) {
    // SAFETY: the caller's promises.
    unsafe {
        let mut rows = [Sum::zero(turned.masks.proof()); 4];
        for i in 0..V::BLOCKS {
            let job = &*jobs[i];
            let power = job.len.div_ceil(BLOCK) + 1;
            rows[i].add_registers(turned.texts[i], job.key.powers(), power);
        }
        finish::<V, ONE_KEY, true>(jobs, rows, turned.masks);
    }
}

/// Adds what comes behind the texts, whose sums are `rows`, and with `AAD` the additional data before
/// them, and leaves the tags in the jobs.
///
/// # Safety
/// As for [`turn`].
#[inline(always)]
pub(super) unsafe fn finish<V: Vector, const ONE_KEY: bool, const AAD: bool>(
    jobs: Lot<'_>,
    rows: [Sum<V>; 4],
    masks: V,
) {
    // SAFETY: the caller's promises. A text has at most two blocks less than there are powers.
    unsafe {
        let proof = masks.proof();
        let single = V::single(proof);
        let zero = V::Single::zero(single);
        // Per message: a block, its power, the sum of the power's halves.
        let (mut aad, mut last) = ([[zero; 4]; 3], [[zero; 4]; 3]);
        for i in 0..V::BLOCKS {
            let job = &*jobs[i];
            let powers = job.key.powers();
            // Behind the text comes one block, before it another.
            let highest = job.len.div_ceil(BLOCK) + 2;
            if AAD {
                aad[0][i] = aad_of::<V>(proof, job.aad, job.aad_len);
                (aad[1][i], aad[2][i]) = powers_from(single, powers, highest);
            }
            last[0][i] = lengths(single, job);
            if !ONE_KEY {
                (last[1][i], last[2][i]) = powers_from(single, powers, 1);
            }
        }
        let mut sum = Sum::zero(proof);
        if AAD {
            let [aad, h, h_sum] = aad;
            let aad = V::from_singles(proof, aad).coefficients();
            sum.add(
                aad,
                V::from_singles(proof, h),
                V::from_singles(proof, h_sum),
            );
        }
        let [lengths, h, h_sum] = last;
        let lengths = V::from_singles(proof, lengths).shl64(3);
        let lengths = lengths.coefficients_of_numbers();
        if ONE_KEY {
            let one = (*jobs[0]).key.powers().add(BLOCK * (POWERS - 1));
            sum.add(
                lengths,
                V::broadcast(proof, one),
                V::broadcast(proof, one.add(SUMS)),
            );
        } else {
            sum.add(
                lengths,
                V::from_singles(proof, h),
                V::from_singles(proof, h_sum),
            );
        }
        sum.add_rows(rows);
        let tags = sum.values().xor(masks);
        tags.scatter(map(jobs, |job| place_of(job)).as_ptr());
    }
}

/// An eighth of each half of the last block that is hashed, as a number.
#[inline(always)]
fn lengths<V: Vector>(proof: V::Proof, job: &Job<'_>) -> V {
    const { assert!(V::BLOCKS == 1) };
    V::splat(proof, (job.aad_len as u128) << 64 | job.len as u128)
}
