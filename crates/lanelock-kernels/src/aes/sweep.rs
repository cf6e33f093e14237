//! Modes whose blocks do not wait for each other: one pass over a message, eight registers at a time. Short
//! messages of one length run side by side; others overlap because the CPU starts the next before the last has
//! finished.

mod around;
mod side_by_side;

use super::key::Schedule;
use super::rounds::{Keys, PerRounds, Rounds};
use super::{BLOCK, KeySize, Message, Records};
use crate::arch::blocks::Vector;
use crate::arrays::each;
use crate::machine::Machine;
use around::turn;
pub(crate) use around::{Around, Groups, Second, Transform, each_group, load, store};
use side_by_side::side_by_side;

/// A mode of messages with a key and an IV.
pub(crate) trait Mode {
    /// Its schedules.
    type Key: Schedule;

    /// What it does to a message.
    type Transform<V: Vector, const ROUNDS: usize, K: Keys<V>>: Around<V>;

    /// # Safety
    /// The IV is valid for reads, if the mode has one.
    unsafe fn start<V: Vector, const ROUNDS: usize, K: Keys<V>>(
        rounds: Rounds<V, ROUNDS, K>,
        iv: *const [u8; BLOCK],
    ) -> Self::Transform<V, ROUNDS, K>;

    /// Whether its messages have an IV.
    const HAS_IV: bool = true;

    /// What the cipher takes for messages of one block, and what [`Around::behind`] takes; `ivs` are theirs, if they
    /// have any.
    fn ahead_of_blocks<V: Vector>(ivs: V, data: V) -> (V, V);

    /// As [`Mode::start`], for a message of at most [`FEW_BYTES`].
    ///
    /// # Safety
    /// As for [`Mode::start`].
    #[inline(always)]
    unsafe fn start_few<V: Vector, const ROUNDS: usize, K: Keys<V>>(
        rounds: Rounds<V, ROUNDS, K>,
        iv: *const [u8; BLOCK],
    ) -> Self::Transform<V, ROUNDS, K> {
        // SAFETY: the caller's promise.
        unsafe { Self::start(rounds, iv) }
    }

    /// Whether a message of at most [`FEW_BYTES`] with this IV goes without code that hardly any other needs, and whose
    /// registers would have to be saved.
    ///
    /// # Safety
    /// As for [`Mode::start`].
    #[inline(always)]
    unsafe fn few_suffice(_: *const [u8; BLOCK]) -> bool {
        true
    }
}

/// Runs every message of a mode.
///
/// # Safety
/// - Sources and targets are as for [`sweep`], and disjoint from those of other messages; IVs are
///   valid for reads, if the mode has them; until this returns.
/// - The records are valid for reads, and do not change. Every key has `size`.
#[inline(always)]
pub(crate) unsafe fn run_records<M: Mode>(
    machine: Machine,
    size: KeySize,
    records: &Records<'_, M::Key>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        if records.count == 1 {
            machine.blocks.run_sized(size, Lone::<M>(records));
        } else {
            machine.blocks.run_sized(size, Sweep::<M>(records));
        }
    }
}

/// Messages in memory.
pub(super) struct Sweep<'m, 'k, M: Mode>(pub(super) &'m Records<'k, M::Key>);

impl<M: Mode> PerRounds for Sweep<'_, '_, M> {
    /// # Safety
    /// As for [`run_records`].
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        // SAFETY: the caller's promises.
        unsafe { sweep_each::<M, V, ROUNDS>(proof, self.0) }
    }
}

