//! Instructions made for SHA: there are none.

use crate::arch::Block;
use crate::arch::words::{Beside, Compression, Row};

/// The proof that there are, which nothing makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sha(());

impl Sha {
    /// The proof for [`Registers`].
    pub(crate) fn blocks(self) {}
}

/// The registers of AES that may run [`Beside`] the rounds.
pub(crate) type Registers = Block;

/// SHA-1's compression.
pub(crate) const SHA1: Option<Compression<u32>> = None;

/// SHA-256's and SHA-224's compression.
pub(crate) const SHA256: Option<Compression<u32>> = None;

/// Never called: there is no token.
pub(crate) unsafe fn sha1_beside<B: Beside>(
    _: Sha,
    _: &mut Row<u32>,
    _: *const u8,
    _: usize,
    _: B,
) {
    unreachable!("no token is made")
}

/// Never called: there is no token.
pub(crate) unsafe fn sha256_beside<B: Beside>(
    _: Sha,
    _: &mut Row<u32>,
    _: *const u8,
    _: usize,
    _: B,
) {
    unreachable!("no token is made")
}

/// SHA-512's and SHA-384's compression.
pub(crate) const SHA512: Option<Compression<u64>> = None;

/// The proof that there are such for SHA-512, which nothing makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sha512(());
