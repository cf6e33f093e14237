//! Decryption where a block of plaintext depends on the block of ciphertext before it, and on no
//! plaintext (CBC and CFB): the blocks of a message side by side.

use super::message::{Part, Piece, in_pieces};
use super::rounds::{Keys, Rounds};
use super::sweep::{Around, Mode, Second, run_records};
use super::{BLOCK, DecryptKey, EncryptKey, KeySize};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

/// Decrypts every part.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the `len` bytes of the part or
///   piece.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other parts.
/// - Every key has `size`; lengths of CBC are multiples of 16.
pub(super) unsafe fn decrypt_parts<M: Mode>(
    machine: Machine,
    size: KeySize,
    parts: &mut [Part<'_, M::Key>],
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
        unsafe { run_records::<M>(machine, size, records) }
    });
}

/// CBC, whose blocks are whole.
pub(super) struct CbcMode;
/// CFB, whose last block may not be.
pub(super) struct CfbMode;

/// The last block of `before` precedes the next register.
#[derive(Clone, Copy)]
pub(super) struct Cbc<V, const ROUNDS: usize, K> {
    rounds: Rounds<V, ROUNDS, K>,
    before: V,
}

/// As [`Cbc`].
#[derive(Clone, Copy)]
pub(super) struct Cfb<V, const ROUNDS: usize, K> {
    rounds: Rounds<V, ROUNDS, K>,
    before: V,
}

macro_rules! modes {
    ($($mode:ident $transform:ident $key:ident $whole:literal $inverse:literal $second:ident, $shifted:ident $data:ident => $ahead:expr;)*) => {$(
        impl Mode for $mode {
            type Key = $key;
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

            #[inline(always)]
            fn ahead_of_blocks<V: Vector>($shifted: V, $data: V) -> (V, V) {
                $ahead
            }
        }

        impl<V: Vector, const ROUNDS: usize, K: Keys<V>> Around<V> for $transform<V, ROUNDS, K> {
            const WHOLE_BLOCKS: bool = $whole;
            const INVERSE: bool = $inverse;
            const SECOND: Second = Second::$second;
            type Rounds = Rounds<V, ROUNDS, K>;

            #[inline(always)]
            fn rounds(&self) -> &Self::Rounds {
                &self.rounds
            }

            #[inline(always)]
            fn ahead(&mut self, $data: V) -> (V, V) {
                let $shifted = $data.shift_in(self.before);
                self.before = $data;
                let (state, second) = $ahead;
                (state.xor(self.rounds.at(0)), second)
            }
        }
    )*};
}

modes! {
    CbcMode Cbc DecryptKey true true BlockBefore, shifted data => (data, shifted);
    CfbMode Cfb EncryptKey false false Data, shifted data => (shifted, data);
}
