//! EME-PKCS1-v1_5 (RFC 8017, 7.2).

use lanelock_kernels::hash::{HmacKey, Kernels, Sha256, Stream};
use lanelock_public_key::implicit_rejection::{self, HmacSha256};
use zeroize::Zeroizing;

/// Random bytes beyond the padding, for those of it that are zero: on average one of 256 is.
pub(super) const SPARE: usize = 8;

/// Writes the encoding of `message` to all of `block` (section 7.2.1, step 2). `random` holds
/// random bytes, as many as the padding and [`SPARE`] more; `redraw` returns another one. The core
/// has checked that there is room for the message and eight bytes of padding.
pub(super) fn encode<E>(
    message: &[u8],
    random: &[u8],
    mut redraw: impl FnMut() -> Result<u8, E>,
    block: &mut [u8],
) -> Result<(), E> {
    let (front, tail) = block.split_at_mut(block.len() - message.len());
    let (head, rest) = front.split_at_mut(2);
    let (padding, zero) = rest.split_at_mut(rest.len() - 1);
    head.copy_from_slice(&[0, 2]);
    zero[0] = 0;
    tail.copy_from_slice(message);
    let (drawn, spare) = random.split_at(padding.len());
    padding.copy_from_slice(drawn);
    let mut spare = spare.iter();
    for byte in padding {
        while *byte == 0 {
            *byte = match spare.next() {
                Some(&other) => other,
                None => redraw()?,
            };
        }
    }
    Ok(())
}

/// What takes messages out of decrypted blocks, or makes them up.
pub(super) struct Rejection {
    kernels: &'static Kernels<Sha256>,
    /// SHA-256 of the private exponent, padded to the length of the modulus.
    key_digest: Zeroizing<[u8; 32]>,
}

impl Rejection {
    /// For the private exponent `d` of a key with a modulus of `k` bytes; `d` is no longer.
    pub(super) fn new(kernels: &'static Kernels<Sha256>, d: &[u8], k: usize) -> Self {
        let mut key_digest = Zeroizing::new([0; 32]);
        let mut stream = Stream::new(kernels);
        stream.update(&vec![0; k - d.len()]);
        stream.update(d);
        stream.finish(&mut key_digest[..]);
        Self {
            kernels,
            key_digest,
        }
    }

    /// As [`implicit_rejection::decode`].
    pub(super) fn decode(&self, block: &[u8], ciphertext: &[u8], out: &mut [u8]) -> usize {
        let mut hmac = Hmac(self.kernels);
        implicit_rejection::decode(block, ciphertext, &self.key_digest, &mut hmac, out)
    }
}

struct Hmac(&'static Kernels<Sha256>);

impl HmacSha256 for Hmac {
    fn tag(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
        let key = HmacKey::new(self.0, key);
        let mut stream = Stream::hmac(self.0, &key);
        for part in parts {
            stream.update(part);
        }
        let mut tag = [0; 32];
        stream.finish_hmac(&key, &mut tag);
        tag
    }
}
