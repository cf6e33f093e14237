//! Key schedules (FIPS 197, section 5.2), wiped on drop.

use core::fmt;

use super::{BLOCK, reference};
use crate::machine::Machine;
use crate::wipe::wipe;

/// The length of an AES key.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum KeySize {
    /// 16 bytes, ten rounds.
    Aes128,
    /// 24 bytes, twelve rounds.
    Aes192,
    /// 32 bytes, fourteen rounds.
    Aes256,
}

impl KeySize {
    /// The size of a key of `bytes` bytes, if AES has it.
    pub const fn of_bytes(bytes: usize) -> Option<Self> {
        match bytes {
            16 => Some(Self::Aes128),
            24 => Some(Self::Aes192),
            32 => Some(Self::Aes256),
            _ => None,
        }
    }

    /// Key length in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    /// Number of rounds.
    pub const fn rounds(self) -> usize {
        self.bytes() / 4 + 6
    }
}

/// Round keys for encryption, in the order they are used.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct EncryptKey {
    /// With the size four whole cache lines, which kernels may load by the line. Entries past
    /// the last round are zero.
    round_keys: [[u8; BLOCK]; 15],
    size: KeySize,
    _line: [u8; 15],
}

impl EncryptKey {
    /// Expands `key` with the machine's AES instructions; `None` unless it has 16, 24 or 32 bytes.
    pub fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        match machine.blocks.sub_word() {
            // SAFETY: the machine is the proof of the instruction.
            Some(sub_word) => Self::expand(key, |word| unsafe { sub_word(word) }),
            None => Self::portable(key),
        }
    }

    /// Of zeros, for a kernel to write.
    pub(super) fn blank(size: KeySize) -> Self {
        Self {
            round_keys: [[0; BLOCK]; 15],
            size,
            _line: [0; 15],
        }
    }

    /// Expands `key` without any special instruction, in constant time.
    pub fn portable(key: &[u8]) -> Option<Self> {
        Self::expand(key, reference::sub_word)
    }

    /// The key's size.
    #[inline]
    pub fn size(&self) -> KeySize {
        self.size
    }

    /// The round keys in use: one more than there are rounds.
    pub fn round_keys(&self) -> &[[u8; BLOCK]] {
        &self.round_keys[..=self.size.rounds()]
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        core::ptr::from_ref(self).cast()
    }

    /// Where the round keys are, from the first one on.
    #[inline]
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        core::ptr::from_mut(self).cast()
    }

    fn expand(key: &[u8], sub_word: impl Fn(u32) -> u32) -> Option<Self> {
        let size = KeySize::of_bytes(key.len())?;
        let key_words = size.bytes() / 4;
        let mut words = [0_u32; 60];
        for (word, bytes) in words.iter_mut().zip(key.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let mut constant = 1_u32;
        for i in key_words..4 * (size.rounds() + 1) {
            let mut word = words[i - 1];
            if i % key_words == 0 {
                // Words are little-endian here, so FIPS 197's rotation to the left is to the right.
                word = sub_word(word.rotate_right(8)) ^ constant;
                constant = constant << 1 ^ (constant >> 7) * 0x11b;
            } else if key_words == 8 && i % 8 == 4 {
                word = sub_word(word);
            }
            words[i] = words[i - key_words] ^ word;
        }
        let mut schedule = Self::blank(size);
        for (bytes, word) in schedule
            .round_keys
            .as_flattened_mut()
            .chunks_exact_mut(4)
            .zip(&words)
        {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        wipe(&mut words);
        Some(schedule)
    }
}

impl fmt::Debug for EncryptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptKey")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl Drop for EncryptKey {
    fn drop(&mut self) {
        wipe(&mut self.round_keys);
    }
}

/// Round keys for decryption by the equivalent inverse cipher (FIPS 197, section 5.3.5), in the
/// order they are used.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct DecryptKey {
    round_keys: [[u8; BLOCK]; 15],
    size: KeySize,
    _line: [u8; 15],
}

impl DecryptKey {
    /// The schedule that undoes `key`.
    pub fn new(key: &EncryptKey) -> Self {
        let size = key.size;
        let rounds = size.rounds();
        let mut schedule = Self {
            round_keys: [[0; BLOCK]; 15],
            size,
            _line: [0; 15],
        };
        for (i, round_key) in key.round_keys().iter().rev().enumerate() {
            schedule.round_keys[i] = if i == 0 || i == rounds {
                *round_key
            } else {
                reference::inverse_mix_columns(*round_key)
            };
        }
        schedule
    }

    /// The key's size.
    #[inline]
    pub fn size(&self) -> KeySize {
        self.size
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        core::ptr::from_ref(self).cast()
    }
}

impl fmt::Debug for DecryptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecryptKey")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl Drop for DecryptKey {
    fn drop(&mut self) {
        wipe(&mut self.round_keys);
    }
}

/// What kernels ask of a schedule; sealed.
pub trait Schedule: fmt::Debug {
    /// Whether it undoes the cipher.
    #[doc(hidden)]
    const INVERSE: bool;

    /// The key's size.
    #[doc(hidden)]
    fn key_size(&self) -> KeySize;

    /// The round keys, as [`SIZE`] describes them.
    #[doc(hidden)]
    fn round_keys_ptr(&self) -> *const u8;
}

macro_rules! schedules {
    ($($key:ident: $inverse:literal)*) => {$(
        impl Schedule for $key {
            const INVERSE: bool = $inverse;

            #[inline]
            fn key_size(&self) -> KeySize {
                self.size()
            }

            #[inline]
            fn round_keys_ptr(&self) -> *const u8 {
                self.as_ptr()
            }
        }
    )*};
}

schedules!(EncryptKey: false DecryptKey: true);

/// The round keys of AES-256, rounded up to whole cache lines.
pub(crate) const ROUND_KEYS: usize = 16;

/// Where the size is, in both schedules.
pub(crate) const SIZE: usize = core::mem::offset_of!(EncryptKey, size);

const _: () = assert!(core::mem::offset_of!(DecryptKey, size) == SIZE);
const _: () = assert!(size_of::<EncryptKey>() == BLOCK * ROUND_KEYS);
const _: () = assert!(size_of::<DecryptKey>() == BLOCK * ROUND_KEYS);
