//! The keys of messages.

use core::{array, ptr};

use super::{LOT, NONCE};
use crate::aes::expand::expand;
use crate::aes::{BLOCK, EncryptKey, KeySize, Message, ecb};
use crate::arch::blocks::{Kernel, Vector};
use crate::machine::Machine;
use crate::wipe::wipe;

/// The keys of up to [`LOT`] messages (RFC 8452, 4), wiped on drop.
pub(super) struct Keys {
    pub(super) authentication: [[u8; BLOCK]; LOT],
    /// Of as many as there are messages.
    ciphers: [Option<EncryptKey>; LOT],
}

impl Keys {
    /// Derives the keys of messages by their key-generating keys and nonces, [`LOT`] at the most.
    pub(super) fn new<'a>(
        machine: Machine,
        messages: impl Iterator<Item = (&'a EncryptKey, &'a [u8; NONCE])> + Clone,
    ) -> Self {
        let mut keys = Self {
            authentication: [[0; BLOCK]; LOT],
            ciphers: [const { None }; LOT],
        };
        let Some((first, _)) = messages.clone().next() else {
            return keys;
        };
        let size = first.size();
        assert!(
            size != KeySize::Aes192,
            "AES-GCM-SIV has keys of 16 or 32 bytes"
        );
        // Lanes without a message have a key as well, and a place for what comes of it.
        let mut spare = EncryptKey::blank(size);
        let mut derive = Derive {
            from: [first.as_ptr(); LOT],
            nonces: [[0; BLOCK]; LOT],
            authentication: &mut keys.authentication,
            to: [spare.as_mut_ptr(); LOT],
            count: 0,
            is_long: size == KeySize::Aes256,
        };
        for ((key, nonce), cipher) in messages.zip(&mut keys.ciphers) {
            assert!(key.size() == size, "keys of one size are required");
            let lane = derive.count;
            derive.from[lane] = key.as_ptr();
            derive.nonces[lane][BLOCK - NONCE..].copy_from_slice(nonce);
            derive.to[lane] = cipher.insert(EncryptKey::blank(size)).as_mut_ptr();
            derive.count += 1;
        }
        // SAFETY: schedules of this size are read and written, each in a place of its own but for those
        // that are not used.
        unsafe { machine.blocks.run(derive) };
        keys
    }

    /// The cipher of message `i`.
    pub(super) fn cipher(&self, i: usize) -> &EncryptKey {
        self.ciphers[i].as_ref().expect("keyed with the lot")
    }

    pub(super) fn ciphers(&self) -> impl Iterator<Item = &EncryptKey> {
        self.ciphers.iter().flatten()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        wipe(&mut self.authentication);
    }
}

/// Derives keys, one in each block of a register.
///
/// Schedules, where they are read and where they are written, are valid, and have the size that
/// `is_long` says.
struct Derive<'a> {
    /// The key-generating keys' schedules.
    from: [*const u8; LOT],
    /// Nonces, behind a word that is zero.
    nonces: [[u8; BLOCK]; LOT],
    authentication: &'a mut [[u8; BLOCK]; LOT],
    /// The ciphers' schedules.
    to: [*mut u8; LOT],
    /// How many messages there are.
    count: usize,
    /// Whether keys have 32 bytes rather than 16.
    is_long: bool,
}

impl Kernel for Derive<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(mut self, proof: V::Proof) {
        // SAFETY: the creator's promise.
        unsafe {
            if self.is_long {
                self.all::<V, true>(proof);
            } else {
                self.all::<V, false>(proof);
            }
        }
    }
}

