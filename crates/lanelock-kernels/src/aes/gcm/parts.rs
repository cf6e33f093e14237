//! Messages in pieces, the segments of scattered buffers, one after the other. Registers lie within a
//! piece; a sum goes on over short ones.

use super::ghash::Ghash;
use super::products::lengths;
use super::table::POWERS;
use super::text::{Counters, Text};
use super::{J0, Key, aad_of};
use crate::aes::BLOCK;
use crate::aes::message::Piece;
use crate::aes::rounds::{PerRounds, Rounds};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

/// The next pieces of one message.
#[derive(Debug)]
pub struct Part<'k> {
    /// Of whole blocks each, but for a message's last.
    pub pieces: &'k [Piece],
    /// Additional data, before the first pieces alone; valid for reads of `aad_len` bytes.
    pub aad: *const u8,
    /// Bytes of it, any number; none if `hash` has it.
    pub aad_len: usize,
    /// Schedule and powers of H of this message.
    pub key: &'k Key,
    /// The block before the first counter.
    pub j0: J0,
    /// Blocks of the text before these pieces.
    pub before: usize,
    /// Bytes of the whole message's additional data and text, if it ends here.
    pub ends: Option<[usize; 2]>,
    /// Before: zero, what the previous part left here, or the additional data as [`Key::absorb`]
    /// hashes it. After: the hash of all so far, or the tag, if the message ends here.
    pub hash: [u8; BLOCK],
}

/// Encrypts the pieces of every part and hashes them.
///
/// # Safety
/// - Every key has the size of the first part's, and was made with `machine`: else the tags are wrong.
/// - Each `aad` and the source of each piece are valid for reads, and its target for writes, of their
///   lengths.
/// - A target is identical to its own source or disjoint from it, and disjoint from all other
///   sources, targets and additional data.
pub unsafe fn encrypt_parts(machine: Machine, parts: &mut [Part<'_>]) {
    // SAFETY: the caller's contract.
    unsafe { process_parts::<true>(machine, parts) }
}

/// Decrypts the pieces of every part and hashes their ciphertext. The caller compares the tag, and
/// wipes all targets of the message if it is not the one expected.
///
/// # Safety
/// As for [`encrypt_parts`].
pub unsafe fn decrypt_parts(machine: Machine, parts: &mut [Part<'_>]) {
    // SAFETY: the caller's contract.
    unsafe { process_parts::<false>(machine, parts) }
}

/// # Safety
/// As for [`encrypt_parts`].
unsafe fn process_parts<const ENCRYPT: bool>(machine: Machine, parts: &mut [Part<'_>]) {
    let Some(first) = parts.first() else {
        return;
    };
    let size = first.key.cipher().size();
    debug_assert!(parts.iter().all(|part| part.key.cipher().size() == size));
    // SAFETY: the caller's contract.
    unsafe {
        machine
            .blocks
            .run_sized_products(size, Turned::<ENCRYPT>(parts))
    }
}

struct Turned<'a, 'k, const ENCRYPT: bool>(&'a mut [Part<'k>]);

impl<const ENCRYPT: bool> PerRounds for Turned<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        for part in self.0 {
            // SAFETY: the contract of `encrypt_parts`.
            unsafe { turn::<V, ROUNDS, ENCRYPT>(proof, part) }
        }
    }
}

/// # Safety
/// The contract of [`encrypt_parts`]; the key has `ROUNDS` rounds.
#[inline(always)]
unsafe fn turn<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    part: &mut Part<'_>,
) {
    let chunk = Text::<V, ROUNDS, ENCRYPT>::CHUNK;
    let ends = part.ends.is_some();
    // SAFETY: the caller's promises. A sum has at most as many blocks as there are powers.
    unsafe {
        let rounds = Rounds::load(proof, part.key.cipher().as_ptr());
        let j0 = V::broadcast(proof, part.j0.as_ptr());
        let counters = Counters::of_chunks(j0, part.j0.counts_from_one).later(part.before);
        let mut hash = Ghash::<V>::resume(proof, part.key.powers(), &part.hash);
        // What the next sum takes up at its highest power: the hash before it, in its first block, or
        // additional data of a block, before that.
        let mut first = hash.reduced();
        let mut own = 0;
        let short = part.pieces.first().map_or(ends, |piece| piece.len < chunk);
        if (1..=BLOCK).contains(&part.aad_len) && short {
            first = aad_of::<V>(proof, part.aad, part.aad_len).coefficients();
            own = 1;
        } else if part.aad_len > 0 {
            hash.absorb(part.aad, part.aad_len);
            first = hash.reduced();
        }
        // Blocks of the open sum, and how many of them are to come.
        let (mut sum, mut left) = (0, 0);
        let mut done = 0;
        for (n, piece) in part.pieces.iter().enumerate() {
            let mut text = Text::<V, ROUNDS, ENCRYPT> {
                rounds,
                counters: counters.later(done),
                source: piece.source,
                target: piece.target,
                len: piece.len,
            };
            done += blocks_of(piece.len);
            if text.len >= chunk {
                debug_assert!(left == 0);
                text.bulk(&mut hash);
                first = hash.reduced();
            }
            if text.len == 0 {
                continue;
            }
            let blocks = blocks_of(text.len);
            if left == 0 {
                sum = blocks + following(&part.pieces[n + 1..], POWERS - 2 - blocks, chunk, ends);
                left = sum;
            }
            left -= blocks;
            text.last(&mut hash, left);
            if left == 0 {
                hash.take_up(first, sum + own);
                hash.close();
                (first, own) = (hash.reduced(), 0);
            }
        }
        let Some([aad_len, len]) = part.ends else {
            return hash.value().store(part.hash.as_mut_ptr());
        };
        if left == 0 {
            sum = 1;
        }
        hash.add_ends(first, sum + own, lengths(V::single(proof), aad_len, len));
        hash.close();
        let [mask] = rounds.encrypt([j0]);
        hash.value().xor(mask.first()).store(part.hash.as_mut_ptr());
    }
}

fn blocks_of(bytes: usize) -> usize {
    bytes.div_ceil(BLOCK)
}

/// Blocks after those of a piece that its sum goes on with, at most `room`, and one more for the
/// lengths of a message that `ends` in it.
#[inline(always)]
fn following(pieces: &[Piece], room: usize, chunk: usize, ends: bool) -> usize {
    let mut sum = 0;
    for piece in pieces {
        let more = blocks_of(piece.len);
        if piece.len >= chunk || sum + more >= room {
            return sum;
        }
        sum += more;
    }
    sum + usize::from(ends)
}
