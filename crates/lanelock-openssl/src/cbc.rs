//! CBC without ever setting an IV: every message of a context is a stretch of one endless stream.
//!
//! Setting an IV costs as much as encrypting a short message. A CBC context holds the previous
//! ciphertext block and XORs it into the next plaintext block; XORing that block and the message's
//! IV into the first plaintext block replaces the one by the other (NIST SP 800-38A, 6.2):
//! `E(P ⊕ last ⊕ iv ⊕ last) = E(P ⊕ iv)`, and backwards `D(C) ⊕ last ⊕ last ⊕ iv = D(C) ⊕ iv`.

use lanelock_core::cursor::{Cursor, Run};

use crate::ffi::{CipherContext, Failed};

/// A CBC context, the block that it holds, and what turns that into the message's IV.
pub(crate) struct Cbc<const BLOCK: usize> {
    context: CipherContext,
    encrypt: bool,
    /// The ciphertext block last seen, which the context will XOR next. Public.
    last: [u8; BLOCK],
    /// The message's IV XOR `last`.
    adjust: [u8; BLOCK],
}

impl<const BLOCK: usize> Cbc<BLOCK> {
    /// Over a fresh context of a cipher with this block.
    pub(crate) fn new(mut context: CipherContext, encrypt: bool) -> Result<Self, Failed> {
        let zero = [0; BLOCK];
        context.start(&zero)?;
        Ok(Self {
            context,
            encrypt,
            last: zero,
            adjust: zero,
        })
    }

    /// Starts a message.
    #[inline]
    pub(crate) fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.adjust = *iv.first_chunk().ok_or(Failed::MISUSE)?;
        xor(&mut self.adjust, &self.last);
        Ok(())
    }

    /// Runs a message's whole payload, a multiple of the block.
    #[inline]
    pub(crate) fn run(&mut self, mut payload: Cursor<'_>) -> Result<(), Failed> {
        if payload.remaining() == 0 {
            return Ok(());
        }
        match (self.encrypt, payload.next_if_whole()) {
            (true, Some(run)) => self.encrypt_whole(run),
            (false, Some(run)) => self.decrypt_whole(run),
            (true, None) => self.encrypt_pieces(payload),
            (false, None) => self.decrypt_pieces(payload),
        }
    }

    /// The last ciphertext block of the latest message that had one.
    pub(crate) fn last(&self) -> [u8; BLOCK] {
        self.last
    }

    #[inline]
    fn encrypt_whole(&mut self, mut run: Run<'_>) -> Result<(), Failed> {
        if run.is_in_place() {
            xor(first_block(run.output_bytes())?, &self.adjust);
            self.context.update(&mut run)?;
            self.last = *last_block(run.output_bytes())?;
            return Ok(());
        }
        let (mut first, mut rest) = run.split_at(BLOCK);
        first.copy_through();
        xor(first_block(first.output_bytes())?, &self.adjust);
        self.context.update(&mut first)?;
        if rest.is_empty() {
            self.last = *last_block(first.output_bytes())?;
        } else {
            self.context.update(&mut rest)?;
            self.last = *last_block(rest.output_bytes())?;
        }
        Ok(())
    }

    #[inline]
    fn decrypt_whole(&mut self, mut run: Run<'_>) -> Result<(), Failed> {
        self.last = *last_block(run.input_bytes())?;
        self.context.update(&mut run)?;
        xor(first_block(run.output_bytes())?, &self.adjust);
        Ok(())
    }

    fn encrypt_pieces(&mut self, mut payload: Cursor<'_>) -> Result<(), Failed> {
        let Self {
            context,
            last,
            adjust,
            ..
        } = self;
        payload.copy_in(last);
        xor(last, adjust);
        context.update_slice(last)?;
        payload.copy_out(last);
        payload.for_each_block_run(BLOCK, |mut run| {
            context.update(&mut run)?;
            *last = *last_block(run.output_bytes())?;
            Ok(())
        })
    }

    fn decrypt_pieces(&mut self, mut payload: Cursor<'_>) -> Result<(), Failed> {
        let Self {
            context,
            last,
            adjust,
            ..
        } = self;
        payload.copy_in_at(payload.remaining() - BLOCK, last);
        let mut first = [0; BLOCK];
        payload.copy_in(&mut first);
        context.update_slice(&mut first)?;
        xor(&mut first, adjust);
        payload.copy_out(&first);
        payload.for_each_block_run(BLOCK, |mut run| context.update(&mut run))
    }
}

/// XORs `with` into `block`.
#[inline]
pub(crate) fn xor<const BLOCK: usize>(block: &mut [u8; BLOCK], with: &[u8; BLOCK]) {
    for (byte, with) in block.iter_mut().zip(with) {
        *byte ^= with;
    }
}

#[inline]
fn first_block<const BLOCK: usize>(data: &mut [u8]) -> Result<&mut [u8; BLOCK], Failed> {
    data.first_chunk_mut().ok_or(Failed::MISUSE)
}

#[inline]
fn last_block<const BLOCK: usize>(data: &[u8]) -> Result<&[u8; BLOCK], Failed> {
    data.last_chunk().ok_or(Failed::MISUSE)
}