impl Derive<'_> {
    /// # Safety
    /// The contract of [`Derive`], of keys that are `LONG`.
    #[inline(always)]
    unsafe fn all<V: Vector, const LONG: bool>(&mut self, proof: V::Proof) {
        for lane in (0..self.count).step_by(4 * V::BLOCKS) {
            // SAFETY: the caller's promise. Four registers of any width divide a lot.
            unsafe {
                match (self.count - lane).div_ceil(V::BLOCKS) {
                    1 => self.some::<V, 1, LONG>(proof, lane),
                    2 => self.some::<V, 2, LONG>(proof, lane),
                    _ => self.some::<V, 4, LONG>(proof, lane),
                }
            }
        }
    }

    /// Those of `G` registers.
    ///
    /// # Safety
    /// As for [`Derive::all`]; so many lanes are left from this one on.
    #[inline(always)]
    unsafe fn some<V: Vector, const G: usize, const LONG: bool>(
        &mut self,
        proof: V::Proof,
        lane: usize,
    ) {
        let mut keys = [[V::zero(proof); 2]; G];
        // SAFETY: the caller's promise; a register has as many lanes as it has blocks.
        unsafe {
            for g in 0..G {
                let lane = lane + V::BLOCKS * g;
                let halves = self.halves::<V, LONG>(proof, lane);
                let authentication = self.authentication[lane..].as_mut_ptr().cast();
                join(halves[0], halves[1]).store(authentication);
                keys[g] = [join(halves[2], halves[3]), join(halves[4], halves[5])];
            }
            expand::<V, G, LONG>(proof, keys, self.to[lane..].as_ptr());
        }
    }

    /// Blocks of which the lower halves are those of the keys, in order: the authentication key's two,
    /// then those of the cipher's key, two or four.
    ///
    /// # Safety
    /// As for [`Derive::some`], of one register.
    #[inline(always)]
    unsafe fn halves<V: Vector, const LONG: bool>(&self, proof: V::Proof, lane: usize) -> [V; 6] {
        let from = self.from[lane..].as_ptr();
        // SAFETY: the caller's promise: eleven round keys, or 15.
        unsafe {
            let nonces = V::load(proof, self.nonces[lane..].as_ptr().cast());
            let mut blocks = [nonces; 6];
            for (number, block) in (0_u32..).zip(&mut blocks) {
                *block = nonces.xor(V::splat(proof, number.into()));
            }
            rounds::<V, 0, LONG>(proof, &mut blocks, from);
            rounds::<V, 1, LONG>(proof, &mut blocks, from);
            rounds::<V, 2, LONG>(proof, &mut blocks, from);
            if LONG {
                rounds::<V, 3, LONG>(proof, &mut blocks, from);
            }
            blocks
        }
    }
}

/// The rounds of which the keys are on one cache line of each schedule.
///
/// # Safety
/// `from` points to pointers to schedules, one for each block of a register.
#[inline(always)]
unsafe fn rounds<V: Vector, const LINE: usize, const LONG: bool>(
    proof: V::Proof,
    blocks: &mut [V; 6],
    from: *const *const u8,
) {
    let (last, count) = if LONG { (14, 6) } else { (10, 4) };
    let keys_left = last + 1 - 4 * LINE;
    // SAFETY: the caller's promise.
    let keys = unsafe { V::load_lines(proof, from, 64 * LINE, keys_left.min(4)) };
    for j in 0..4 {
        let r = 4 * LINE + j;
        for block in &mut blocks[..count] {
            if r == 0 {
                *block = block.xor(keys[j]);
            } else if r < last {
                *block = block.aes_enc(keys[j]);
            } else if r == last {
                *block = block.aes_enc_last(keys[j]);
            }
        }
    }
}

/// The lower halves of both.
#[inline(always)]
fn join<V: Vector>(low: V, high: V) -> V {
    low.low_to_high().high_to_low().xor(high.low_to_high())
}

/// Encrypts stretches of blocks in place, [`LOT`] at the most, each under its own key of the size of
/// `any`.
pub(super) fn encrypt_each<'k, 'b>(
    machine: Machine,
    any: &'k EncryptKey,
    stretches: impl Iterator<Item = (&'k EncryptKey, &'b mut [[u8; BLOCK]])>,
) {
    let none = |_| Message::without_iv(ptr::null(), ptr::null_mut(), 0, any);
    let mut messages: [_; LOT] = array::from_fn(none);
    let mut count = 0;
    for (message, (key, blocks)) in messages.iter_mut().zip(stretches) {
        let target: *mut u8 = blocks.as_mut_ptr().cast();
        *message = Message::without_iv(target, target, BLOCK * blocks.len(), key);
        count += 1;
    }
    // SAFETY: each message is a slice of its own, borrowed exclusively until here, in place.
    unsafe { ecb::encrypt_many(machine, &messages[..count]) };
}