/// Sweeps each message.
///
/// # Safety
/// As for [`run_records`], under [`Vector::enter`]; schedules have `ROUNDS` rounds.
#[inline(always)]
unsafe fn sweep_each<M: Mode, V: Vector, const ROUNDS: usize>(
    proof: V::Proof,
    records: &Records<'_, M::Key>,
) {
    let mut number = 0;
    // SAFETY: the caller's promises.
    unsafe {
        if records.count == 0 {
            return;
        }
        if records.key_stride == 0 {
            let schedule = records.get(number).key.round_keys_ptr();
            let rounds = Rounds::<V, ROUNDS>::load(proof, schedule);
            while number < records.count {
                let together = side_by_side::<M, V, ROUNDS, true>(proof, records, number);
                if together > 0 {
                    number += together;
                    continue;
                }
                let next = records.get(number);
                if const { V::BLOCKS > 1 } && next.len as usize == BLOCK {
                    one_block::<M, V, ROUNDS>(proof, &next);
                } else {
                    let mut transform = M::start(rounds, next.iv);
                    let (source, target) = (next.source, next.target);
                    sweep(proof, &mut transform, source, target, next.len as usize);
                }
                number += 1;
            }
            return;
        }
        while number < records.count {
            let together = side_by_side::<M, V, ROUNDS, false>(proof, records, number);
            if together > 0 {
                number += together;
                continue;
            }
            one::<M, V, ROUNDS, false>(proof, &records.get(number));
            number += 1;
        }
    }
}

/// Most bytes of a message that has code of its own, for each number of registers: it takes little longer than to
/// find out how it begins and whether it has ended.
pub(super) const FEW_BYTES: usize = 4 * BLOCK;

/// A message with a key of its own. With `FEW`, one of at most [`FEW_BYTES`] has code of its own, unless those are
/// a register.
///
/// # Safety
/// As for [`sweep_each`].
#[inline(always)]
unsafe fn one<M: Mode, V: Vector, const ROUNDS: usize, const FEW: bool>(
    proof: V::Proof,
    message: &Message<'_, M::Key>,
) {
    let len = message.len as usize;
    // SAFETY: the caller's promises.
    unsafe {
        if const { V::BLOCKS > 1 } && len == BLOCK {
            return one_block::<M, V, ROUNDS>(proof, message);
        }
        let schedule = message.key.round_keys_ptr();
        let rounds = Rounds::<V, ROUNDS, _>::in_memory(proof, schedule);
        let (source, target) = (message.source, message.target);
        if const { !FEW || V::BYTES >= FEW_BYTES } || len > FEW_BYTES {
            let mut transform = M::start(rounds, message.iv);
            return sweep(proof, &mut transform, source, target, len);
        }
        let mut transform = M::start_few(rounds, message.iv);
        if len == V::BYTES {
            last::<V, _, 1>(proof, &mut transform, source, target, V::BYTES);
        } else if const { V::BLOCKS == 1 } {
            few::<V, _, 4>(proof, &mut transform, source, target, len);
        } else {
            few::<V, _, 2>(proof, &mut transform, source, target, len);
        }
    }
}

/// The only message. A kernel of its own, which saves no registers and keeps nothing between messages.
struct Lone<'m, 'k, M: Mode>(&'m Records<'k, M::Key>);

impl<M: Mode> PerRounds for Lone<'_, '_, M> {
    /// # Safety
    /// As for [`sweep_each`].
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        // SAFETY: there is a message; the caller's promises.
        unsafe { alone::<M, V, ROUNDS>(proof, &self.0.get(0)) }
    }
}

/// A message that no other runs beside.
///
/// # Safety
/// As for [`sweep_each`].
#[inline(always)]
pub(super) unsafe fn alone<M: Mode, V: Vector, const ROUNDS: usize>(
    proof: V::Proof,
    message: &Message<'_, M::Key>,
) {
    let len = message.len as usize;
    // SAFETY: the caller's promises.
    unsafe {
        if const { V::BLOCKS > 2 } && len > GROUP * V::BYTES {
            let rounds = Rounds::<V, ROUNDS>::load(proof, message.key.round_keys_ptr());
            let mut transform = M::start(rounds, message.iv);
            sweep(proof, &mut transform, message.source, message.target, len);
        } else {
            one::<M, V, ROUNDS, true>(proof, message);
        }
    }
}

