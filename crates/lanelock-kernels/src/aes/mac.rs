//! CMAC (SP 800-38B) and the CBC-MAC inside CCM: one message per lane, nothing written.

use core::fmt;

use zeroize::Zeroize;

use super::chain::{Chains, Line, Link, Tail};
use super::rounds::{OfSize, PerRounds};
use super::vector::Vector;
use super::{BLOCK, EncryptKey, Isa, ecb};

/// One message to authenticate, or the next part of one.
#[derive(Debug)]
pub struct Job<'k> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Bytes. Of a part that is not the last, a multiple of 16 that leaves at least one byte to
    /// the last.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k EncryptKey,
    /// For the last part of a CMAC. Without it the blocks are only chained, the last one padded
    /// with zeros: a part that is not the last, or CBC-MAC.
    pub subkeys: Option<&'k Subkeys>,
    /// Before: zero, or what the previous part left here. After: the tag, or the chaining value.
    pub chain: [u8; BLOCK],
}

/// Authenticates every job, as many at once as there are lanes.
///
/// # Panics
/// If a key differs in size from the first job's.
///
/// # Safety
/// Each `source` is valid for reads of the job's `len` bytes.
pub unsafe fn authenticate_many(isa: Isa, jobs: &mut [Job<'_>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    assert!(
        jobs.iter().all(|job| job.key.size() == size),
        "keys of one size are required"
    );
    // SAFETY: the caller's contract; the sizes were compared.
    unsafe { isa.run(OfSize(size, AuthenticateMany(jobs))) }
}

struct AuthenticateMany<'a, 'k>(&'a mut [Job<'k>]);

impl PerRounds for AuthenticateMany<'_, '_> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self) {
        let mut chains = Chains::new();
        for job in self.0 {
            let blocks = job.len.div_ceil(BLOCK);
            let blocks = blocks.max(usize::from(job.subkeys.is_some()));
            // SAFETY: `authenticate_many`'s contract; the bytes that the last block lacks are the
            // tail's.
            unsafe {
                chains.push(Link {
                    source: job.source,
                    target: core::ptr::null_mut(),
                    key: job.key,
                    chaining: job.chain.as_mut_ptr(),
                    blocks,
                    tail: End {
                        lacks: BLOCK * blocks - job.len,
                        subkeys: job.subkeys,
                    },
                });
                if chains.is_full() {
                    chains.run::<V, ROUNDS>();
                }
            }
        }
        // SAFETY: as above.
        unsafe { chains.run::<V, ROUNDS>() }
    }
}

/// What CMAC adds to the last block: K1 if it is whole, K2 if it is padded. Wiped on drop.
#[derive(Clone)]
pub struct Subkeys {
    /// Each between zeros, so that one load puts it at any block of a cache line.
    spaced: [[u8; 7 * BLOCK]; 2],
}

impl Subkeys {
    /// The subkeys that belong to `key`.
    pub fn new(isa: Isa, key: &EncryptKey) -> Self {
        let mut block = [0_u8; BLOCK];
        let (source, target) = (block.as_ptr(), block.as_mut_ptr());
        // SAFETY: one block, in place.
        unsafe {
            ecb::encrypt_many(
                isa,
                &[ecb::Job {
                    source,
                    target,
                    len: BLOCK,
                    key,
                }],
            )
        };
        let mut spaced = [[0; 7 * BLOCK]; 2];
        for subkey in &mut spaced {
            let value = u128::from_be_bytes(block);
            block = (value << 1 ^ (value >> 127) * 0x87).to_be_bytes();
            subkey[3 * BLOCK..4 * BLOCK].copy_from_slice(&block);
        }
        block.zeroize();
        Self { spaced }
    }
}

impl fmt::Debug for Subkeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subkeys").finish_non_exhaustive()
    }
}

impl Drop for Subkeys {
    fn drop(&mut self) {
        self.spaced.zeroize();
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
    const WRITES: bool = false;

    #[inline(always)]
    unsafe fn last_line<V: Vector>(self, source: *const u8, blocks: usize, line: *mut Line) {
        let len = BLOCK * blocks - self.lacks;
        let spaced = self.subkeys.map(|subkeys| {
            let subkey = subkeys.spaced[usize::from(self.lacks > 0)].as_ptr();
            // SAFETY: from here the subkey is `blocks - 1` blocks away, at most three.
            unsafe { subkey.add(BLOCK * (4 - blocks)) }
        });
        for at in (0..4 * BLOCK).step_by(V::BYTES) {
            // SAFETY: the message has `len` bytes from `source` on; a line, a subkey between zeros
            // and the padding between zeros are at least 64 bytes long from where they start.
            unsafe {
                let within = len.saturating_sub(at).min(V::BYTES);
                let from = source.wrapping_add(at);
                let mut data = if within == V::BYTES {
                    V::load(from)
                } else {
                    V::load_bytes(from, within)
                };
                if let Some(subkey) = spaced {
                    data = data.xor(V::load(subkey.add(at)));
                    if self.lacks > 0 {
                        data = data.xor(V::load(PADDING.as_ptr().add(63 - len + at)));
                    }
                }
                data.store(line.cast::<u8>().add(at));
            }
        }
    }
}

/// The bit after the message, between zeros.
const PADDING: [u8; 128] = {
    let mut padding = [0; 128];
    padding[63] = 0x80;
    padding
};

#[cfg(test)]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tests;
