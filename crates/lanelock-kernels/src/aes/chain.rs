//! Cipher block chaining over many messages: lanes, and the loop that keeps them full.
//!
//! A chained message cannot be run in parallel with itself, so each lane carries one message. All
//! lanes advance by the same number of blocks: what the shortest of them has left. Its lane is
//! then given the next message of the queue. When the queue is empty, the last lane moves into
//! the gap and fewer registers run. Lanes that would be empty repeat lane 0: same loads, same
//! results, same stores.

mod step;

use core::mem::MaybeUninit;

use super::key::ROUND_KEYS;
use super::vector::{Kernel, Vector};
use super::{BLOCK, EncryptKey, KeySize};
use step::Step;

/// A message to chain.
///
/// # Safety
/// `source` is valid for reads of every byte that `blocks` covers (except those that
/// `final_line` provides); `target` likewise for writes if `WRITES`.
pub(crate) unsafe trait Chained {
    /// Whether the ciphertext is written. If not, `final_line` provides the last cache line.
    const WRITES: bool;

    fn source(&self) -> *const u8;
    fn target(&self) -> *mut u8;
    /// Blocks to run; zero leaves the job as it is.
    fn blocks(&self) -> usize;
    fn key(&self) -> &EncryptKey;
    fn chaining(&mut self) -> &mut [u8; BLOCK];
    /// The last `blocks` (1 to 4) blocks of the message, which start at byte `offset`.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `line` is valid for writes.
    unsafe fn final_line<V: Vector>(&self, offset: usize, blocks: usize, line: *mut Line);
}

/// Four blocks.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line([u8; 4 * BLOCK]);

/// Runs every job to completion.
///
/// # Safety
/// The jobs keep the promises of [`Chained`], and all keys have the size `size`.
pub(crate) struct ChainMany<'a, J> {
    pub jobs: &'a mut [J],
    pub size: KeySize,
}

impl<J: Chained> Kernel for ChainMany<'_, J> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the caller's promises, in both cases.
        unsafe {
            match self.size {
                KeySize::Aes128 => chain_many::<V, J, 10>(self.jobs),
                KeySize::Aes192 => chain_many::<V, J, 12>(self.jobs),
                KeySize::Aes256 => chain_many::<V, J, 14>(self.jobs),
            }
        }
    }
}

/// Registers in flight: enough to hide the latency of a round.
const GROUPS: usize = 8;
/// Lanes of the widest tier.
const LANES: usize = 4 * GROUPS;

/// The messages in flight. Invariant: entries below the number of live lanes are valid.
struct Lanes {
    source: [*const u8; LANES],
    /// Where the last cache line of the next step is read.
    last: [*const u8; LANES],
    target: [*mut u8; LANES],
    /// Chaining values, which live in the jobs.
    chaining: [*mut u8; LANES],
    key: [*const u8; LANES],
    blocks: [usize; LANES],
    job: [usize; LANES],
}

/// Which keys the lanes have had; apart from [`Lanes`], to live in registers.
struct Seen {
    /// Lanes whose key is not the one last gathered, a bit each.
    stale: u32,
    /// The first message's.
    key: *const u8,
    /// Whether every message so far has had that key.
    one_key: bool,
}

/// Round keys of each lane, transposed per register.
#[repr(C, align(64))]
struct LaneKeys {
    bytes: [MaybeUninit<[u8; BLOCK * ROUND_KEYS]>; LANES],
    /// Lanes that have had keys.
    used: usize,
}

#[inline(always)]
unsafe fn chain_many<V: Vector, J: Chained, const ROUNDS: usize>(jobs: &mut [J]) {
    let mut lanes = Lanes {
        source: [core::ptr::null(); LANES],
        last: [core::ptr::null(); LANES],
        target: [core::ptr::null_mut(); LANES],
        chaining: [core::ptr::null_mut(); LANES],
        key: [core::ptr::null(); LANES],
        blocks: [0; LANES],
        job: [0; LANES],
    };
    let mut seen = Seen {
        stale: 0,
        key: jobs
            .first()
            .map_or(core::ptr::null(), |job| job.key().as_ptr()),
        one_key: true,
    };
    let mut keys = LaneKeys {
        bytes: [const { MaybeUninit::uninit() }; LANES],
        used: 0,
    };
    let mut final_lines = [const { MaybeUninit::<Line>::uninit() }; LANES];

    let width = if collide(jobs) { GROUPS / 2 } else { GROUPS } * V::BLOCKS;
    let mut next = 0;
    let mut live = 0;
    // The least number of blocks that any lane has left; kept along the way, because a vector
    // load of what was just stored lane by lane would stall.
    let mut least = usize::MAX;
    while live < width {
        let Some(blocks) = lanes.admit(live, jobs, &mut next, &mut seen) else {
            break;
        };
        least = least.min(blocks);
        live += 1;
    }
    while live > 0 {
        let groups = match live.div_ceil(V::BLOCKS) {
            1 => 1,
            2..=4 => 4,
            _ => GROUPS,
        };
        let blocks = least;
        let lines = blocks.div_ceil(4);
        if !J::WRITES {
            let offset = 64 * (lines - 1);
            for lane in 0..live {
                lanes.last[lane] = if lanes.blocks[lane] == blocks {
                    let job = &jobs[lanes.job[lane]];
                    let done = 16 * (job.blocks() - blocks) + offset;
                    let line = final_lines[lane].as_mut_ptr();
                    // SAFETY: runs under `enter`; the offset is that of the lane's last line.
                    unsafe { job.final_line::<V>(done, blocks - 4 * (lines - 1), line) };
                    line.cast_const().cast()
                } else {
                    // SAFETY: the lane has more than `blocks` blocks left.
                    unsafe { lanes.source[lane].add(offset) }
                };
            }
        }
        for lane in live..groups * V::BLOCKS {
            lanes.copy(0, lane, &mut seen);
        }
        let step = Step {
            source: lanes.source.as_ptr(),
            last: lanes.last.as_ptr(),
            target: lanes.target.as_ptr(),
            chaining: lanes.chaining.as_ptr(),
            keys: if seen.one_key {
                seen.key
            } else {
                // SAFETY: runs under `enter`; every lane of the groups has a key.
                unsafe { keys.gather::<V>(&lanes, &mut seen, groups) }
            },
            blocks,
        };
        // SAFETY: `blocks` is no more than what any lane has left, so the pointers of all lanes
        // are valid for it; there are `groups` registers of lanes and (if not one) keys.
        unsafe { step.run::<V, J, ROUNDS>(groups, seen.one_key) };

        // From the last lane down: the lane that fills a gap has already advanced.
        least = usize::MAX;
        for lane in (0..live).rev() {
            let left = lanes.blocks[lane] - blocks;
            if left > 0 {
                lanes.advance(lane, blocks);
                least = least.min(left);
            } else if let Some(blocks) = lanes.admit(lane, jobs, &mut next, &mut seen) {
                least = least.min(blocks);
            } else {
                live -= 1;
                if lane < live {
                    lanes.copy(live, lane, &mut seen);
                }
            }
        }
    }
    // SAFETY: runs under `enter`.
    unsafe { keys.wipe::<V>() };
}

