//! ECB (SP 800-38A, section 6.1).

use super::fed::{run_fed, run_lone};
use super::key::Schedule;
use super::rounds::{Keys, Rounds};
use super::sweep::{Around, Mode, Second, run_records};
use super::{BLOCK, DecryptKey, EncryptKey, KeySize, Message, Records};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

/// Encrypts every message; IVs are not read.
///
/// # Panics
/// If a key differs in size from the first message's, or a length is not a multiple of 16.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the message's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other messages.
pub unsafe fn encrypt_many(machine: Machine, messages: &[Message<'_, EncryptKey>]) {
    if let Some((size, records)) = of_one_size(messages) {
        // SAFETY: the caller's contract; sizes and lengths were compared.
        unsafe { encrypt_records(machine, size, &records) }
    }
}

/// Decrypts every message; IVs are not read.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, messages: &[Message<'_, DecryptKey>]) {
    if let Some((size, records)) = of_one_size(messages) {
        // SAFETY: the caller's contract; sizes and lengths were compared.
        unsafe { decrypt_records(machine, size, &records) }
    }
}

/// As [`encrypt_many`], for messages that are in memory.
///
/// # Safety
/// As for [`encrypt_many`], until this returns; the records are valid for reads, and do not change.
/// Every key has `size`, and every length is a multiple of 16.
#[inline(never)]
pub unsafe fn encrypt_records(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
    // SAFETY: the caller's contract.
    unsafe { run_records::<EncryptMode>(machine, size, records) }
}

/// As [`decrypt_many`], for messages that are in memory.
///
/// # Safety
/// As for [`encrypt_records`].
#[inline(never)]
pub unsafe fn decrypt_records(machine: Machine, size: KeySize, records: &Records<'_, DecryptKey>) {
    // SAFETY: the caller's contract.
    unsafe { run_records::<DecryptMode>(machine, size, records) }
}

/// As [`encrypt_records`], for messages that come one by one, each when it is yielded. The first is expected to have
/// `len` bytes, the others as many or more. Best where the machine [is fed](Machine::is_fed), or
/// [is fed a few](Machine::is_fed_few).
///
/// # Safety
/// As for [`encrypt_records`], from when a message is yielded until this returns.
#[inline]
pub unsafe fn encrypt_fed<'k>(
    machine: Machine,
    size: KeySize,
    len: u32,
    messages: impl Iterator<Item = Message<'k, EncryptKey>>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_fed::<EncryptMode>(machine, size, len, messages) }
}

/// As [`encrypt_fed`], for a message that is alone, which `message` makes, each time that it is asked to.
///
/// # Safety
/// As for [`encrypt_fed`].
#[inline]
pub unsafe fn encrypt_lone<'k>(
    machine: Machine,
    size: KeySize,
    message: impl FnMut() -> Message<'k, EncryptKey>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_lone::<EncryptMode>(machine, size, message) }
}

/// As [`decrypt_records`], for messages that come one by one, each when it is yielded. The first is expected to have
/// `len` bytes, the others as many or more. Best where the machine [is fed](Machine::is_fed), or
/// [is fed a few](Machine::is_fed_few).
///
/// # Safety
/// As for [`decrypt_records`], from when a message is yielded until this returns.
#[inline]
pub unsafe fn decrypt_fed<'k>(
    machine: Machine,
    size: KeySize,
    len: u32,
    messages: impl Iterator<Item = Message<'k, DecryptKey>>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_fed::<DecryptMode>(machine, size, len, messages) }
}

/// As [`decrypt_fed`], for a message that is alone, which `message` makes, each time that it is asked to.
///
/// # Safety
/// As for [`decrypt_fed`].
#[inline]
pub unsafe fn decrypt_lone<'k>(
    machine: Machine,
    size: KeySize,
    message: impl FnMut() -> Message<'k, DecryptKey>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_lone::<DecryptMode>(machine, size, message) }
}

/// The size of all keys, with the messages in records; `None` without messages.
fn of_one_size<'k, Key: Schedule>(
    messages: &[Message<'k, Key>],
) -> Option<(KeySize, Records<'k, Key>)> {
    let records = Records::of(messages)?;
    let size = messages[0].key.key_size();
    let fits = |message: &Message<'_, Key>| {
        (message.len as usize).is_multiple_of(BLOCK) && message.key.key_size() == size
    };
    assert!(
        messages.iter().all(fits),
        "whole blocks and keys of one size are required"
    );
    Some((size, records))
}

macro_rules! directions {
    ($($mode:ident $around:ident, $key:ident, $inverse:literal;)*) => {$(
        struct $mode;

        impl Mode for $mode {
            const HAS_IV: bool = false;
            type Key = $key;
            type Transform<V: Vector, const ROUNDS: usize, K: Keys<V>> = $around<V, ROUNDS, K>;

            #[inline(always)]
            unsafe fn start<V: Vector, const ROUNDS: usize, K: Keys<V>>(
                rounds: Rounds<V, ROUNDS, K>,
                _: *const [u8; BLOCK],
            ) -> $around<V, ROUNDS, K> {
                $around(rounds)
            }

            #[inline(always)]
            fn ahead_of_blocks<V: Vector>(_: V, data: V) -> (V, V) {
                (data, data)
            }
        }

        #[derive(Clone, Copy)]
        struct $around<V, const ROUNDS: usize, K>(Rounds<V, ROUNDS, K>);

        impl<V: Vector, const ROUNDS: usize, K: Keys<V>> Around<V> for $around<V, ROUNDS, K> {
            const WHOLE_BLOCKS: bool = true;
            const INVERSE: bool = $inverse;
            const SECOND: Second = Second::Nothing;
            type Rounds = Rounds<V, ROUNDS, K>;

            #[inline(always)]
            fn rounds(&self) -> &Self::Rounds {
                &self.0
            }

            #[inline(always)]
            fn ahead(&mut self, data: V) -> (V, V) {
                (data.xor(self.0.at(0)), data)
            }

            #[inline(always)]
            fn behind(key: V, _: V) -> V {
                key
            }
        }
    )*};
}

directions! {
    EncryptMode Encrypt, EncryptKey, false;
    DecryptMode Decrypt, DecryptKey, true;
}
