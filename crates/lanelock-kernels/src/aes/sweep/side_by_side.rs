//! Short messages of one length, several in one go: one after the other, they would fill the CPU's queues with
//! rounds that wait.

use core::ptr;

use super::Mode;
use super::around::{apply_each, turn};
use crate::aes::key::Schedule;
use crate::aes::rounds::Rounds;
use crate::aes::{BLOCK, Records};
use crate::arch::blocks::Vector;

/// Runs the messages from `first` on side by side, if there are enough that are alike and short: how many.
///
/// # Safety
/// As for [`sweep_each`](super::sweep_each); `first` is one of the messages. With `SHARED`, all have one key.
#[inline(always)]
pub(super) unsafe fn side_by_side<M: Mode, V: Vector, const ROUNDS: usize, const SHARED: bool>(
    proof: V::Proof,
    records: &Records<'_, M::Key>,
    first: usize,
) -> usize {
    // Four blocks are one register of 512 bits, where messages one after the other are fast enough.
    if const { !V::SIDE_BY_SIDE || V::BLOCKS > 2 } {
        return 0;
    }
    // SAFETY: the caller's promises.
    unsafe {
        match records.get(first).len as usize {
            BLOCK if SHARED && const { V::BLOCKS == 2 } => {
                blocks_in_pairs::<M, V, ROUNDS>(proof, records, first)
            }
            BLOCK => {
                let single = V::single(proof);
                several::<M, V::Single, ROUNDS, false, 8, 1>(single, records, first)
            }
            len if len == 4 * BLOCK && const { V::BLOCKS == 2 } => {
                several::<M, V, ROUNDS, SHARED, 4, 2>(proof, records, first)
            }
            len if len == 4 * BLOCK && const { V::BLOCKS == 1 } => {
                several::<M, V, ROUNDS, SHARED, 2, 4>(proof, records, first)
            }
            _ => 0,
        }
    }
}

/// Runs eight messages of one block under one key, two in a register; returns 8. Does nothing and returns 0
/// unless so many follow.
///
/// # Safety
/// As for [`side_by_side`].
#[inline(always)]
unsafe fn blocks_in_pairs<M: Mode, V: Vector, const ROUNDS: usize>(
    proof: V::Proof,
    records: &Records<'_, M::Key>,
    first: usize,
) -> usize {
    if records.count - first < 8 {
        return 0;
    }
    let (mut sources, mut targets) = ([ptr::null(); 8], [ptr::null_mut(); 8]);
    let mut ivs = [ptr::null(); 8];
    let mut at = first * records.stride;
    let mut alike = true;
    // SAFETY: the caller's promises, and the messages have as many bytes. Only modes with an IV read it.
    unsafe {
        for n in 0..8 {
            let next = records.at(at, 0);
            alike &= next.len as usize == BLOCK;
            (sources[n], targets[n], ivs[n]) = (next.source, next.target, next.iv);
            at += records.stride;
        }
        if !alike {
            return 0;
        }
        let schedule = records.get(first).key.round_keys_ptr();
        let rounds = Rounds::<V, ROUNDS, _>::in_memory(proof, schedule);
        let (mut states, mut seconds) = ([V::zero(proof); 4], [V::zero(proof); 4]);
        for i in 0..4 {
            let data = pair_of(proof, sources[2 * i], sources[2 * i + 1]);
            let ivs = if M::HAS_IV {
                pair_of(proof, ivs[2 * i].cast(), ivs[2 * i + 1].cast())
            } else {
                data
            };
            (states[i], seconds[i]) = M::ahead_of_blocks(ivs, data);
        }
        let mut turned = turn(&M::start(rounds, ivs[0]), states, seconds);
        V::pin(&mut turned);
        for i in 0..4 {
            turned[i].scatter(targets[2 * i..].as_ptr());
        }
    }
    8
}

/// A block from each of two pointers.
///
/// # Safety
/// Both are valid for reads of 16 bytes.
#[inline(always)]
unsafe fn pair_of<V: Vector>(proof: V::Proof, a: *const u8, b: *const u8) -> V {
    let single = V::single(proof);
    // SAFETY: the caller's promise.
    unsafe {
        V::pair(
            proof,
            V::Single::load(single, a),
            V::Single::load(single, b),
        )
    }
}

/// Runs `N` messages of `EACH` registers, eight registers together; returns `N`. Does nothing and
/// returns 0 unless so many of that length follow.
///
/// # Safety
/// As for [`side_by_side`].
#[inline(always)]
unsafe fn several<
    M: Mode,
    V: Vector,
    const ROUNDS: usize,
    const SHARED: bool,
    const N: usize,
    const EACH: usize,
>(
    proof: V::Proof,
    records: &Records<'_, M::Key>,
    first: usize,
) -> usize {
    const { assert!(N * EACH == 8) }
    if records.count - first < N {
        return 0;
    }
    let (mut sources, mut targets) = ([ptr::null(); N], [ptr::null_mut(); N]);
    let (mut keys, mut ivs) = ([ptr::null(); N], [ptr::null(); N]);
    let (mut at, mut key_at) = (first * records.stride, first * records.key_stride);
    let mut alike = true;
    // SAFETY: the caller's promises; there are so many messages, and they are as long.
    unsafe {
        for n in 0..N {
            let next = records.at(at, key_at);
            alike &= next.len as usize == EACH * V::BYTES;
            (sources[n], targets[n], ivs[n]) = (next.source, next.target, next.iv);
            keys[n] = if SHARED && n > 0 {
                keys[0]
            } else {
                next.key.round_keys_ptr()
            };
            at += records.stride;
            key_at += records.key_stride;
        }
        if !alike {
            return 0;
        }
        let rounds = Rounds::<V, ROUNDS, _>::in_memory(proof, keys[0]);
        let mut these = [M::start(rounds, ivs[0]); N];
        for n in 1..N {
            these[n] = M::start(Rounds::in_memory(proof, keys[n]), ivs[n]);
        }
        let mut data = apply_each::<V, _, N, 8>(proof, &mut these, sources);
        V::pin(&mut data);
        for i in 0..8 {
            data[i].store(targets[i / EACH].add(V::BYTES * (i % EACH)));
        }
    }
    N
}