/// Whether so many messages lie at the same place within their page that their lines would evict
/// each other from the first-level cache before the next step finds them there: half as many
/// lanes are then faster.
#[inline(always)]
fn collide<J: Chained>(jobs: &[J]) -> bool {
    if !J::WRITES || jobs.len() <= 16 || jobs[0].blocks() <= 8 {
        return false;
    }
    let set = |job: &J| job.source().addr() / 64 % 64;
    let first = set(&jobs[0]);
    jobs.iter()
        .take(LANES)
        .filter(|job| set(job) == first)
        .count()
        > LANES / 3
}

impl Lanes {
    /// Gives `lane` the next message that has any blocks; how many, or `None` when no message is
    /// left.
    #[inline(always)]
    fn admit<J: Chained>(
        &mut self,
        lane: usize,
        jobs: &mut [J],
        next: &mut usize,
        seen: &mut Seen,
    ) -> Option<usize> {
        loop {
            let index = *next;
            let job = jobs.get_mut(index)?;
            *next += 1;
            let blocks = job.blocks();
            if blocks > 0 {
                let key = job.key().as_ptr();
                seen.one_key &= key == seen.key;
                seen.stale |= 1 << lane;
                self.key[lane] = key;
                self.source[lane] = job.source();
                self.target[lane] = job.target();
                self.chaining[lane] = job.chaining().as_mut_ptr();
                self.blocks[lane] = blocks;
                self.job[lane] = index;
                return Some(blocks);
            }
        }
    }

    #[inline(always)]
    fn advance(&mut self, lane: usize, blocks: usize) {
        self.blocks[lane] -= blocks;
        self.source[lane] = self.source[lane].wrapping_add(BLOCK * blocks);
        self.target[lane] = self.target[lane].wrapping_add(BLOCK * blocks);
    }

    #[inline(always)]
    fn copy(&mut self, from: usize, to: usize, seen: &mut Seen) {
        self.source[to] = self.source[from];
        self.last[to] = self.last[from];
        self.target[to] = self.target[from];
        self.chaining[to] = self.chaining[from];
        if self.key[to] != self.key[from] {
            self.key[to] = self.key[from];
            seen.stale |= 1 << to;
        }
        self.blocks[to] = self.blocks[from];
        self.job[to] = self.job[from];
    }
}

impl LaneKeys {
    /// Brings the transposed keys of the first `groups` registers up to date.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; that many lanes have a key.
    #[inline(always)]
    unsafe fn gather<V: Vector>(
        &mut self,
        lanes: &Lanes,
        seen: &mut Seen,
        groups: usize,
    ) -> *const u8 {
        self.used = self.used.max(groups * V::BLOCKS);
        for group in 0..groups {
            let first = group * V::BLOCKS;
            let of_group = ((1 << V::BLOCKS) - 1) << first;
            if seen.stale & of_group == 0 {
                continue;
            }
            seen.stale &= !of_group;
            let key = &lanes.key;
            // SAFETY: a schedule is four cache lines; a register's lanes have room for all
            // their round keys, one register each.
            unsafe {
                let room: *mut u8 = self.bytes.as_mut_ptr().add(first).cast();
                for line in 0..ROUND_KEYS / 4 {
                    let round_keys = V::load_lines(key.as_ptr().add(first), 64 * line, 4);
                    for (i, round_key) in round_keys.into_iter().enumerate() {
                        round_key.store(room.add(V::BYTES * (4 * line + i)));
                    }
                }
            }
        }
        self.bytes.as_ptr().cast()
    }

    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    unsafe fn wipe<V: Vector>(&mut self) {
        let room: *mut u8 = self.bytes.as_mut_ptr().cast();
        for offset in (0..self.used * BLOCK * ROUND_KEYS).step_by(V::BYTES) {
            // SAFETY: `used` counts the lanes that have room, each a multiple of a register.
            unsafe { V::zero().store(room.add(offset)) };
        }
        if self.used > 0 {
            super::keep(room);
        }
    }
}
