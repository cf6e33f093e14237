//! Which hash functions have rounds that leave room for AES.

use crate::hash::{Algorithm, Sha1, Sha224, Sha256, Sha384, Sha512};
#[cfg(target_arch = "x86_64")]
use crate::{
    cpu::ShaNi,
    hash::sha_ni::{self, Beside},
    lanes::Row,
};

/// A hash function that [`CbcHmac`](super::CbcHmac) may have; sealed.
pub trait Interleave: Algorithm {
    /// Whether it has: the SHA extensions know the function.
    const INTERLEAVES: bool;

    /// Compresses `blocks` blocks at `data` into `row`, with `beside` between the rounds.
    ///
    /// # Safety
    /// `data` is valid for `blocks` blocks; what `beside` demands.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    unsafe fn compress_beside<B: Beside>(
        token: ShaNi,
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
            #[cfg(target_arch = "x86_64")]
            unsafe fn compress_beside<B: Beside>(
                _: ShaNi,
                row: &mut Row<u32>,
                data: *const u8,
                blocks: usize,
                beside: B,
            ) {
                // SAFETY: the token is the proof of the instructions; the rest is promised.
                unsafe { sha_ni::$compress(row, data, blocks, beside) }
            }
        }
    )*};
    ($($algorithm:ident)*) => {$(
        impl Interleave for $algorithm {
            const INTERLEAVES: bool = false;

            #[cfg(target_arch = "x86_64")]
            unsafe fn compress_beside<B: Beside>(
                _: ShaNi,
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
