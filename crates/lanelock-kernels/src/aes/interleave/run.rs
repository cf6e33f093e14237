//! The cipher and the hash function, each by itself or one beside the other.

use super::steps::{Lone, Steps};
use super::{CbcHmac, CbcKey, Interleave};
use crate::aes::{BLOCK, KeySize};
use crate::arch::blocks::Vector;
use crate::arch::sha::Registers;
use crate::arch::words::Alone;

/// `$body` with the cipher's steps from `$source` to `$target`.
macro_rules! with_steps {
    ($self:ident, $source:expr, $target:expr, |$steps:ident| $body:expr) => {{
        macro_rules! run {
            ($key:ident, $rounds:literal, $encrypt:literal) => {{
                // Schedules begin on a cache line.
                let keys = $key.as_ptr().cast();
                let $steps = Steps::<Registers, $rounds, $encrypt>::new(
                    $self.instructions.0.blocks(),
                    keys,
                    $source,
                    $target,
                    &mut $self.iv,
                );
                $body
            }};
        }
        match $self.key {
            CbcKey::Encrypt(key) => match key.size() {
                KeySize::Aes128 => run!(key, 10, true),
                KeySize::Aes192 => run!(key, 12, true),
                KeySize::Aes256 => run!(key, 14, true),
            },
            CbcKey::Decrypt(key) => match key.size() {
                KeySize::Aes128 => run!(key, 10, false),
                KeySize::Aes192 => run!(key, 12, false),
                KeySize::Aes256 => run!(key, 14, false),
            },
        }
    }};
}

impl<A: Interleave> CbcHmac<'_, A> {
    /// # Safety
    /// `data` is valid for reads of `blocks` blocks.
    #[inline(always)]
    pub(super) unsafe fn hash_alone(&mut self, data: *const u8, blocks: usize) {
        // SAFETY: the caller's promise.
        unsafe { A::compress_beside(self.instructions, &mut self.chain, data, blocks, Alone) };
    }

    /// Runs the cipher by itself.
    ///
    /// # Safety
    /// As for [`Self::update`].
    #[inline(always)]
    pub(super) unsafe fn cipher_alone(&mut self, source: *const u8, target: *mut u8, len: usize) {
        if len == 0 {
            return;
        }
        // SAFETY: the caller's promises.
        unsafe {
            with_steps!(self, source, target, |steps| Registers::enter(
                self.instructions.0.blocks(),
                Lone(steps, len / BLOCK)
            ))
        };
    }

    /// Runs the cipher over `blocks` times 64 bytes and the hash function over those at `data`.
    ///
    /// # Safety
    /// As for [`Self::both`].
    #[inline(always)]
    pub(super) unsafe fn hash_beside(
        &mut self,
        data: *const u8,
        source: *const u8,
        target: *mut u8,
        blocks: usize,
    ) {
        // SAFETY: the caller's promises.
        unsafe {
            with_steps!(self, source, target, |steps| {
                A::compress_beside(self.instructions, &mut self.chain, data, blocks, steps)
            });
        }
    }
}
