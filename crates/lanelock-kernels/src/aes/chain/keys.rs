//! Round keys of lanes that do not share a key.

use core::mem::MaybeUninit;

use super::LANES;
use crate::aes::BLOCK;
use crate::arch::blocks::Vector;

/// Round keys of each lane, transposed per register of lanes.
#[repr(C, align(64))]
pub(super) struct LaneKeys {
    bytes: [MaybeUninit<[u8; BLOCK * MOST]>; LANES],
    /// Cache lines of a schedule.
    lines: usize,
    /// Lanes that have had keys.
    used: usize,
    /// Lanes whose key is not the one last gathered, a bit each.
    pub stale: u32,
}

/// Round keys that a register of lanes has room for: those of the longest schedule, in whole cache
/// lines. The same for every schedule, so that one address and distances known beforehand lead to
/// every key.
pub(super) const MOST: usize = 16;

impl LaneKeys {
    /// For schedules of `rounds` rounds.
    #[inline(always)]
    pub fn new(rounds: usize) -> Self {
        Self {
            lines: (rounds + 1).div_ceil(4),
            bytes: [const { MaybeUninit::uninit() }; LANES],
            used: 0,
            stale: 0,
        }
    }

    /// Brings the transposed keys of the first `groups` registers up to date.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `key` is valid for the pointers of that many registers of
    /// lanes, each to a schedule of that number of rounds.
    #[inline(always)]
    pub unsafe fn gather<V: Vector>(
        &mut self,
        proof: V::Proof,
        key: *const *const u8,
        groups: usize,
    ) -> *const u8 {
        self.used = self.used.max(groups * V::BLOCKS);
        for group in 0..groups {
            let first = group * V::BLOCKS;
            let of_group = ((1 << V::BLOCKS) - 1) << first;
            if self.stale & of_group == 0 {
                continue;
            }
            self.stale &= !of_group;
            // SAFETY: a schedule is at least as many cache lines; a register's lanes have room
            // for their round keys, one register each.
            unsafe {
                let room = self.bytes.as_mut_ptr().cast::<u8>();
                let room = room.add(V::BYTES * MOST * group);
                for line in 0..self.lines {
                    let round_keys = V::load_lines(proof, key.add(first), 64 * line, 4);
                    for (i, round_key) in round_keys.into_iter().enumerate() {
                        round_key.store(room.add(V::BYTES * (4 * line + i)));
                    }
                }
            }
        }
        self.bytes.as_ptr().cast()
    }

    #[inline(always)]
    /// Wipes the keys of all lanes that have had any.
    pub fn wipe<V: Vector>(&mut self, proof: V::Proof) {
        let room: *mut u8 = self.bytes.as_mut_ptr().cast();
        for offset in (0..self.used * BLOCK * MOST).step_by(V::BYTES) {
            // SAFETY: `used` counts the lanes that have room, each a multiple of a register.
            unsafe { V::zero(proof).store(room.add(offset)) };
        }
        if self.used > 0 {
            crate::aes::keep(room);
        }
    }
}
