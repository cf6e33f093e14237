//! HMAC (RFC 2104) from saved states: the key's two blocks are compressed once for each context.

use lanelock_core::Hash;
use lanelock_core::algorithm::MAX_TAG_LEN;
use zeroize::Zeroizing;

use crate::ffi::RawDigest;

/// Longest block of a hash that has a [`RawDigest`], in bytes.
const MAX_BLOCK: usize = 128;

/// A keyed HMAC.
pub(crate) struct Hmac {
    /// After the key's inner block.
    inner: RawDigest,
    /// After the key's outer block.
    outer: RawDigest,
    running: RawDigest,
    digest_len: usize,
}

impl Hmac {
    /// Keys it; `None` for hashes without a [`RawDigest`].
    pub(crate) fn new(hash: Hash, key: &[u8]) -> Option<Self> {
        let initial = RawDigest::new(hash)?;
        let digest_len = hash.digest_len();
        let mut block = Zeroizing::new([0; MAX_BLOCK]);
        if key.len() <= initial.block_len() {
            block[..key.len()].copy_from_slice(key);
        } else {
            let mut digest = Zeroizing::new([0; MAX_TAG_LEN]);
            let mut running = initial.clone();
            running.update(key);
            running.finish(&mut digest);
            block[..digest_len].copy_from_slice(&digest[..digest_len]);
        }
        let keyed = |pad: u8| {
            // Not by `map`, which would leave a copy of the block on the stack.
            let mut padded = Zeroizing::new([pad; MAX_BLOCK]);
            for (padded, key) in padded.iter_mut().zip(block.iter()) {
                *padded ^= key;
            }
            let mut state = initial.clone();
            state.update(&padded[..initial.block_len()]);
            state
        };
        Some(Self {
            inner: keyed(0x36),
            outer: keyed(0x5c),
            running: initial.clone(),
            digest_len,
        })
    }

    /// Starts a message.
    #[inline]
    pub(crate) fn start(&mut self) {
        self.running.restore(&self.inner);
    }

    /// Adds to the message.
    #[inline]
    pub(crate) fn update(&mut self, data: &[u8]) {
        self.running.update(data);
    }

    /// Ends the message and writes its untruncated tag to the front of `tag`.
    #[inline]
    pub(crate) fn finish(&mut self, tag: &mut [u8; MAX_TAG_LEN]) {
        self.running.finish(tag);
        self.running.restore(&self.outer);
        self.running.update(&tag[..self.digest_len]);
        self.running.finish(tag);
    }
}
