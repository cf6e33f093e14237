//! A GCM key: the schedule and the powers of H, wiped on drop.

use core::fmt;

use super::J0;
use super::ghash::{Absorb, Powers};
use super::table::Table;
use crate::aes::{BLOCK, EncryptKey, Message, ecb};
use crate::arch::blocks::Kernel;
use crate::machine::Machine;
use crate::wipe::wipe;

/// What GCM prepares once per key, for the machine that it was made with.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Key {
    cipher: EncryptKey,
    powers: Table,
    /// Whether the powers are those of kernels that do little but hash.
    hashes: bool,
}

impl Key {
    /// Expands `key`; `None` unless it has 16, 24 or 32 bytes.
    pub fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        Self::expand(machine, key, false)
    }

    /// As [`Key::new`], for kernels that [`BlockSet::run_hash`](crate::arch::BlockSet::run_hash) runs.
    pub(super) fn for_hash(machine: Machine, key: &[u8]) -> Option<Self> {
        Self::expand(machine, key, true)
    }

    fn expand(machine: Machine, key: &[u8], hashes: bool) -> Option<Self> {
        let cipher = EncryptKey::new(machine, key)?;
        let mut h = [0_u8; BLOCK];
        let (source, target) = (h.as_ptr(), h.as_mut_ptr());
        // SAFETY: one block, in place.
        unsafe {
            let message = Message::without_iv(source, target, BLOCK, &cipher);
            ecb::encrypt_many(machine, &[message]);
        }
        let mut expanded = Self {
            cipher,
            powers: Table::ZERO,
            hashes,
        };
        let powers = Powers {
            h: u128::from_be_bytes(h),
            powers: &mut expanded.powers,
        };
        // SAFETY: safe for any block.
        unsafe { run(&machine, hashes, powers) };
        wipe(&mut h);
        Some(expanded)
    }

    /// The schedule.
    #[inline]
    pub fn cipher(&self) -> &EncryptKey {
        &self.cipher
    }

    /// The block before the first counter, from an IV of any length but zero. The machine by
    /// reference: twelve bytes need none, and copying it for each message would show.
    #[inline]
    pub fn j0(&self, machine: &Machine, iv: &[u8]) -> J0 {
        match iv.try_into() {
            Ok(iv) => J0::of_iv12(iv),
            Err(_) => J0::of_block(self.hashed(machine, iv).to_le_bytes()),
        }
    }

    /// Goes on with a hash over `data`, zeros behind it up to a block.
    pub fn absorb(&self, machine: &Machine, hashed: &mut [u8; BLOCK], data: &[u8]) {
        // SAFETY: a slice of its length.
        unsafe {
            run(
                machine,
                self.hashes,
                Absorb {
                    powers: self.powers(),
                    hashed,
                    from: data.as_ptr(),
                    len: data.len(),
                },
            );
        }
    }

    /// The block before the first counter, from an IV of another length than twelve.
    #[cold]
    #[inline(never)]
    fn hashed(&self, machine: &Machine, iv: &[u8]) -> u128 {
        let lengths = (8 * iv.len() as u128).to_be_bytes();
        let mut hashed = [0; BLOCK];
        self.absorb(machine, &mut hashed, iv);
        self.absorb(machine, &mut hashed, &lengths);
        u128::from_le_bytes(hashed)
    }

    #[inline]
    pub(super) fn powers(&self) -> *const Table {
        &raw const self.powers
    }
}

/// Runs `kernel` on the registers for keys that do little but hash, or those for all others.
///
/// # Safety
/// The contract of `kernel`.
unsafe fn run<K: Kernel>(machine: &Machine, hashes: bool, kernel: K) -> K::Output {
    // SAFETY: the caller's promise.
    unsafe {
        if hashes {
            machine.blocks.run_hash(kernel)
        } else {
            machine.blocks.run_products(kernel)
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("size", &self.cipher.size())
            .finish_non_exhaustive()
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.powers.wipe();
    }
}
