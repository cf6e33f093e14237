//! CBC with residual block termination (DOCSIS Baseline Privacy Plus): the bytes after the last
//! whole block are XORed with the encryption of the last ciphertext block, or of the IV if there
//! is no whole block.

use lanelock_core::cursor::Cursor;

use crate::cbc::Cbc;
use crate::ffi::{CipherContext, Failed};

/// CBC for the whole blocks, and the block cipher itself for the rest.
pub(crate) struct Docsis<const BLOCK: usize> {
    chained: Cbc<BLOCK>,
    blocks: CipherContext,
    iv: [u8; BLOCK],
}

impl<const BLOCK: usize> Docsis<BLOCK> {
    /// Over CBC in the session's direction and an ECB context that encrypts.
    pub(crate) fn new(chained: Cbc<BLOCK>, blocks: CipherContext) -> Self {
        Self {
            chained,
            blocks,
            iv: [0; BLOCK],
        }
    }

    pub(crate) fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.iv = *iv.first_chunk().ok_or(Failed::MISUSE)?;
        self.chained.start(iv)
    }

    pub(crate) fn run(&mut self, payload: Cursor<'_>) -> Result<(), Failed> {
        let whole_len = payload.remaining() / BLOCK * BLOCK;
        let (whole, mut rest) = payload.split_at(whole_len);
        self.chained.run(whole)?;
        if rest.remaining() == 0 {
            return Ok(());
        }
        let mut keystream = if whole_len == 0 {
            self.iv
        } else {
            self.chained.last()
        };
        self.blocks.update_slice(&mut keystream)?;
        let mut used = 0;
        while let Some(mut run) = rest.next_run(BLOCK) {
            run.xor_through(&keystream[used..]);
            used += run.len();
        }
        Ok(())
    }
}
