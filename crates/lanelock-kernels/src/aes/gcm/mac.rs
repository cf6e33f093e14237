//! GMAC (SP 800-38D, section 3): messages of additional data alone. They are hashed one after the other;
//! what each has one block of shares a register with the others' of its lot, and so does all of it where it
//! is no more. A few are faster alone.

use core::{mem, ptr};

use super::ghash::Ghash;
use super::lone::{Shape, finish, turn};
use super::lot::{Ends, Lot, add_aad, lot, write_tags};
use super::products::Sum;
use super::table::POWERS;
use super::{J0, Job, Key, Known};
use crate::aes::rounds::{ANY, InMemory, Rounds, each_round};
use crate::aes::{BLOCK, Message, ecb};
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::map;
use crate::machine::Machine;
use crate::wipe::wipe;

/// What GMAC prepares once per key, for the machine that it was made with.
#[derive(Clone, Debug)]
pub struct MacKey(Key);

impl MacKey {
    /// Expands `key`; `None` unless it has 16, 24 or 32 bytes.
    #[must_use]
    pub fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        Key::for_hash(machine, key).map(Self)
    }

    /// As [`Key::j0`].
    #[inline]
    #[must_use]
    pub fn j0(&self, machine: &Machine, iv: &[u8]) -> J0 {
        self.0.j0(machine, iv)
    }

    /// As [`Key::absorb`].
    pub fn absorb(&self, machine: &Machine, hashed: &mut [u8; BLOCK], data: &[u8]) {
        self.0.absorb(machine, hashed, data);
    }

    /// The tag of a message of `len` bytes, all of which `hashed` has absorbed.
    #[must_use]
    pub fn tag(
        &self,
        machine: &Machine,
        j0: &J0,
        mut hashed: [u8; BLOCK],
        len: usize,
    ) -> [u8; BLOCK] {
        let lengths = (8 * len as u128) << 64;
        self.absorb(machine, &mut hashed, &lengths.to_be_bytes());
        let mut mask = *j0.block();
        let (source, target) = (mask.as_ptr(), mask.as_mut_ptr());
        let message = Message::without_iv(source, target, BLOCK, self.0.cipher());
        // SAFETY: one block, in place.
        unsafe { ecb::encrypt_many(*machine, &[message]) };
        let tag = u128::from_ne_bytes(hashed) ^ u128::from_ne_bytes(mask);
        // Beside its tag, it tells the hash.
        wipe(&mut mask);
        tag.to_ne_bytes()
    }
}

/// One whole message to authenticate.
#[derive(Debug)]
#[repr(transparent)]
pub struct MacJob<'k>(Job<'k>);

impl<'k> MacJob<'k> {
    /// A message of no bytes; its tag stays in the job. `iv` is valid until the job has run.
    #[inline(always)]
    #[must_use]
    pub fn new(key: &'k MacKey, iv: *const [u8; 12]) -> Self {
        Self(Job::new(&key.0, iv))
    }

    /// [`MacJob::new`] with the block before the first counter ([`MacKey::j0`]).
    #[inline(always)]
    #[must_use]
    pub fn of_block(key: &'k MacKey, block: [u8; BLOCK]) -> Self {
        Self(Job::of_block(&key.0, block))
    }

    /// With a message, valid for reads of `len` bytes.
    #[inline(always)]
    #[must_use]
    pub fn message(self, message: *const u8, len: usize) -> Self {
        Self(self.0.aad(message, len))
    }

    /// The whole tag goes to `place`, valid for writes; null for the job itself.
    #[inline(always)]
    pub fn set_place(&mut self, place: *mut [u8; BLOCK]) {
        self.0.place = place;
    }

    /// The whole tag, of a job that has run and has no other place for it.
    #[inline(always)]
    #[must_use]
    pub fn tag(&self) -> &[u8; BLOCK] {
        &self.0.block
    }

    /// What can be claimed of no job.
    pub const KNOWN: Known = Known::EVERYTHING;

    /// What is known with `self` behind others, of which `first` is the first, and which are `known`.
    #[inline(always)]
    #[must_use]
    pub fn joins(&self, first: &Self, known: Known) -> Known {
        known.and(&first.0, &self.0)
    }
}

