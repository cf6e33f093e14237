//! The keys of messages.

use core::{array, ptr};

use zeroize::Zeroize;

use super::{LOT, NONCE};
use crate::aes::{BLOCK, EncryptKey, KeySize, Message, ecb};
use crate::machine::Machine;

/// The keys of up to [`LOT`] messages (RFC 8452, 4), wiped on drop.
pub(super) struct Keys {
    pub(super) authentication: [[u8; BLOCK]; LOT],
    /// Of as many as there are messages.
    ciphers: [Option<EncryptKey>; LOT],
}

/// Blocks from which a message's keys are taken, half of each.
const DERIVED: usize = 6;

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
        let half = match first.size() {
            KeySize::Aes128 => 16,
            KeySize::Aes256 => 32,
            KeySize::Aes192 => panic!("AES-GCM-SIV has keys of 16 or 32 bytes"),
        };
        let mut derived = [[[0; BLOCK]; DERIVED]; LOT];
        let mut count = 0;
        let stretches = messages.zip(&mut derived).map(|((key, nonce), blocks)| {
            for (number, block) in (0_u8..).zip(&mut *blocks) {
                block[0] = number;
                block[4..].copy_from_slice(nonce);
            }
            count += 1;
            (key, &mut blocks[..2 + half / 8])
        });
        encrypt_each(machine, first, stretches);
        for (i, blocks) in derived[..count].iter().enumerate() {
            let mut halves = [[0; 8]; DERIVED];
            for (to, block) in halves.iter_mut().zip(blocks) {
                to.copy_from_slice(&block[..8]);
            }
            let (authentication, encryption) = halves.as_flattened().split_at(BLOCK);
            keys.authentication[i].copy_from_slice(authentication);
            keys.ciphers[i] = EncryptKey::new(machine, &encryption[..half]);
            halves.as_flattened_mut().zeroize();
        }
        derived.as_flattened_mut().as_flattened_mut().zeroize();
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

impl Drop for Keys {
    fn drop(&mut self) {
        self.authentication.as_flattened_mut().zeroize();
    }
}
