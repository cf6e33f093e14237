//! Triple DES in counter mode, which OpenSSL does not have: a kept ECB context encrypts many
//! counter blocks in one call.

use lanelock_core::cursor::Cursor;

use crate::ffi::{CipherContext, Failed};

const BLOCK: usize = 8;

/// Counter blocks of one call: 512 bytes of keystream.
const BATCH: usize = 64 * BLOCK;

/// A keyed generator of keystream.
pub(crate) struct TripleDesCtr {
    blocks: CipherContext,
    /// The next counter block, as a big-endian number.
    counter: u64,
    keystream: [u8; BATCH],
}

impl TripleDesCtr {
    /// Over an ECB context that encrypts.
    pub(crate) fn new(blocks: CipherContext) -> Self {
        Self {
            blocks,
            counter: 0,
            keystream: [0; BATCH],
        }
    }

    pub(crate) fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.counter = u64::from_be_bytes(iv.try_into().map_err(|_| Failed::MISUSE)?);
        Ok(())
    }

    pub(crate) fn run(&mut self, mut payload: Cursor<'_>) -> Result<(), Failed> {
        let mut ready = 0..0;
        while payload.remaining() > 0 {
            if ready.is_empty() {
                ready = 0..self.fill(payload.remaining())?;
            }
            let Some(mut run) = payload.next_run(ready.len()) else {
                break;
            };
            run.xor_through(&self.keystream[ready.clone()]);
            ready.start += run.len();
        }
        self.keystream.fill(0);
        Ok(())
    }

    /// Makes keystream for up to `wanted` bytes; returns how many there are.
    fn fill(&mut self, wanted: usize) -> Result<usize, Failed> {
        let len = wanted.next_multiple_of(BLOCK).min(BATCH);
        for block in self.keystream[..len].chunks_exact_mut(BLOCK) {
            block.copy_from_slice(&self.counter.to_be_bytes());
            self.counter = self.counter.wrapping_add(1);
        }
        self.blocks.update_slice(&mut self.keystream[..len])?;
        Ok(len)
    }
}

impl Drop for TripleDesCtr {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.keystream);
    }
}
