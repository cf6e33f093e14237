//! CBC (SP 800-38A, section 6.2): encryption with a message in each lane, decryption with a
//! message's blocks side by side.

use super::chain::{Cbc, run_each};
use super::fed::{run_fed, run_lone};
use super::message::in_records;
use super::sweep::run_records;
use super::unchain::{CbcMode, decrypt_parts};
use super::{DecryptKey, EncryptKey, KeySize, Message, Part, Records};
use crate::machine::Machine;

/// Encrypts every part, as many at once as there are lanes.
///
/// All keys are of one size: the engine groups by algorithm.
///
/// # Panics
/// If a key differs in size from the first part's, or a length is not a multiple of 16 below 4 GiB.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the `len` bytes of the part or
///   piece.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other parts.
pub unsafe fn encrypt_many(machine: Machine, parts: &mut [Part<'_, EncryptKey>]) {
    let Some(size) = Part::key_size_of_blocks(parts) else {
        return;
    };
    // SAFETY: the caller's contract; sizes and lengths were compared. The last block of a part that
    // has any is behind its target.
    unsafe {
        run_each::<Cbc>(machine, size, parts.iter());
        for part in parts {
            if let Some(last) = part.last_block() {
                part.iv = last.read();
            }
        }
    }
}

/// Encrypts each message, as many at once as there are lanes.
///
/// # Safety
/// - As for [`encrypt_many`], and each IV is valid for reads, from when a message is yielded until
///   this returns.
/// - Every key has `size`, and every length is a multiple of 16.
#[inline]
pub unsafe fn encrypt_each<'k>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k, EncryptKey>>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_each::<Cbc>(machine, size, messages) }
}

/// Decrypts every part.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, parts: &mut [Part<'_, DecryptKey>]) {
    let Some(size) = Part::key_size_of_blocks(parts) else {
        return;
    };
    // SAFETY: the caller's contract; sizes and lengths were compared.
    unsafe { decrypt_parts::<CbcMode>(machine, size, parts) }
}

/// Decrypts each message as it is yielded.
///
/// # Safety
/// - As for [`decrypt_many`], and each IV is valid for reads, from when a message is yielded until
///   this returns.
/// - Every key has `size`, and every length is a multiple of 16.
#[inline]
pub unsafe fn decrypt_each<'k>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k, DecryptKey>>,
) {
    in_records(messages, |records| {
        // SAFETY: the caller's contract.
        unsafe { decrypt_records(machine, size, records) }
    });
}

/// As [`decrypt_each`], for messages that are in memory.
///
/// # Safety
/// As for [`decrypt_each`], until this returns; the records are valid for reads, and do not change.
#[inline(never)]
pub unsafe fn decrypt_records(machine: Machine, size: KeySize, records: &Records<'_, DecryptKey>) {
    // SAFETY: the caller's contract.
    unsafe { run_records::<CbcMode>(machine, size, records) }
}

/// As [`decrypt_each`], each when it is yielded. The first is expected to have `len` bytes, the others as many or
/// more. Best where the machine [is fed](Machine::is_fed), or [is fed a few](Machine::is_fed_few).
///
/// # Safety
/// As for [`decrypt_each`].
#[inline]
pub unsafe fn decrypt_fed<'k>(
    machine: Machine,
    size: KeySize,
    len: u32,
    messages: impl Iterator<Item = Message<'k, DecryptKey>>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_fed::<CbcMode>(machine, size, len, messages) }
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
    unsafe { run_lone::<CbcMode>(machine, size, message) }
}
