//! Short messages side by side, as many as a register has blocks: their rounds of AES run in
//! step, and what each message has one block of shares a register with the others' — the masks
//! of the tags, additional data, lengths, and the reduction.

use super::Job;
use super::ghash::{Sum, powers_from};
use super::message::{Counters, lengths};
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::aes::vector::{Kernel, Vector};

/// Most registers of text that a message has here.
pub(super) const REGISTERS: usize = 4;

/// The jobs that `list` names, a multiple of [`Vector::BLOCKS`], with at most a block of
/// additional data and `G` registers of text each, `M` of them in step. `ONE_KEY`: all have the
/// same.
///
/// # Safety
/// The numbers in `list` are different and below the number of jobs at `jobs`, which keep the
/// contract of [`encrypt_many`](super::encrypt_many); their keys have `ROUNDS` rounds. `M`
/// divides [`Vector::BLOCKS`].
pub(super) struct Together<
    'l,
    'k,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const G: usize,
    const M: usize,
    const ONE_KEY: bool,
> {
    pub jobs: *mut Job<'k>,
    pub list: &'l [u8],
}

impl<const ROUNDS: usize, const ENCRYPT: bool, const G: usize, const M: usize, const ONE_KEY: bool>
    Kernel for Together<'_, '_, ROUNDS, ENCRYPT, G, M, ONE_KEY>
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self { jobs, list } = self;
        // SAFETY: the creator's promises.
        unsafe {
            let common = Keys::<V, ROUNDS, ONE_KEY>::of(&*jobs.add(list[0].into()));
            for list in list.chunks_exact(V::BLOCKS) {
                let jobs: [_; 4] =
                    core::array::from_fn(|i| jobs.add(list[i.min(V::BLOCKS - 1)].into()));
                lot::<V, ROUNDS, ENCRYPT, G, M, ONE_KEY>(&common, jobs);
            }
        }
    }
}

/// # Safety
/// As for [`Together`]; the first [`Vector::BLOCKS`] jobs are different.
#[inline(always)]
unsafe fn lot<
    V: Vector,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const G: usize,
    const M: usize,
    const ONE_KEY: bool,
