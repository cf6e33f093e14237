//! CBC with residual block termination (DOCSIS Baseline Privacy Plus, "residual termination block
//! processing"): the bytes behind the last whole block are XORed with the encryption of the last
//! ciphertext block, or of the IV if there is no whole block.

use lanelock_core::cursor::Cursor;

use crate::ffi::{CipherContext, Failed};

/// Longest block of a cipher that DOCSIS uses.
const MAX_BLOCK: usize = 16;

/// CBC for the whole blocks, and the block cipher itself for the rest.
pub(crate) struct Docsis {
    chained: CipherContext,
    blocks: CipherContext,
    block: usize,
    encrypt: bool,
    iv: [u8; MAX_BLOCK],
}

impl Docsis {
    /// Over a CBC context of the session's direction and an ECB context that encrypts, both with
    /// blocks of `block` bytes.
    pub(crate) fn new(
        chained: CipherContext,
        blocks: CipherContext,
        block: usize,
        encrypt: bool,
    ) -> Self {
        Self {
            chained,
            blocks,
            block,
            encrypt,
            iv: [0; MAX_BLOCK],
        }
    }

    pub(crate) fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.iv[..self.block].copy_from_slice(iv);
        self.chained.start(iv)
    }

    pub(crate) fn run(&mut self, payload: Cursor<'_>) -> Result<(), Failed> {
        let block = self.block;
        let len = payload.remaining() / block * block;
        let mut last = [0; MAX_BLOCK];
        let last = &mut last[..block];
        last.copy_from_slice(&self.iv[..block]);
        let (whole, mut rest) = payload.split_at(len);
        // The last ciphertext block: of the input when decrypting, which in place is overwritten.
        if !self.encrypt && len > 0 {
            whole.copy_in_at(len - block, last);
        }
        let (chained, encrypt) = (&mut self.chained, self.encrypt);
        whole.for_each_block_run(block, |mut run| {
            chained.update(&mut run)?;
            if encrypt {
                let output = run.output_bytes();
                last.copy_from_slice(&output[output.len() - block..]);
            }
            Ok(())
        })?;
        let residual = rest.remaining();
        if residual == 0 {
            return Ok(());
        }
        self.blocks.update_slice(last)?;
        let mut used = 0;
        while let Some(mut run) = rest.next_run(residual) {
            run.xor_through(&last[used..]);
            used += run.len();
        }
        Ok(())
    }
}
