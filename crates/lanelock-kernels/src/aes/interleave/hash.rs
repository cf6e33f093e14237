//! Which hash functions have rounds that leave room for AES.

use super::Instructions;
use crate::arch::sha;
use crate::arch::words::{Beside, Row};
use crate::hash::{Algorithm, Sha1, Sha224, Sha256, Sha384, Sha512};

/// A hash function that [`CbcHmac`](super::CbcHmac) may have; sealed.
pub trait Interleave: Algorithm {
    /// Whether it has: the SHA extensions know the function.
    const INTERLEAVES: bool;

    /// Compresses `blocks` blocks at `data` into `row`, with `beside` between the rounds.
    ///
    /// # Safety
    /// `data` is valid for `blocks` blocks; what `beside` demands.
    #[doc(hidden)]
    unsafe fn compress_beside<B: Beside>(
        instructions: Instructions,
        row: &mut Row<Self::Word>,
        data: *const u8,
        blocks: usize,
        beside: B,
    );
}

macro_rules! interleave {
    ($($algorithm:ident: $compress:ident)*) => {$(
        impl Interleave for $algorithm {
            const INTERLEAVES: bool = true;

            #[inline(always)]
            unsafe fn compress_beside<B: Beside>(
                instructions: Instructions,
                row: &mut Row<u32>,
                data: *const u8,
                blocks: usize,
                beside: B,
            ) {
                // SAFETY: the caller's promises.
                unsafe { sha::$compress(instructions.0, row, data, blocks, beside) }
            }
        }
    )*};
    ($($algorithm:ident)*) => {$(
        impl Interleave for $algorithm {
            const INTERLEAVES: bool = false;

            unsafe fn compress_beside<B: Beside>(
                _: Instructions,
                _: &mut Row<u64>,
                _: *const u8,
                _: usize,
                _: B,
            ) {
                unreachable!("never constructed for this function")
            }
        }
    )*};
}

interleave!(Sha1: sha1_beside Sha224: sha256_beside Sha256: sha256_beside);
interleave!(Sha384 Sha512);