>(
    common: &Keys<V, ROUNDS, ONE_KEY>,
    jobs: [*mut Job<'_>; 4],
) {
    // SAFETY: the caller's promises. A message has at most 4·G blocks of text, so that powers
    // reach 4·4 + 2; loads and stores are cut off at the ends of text and additional data.
    unsafe {
        let mut sum = ends::<V>(jobs);
        let mut rows = [Sum::zero(); 4];
        let mut masks = [V::Single::zero(); 4];
        let mut mask = V::zero();
        let mut first = 0;
        while first < V::BLOCKS {
            let lot: [&Job<'_>; M] = core::array::from_fn(|m| &*jobs[first + m]);
            let keys: [_; M] = core::array::from_fn(|m| common.of_job(lot[m]));
            let mut own = [V::zero(); M];
            let mut states = [[V::zero(); G]; M];
            for m in 0..M {
                states[m] = Counters::after(&lot[m].j0).next();
                if !ONE_KEY {
                    own[m] = V::broadcast(lot[m].j0.as_ptr());
                }
            }
            let with_masks = ONE_KEY && first == 0;
            if with_masks {
                for i in 0..V::BLOCKS {
                    masks[i] = V::Single::load((*jobs[i]).j0.as_ptr());
                }
                mask = V::from_singles(masks);
            }
            let mut data = [[V::zero(); G]; M];
            for m in 0..M {
                data[m] = load(lot[m]);
                if !ENCRYPT {
                    rows[first + m] = products(lot[m], &data[m]);
                }
            }
            macro_rules! round {
                ($step:ident, $r:expr) => {
                    if with_masks {
                        mask = mask.$step(keys[0].at($r));
                    }
                    for m in 0..M {
                        let key = keys[m].at($r);
                        for state in &mut states[m] {
                            *state = state.$step(key);
                        }
                        if !ONE_KEY {
                            own[m] = own[m].$step(key);
                        }
                    }
                };
            }
            round!(xor, 0);
            each_round!(ROUNDS, |r| {
                round!(aes_enc, r);
            });
            round!(aes_enc_last, ROUNDS);
            for m in 0..M {
                for g in 0..G {
                    data[m][g] = data[m][g].xor(states[m][g]);
                }
                store::<V, G, ENCRYPT>(lot[m], &mut data[m]);
                if ENCRYPT {
                    rows[first + m] = products(lot[m], &data[m]);
                }
                masks[first + m] = own[m].first();
            }
            first += M;
        }
        if !ONE_KEY {
            mask = V::from_singles(masks);
        }
        sum.add_rows(rows);
        let tags = sum.values().xor(mask);
        tags.scatter(jobs.map(|job| (&raw mut (*job).tag).cast()).as_ptr());
    }
}

/// The round keys of a job: those of all, in registers, or its own, in memory.
#[derive(Clone, Copy)]
struct Keys<V, const ROUNDS: usize, const ONE_KEY: bool> {
    rounds: Rounds<V, ROUNDS>,
    schedule: *const u8,
}

impl<V: Vector, const ROUNDS: usize, const ONE_KEY: bool> Keys<V, ROUNDS, ONE_KEY> {
    /// # Safety
    /// Runs under [`Vector::enter`]; the key has `ROUNDS` rounds.
    #[inline(always)]
    unsafe fn of(job: &Job<'_>) -> Self {
        let schedule = job.key.cipher().as_ptr();
        // SAFETY: as above.
        let rounds = unsafe { Rounds::load(schedule) };
        Self { rounds, schedule }
    }

    #[inline(always)]
    fn of_job(&self, job: &Job<'_>) -> Self {
        let schedule = job.key.cipher().as_ptr();
        Self { schedule, ..*self }
    }

    /// # Safety
    /// Runs under [`Vector::enter`]; `r` is at most `ROUNDS`, and the schedule still there.
    #[inline(always)]
    unsafe fn at(&self, r: usize) -> V {
        if ONE_KEY {
            self.rounds.at(r)
        } else {
            // SAFETY: a schedule has `ROUNDS + 1` round keys.
            unsafe { V::broadcast(self.schedule.add(BLOCK * r)) }
        }
    }
}

/// The products of additional data and lengths, those of message `i` in block `i`.
///
/// # Safety
/// As for [`lot`].
#[inline(always)]
unsafe fn ends<V: Vector>(jobs: [*mut Job<'_>; 4]) -> Sum<V> {
    // SAFETY: the caller's promises.
    unsafe {
        let zero = V::Single::zero();
        let (mut first, mut last) = ([[zero; 4]; 3], [[zero; 4]; 3]);
        for i in 0..V::BLOCKS {
            let job = &*jobs[i];
            let powers = job.key.powers();
            first[0][i] = if !V::MASKS && job.aad_len == BLOCK {
                V::Single::load(job.aad)
            } else {
                V::load_bytes(job.aad, job.aad_len).first()
            };
            (first[1][i], first[2][i]) = powers_from(powers, job.len.div_ceil(BLOCK) + 2);
            last[0][i] = V::Single::splat(lengths(job));
            (last[1][i], last[2][i]) = powers_from(powers, 1);
        }
        let mut sum = Sum::zero();
        let [aad, h, h_sum] = first;
        let aad = V::from_singles(aad).reverse();
        sum.add(aad, V::from_singles(h), V::from_singles(h_sum));
        let [lengths, h, h_sum] = last;
        let lengths = V::from_singles(lengths);
        sum.add(lengths, V::from_singles(h), V::from_singles(h_sum));
        sum
    }
}

/// The text, zeros behind it.
///
/// # Safety
/// As for [`lot`].
#[inline(always)]
unsafe fn load<V: Vector, const G: usize>(job: &Job<'_>) -> [V; G] {
    // SAFETY: `within` cuts each load off at the end of the text.
    unsafe {
        let mut data = [V::zero(); G];
        for g in 0..G {
            let within = within::<V>(job, g);
            let from = job.source.wrapping_add(V::BYTES * g);
            data[g] = if !V::MASKS && within == V::BYTES {
                V::load(from)
            } else {
                V::load_bytes(from, within)
            };
        }
        data
    }
}

/// Stores the text; with `KEEP` what lies behind it becomes zero in the registers.
///
/// # Safety
/// As for [`lot`].
#[inline(always)]
unsafe fn store<V: Vector, const G: usize, const KEEP: bool>(job: &Job<'_>, data: &mut [V; G]) {
    for g in 0..G {
        let within = within::<V>(job, g);
        let to = job.target.wrapping_add(V::BYTES * g);
        // SAFETY: `within` cuts each store off at the end of the text.
        unsafe {
            if !V::MASKS && within == V::BYTES {
                data[g].store(to);
                continue;
            }
            data[g].store_bytes(to, within);
            if KEEP {
                data[g] = data[g].keep_bytes(within);
            }
        }
    }
}

/// Bytes of the text in its `g`-th register.
#[inline(always)]
fn within<V: Vector>(job: &Job<'_>, g: usize) -> usize {
    job.len.saturating_sub(V::BYTES * g).min(V::BYTES)
}

/// The products of a text's ciphertext, zeros behind it.
///
/// # Safety
/// As for [`lot`].
#[inline(always)]
unsafe fn products<V: Vector, const G: usize>(job: &Job<'_>, text: &[V; G]) -> Sum<V> {
    let highest = job.len.div_ceil(BLOCK) + 1;
    // SAFETY: a register behind the text is zero, whatever it is multiplied by.
    unsafe {
        let mut sum = Sum::zero();
        for g in 0..G {
            let power = highest.saturating_sub(V::BLOCKS * g).max(1);
            let (h, h_sum) = powers_from(job.key.powers(), power);
            sum.add(text[g].reverse(), h, h_sum);
        }
        sum
    }
}
