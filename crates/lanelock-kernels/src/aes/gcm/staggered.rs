//! Messages of a few registers one after the other: each is hashed between the rounds of the next.
//! What each has one block of shares a register with the others' of its lot.

use super::Job;
use super::products::{POWERS, Sum};
use super::text::Counters;
use super::together::{Lot, finish, lot, xor};
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::arch::blocks::{Kernel, Vector};

/// Most registers of text that a message has here.
pub(super) const REGISTERS: usize = 9;

// A block before the text and one behind, in registers of up to four.
const _: () = assert!(4 * REGISTERS + 2 <= POWERS);

/// As [`Together`](super::together::Together), for any number of messages of up to [`REGISTERS`]
/// registers; `ROUNDS` may be [`ANY`](crate::aes::rounds::ANY).
///
/// # Safety
/// As for [`Together`](super::together::Together).
pub(super) struct Staggered<
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
    for Staggered<'_, '_, ROUNDS, ENCRYPT, G, ONE_KEY>
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let Self { jobs, list } = self;
        let single = V::single(proof);
        let Some(&first) = list.first() else {
            return;
        };
        // SAFETY: the creator's promises.
        unsafe {
            let mut job = jobs.add(first.into());
            let mut rounds = Rounds::<V, ROUNDS>::load(proof, (*job).key.cipher().as_ptr());
            let mut rows = [Sum::zero(proof); 4];
            // Of the lot: all in one register, or one by one.
            let (mut masks, mut own) = (V::zero(proof), [V::Single::zero(single); 4]);
            // Not hashed yet; before the first message it is nobody's, and its row is overwritten.
            let mut text = [V::zero(proof); G];
            for n in 0..list.len() {
                let (before, i) = (job, n % V::BLOCKS);
                job = jobs.add(list[n].into());
                let mut mask = V::zero(proof);
                if !ONE_KEY {
                    rounds = rounds.load_alike((*job).key.cipher().as_ptr());
                    mask = V::splat(proof, (*job).j0());
                }
                let sum = turn::<V, ROUNDS, ENCRYPT, G, ONE_KEY>(
                    &rounds, &*job, &*before, &mut text, &mut mask,
                );
                rows[(i + V::BLOCKS - 1) % V::BLOCKS] = sum;
                if i == 0 {
                    if n > 0 {
                        let lot = lot(jobs, &list[n - V::BLOCKS..n], job);
                        finish::<V, ONE_KEY, true>(lot, rows, masks_of::<V, ONE_KEY>(masks, own));
                    }
                    if ONE_KEY {
                        let end = list.len().min(n + V::BLOCKS);
                        let last = jobs.add(list[end - 1].into());
                        let lot: Lot<'_> = lot(jobs, &list[n..end], last);
                        let mut blocks = [V::Single::zero(single); 4];
                        for i in 0..V::BLOCKS {
                            blocks[i] = V::Single::splat(single, (*lot[i]).j0());
                        }
                        [masks] = rounds.encrypt([V::from_singles(proof, blocks)]);
                    }
                }
                if !ONE_KEY {
                    own[i] = mask.first();
                }
            }
            let mut sum = Sum::zero(proof);
            let power = (*job).len.div_ceil(BLOCK) + 1;
            sum.add_registers(text, (*job).key.powers(), power);
            // Those behind the last message repeat it.
            let last = (list.len() - 1) % V::BLOCKS;
            let mask = own[last];
            for i in last..V::BLOCKS {
                (rows[i], own[i]) = (sum, mask);
            }
            let lot = lot(jobs, &list[list.len() - 1 - last..], job);
            finish::<V, ONE_KEY, true>(lot, rows, masks_of::<V, ONE_KEY>(masks, own));
        }
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

/// Encrypts or decrypts the text of `job`, and `mask` unless it has another place, and hashes the
/// text of `before`: its ciphertext is `text`, zeros behind it, and that of `job` replaces it. The
/// sum of the hash.
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
    before: &Job<'_>,
    text: &mut [V; G],
    mask: &mut V,
) -> Sum<V> {
    // SAFETY: the caller's promises.
    unsafe {
        let proof = rounds.proof();
        let mut sum = Sum::zero(proof);
        let powers = before.key.powers();
        let power = before.len.div_ceil(BLOCK) + 1;
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
                if at + 1 < G {
                    let pair = [text[at], text[at + 1]];
                    sum.add_registers(pair, powers, power - V::BLOCKS * at);
                } else if at < G {
                    sum.add_registers([text[at]], powers, power - V::BLOCKS * at);
                }
                sum.pin();
            }
        });
        if G == REGISTERS {
            let last = [text[G - 1]];
            sum.add_registers(last, powers, power - V::BLOCKS * (G - 1));
        }
        rounds.end(&mut stream);
        V::pin(&mut stream);
        if !ONE_KEY {
            rounds.end(&mut masks);
            // Else its rounds would move to where it is used, and the keys wait for them.
            V::pin(&mut masks);
            [*mask] = masks;
        }
        *text = xor::<V, ENCRYPT, G>(job, stream);
        sum
    }
}
