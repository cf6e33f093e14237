//! HChaCha20, which gives each message of XChaCha20-Poly1305 a key of its own
//! (draft-irtf-cfrg-xchacha-03, section 2).

use zeroize::Zeroizing;

use crate::ffi::{CipherAlgorithm, CipherContext, Failed};

/// Bytes of the nonce that goes with the derived key.
pub(crate) const INNER_NONCE: usize = 12;

/// Derives keys with libcrypto's ChaCha20, keyed once.
///
/// A block of its keystream is the state after the rounds with the state before them added.
/// HChaCha20 takes the first and the last row without that addition: there the state is the
/// constants and the nonce, which are public.
pub(crate) struct KeyDerivation {
    chacha20: CipherContext,
}

/// "expand 32-byte k"
const CONSTANTS: [u8; 16] = *b"expand 32-byte k";

/// Bytes of a block of keystream.
const BLOCK: usize = 64;

impl KeyDerivation {
    pub(crate) fn new(chacha20: &CipherAlgorithm, key: &[u8]) -> Result<Self, Failed> {
        let chacha20 = CipherContext::new(chacha20, true, key, 16, None)?;
        Ok(Self { chacha20 })
    }

    /// Starts a message with a nonce of 24 bytes in a context of ChaCha20-Poly1305.
    #[inline]
    pub(crate) fn start(
        &mut self,
        context: &mut CipherContext,
        nonce: &[u8],
    ) -> Result<(), Failed> {
        let Some((first, rest)) = nonce.split_first_chunk::<16>() else {
            return Err(Failed::MISUSE);
        };
        let mut block = Zeroizing::new([0; BLOCK]);
        self.chacha20.start(first)?;
        self.chacha20.update_slice(&mut *block)?;
        let mut key = Zeroizing::new([0; 32]);
        let (low, high) = key.split_at_mut(16);
        subtract(&block[..16], &CONSTANTS, low);
        subtract(&block[48..], first, high);
        let mut inner = [0; INNER_NONCE];
        let Some(tail) = inner.get_mut(4..4 + rest.len()) else {
            return Err(Failed::MISUSE);
        };
        tail.copy_from_slice(rest);
        context.start_with_key(&*key, &inner)
    }
}

/// `a - b`, in little-endian words of 32 bits.
fn subtract(a: &[u8], b: &[u8; 16], difference: &mut [u8]) {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let words = a.chunks_exact(4).zip(b.chunks_exact(4));
    for ((a, b), difference) in words.zip(difference.chunks_exact_mut(4)) {
        difference.copy_from_slice(&word(a).wrapping_sub(word(b)).to_le_bytes());
    }
}
