//! The functions: a rate, and the bits that end a message.

/// Longest rate, in bytes.
pub(super) const MAX_RATE: usize = 168;

/// A function of FIPS 202 or SP 800-185.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Function {
    /// Its name as in the standard.
    name: &'static str,
    /// Bytes of a block: a multiple of 8, from 72 to [`MAX_RATE`].
    rate: usize,
    /// The bits behind a message, with the first one of the padding.
    suffix: u8,
    /// Bytes of the digest; `None` where any number can be had.
    digest: Option<usize>,
}

impl Function {
    /// SHA3-224.
    pub const SHA3_224: Self = Self::sha3("SHA3-224", 28);
    /// SHA3-256.
    pub const SHA3_256: Self = Self::sha3("SHA3-256", 32);
    /// SHA3-384.
    pub const SHA3_384: Self = Self::sha3("SHA3-384", 48);
    /// SHA3-512.
    pub const SHA3_512: Self = Self::sha3("SHA3-512", 64);
    /// SHAKE128.
    pub const SHAKE128: Self = Self::shake("SHAKE128", 168);
    /// SHAKE256.
    pub const SHAKE256: Self = Self::shake("SHAKE256", 136);
    /// cSHAKE128, of a message that begins with the block of a [`Key`](super::Key).
    pub const CSHAKE128: Self = Self::cshake("cSHAKE128", 168);
    /// cSHAKE256, of a message that begins with the block of a [`Key`](super::Key).
    pub const CSHAKE256: Self = Self::cshake("cSHAKE256", 136);

    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::SHA3_224,
        Self::SHA3_256,
        Self::SHA3_384,
        Self::SHA3_512,
        Self::SHAKE128,
        Self::SHAKE256,
        Self::CSHAKE128,
        Self::CSHAKE256,
    ];

    /// Its name as in the standard.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Bytes of a block, of HMAC too.
    #[must_use]
    pub const fn rate(self) -> usize {
        self.rate
    }

    /// Bytes of the digest; `None` where any number can be had.
    #[must_use]
    pub const fn digest(self) -> Option<usize> {
        self.digest
    }

    /// The bits behind a message.
    pub(super) const fn suffix(self) -> u8 {
        self.suffix
    }

    const fn sha3(name: &'static str, digest: usize) -> Self {
        Self {
            name,
            rate: 200 - 2 * digest,
            suffix: 0x06,
            digest: Some(digest),
        }
    }

    const fn shake(name: &'static str, rate: usize) -> Self {
        Self {
            name,
            rate,
            suffix: 0x1f,
            digest: None,
        }
    }

    const fn cshake(name: &'static str, rate: usize) -> Self {
        Self {
            suffix: 0x04,
            ..Self::shake(name, rate)
        }
    }

    /// Ends a message whose last `filled` bytes, less than a block, are in `block`.
    #[inline(always)]
    pub(super) fn pad(self, block: &mut [u8], filled: usize) {
        block[filled..self.rate].fill(0);
        block[filled] = self.suffix;
        block[self.rate - 1] |= 0x80;
    }
}
