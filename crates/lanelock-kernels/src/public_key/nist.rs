//! ECDH and ECDSA on the NIST curves P-256 and P-384 (FIPS 186-5, SP 800-186, SP 800-56A): as many
//! operations in lockstep as a register has lanes, each with its own key.
//!
//! Numbers are bytes, most significant first, as many as the curve's prime has. Time and addresses
//! depend on no secret: neither on a scalar, a nonce or a shared point, nor on a digest. Signatures
//! and public keys are no secrets, but are treated alike.

mod batch;
mod multiply;
mod nonce;
mod parameters;
mod point;
#[cfg(test)]
mod tests;
mod tier;

use core::fmt;
use core::mem::MaybeUninit;
use core::slice;

use batch::{Agreement, Decompression, Generation, Signing, Verification};
pub use nonce::{NonceSource, Nonces};
use parameters::{Order256, Order384};

use crate::machine::Machine;
use crate::public_key::digits;
use crate::public_key::digits::residue::Modulus;
use crate::taint::declassify;
use crate::wipe::{Plain, wipe, zeroed};

/// The curve P-256 (secp256r1, prime256v1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct P256;

/// The curve P-384 (secp384r1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct P384;

/// A curve; sealed.
pub trait Curve: tier::Batches + Copy + Eq + fmt::Debug + Send + Sync {
    /// Its name as in SP 800-186.
    const NAME: &'static str;
    /// Bytes of a number.
    const BYTES: usize;
    /// A number below the curve's prime or order, most significant byte first.
    type Number: AsRef<[u8]> + AsMut<[u8]> + Plain + fmt::Debug + Eq + Send + Sync;
    /// Zero.
    const ZERO: Self::Number;
    /// The order of the base point, n.
    const ORDER: Self::Number;
}

impl Curve for P256 {
    const NAME: &'static str = "P-256";
    const BYTES: usize = 32;
    type Number = [u8; 32];
    const ZERO: [u8; 32] = [0; 32];
    const ORDER: [u8; 32] = {
        let mut bytes = Self::ZERO;
        digits::to_bytes(&<Order256 as Modulus<5>>::M, &mut bytes);
        bytes
    };
}

impl Curve for P384 {
    const NAME: &'static str = "P-384";
    const BYTES: usize = 48;
    type Number = [u8; 48];
    const ZERO: [u8; 48] = [0; 48];
    const ORDER: [u8; 48] = {
        let mut bytes = Self::ZERO;
        digits::to_bytes(&<Order384 as Modulus<8>>::M, &mut bytes);
        bytes
    };
}

/// A public key or a peer's: affine coordinates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PublicPoint<C: Curve> {
    /// x.
    pub x: C::Number,
    /// y.
    pub y: C::Number,
}

impl<C: Curve> PublicPoint<C> {
    /// Both zero, which is no point of the curve.
    pub const NONE: Self = Self {
        x: C::ZERO,
        y: C::ZERO,
    };
}

/// A signature, its two numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Signature<C: Curve> {
    /// r.
    pub r: C::Number,
    /// s.
    pub s: C::Number,
}

impl<C: Curve> Signature<C> {
    /// Both zero, which is no signature of anything.
    pub const NONE: Self = Self {
        r: C::ZERO,
        s: C::ZERO,
    };
}

/// Why an operation has no result. Its output is zeros, and the other operations are as they are.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Refusal {
    /// The private key is zero, or not below the order of the curve.
    PrivateKeyRange,
    /// The nonce is zero, or not below the order of the curve.
    NonceRange,
    /// With this nonce, r or s would be zero: sign again with the next one.
    NonceUnusable,
    /// A coordinate of the public point is not below the prime of the field.
    CoordinateRange,
    /// The public point is not on the curve; (0, 0), as infinity is sometimes written, is not.
    NotOnCurve,
    /// r is zero, or not below the order of the curve.
    RRange,
    /// s is zero, or not below the order of the curve.
    SRange,
    /// The signature is not one of this digest under this key.
    WrongSignature,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrivateKeyRange => "private key is not between 1 and n - 1",
            Self::NonceRange => "nonce is not between 1 and n - 1",
            Self::NonceUnusable => "nonce makes r or s zero",
            Self::CoordinateRange => "coordinate of the public point is not below p",
            Self::NotOnCurve => "public point is not on the curve",
            Self::RRange => "r is not between 1 and n - 1",
            Self::SRange => "s is not between 1 and n - 1",
            Self::WrongSignature => "signature does not fit the digest and the key",
        })
    }
}