/// Computes the tag of every job.
///
/// # Safety
/// - Every key has the size of the first job's, and was made with `machine`.
/// - Each message is valid for reads.
/// - Each place is null or valid for writes, and nothing else that the jobs name.
/// - What is said to be known is true.
pub unsafe fn authenticate_many(machine: &Machine, jobs: &mut [MacJob<'_>], known: Known) {
    let Some(MacJob(first)) = jobs.first() else {
        return;
    };
    if known.ivs && jobs.len() <= few(machine, first, known.one_length) {
        for job in jobs {
            // SAFETY: the caller's contract.
            unsafe { authenticate_lone(machine, job) }
        }
        return;
    }
    let one_length = known.one_length;
    macro_rules! run {
        ($one_key:literal) => {
            machine
                .blocks
                .run_hash(Authenticate::<$one_key> { jobs, one_length })
        };
    }
    // SAFETY: the caller's contract.
    unsafe {
        if known.one_key {
            run!(true);
        } else {
            run!(false);
        }
    }
}

/// Computes the tag of a job whose IV has twelve bytes.
///
/// # Safety
/// As for [`authenticate_many`], for one job; it has an IV of twelve bytes.
#[inline]
pub unsafe fn authenticate_lone(machine: &Machine, job: &mut MacJob<'_>) {
    debug_assert!(!job.0.iv.is_null());
    // SAFETY: the caller's contract.
    unsafe { machine.blocks.run_hash(Alone(&mut job.0)) }
}

/// Computes the tag of each job when it is yielded, on a machine that [is fed](Machine::is_fed_macs).
///
/// # Safety
/// As for [`authenticate_many`], for each job from when it is yielded until this returns; it has an IV of twelve
/// bytes and a place.
#[inline(always)]
pub unsafe fn authenticate_fed<'k>(machine: &Machine, jobs: impl Iterator<Item = MacJob<'k>>) {
    // SAFETY: the caller's contract.
    unsafe { machine.blocks.run_hash(Fed(jobs)) }
}

struct Fed<I>(I);

impl<'k, I: Iterator<Item = MacJob<'k>>> Kernel for Fed<I> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        if const { !V::FED || V::BLOCKS == 2 } {
            unreachable!("a machine that is fed");
        }
        // Of keys that change from message to message few lines stay near.
        let mut before = ptr::null();
        for MacJob(mut job) in self.0 {
            let key = ptr::from_ref(job.key);
            let sparing = key != mem::replace(&mut before, key) && const { V::BLOCKS > 1 };
            // SAFETY: the contract of `authenticate_fed`.
            unsafe { one::<V>(proof, &mut job, sparing) };
        }
    }
}

/// Up to how many messages are faster one by one: short ones of one length than in registers that they
/// fill in part, and those of several lengths; any, where a register holds one block and no others share it.
#[inline(always)]
fn few(machine: &Machine, first: &Job<'_>, one_length: bool) -> usize {
    let width = machine.blocks.count();
    match one_length {
        _ if width == 1 && machine.is_fed_few() => usize::MAX,
        true if first.aad_len > BLOCK * width => 0,
        true => 3,
        false if width == 1 => 0,
        false => 8,
    }
}

/// One message.
struct Alone<'m, 'k>(&'m mut Job<'k>);

impl Kernel for Alone<'_, '_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        // SAFETY: the contract of `authenticate_lone`.
        unsafe { one::<V>(proof, self.0, false) }
    }
}

/// # Safety
/// The contract of [`authenticate_lone`].
#[inline(always)]
unsafe fn one<V: Vector>(proof: V::Proof, job: &mut Job<'_>, sparing: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        if V::BLOCKS > 1 && job.aad_len <= BLOCK {
            // Registers of one block: their last sum is one block already.
            alone::<V::Single>(V::single(proof), job, false);
        } else {
            alone::<V>(proof, job, sparing);
        }
    }
}

/// # Safety
/// The contract of [`authenticate_lone`].
#[inline(always)]
unsafe fn alone<V: Vector>(proof: V::Proof, job: &mut Job<'_>, sparing: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut hash = Ghash::<V>::start(proof, job.key.powers());
        let rounds = Rounds::<V, ANY, InMemory<V>>::in_memory(proof, job.key.cipher().as_ptr());
        let shape = Shape::of_aad(job.aad_len);
        if job.aad_len > BLOCK {
            if sparing {
                hash.absorb_open::<false, true>(job.aad, job.aad_len, 1);
            } else {
                hash.absorb_open::<false, false>(job.aad, job.aad_len, 1);
            }
        }
        let mask = turn::<V, ANY, true, 0>(&rounds, job, shape, &mut hash);
        finish::<V, true>(job, shape, hash, mask);
    }
}

