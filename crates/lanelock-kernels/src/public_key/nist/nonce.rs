//! Nonces of ECDSA signatures: derived as RFC 6979 says, with added randomness.

use core::fmt;
use core::marker::PhantomData;

use super::{Curve, leftmost};
use crate::hash::{Algorithm, HmacKey, Kernels, MAX_DIGEST, Stream};
use crate::taint::declassify;
use crate::wipe::wipe;

/// The candidates for the nonce of one signature: HMAC-DRBG seeded with the private key, the digest
/// and randomness (RFC 6979, sections 3.2 and 3.6). Wiped on drop.
///
/// Without randomness the nonces are those of the RFC. With it, a fault in one of two signatures of
/// the same message does not give the key away; and should the randomness be bad, the nonces are
/// still no worse than those of the RFC. `A` is any hash of at least the curve's strength.
pub struct Nonces<C: Curve, A: Algorithm> {
    kernels: &'static Kernels<A>,
    key: HmacKey<A>,
    value: [u8; MAX_DIGEST],
    drawn: bool,
    curve: PhantomData<C>,
}

/// What the nonces of all signatures start from: HMAC's state under the key of zeros. Made once.
pub struct NonceSource<A: Algorithm> {
    kernels: &'static Kernels<A>,
    zeros: HmacKey<A>,
}

impl<A: Algorithm> NonceSource<A> {
    /// A source over these kernels.
    #[must_use]
    pub fn new(kernels: &'static Kernels<A>) -> Self {
        let zeros = HmacKey::new(kernels, &[0; MAX_DIGEST][..A::DIGEST]);
        Self { kernels, zeros }
    }
}

impl<A: Algorithm> fmt::Debug for NonceSource<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NonceSource").finish_non_exhaustive()
    }
}

impl<C: Curve, A: Algorithm> Nonces<C, A> {
    /// Prepares the nonces of the signature of `digest` (as in [`SignJob::digest`]) under `private`,
    /// which is from 1 to n − 1. `random` is of any length, 32 bytes for instance.
    ///
    /// [`SignJob::digest`]: super::SignJob::digest
    #[must_use]
    pub fn new(source: &NonceSource<A>, private: &C::Number, digest: &[u8], random: &[u8]) -> Self {
        let mut reduced = reduced::<C>(digest);
        let mut nonces = Self {
            kernels: source.kernels,
            key: source.zeros.clone(),
            value: [1; MAX_DIGEST],
            drawn: false,
            curve: PhantomData,
        };
        for separator in [0, 1] {
            nonces.rekey(&[&[separator], private.as_ref(), reduced.as_ref(), random]);
        }
        wipe(reduced.as_mut());
        nonces
    }

    /// The next candidate from 1 to n − 1, different from those before: one that was refused is
    /// never used again.
    pub fn draw(&mut self) -> C::Number {
        loop {
            // RFC 6979 goes on like this after a candidate that was refused, whoever refused it.
            if core::mem::replace(&mut self.drawn, true) {
                self.rekey(&[&[0]]);
            }
            let mut candidate = C::ZERO;
            for part in candidate.as_mut().chunks_mut(A::DIGEST) {
                self.update();
                part.copy_from_slice(&self.value[..part.len()]);
            }
            if declassify(is_in_range::<C>(&candidate)) {
                return candidate;
            }
            wipe(candidate.as_mut());
        }
    }

    /// K = HMAC(K, V || parts), V = HMAC(K, V)
    fn rekey(&mut self, parts: &[&[u8]]) {
        let mut key = [0; MAX_DIGEST];
        let mut stream = Stream::hmac(self.kernels, &self.key);
        stream.update(&self.value[..A::DIGEST]);
        for part in parts {
            stream.update(part);
        }
        stream.finish_hmac(&self.key, &mut key[..A::DIGEST]);
        self.key = HmacKey::new(self.kernels, &key[..A::DIGEST]);
        wipe(&mut key);
        self.update();
    }

    /// V = HMAC(K, V)
    fn update(&mut self) {
        let mut stream = Stream::hmac(self.kernels, &self.key);
        stream.update(&self.value[..A::DIGEST]);
        stream.finish_hmac(&self.key, &mut self.value[..A::DIGEST]);
    }
}

impl<C: Curve, A: Algorithm> Drop for Nonces<C, A> {
    fn drop(&mut self) {
        wipe(&mut self.value);
    }
}

impl<C: Curve, A: Algorithm> fmt::Debug for Nonces<C, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonces<{}, {}>", C::NAME, A::NAME)
    }
}

/// The digest as a number modulo n: bits2octets of RFC 6979, section 2.3.4.
pub(super) fn reduced<C: Curve>(digest: &[u8]) -> C::Number {
    let digest = leftmost::<C>(digest);
    let mut number = C::ZERO;
    number.as_mut()[C::BYTES - digest.len()..].copy_from_slice(digest);
    // Below 2 n: n has as many bits as the number. Subtracted under a mask.
    let (mut difference, below) = minus_order::<C>(&number);
    let keep = 0_u8.wrapping_sub(core::hint::black_box(below));
    for (to, from) in number.as_mut().iter_mut().zip(difference.as_ref()) {
        *to = *to & keep | *from & !keep;
    }
    wipe(difference.as_mut());
    number
}

/// Whether the candidate is from 1 to n − 1. One that is not is thrown away, so that the answer is
/// no secret.
pub(super) fn is_in_range<C: Curve>(candidate: &C::Number) -> bool {
    let any = candidate.as_ref().iter().fold(0, |any, byte| any | byte);
    let (mut difference, below) = minus_order::<C>(candidate);
    wipe(difference.as_mut());
    any != 0 && below == 1
}

/// `number` − n, and 1 if that is negative, else 0.
fn minus_order<C: Curve>(number: &C::Number) -> (C::Number, u8) {
    let (mut difference, mut borrow) = (*number, 0);
    let order = C::ORDER;
    for (to, from) in difference.as_mut().iter_mut().zip(order.as_ref()).rev() {
        let less = u16::from(*to).wrapping_sub(u16::from(*from) + borrow);
        *to = less.to_le_bytes()[0];
        borrow = less >> 15;
    }
    (difference, borrow.to_le_bytes()[0])
}

#[cfg(test)]
mod tests {
    use openssl::bn::BigNum;

    use super::{is_in_range, reduced};
    use crate::public_key::nist::{Curve, P256};

    #[test]
    fn ranges() {
        let number = |text| {
            let mut number = P256::ZERO;
            let value = BigNum::from_hex_str(text).unwrap();
            number.copy_from_slice(&value.to_vec());
            number
        };
        let order = P256::ORDER;
        let less = number("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550");
        let more = number("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552");
        let mut one = P256::ZERO;
        one[31] = 1;
        for (candidate, expected) in [
            (P256::ZERO, false),
            (one, true),
            (less, true),
            (order, false),
            (more, false),
            ([0xff; 32], false),
        ] {
            assert_eq!(is_in_range::<P256>(&candidate), expected, "{candidate:x?}");
        }
        assert_eq!(reduced::<P256>(&less), less);
        assert_eq!(reduced::<P256>(&order), P256::ZERO);
        assert_eq!(reduced::<P256>(&more), one);
        assert_eq!(reduced::<P256>(&[1]), one);
        assert_eq!(reduced::<P256>(&[]), P256::ZERO);
    }
}
