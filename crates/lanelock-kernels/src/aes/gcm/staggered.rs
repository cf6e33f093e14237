//! Messages of a few registers one after the other: each is hashed between the rounds of the next.
//! What each has one block of shares a register with the others' of its lot.

use super::Job;
use super::ghash::spares;
use super::lot::{Ends, Lot, add_aad, lot, write_tags};
use super::products::Sum;
use super::table::{POWERS, Table};
use super::text::Counters;
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::arch::blocks::{Kernel, Vector};

/// Most registers of text that a message has here.
pub(super) const REGISTERS: usize = 9;

// A block before the text and one behind, in registers of up to four.
const _: () = assert!(4 * REGISTERS + 2 <= POWERS);

/// At least one job. All have a text of as many bytes, which ends in the last of `G` registers, at most
/// [`REGISTERS`], and as much additional data, at most a block. `ONE_KEY`: all have the same. `ROUNDS` may
/// be [`ANY`](crate::aes::rounds::ANY).
///
/// # Safety
/// The contract of [`encrypt_many`](super::encrypt_many); the keys have `ROUNDS` rounds, or as many as the
/// first.
pub(super) struct Staggered<
    'j,
    'k,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const G: usize,
    const ONE_KEY: bool,
> {
    pub jobs: &'j mut [Job<'k>],
}

impl<const ROUNDS: usize, const ENCRYPT: bool, const G: usize, const ONE_KEY: bool> Kernel
    for Staggered<'_, '_, ROUNDS, ENCRYPT, G, ONE_KEY>
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let single = V::single(proof);
        let (first, count) = (self.jobs.as_mut_ptr(), self.jobs.len());
        // SAFETY: the creator's promises; the numbers are below that of the jobs.
        unsafe {
            let len = (*first).len;
            let blocks = len.div_ceil(BLOCK);
            let ends = Ends::<V, ONE_KEY>::of(proof, first);
            let mut rounds = Rounds::<V, ROUNDS>::load(proof, (*first).key.cipher().as_ptr());
            let mut rows = [Sum::zero(proof); 4];
            // Of the lot: all in one register, or one by one.
            let (mut masks, mut own) = (V::zero(proof), [V::Single::zero(single); 4]);
            // Not hashed yet; before the first message it is nobody's, and its row is overwritten.
            let mut text = [V::zero(proof); G];
            let mut powers = (*first).key.powers();
            for n in 0..count {
                let (job, i) = (first.add(n), n % V::BLOCKS);
                let mut mask = V::zero(proof);
                if !ONE_KEY {
                    rounds = rounds.load_alike((*job).key.cipher().as_ptr());
                    mask = V::splat(proof, (*job).j0());
                }
                let sum = turn::<V, ROUNDS, ENCRYPT, G, ONE_KEY>(
                    &rounds, &*job, len, powers, &mut text, &mut mask,
                );
                rows[(i + V::BLOCKS - 1) % V::BLOCKS] = sum;
                if i == 0 {
                    if n > 0 {
                        let lot = lot(first.add(n - V::BLOCKS), V::BLOCKS, job);
                        finish::<V, ENCRYPT, ONE_KEY>(
                            &ends,
                            lot,
                            blocks,
                            rows,
                            masks_of::<V, ONE_KEY>(masks, own),
                        );
                    }
                    if ONE_KEY {
                        let last = first.add(count - 1);
                        let lot: Lot<'_> = lot(job, count - n, last);
                        let mut blocks = [V::Single::zero(single); 4];
                        for i in 0..V::BLOCKS {
                            blocks[i] = V::Single::splat(single, (*lot[i]).j0());
                        }
                        [masks] = rounds.encrypt([V::from_singles(proof, blocks)]);
                    }
                }
                if !ONE_KEY {
                    own[i] = mask.first();
                    powers = (*job).key.powers();
                }
            }
            let mut sum = Sum::zero(proof);
            sum.add_registers(text, Table::place(powers, blocks + 1), !ONE_KEY);
            // Those behind the last message repeat it.
            let last = (count - 1) % V::BLOCKS;
            let mask = own[last];
            for i in last..V::BLOCKS {
                (rows[i], own[i]) = (sum, mask);
            }
            let job = first.add(count - 1);
            let lot = lot(job.sub(last), last + 1, job);
            finish::<V, ENCRYPT, ONE_KEY>(
                &ends,
                lot,
                blocks,
                rows,
                masks_of::<V, ONE_KEY>(masks, own),
            );
        }
    }
}