/// At least one job. `ONE_KEY`: all have the same.
///
/// # Safety
/// The contract of [`authenticate_many`].
struct Authenticate<'j, 'k, const ONE_KEY: bool> {
    jobs: &'j mut [MacJob<'k>],
    /// Whether all messages have as many bytes.
    one_length: bool,
}

impl<const ONE_KEY: bool> Kernel for Authenticate<'_, '_, ONE_KEY> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let Self { jobs, one_length } = self;
        let (first, count): (*mut Job<'_>, _) = (jobs.as_mut_ptr().cast(), jobs.len());
        // SAFETY: the creator's promises; those behind the last message repeat it.
        unsafe {
            let last = first.add(count - 1);
            let abreast = one_length && (*first).aad_len <= BLOCK;
            let ends = Ends::<V, ONE_KEY>::of(proof, first);
            let mut n = 0;
            while n < count {
                let lot: Lot<'_> = lot(first.add(n), count - n, last);
                let mut masks = [masks::<V, ONE_KEY>(proof, lot)];
                // Else their rounds would move to where they are used, and wait there.
                V::pin(&mut masks);
                let [masks] = masks;
                let mut sum = if one_length {
                    ends.sum(lot)
                } else {
                    Ends::<V, ONE_KEY>::sum_of_each(proof, lot)
                };
                if abreast {
                    add_aad::<V, ONE_KEY>(&mut sum, lot, 0);
                } else {
                    sum.add_rows(rows::<V, ONE_KEY>(proof, lot, count - n));
                }
                write_tags::<V, true>(lot, sum, masks);
                n += V::BLOCKS;
            }
        }
    }
}

/// The sums of what each of `count` jobs hashes, but for its lengths; those behind have the last one's.
///
/// # Safety
/// The jobs are valid.
#[inline(always)]
unsafe fn rows<V: Vector, const ONE_KEY: bool>(
    proof: V::Proof,
    jobs: Lot<'_>,
    count: usize,
) -> [Sum<V>; 4] {
    let mut rows = [Sum::zero(proof); 4];
    // As straight code: rows in a loop would be in memory.
    macro_rules! row {
        ($($i:literal)*) => {$(
            if $i < V::BLOCKS {
                rows[$i] = if $i < count {
                    // SAFETY: the caller's promise.
                    unsafe {
                        let job = &*jobs[$i];
                        let mut hash = Ghash::<V>::start(proof, job.key.powers());
                        if ONE_KEY {
                            hash.absorb_open::<false, false>(job.aad, job.aad_len, 1);
                        } else {
                            hash.absorb_open::<false, true>(job.aad, job.aad_len, 1);
                        }
                        hash.sum()
                    }
                } else {
                    rows[$i - usize::from($i > 0)]
                };
            }
        )*};
    }
    row!(0 1 2 3);
    rows
}

/// The masks of a lot's tags.
///
/// # Safety
/// The jobs are valid.
#[inline(always)]
unsafe fn masks<V: Vector, const ONE_KEY: bool>(proof: V::Proof, jobs: Lot<'_>) -> V {
    let single = V::single(proof);
    // SAFETY: the caller's promise.
    unsafe {
        let mut blocks = map(jobs, |job| V::Single::splat(single, (*job).j0()));
        let schedule = |m: usize| (*jobs[m]).key.cipher().as_ptr();
        if ONE_KEY {
            let rounds = Rounds::<V, ANY, _>::in_memory(proof, schedule(0));
            let [masks] = rounds.encrypt([V::from_singles(proof, blocks)]);
            return masks;
        }
        let keys: [Rounds<V::Single, ANY, InMemory<V::Single>>; 4] =
            map([0, 1, 2, 3], |m| Rounds::in_memory(single, schedule(m)));
        for m in 0..V::BLOCKS {
            blocks[m] = blocks[m].xor(keys[m].at(0));
        }
        each_round!(keys[0].count(), |r| {
            for m in 0..V::BLOCKS {
                blocks[m] = blocks[m].aes_enc(keys[m].at(r));
            }
        });
        for m in 0..V::BLOCKS {
            blocks[m] = blocks[m].aes_enc_last(keys[m].last());
        }
        V::from_singles(proof, blocks)
    }
}

// A register of what chunks have become, eight of four blocks, and the lengths.
const _: () = assert!(4 * 9 < POWERS);
