//! CMAC (SP 800-38B) and the CBC-MAC inside CCM: one message per lane, nothing written.

use core::fmt;

use super::chain::{Chains, Line, Link, Mode, NOTHING, Tail, run_chains, run_each};
use super::{BLOCK, EncryptKey, KeySize, Piece, double, ecb};
use crate::arch::blocks::Vector;
use crate::machine::Machine;
use crate::wipe::wipe;

/// One message to authenticate, or the next part of one.
#[derive(Debug)]
pub struct Job<'k> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Bytes. Of a part that is not the last, a multiple of 16 that leaves at least one byte to
    /// the last.
    pub len: usize,
    /// What follows, if anything: then all pieces but the last are of whole blocks, and so are the
    /// first `len` bytes.
    pub more: &'k [Piece],
    /// The schedule of this message.
    pub key: &'k EncryptKey,
    /// For the last part of a CMAC. Without it the blocks are only chained, the last one padded
    /// with zeros: a part that is not the last, or CBC-MAC.
    pub subkeys: Option<&'k Subkeys>,
    /// Before: zero, or what the previous part left here. After: the tag, or the chaining value.
    pub chain: [u8; BLOCK],
}

/// One message, or the next part of one, whose chaining value lies elsewhere.
#[derive(Debug)]
pub struct Message<'k> {
    /// As in [`Job`].
    pub source: *const u8,
    /// As in [`Job`].
    pub len: usize,
    /// As in [`Job`].
    pub key: &'k EncryptKey,
    /// As in [`Job`].
    pub subkeys: Option<&'k Subkeys>,
    /// Valid for reads and writes. Before and after: as in [`Job`].
    pub chain: *mut [u8; BLOCK],
}

/// Authenticates every job, as many at once as there are lanes.
///
/// # Panics
/// If a key differs in size from the first job's, or a piece that others follow is not in whole
/// blocks.
///
/// # Safety
/// Each `source` is valid for reads of the `len` bytes of the job or piece.
pub unsafe fn authenticate_many(machine: Machine, jobs: &mut [Job<'_>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    assert!(
        jobs.iter().all(|job| job.key.size() == size),
        "keys of one size are required"
    );
    let whole = |len: usize| len > 0 && len.is_multiple_of(BLOCK);
    assert!(
        jobs.iter().all(|job| match job.more {
            [] => true,
            [between @ .., last] =>
                whole(job.len) && last.len > 0 && between.iter().all(|piece| whole(piece.len)),
        }),
        "pieces of whole blocks are required"
    );
    let links = jobs.iter_mut().map(|job| {
        let link = Link::from(Message {
            source: job.source,
            len: job.len,
            key: job.key,
            subkeys: job.subkeys,
            chain: &raw mut job.chain,
        });
        match job.more {
            [] => link,
            [.., last] => Link {
                more: job.more,
                tail: End {
                    lacks: last.len.next_multiple_of(BLOCK) - last.len,
                    ..link.tail
                },
                ..link
            },
        }
    });
    // SAFETY: the caller's contract; sizes and lengths were compared.
    unsafe { run_each::<End<'_>>(machine, size, links) }
}

/// Authenticates each message, as many at once as there are lanes.
///
/// # Safety
/// - Each `source` is valid for reads of the message's `len` bytes, and each `chain` for reads and
///   writes, from when a message is yielded until this returns; no chaining value overlaps another
///   or a source.
/// - Every key has `size`.
#[inline]
pub unsafe fn authenticate_each<'k>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k>>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_each::<End<'k>>(machine, size, messages) }
}

impl<'k> From<Message<'k>> for Link<'k, End<'k>> {
    /// The bytes that the last block lacks are the tail's.
    #[inline(always)]
    fn from(message: Message<'k>) -> Self {
        let blocks = message.len.div_ceil(BLOCK);
        let blocks = blocks.max(usize::from(message.subkeys.is_some()));
        Self {
            source: message.source,
            target: core::ptr::null_mut(),
            key: message.key,
            chaining: message.chain.cast(),
            blocks,
            more: &[],
            tail: End {
                lacks: BLOCK * blocks - message.len,
                subkeys: message.subkeys,
            },
        }
    }
}

/// What CMAC adds to the last block: K1 if it is whole, K2 if it is padded. Wiped on drop.
#[derive(Clone)]
pub struct Subkeys([[u8; BLOCK]; 2]);

impl Subkeys {
    /// The subkeys that belong to `key`.
    pub fn new(machine: Machine, key: &EncryptKey) -> Self {
        let mut block = [0_u8; BLOCK];
        let (source, target) = (block.as_ptr(), block.as_mut_ptr());
        // SAFETY: one block, in place.
        unsafe {
            let message = super::Message::without_iv(source, target, BLOCK, key);
            ecb::encrypt_many(machine, &[message]);
        }
        let mut subkeys = [[0; BLOCK]; 2];
        for subkey in &mut subkeys {
            block = double(block);
            *subkey = block;
        }
        wipe(&mut block);
        Self(subkeys)
    }
}

impl fmt::Debug for Subkeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subkeys").finish_non_exhaustive()
    }
}

impl Drop for Subkeys {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// The end of a message.
#[derive(Clone, Copy)]
struct End<'k> {
    /// Bytes that the last block lacks.
    lacks: usize,
    subkeys: Option<&'k Subkeys>,
}

impl Tail for End<'_> {
    const MODE: Mode = Mode::Mac;

    #[inline(never)]
    unsafe fn run(machine: Machine, size: KeySize, chains: &mut Chains<Self>) {
        // SAFETY: the caller's contract.
        unsafe { run_chains(machine, size, chains) }
    }

    #[inline(always)]
    fn lacks(self) -> usize {
        self.lacks
    }

    #[inline(always)]
    fn added(self) -> *const [u8; BLOCK] {
        match self.subkeys {
            Some(subkeys) => &subkeys.0[usize::from(self.lacks > 0)],
            None => &NOTHING,
        }
    }

    #[inline(always)]
    unsafe fn pad<V: Vector>(self, proof: V::Proof, at: *const u8, line: *mut Line) {
        let len = BLOCK - self.lacks;
        // SAFETY: the message has `len` bytes, fewer than a block, from `at` on; the padding
        // between zeros and the line are at least 64 bytes long from where they start.
        unsafe {
            let mut data = V::load_rest(proof, at, len);
            if self.subkeys.is_some() {
                data = data.xor(V::load(proof, PADDING.as_ptr().add(63 - len)));
            }
            data.store(line.cast());
        }
    }
}

/// The bit after the message, between zeros.
const PADDING: [u8; 128] = {
    let mut padding = [0; 128];
    padding[63] = 0x80;
    padding
};