/// A message of one block: more rounds of single blocks begin in a cycle.
///
/// # Safety
/// As for [`sweep_each`].
#[inline(always)]
pub(super) unsafe fn one_block<M: Mode, V: Vector, const ROUNDS: usize>(
    proof: V::Proof,
    message: &Message<'_, M::Key>,
) {
    let single = V::single(proof);
    // SAFETY: the caller's promises.
    unsafe {
        let schedule = message.key.round_keys_ptr();
        let rounds = Rounds::<V::Single, ROUNDS, _>::in_memory(single, schedule);
        let data = V::Single::load(single, message.source);
        let iv = if M::HAS_IV {
            V::Single::load(single, message.iv.cast())
        } else {
            data
        };
        let (state, second) = M::ahead_of_blocks(iv, data);
        let [turned] = turn(&M::start(rounds, message.iv), [state], [second]);
        turned.store(message.target);
    }
}

/// Applies `transform` to a message. What lies beyond `len` in the last register is zero before
/// and dropped after.
///
/// # Safety
/// `source` is valid for reads and `target` for writes of `len` bytes, and they are identical or
/// disjoint; `len` is as the transform [demands](Transform::ENDS_WHOLE).
#[inline(always)]
pub(crate) unsafe fn sweep<V: Vector, T: Transform<V>>(
    proof: V::Proof,
    transform: &mut T,
    source: *const u8,
    target: *mut u8,
    len: usize,
) {
    // SAFETY: each access lies below `len`.
    unsafe {
        if const { !V::SIDE_BY_SIDE } {
            let mut done = 0;
            while done < len {
                let (source, target) = (source.add(done), target.add(done));
                last::<V, T, 1>(proof, transform, source, target, V::BYTES.min(len - done));
                done += V::BYTES;
            }
        } else if len == V::BYTES {
            // Spares the shortest common message the way below.
            last::<V, T, 1>(proof, transform, source, target, V::BYTES);
        } else if const { V::BLOCKS > 2 } {
            in_fours(proof, transform, source, target, len);
        } else {
            in_eights(proof, transform, source, target, len);
        }
    }
}

/// Registers of four blocks whose rounds run side by side: no more than it takes to begin one in each cycle.
/// With few, what comes before and after the rounds is spread among them, and few of them wait in
/// the CPU's queues.
const GROUP: usize = 4;

/// [`sweep`] by registers of four blocks, [`GROUP`] of them at a time. Of a message that has more, those that do not
/// fill a group come first, as at the end their rounds would wait for each other.
///
/// # Safety
/// As for [`sweep`].
#[inline(always)]
unsafe fn in_fours<V: Vector, T: Transform<V>>(
    proof: V::Proof,
    transform: &mut T,
    source: *const u8,
    target: *mut u8,
    len: usize,
) {
    let mut done = 0;
    // SAFETY: each access lies below `len`.
    unsafe {
        if len > GROUP * V::BYTES {
            let first = registers::<V, T>(len) % GROUP;
            done = V::BYTES * first;
            match first {
                0 => {}
                1 => last::<V, T, 1>(proof, transform, source, target, V::BYTES),
                2 => last::<V, T, 2>(proof, transform, source, target, 2 * V::BYTES),
                _ => last::<V, T, 3>(proof, transform, source, target, 3 * V::BYTES),
            }
            let (from, to) = (source.add(done), target.add(done));
            done += transform.apply_groups::<GROUP>(proof, from, to, len - done);
            if done == len {
                return;
            }
        }
        let (from, to) = (source.add(done), target.add(done));
        few::<V, T, GROUP>(proof, transform, from, to, len - done);
    }
}

/// At most `MOST` registers, four or fewer, of which the last may be partial.
///
/// # Safety
/// As for [`sweep`].
#[inline(always)]
unsafe fn few<V: Vector, T: Transform<V>, const MOST: usize>(
    proof: V::Proof,
    transform: &mut T,
    source: *const u8,
    target: *mut u8,
    len: usize,
) {
    // SAFETY: the caller's promises; `len` ends in the last of so many registers.
    unsafe {
        if const { MOST > 3 } && len > 3 * V::BYTES {
            last::<V, T, 4>(proof, transform, source, target, len);
        } else if const { MOST > 2 } && len > 2 * V::BYTES {
            last::<V, T, 3>(proof, transform, source, target, len);
        } else if len > V::BYTES {
            last::<V, T, 2>(proof, transform, source, target, len);
        } else if len > 0 {
            last::<V, T, 1>(proof, transform, source, target, len);
        }
    }
}

