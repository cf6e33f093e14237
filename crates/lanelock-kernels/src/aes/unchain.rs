//! Decryption where a block of plaintext depends on the block of ciphertext before it, and on no
//! plaintext (CBC and CFB): the blocks of a message side by side.

use super::key::Schedule;
use super::message::{Part, Piece, in_pieces};
use super::rounds::{Keys, PerRounds, Rounds};
use super::sweep::{Lone, Mode, Transform, sweep_each};
use super::{BLOCK, KeySize, Records};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

/// Decrypts every part: by CBC with a schedule that undoes the cipher, by CFB with the other.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the `len` bytes of the part or
///   piece.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other parts.
/// - Every key has `size`; lengths of CBC are multiples of 16.
pub(super) unsafe fn decrypt_parts<Key: Schedule>(
    machine: Machine,
    size: KeySize,
    parts: &mut [Part<'_, Key>],
) {
    // The block before a piece is read before it may be overwritten.
    let last_block = |iv: &mut [u8; BLOCK], piece: &Piece| {
        if let Some(last) = (piece.len / BLOCK * BLOCK).checked_sub(BLOCK) {
            // SAFETY: the last whole block of a piece.
            *iv = unsafe { piece.source.add(last).cast::<[u8; BLOCK]>().read() };
        }
    };
    in_pieces(parts, last_block, |records| {
        // SAFETY: the caller's contract.
        unsafe { decrypt_records(machine, size, records) }
    });
}

/// Decrypts whole messages that are in memory.
///
/// # Safety
/// - As for [`decrypt_parts`], and each IV is valid for reads, until this returns; the records are
///   valid for reads, and do not change.
#[inline]
pub(super) unsafe fn decrypt_records<Key: Schedule>(
    machine: Machine,
    size: KeySize,
    records: &Records<'_, Key>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        if Key::INVERSE
            && let Some(lone) = Lone::<CbcMode, _>::of(records)
        {
            return machine.blocks.run_sized(size, lone);
        }
        machine.blocks.run_sized(size, Decrypt(records));
    }
}

struct Decrypt<'m, 'k, Key>(&'m Records<'k, Key>);

impl<Key: Schedule> PerRounds for Decrypt<'_, '_, Key> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        // SAFETY: `decrypt_records`' contract.
        unsafe {
            if Key::INVERSE {
                sweep_each::<CbcMode, Key, V, ROUNDS>(proof, self.0, 0);
            } else {
                sweep_each::<CfbMode, Key, V, ROUNDS>(proof, self.0, 0);
            }
        }
    }
}

struct CbcMode;
struct CfbMode;

/// The last block of `before` precedes the next register.
struct Cbc<V, const ROUNDS: usize, K> {
    rounds: Rounds<V, ROUNDS, K>,
    before: V,
}

/// As [`Cbc`].
struct Cfb<V, const ROUNDS: usize, K> {
    rounds: Rounds<V, ROUNDS, K>,
    before: V,
}

macro_rules! modes {
    ($($mode:ident $transform:ident)*) => {$(
        impl Mode for $mode {
            type Transform<V: Vector, const ROUNDS: usize, K: Keys<V>> = $transform<V, ROUNDS, K>;

            #[inline(always)]
            unsafe fn start<V: Vector, const ROUNDS: usize, K: Keys<V>>(
                rounds: Rounds<V, ROUNDS, K>,
                iv: *const [u8; BLOCK],
            ) -> $transform<V, ROUNDS, K> {
                // SAFETY: the caller's block.
                let before = unsafe { V::broadcast(rounds.proof(), iv.cast()) };
                $transform { rounds, before }
            }
        }
    )*};
}

modes!(CbcMode Cbc CfbMode Cfb);

impl<V: Vector, const ROUNDS: usize, K: Keys<V>> Transform<V> for Cbc<V, ROUNDS, K> {
    #[inline(always)]
    fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G] {
        let mut plain = self.rounds.decrypt(data);
        for (plain, data) in plain.iter_mut().zip(data) {
            *plain = plain.xor(data.shift_in(self.before));
            self.before = data;
        }
        plain
    }
}

impl<V: Vector, const ROUNDS: usize, K: Keys<V>> Transform<V> for Cfb<V, ROUNDS, K> {
    #[inline(always)]
    fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G] {
        let mut before = data;
        for (before, data) in before.iter_mut().zip(data) {
            *before = data.shift_in(self.before);
            self.before = data;
        }
        let mut plain = self.rounds.encrypt(before);
        for (plain, data) in plain.iter_mut().zip(data) {
            *plain = plain.xor(data);
        }
        plain
    }
}