/// Adds what comes before and behind texts of so many blocks, whose sums are `rows`, and leaves the tags in
/// their places.
///
/// # Safety
/// As for [`Staggered`].
#[inline(always)]
unsafe fn finish<V: Vector, const ENCRYPT: bool, const ONE_KEY: bool>(
    ends: &Ends<V, ONE_KEY>,
    jobs: Lot<'_>,
    blocks: usize,
    rows: [Sum<V>; 4],
    masks: V,
) {
    // SAFETY: the caller's promises; a text has at most two blocks less than there are powers.
    unsafe {
        let mut sum = ends.sum(jobs);
        add_aad::<V, ONE_KEY>(&mut sum, jobs, blocks);
        sum.add_rows(rows);
        write_tags::<V, ENCRYPT>(jobs, sum, masks);
    }
}

/// The masks of a lot's tags.
#[inline(always)]
fn masks_of<V: Vector, const ONE_KEY: bool>(masks: V, mut own: [V::Single; 4]) -> V {
    if ONE_KEY {
        return masks;
    }
    // Loads that would be merged into one would wait for their stores to leave the queue.
    V::Single::pin(&mut own);
    V::from_singles(masks.proof(), own)
}

/// Encrypts or decrypts the text of `job`, of `len` bytes, and `mask` unless it has another place, and
/// hashes that of the message before, by `powers`: its ciphertext is `text`, zeros behind it, and that of
/// `job` replaces it. The sum of the hash.
///
/// # Safety
/// As for [`Staggered`].
#[inline(always)]
unsafe fn turn<
    V: Vector,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const G: usize,
    const ONE_KEY: bool,
>(
    rounds: &Rounds<V, ROUNDS>,
    job: &Job<'_>,
    len: usize,
    powers: *const Table,
    text: &mut [V; G],
    mask: &mut V,
) -> Sum<V> {
    // SAFETY: the caller's promises.
    unsafe {
        let proof = rounds.proof();
        let mut sum = Sum::zero(proof);
        let place = Table::place(powers, len.div_ceil(BLOCK) + 1);
        let sparing = !ONE_KEY && spares::<V>(V::BYTES * G);
        let j0 = V::splat(proof, job.j0());
        let mut stream = if job.counts_from_one() {
            Counters::of_first::<G>(j0.xor(rounds.at(0)))
        } else {
            let mut stream = Counters::after(j0).next::<G>();
            rounds.begin(&mut stream);
            stream
        };
        let mut masks = [*mask];
        if !ONE_KEY {
            rounds.begin(&mut masks);
        }
        each_round!(rounds.count(), |r| {
            rounds.middle(r, &mut stream);
            if !ONE_KEY {
                rounds.middle(r, &mut masks);
            }
            if r.is_multiple_of(2) && r <= 8 {
                let at = r.saturating_sub(2); // evaluated in the odd rounds too
                V::pin(&mut stream);
                if sparing {
                    sum.add_pair_sparing(text, at, powers, true);
                } else if at + 1 < G {
                    let pair = [text[at], text[at + 1]];
                    sum.add_registers(pair, place.behind::<V>(at), !ONE_KEY);
                } else if at < G {
                    sum.add_registers([text[at]], place.behind::<V>(at), !ONE_KEY);
                }
                sum.pin();
            }
        });
        if sparing {
            sum.close_sparing(text, place.behind::<V>(G - 2));
        } else if G == REGISTERS {
            let last = [text[G - 1]];
            sum.add_registers(last, place.behind::<V>(G - 1), !ONE_KEY);
        }
        rounds.end(&mut stream);
        V::pin(&mut stream);
        if !ONE_KEY {
            rounds.end(&mut masks);
            // Else its rounds would move to where it is used, and the keys wait for them.
            V::pin(&mut masks);
            [*mask] = masks;
        }
        *text = xor::<V, ENCRYPT, G>(job, len, stream);
        sum
    }
}

/// Adds the key stream to a text of `len` bytes; returns the ciphertext, zeros behind it.
///
/// # Safety
/// As for [`Staggered`].
#[inline(always)]
unsafe fn xor<V: Vector, const ENCRYPT: bool, const G: usize>(
    job: &Job<'_>,
    len: usize,
    stream: [V; G],
) -> [V; G] {
    let (source, target) = (job.source, job.target);
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