/// [`sweep`] by eight registers. Those that do not fill a group come first, as at the end their rounds would
/// wait for each other; eight at the end, too, if the very last is partial.
///
/// # Safety
/// As for [`sweep`].
#[inline(always)]
unsafe fn in_eights<V: Vector, T: Transform<V>>(
    proof: V::Proof,
    transform: &mut T,
    source: *const u8,
    target: *mut u8,
    len: usize,
) {
    let mut done = 0;
    let mut some = registers::<V, T>(len) % 8;
    // SAFETY: each access lies below `len`.
    unsafe {
        loop {
            if some > 0 {
                let (from, to) = (source.add(done), target.add(done));
                let bytes = if const { T::ENDS_WHOLE } {
                    V::BYTES * some
                } else {
                    (V::BYTES * some).min(len - done)
                };
                match some {
                    1 => last::<V, T, 1>(proof, transform, from, to, bytes),
                    2 => last::<V, T, 2>(proof, transform, from, to, bytes),
                    3 => last::<V, T, 3>(proof, transform, from, to, bytes),
                    4 => last::<V, T, 4>(proof, transform, from, to, bytes),
                    5 => last::<V, T, 5>(proof, transform, from, to, bytes),
                    6 => last::<V, T, 6>(proof, transform, from, to, bytes),
                    7 => last::<V, T, 7>(proof, transform, from, to, bytes),
                    _ => last::<V, T, 8>(proof, transform, from, to, bytes),
                }
                done += bytes;
            }
            let (from, to) = (source.add(done), target.add(done));
            done += transform.apply_groups::<8>(proof, from, to, len - done);
            if const { T::ENDS_WHOLE } || len == done {
                return;
            }
            some = registers::<V, T>(len - done);
        }
    }
}

/// How many registers so many bytes lie in.
#[inline(always)]
fn registers<V: Vector, T: Transform<V>>(len: usize) -> usize {
    if const { T::ENDS_WHOLE } {
        return len / V::BYTES;
    }
    // Messages end far below where this would wrap, which `div_ceil` takes two more instructions to heed.
    len.wrapping_add(V::BYTES - 1) / V::BYTES
}

/// The last `G` registers, all in one go, the very last of them perhaps partial.
///
/// # Safety
/// As for [`sweep`]; `len` ends in the last of `G` registers.
#[inline(always)]
unsafe fn last<V: Vector, T: Transform<V>, const G: usize>(
    proof: V::Proof,
    transform: &mut T,
    source: *const u8,
    target: *mut u8,
    len: usize,
) {
    let (end, within) = (V::BYTES * (G - 1), len - V::BYTES * (G - 1));
    let whole = const { T::ENDS_WHOLE } || within == V::BYTES;
    // SAFETY: accesses to the last register are cut off at `len`.
    unsafe {
        let mut data = [V::zero(proof); G];
        each!(G, |I| {
            if const { I < G - 1 } {
                data[I] = V::load(proof, source.add(V::BYTES * I));
            }
        });
        data[G - 1] = if whole {
            V::load(proof, source.add(end))
        } else {
            V::load_bytes(proof, source.add(end), within)
        };
        let mut data = transform.apply(data, source);
        // Else the rounds of each register would move to where it is stored.
        V::pin(&mut data);
        each!(G, |I| {
            if const { I < G - 1 } {
                data[I].store(target.add(V::BYTES * I));
            }
        });
        if whole {
            data[G - 1].store(target.add(end));
        } else {
            data[G - 1].store_bytes(target.add(end), within);
        }
    }
}