impl core::error::Error for Refusal {}

/// The public key of a private one.
#[derive(Debug)]
pub struct GenerateJob<'j, C: Curve> {
    /// The private key: a random number, refused unless from 1 to n − 1.
    pub private: &'j C::Number,
    /// The result.
    pub public: Result<PublicPoint<C>, Refusal>,
}

/// The point of a compressed one.
#[derive(Debug)]
pub struct DecompressJob<'j, C: Curve> {
    /// x.
    pub x: &'j C::Number,
    /// Which of the two points with this x.
    pub y_is_odd: bool,
    /// The result.
    pub point: Result<PublicPoint<C>, Refusal>,
}

/// A shared secret.
#[derive(Debug)]
pub struct AgreeJob<'j, C: Curve> {
    /// The private key.
    pub private: &'j C::Number,
    /// The peer's public key; validated in full (SP 800-56A, section 5.6.2.3.3).
    pub peer: &'j PublicPoint<C>,
    /// The result: x of the shared point. For the caller to wipe.
    pub shared: Result<C::Number, Refusal>,
}

/// A signature to make.
#[derive(Debug)]
pub struct SignJob<'j, C: Curve> {
    /// The private key.
    pub private: &'j C::Number,
    /// The number that makes the signature, as secret as the key: unpredictable and never used for
    /// a second one. See [`Nonces`].
    pub nonce: &'j C::Number,
    /// The digest of the message, of any length: of a longer one than [`Curve::BYTES`] the first
    /// bytes count.
    pub digest: &'j [u8],
    /// The result.
    pub signature: Result<Signature<C>, Refusal>,
}

/// A signature to check.
#[derive(Debug)]
pub struct VerifyJob<'j, C: Curve> {
    /// The public key; validated in full.
    pub public: &'j PublicPoint<C>,
    /// The digest of the message, as in [`SignJob`].
    pub digest: &'j [u8],
    /// The signature.
    pub signature: &'j Signature<C>,
    /// The result.
    pub outcome: Result<(), Refusal>,
}

/// The operations of a curve, and the multiples of its base point that they use: 190 KiB for P-256,
/// 440 KiB for P-384. Made once and shared.
#[derive(Clone, Copy)]
pub struct Kernels<C: Curve> {
    machine: Machine,
    multiples: C::Multiples,
}

impl<C: Curve> Kernels<C> {
    /// Computes the multiples in `place`, for instance a leaked `Box::new_uninit()`: some hundred
    /// signatures' time.
    pub fn new_in(place: &mut MaybeUninit<Self>, machine: Machine) -> &mut Self {
        let kernels = place.as_mut_ptr();
        // SAFETY: both fields are inside the place, which nothing else refers to; that of the multiples
        // may hold anything. Afterwards both have a value.
        #[allow(unsafe_code)]
        unsafe {
            (&raw mut (*kernels).machine).write(machine);
            let multiples = &raw mut (*kernels).multiples;
            C::fill(machine, zeroed(&mut *multiples.cast::<MaybeUninit<_>>()));
            &mut *kernels
        }
    }

