//! CFB with segments of a block (SP 800-38A, section 6.3), the last of which may be shorter:
//! encryption with a message in each lane, decryption with a message's blocks side by side.

use super::chain::{Cfb, run_each};
use super::feedback::{TOGETHER, run_ends};
use super::message::in_records;
use super::sweep::run_records;
use super::unchain::{CfbMode, decrypt_parts};
use super::{BLOCK, EncryptKey, KeySize, Message, Part, Records};
use crate::machine::Machine;

/// Encrypts every part.
///
/// # Panics
/// If a key differs in size from the first part's, a length is not below 4 GiB, or a part in several
/// pieces is not in whole blocks.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the `len` bytes of the part or
///   piece.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other parts.
pub unsafe fn encrypt_many(machine: Machine, parts: &mut [Part<'_, EncryptKey>]) {
    let Some(size) = Part::key_size(parts) else {
        return;
    };
    // SAFETY: the caller's contract; the sizes were compared. The last block of a chain was written;
    // a part that ends in the midst of one is in one piece.
    unsafe {
        run_each::<Cfb>(machine, size, parts.iter());
        in_records(parts.iter().map(Part::message), |records| {
            run_ends(machine, records, before_end);
        });
        for part in parts {
            if let Some(last) = part.last_block() {
                part.iv = last.read();
            }
        }
    }
}

/// Decrypts every part.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, parts: &mut [Part<'_, EncryptKey>]) {
    let Some(size) = Part::key_size(parts) else {
        return;
    };
    // SAFETY: the caller's contract; the sizes were compared.
    unsafe { decrypt_parts::<CfbMode>(machine, size, parts) }
}

/// Encrypts whole messages that are in memory.
///
/// # Safety
/// - As for [`encrypt_many`], and each IV is valid for reads, until this returns; the records are
///   valid for reads, and do not change.
/// - Every key has `size`.
pub unsafe fn encrypt_records(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
    for first in (0..records.count).step_by(TOGETHER) {
        // SAFETY: the caller's contract. Behind a chain's last whole block is the end.
        unsafe {
            let part = records.part(first, TOGETHER);
            run_each::<Cfb>(machine, size, (0..part.count).map(|i| part.get(i)));
            run_ends(machine, &part, before_end);
        }
    }
}

/// The last whole block of a message, or its IV.
fn before_end(_: usize, message: &Message<'_, EncryptKey>) -> *const [u8; BLOCK] {
    match (message.len as usize / BLOCK * BLOCK).checked_sub(BLOCK) {
        Some(last) => message.target.wrapping_add(last).cast_const().cast(),
        None => message.iv,
    }
}

/// Decrypts whole messages that are in memory.
///
/// # Safety
/// As for [`encrypt_records`].
#[inline(never)]
pub unsafe fn decrypt_records(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
    // SAFETY: the caller's contract.
    unsafe { run_records::<CfbMode>(machine, size, records) }
}
