//! What CFB and OFB have in common: a last block that is not whole takes as many bytes as it needs
//! of one more block of the cipher.

use core::mem::MaybeUninit;

use super::{BLOCK, EncryptKey, Message, Records, ecb};
use crate::machine::Machine;
use crate::wipe::wipe;

/// Most messages whose ends run together.
pub(super) const TOGETHER: usize = 64;

/// Runs the ends of messages, if they are not whole blocks: XORs each with the encryption of the
/// block that `before` says is before it.
///
/// # Safety
/// There are at most [`TOGETHER`] messages, valid for reads and writes of their lengths. All keys
/// are of one size.
pub(super) unsafe fn run_ends(
    machine: Machine,
    records: &Records<'_, EncryptKey>,
    before: impl Fn(usize, &Message<'_, EncryptKey>) -> *const [u8; BLOCK],
) {
    let mut stream = [[0_u8; BLOCK]; TOGETHER];
    let mut blocks = [const { MaybeUninit::<Message<'_, EncryptKey>>::uninit() }; TOGETHER];
    let mut ends = [0_u8; TOGETHER];
    let mut count = 0;
    let block: *mut [u8; BLOCK] = stream.as_mut_ptr();
    for (number, i) in (0_u8..).zip(0..records.count.min(TOGETHER)) {
        // SAFETY: a message that there is; the block before its end is behind its target, or its
        // IV. `count` is below the number of messages.
        unsafe {
            let message = records.get(i);
            if (message.len as usize).is_multiple_of(BLOCK) {
                continue;
            }
            let (source, target) = (before(i, &message).cast(), block.add(count).cast());
            blocks[count].write(Message::without_iv(source, target, BLOCK, message.key));
        }
        ends[count] = number;
        count += 1;
    }
    if count == 0 {
        return;
    }
    // SAFETY: the first `count` are initialised. Each target is a block of its own.
    unsafe {
        let blocks = core::slice::from_raw_parts(blocks.as_ptr().cast(), count);
        ecb::encrypt_many(machine, blocks);
        for (n, &number) in ends[..count].iter().enumerate() {
            let message = records.get(usize::from(number));
            let len = message.len as usize;
            let stream = &*block.add(n);
            for at in len / BLOCK * BLOCK..len {
                let byte = message.source.add(at).read() ^ stream[at % BLOCK];
                message.target.add(at).write(byte);
            }
        }
    }
    wipe(&mut stream[..count]);
}