    /// Computes public keys.
    pub fn generate(&self, jobs: &mut [GenerateJob<'_, C>]) {
        for jobs in jobs.chunks_mut(self.machine.digits.lanes()) {
            let mut batch = Generation::default();
            for (lane, job) in jobs.iter().enumerate() {
                C::load(&mut batch.secret, lane, job.private.as_ref());
            }
            C::generate(self.machine, &self.multiples, &mut batch);
            for (lane, job) in jobs.iter_mut().enumerate() {
                let [x, y] = [0, 1].map(|i| number::<C>(&batch.public[i], lane));
                job.public = require([(batch.secret_in_range, Refusal::PrivateKeyRange)], lane)
                    .map(|()| PublicPoint { x, y });
            }
            wipe(slice::from_mut(&mut batch));
        }
    }

    /// Decompresses points (SEC 1, section 2.3.4).
    pub fn decompress(&self, jobs: &mut [DecompressJob<'_, C>]) {
        for jobs in jobs.chunks_mut(self.machine.digits.lanes()) {
            let mut batch = Decompression::default();
            for (lane, job) in jobs.iter().enumerate() {
                C::load(&mut batch.x, lane, job.x.as_ref());
                batch.odd |= u8::from(job.y_is_odd) << lane;
            }
            C::decompress(self.machine, &mut batch);
            for (lane, job) in jobs.iter_mut().enumerate() {
                let requirements = [
                    (batch.in_range, Refusal::CoordinateRange),
                    (batch.on_curve, Refusal::NotOnCurve),
                ];
                job.point = require(requirements, lane).map(|()| PublicPoint {
                    x: *job.x,
                    y: number::<C>(&batch.y, lane),
                });
            }
        }
    }

    /// Computes shared secrets.
    pub fn agree(&self, jobs: &mut [AgreeJob<'_, C>]) {
        for jobs in jobs.chunks_mut(self.machine.digits.lanes()) {
            let mut batch = Agreement::default();
            for (lane, job) in jobs.iter().enumerate() {
                C::load(&mut batch.secret, lane, job.private.as_ref());
                C::load(&mut batch.peer[0], lane, job.peer.x.as_ref());
                C::load(&mut batch.peer[1], lane, job.peer.y.as_ref());
            }
            C::agree(self.machine, &mut batch);
            for (lane, job) in jobs.iter_mut().enumerate() {
                let requirements = [
                    (batch.secret_in_range, Refusal::PrivateKeyRange),
                    (batch.peer_in_range, Refusal::CoordinateRange),
                    (batch.peer_on_curve, Refusal::NotOnCurve),
                ];
                job.shared = require(requirements, lane).map(|()| number::<C>(&batch.shared, lane));
            }
            wipe(slice::from_mut(&mut batch));
        }
    }

    /// Signs.
    pub fn sign(&self, jobs: &mut [SignJob<'_, C>]) {
        for jobs in jobs.chunks_mut(self.machine.digits.lanes()) {
            let mut batch = Signing::default();
            for (lane, job) in jobs.iter().enumerate() {
                C::load(&mut batch.secret, lane, job.private.as_ref());
                C::load(&mut batch.nonce, lane, job.nonce.as_ref());
                C::load(&mut batch.digest, lane, leftmost::<C>(job.digest));
            }
            C::sign(self.machine, &self.multiples, &mut batch);
            for (lane, job) in jobs.iter_mut().enumerate() {
                let requirements = [
                    (batch.secret_in_range, Refusal::PrivateKeyRange),
                    (batch.nonce_in_range, Refusal::NonceRange),
                    (batch.usable, Refusal::NonceUnusable),
                ];
                job.signature = require(requirements, lane).map(|()| Signature {
                    r: number::<C>(&batch.r, lane),
                    s: number::<C>(&batch.s, lane),
                });
            }
            wipe(slice::from_mut(&mut batch));
        }
    }

    /// Checks signatures.
    pub fn verify(&self, jobs: &mut [VerifyJob<'_, C>]) {
        for jobs in jobs.chunks_mut(self.machine.digits.lanes()) {
            let mut batch = Verification::default();
            for (lane, job) in jobs.iter().enumerate() {
                C::load(&mut batch.public[0], lane, job.public.x.as_ref());
                C::load(&mut batch.public[1], lane, job.public.y.as_ref());
                C::load(&mut batch.digest, lane, leftmost::<C>(job.digest));
                C::load(&mut batch.r, lane, job.signature.r.as_ref());
                C::load(&mut batch.s, lane, job.signature.s.as_ref());
            }
            C::verify(self.machine, &self.multiples, &mut batch);
            for (lane, job) in jobs.iter_mut().enumerate() {
                let requirements = [
                    (batch.public_in_range, Refusal::CoordinateRange),
                    (batch.public_on_curve, Refusal::NotOnCurve),
                    (batch.r_in_range, Refusal::RRange),
                    (batch.s_in_range, Refusal::SRange),
                    (batch.valid, Refusal::WrongSignature),
                ];
                job.outcome = require(requirements, lane);
            }
        }
    }
}

impl<C: Curve> fmt::Debug for Kernels<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {:?}", C::NAME, self.machine)
    }
}

/// The bytes of a digest that count (FIPS 186-5, section 6.4.1, steps 2 and 3).
fn leftmost<C: Curve>(digest: &[u8]) -> &[u8] {
    &digest[..digest.len().min(C::BYTES)]
}

/// The first refusal whose mask lacks `lane`.
fn require<const K: usize>(requirements: [(u8, Refusal); K], lane: usize) -> Result<(), Refusal> {
    let is_met = |mask: u8| declassify(mask >> lane & 1 == 1);
    match requirements.iter().find(|(mask, _)| !is_met(*mask)) {
        Some((_, refusal)) => Err(*refusal),
        None => Ok(()),
    }
}

fn number<C: Curve>(digits: &C::Digits, lane: usize) -> C::Number {
    let mut number = C::ZERO;
    C::store(digits, lane, number.as_mut());
    number
}
