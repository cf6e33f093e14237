//! OFB (SP 800-38A, section 6.4), both directions alike: a message in each lane.

use super::chain::{Link, Ofb, run_each};
use super::feedback::{TOGETHER, run_ends};
use super::message::in_records;
use super::{BLOCK, EncryptKey, KeySize, Message, Part, Records};
use crate::machine::Machine;
use crate::wipe::wipe;

/// Encrypts or decrypts every part.
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
pub unsafe fn apply_many(machine: Machine, parts: &mut [Part<'_, EncryptKey>]) {
    let Some(size) = Part::key_size(parts) else {
        return;
    };
    // SAFETY: the caller's contract; the sizes were compared. A chain's last block is kept in its
    // part, which may be written; a part that ends in the midst of a block is in one piece.
    unsafe {
        let links = parts.iter_mut().map(|part| {
            let chaining = part.iv.as_mut_ptr();
            Link {
                chaining,
                ..Link::<'_, Ofb>::from(&*part)
            }
        });
        run_each(machine, size, links);
        in_records(parts.iter().map(Part::message), |records| {
            run_ends(machine, records, |_, message| message.iv);
        });
    }
}

/// Encrypts or decrypts whole messages that are in memory.
///
/// # Safety
/// - As for [`apply_many`], and each IV is valid for reads, until this returns; the records are
///   valid for reads, and do not change.
/// - Every key has `size`.
pub unsafe fn apply_records(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
    let mut states = [[0; BLOCK]; TOGETHER];
    for first in (0..records.count).step_by(TOGETHER) {
        // SAFETY: the caller's contract.
        unsafe {
            let part = records.part(first, TOGETHER);
            let states = &mut states[..part.count];
            for (i, state) in states.iter_mut().enumerate() {
                *state = part.get(i).iv.read();
            }
            apply(machine, size, &part, states);
        }
    }
    wipe(&mut states[..records.count.min(TOGETHER)]);
}

/// Runs a message from each state on, which becomes that of its last whole block.
///
/// # Safety
/// As for [`apply_records`], of at most [`TOGETHER`] messages; there are as many states.
unsafe fn apply(
    machine: Machine,
    size: KeySize,
    records: &Records<'_, EncryptKey>,
    states: &mut [[u8; BLOCK]],
) {
    let states: *mut [u8; BLOCK] = states.as_mut_ptr();
    // SAFETY: the caller's contract: a state for each message, which the chain may write.
    unsafe {
        let messages = (0..records.count).map(|i| Message {
            iv: states.add(i).cast_const(),
            ..records.get(i)
        });
        run_each::<Ofb>(machine, size, messages);
        run_ends(machine, records, |i, _| states.add(i).cast_const());
    }
}
