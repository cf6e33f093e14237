//! Verification (RFC 8032, section 5.1.7), of which everything is public.

#![allow(unsafe_code)] // runs lanes with the instructions of a token

use super::digest::Digest;
use super::{JOBS, KEY_BYTES, SIGNATURE_BYTES};
use crate::arch::digits::{DigitLanes, MAX_LANES, Words};
use crate::arch::on;
use crate::machine::Machine;
use crate::public_key::curve25519::base;
use crate::public_key::curve25519::field::{DIGITS, Element, GROUPS};
use crate::public_key::curve25519::number::Number;
use crate::public_key::curve25519::point::{
    Addend, Extended, OddDigits, Projective, WINDOW_BITS, WINDOWS,
};
use crate::public_key::curve25519::scalar::{self, Scalar};
use crate::public_key::curve25519::single::{MULTIPLES, Single};
use crate::public_key::curve25519::words::{self, Columns};

/// A public key, prepared: 2 KiB of multiples of the negated point.
#[derive(Clone)]
pub struct VerifyingKey {
    multiples: [Row; MULTIPLES],
    encoded: [u8; KEY_BYTES],
}

/// The digits of y + x, y − x and 2d·x·y of one multiple.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([Words; 2]);

impl VerifyingKey {
    /// Decodes a public key; `None` if it is not a point of the curve.
    ///
    /// What OpenSSL takes is taken: y from p on, a negative sign of x = 0, points of small order.
    #[must_use]
    pub fn new(encoded: &[u8; KEY_BYTES]) -> Option<Self> {
        let y = Number::from_words(words::to_words(encoded));
        let point = Single::with_y(y, encoded[31] >> 7 == 1)?.negate();
        let mut multiples = [Row([[0; MAX_LANES]; 2]); MULTIPLES];
        for (row, point) in multiples.iter_mut().zip(point.odd_multiples()) {
            for (to, digit) in row
                .0
                .as_flattened_mut()
                .iter_mut()
                .zip(point.as_flattened())
            {
                *to = *digit;
            }
        }
        Some(Self {
            multiples,
            encoded: *encoded,
        })
    }
}

impl core::fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ed25519::VerifyingKey({:02x?})", self.encoded)
    }
}

/// A signature to verify.
#[derive(Debug)]
pub struct Verify<'j> {
    /// The key.
    pub key: &'j VerifyingKey,
    /// The message, of any length.
    pub message: &'j [u8],
    /// The signature.
    pub signature: &'j [u8; SIGNATURE_BYTES],
    /// Whether the signature is the key's, of this message.
    pub valid: bool,
}

/// Verifies all signatures.
///
/// As OpenSSL does: S is below the group order, the equation holds without the cofactor, and R has
/// the one encoding that the equation gives it.
pub fn verify(machine: Machine, jobs: &mut [Verify<'_>]) {
    for jobs in jobs.chunks_mut(machine.digits.lanes() * GROUPS) {
        let mut digests: [_; JOBS] = core::array::from_fn(|i| {
            Digest::new(match jobs.get(i) {
                Some(job) => [&job.signature[..32], &job.key.encoded, job.message],
                None => [&[]; 3],
            })
        });
        let digests = &mut digests[..jobs.len()];
        Digest::compute(machine, digests);
        on!(
            machine.digits,
            |V, proof, digests: &[Digest<'_>], jobs: &mut [Verify<'_>]| {
                check::<V>(proof, digests, jobs);
            }
        );
    }
}

/// Whether S · B − k · A encodes as R, for at most [`GROUPS`] jobs for each lane.
#[inline(always)]
fn check<V: DigitLanes>(proof: V::Proof, digests: &[Digest<'_>], jobs: &mut [Verify<'_>]) {
    let groups = jobs.len().div_ceil(V::LANES);
    let mut points = [Extended::<V>::neutral(proof).projective; GROUPS];
    for (group, jobs) in jobs.chunks_mut(V::LANES).enumerate() {
        let digests = &digests[V::LANES * group..][..jobs.len()];
        let mut responses: Columns = [[0; MAX_LANES]; 4];
        // Lanes without a job take the first one's key.
        let mut keys = [jobs[0].key; MAX_LANES];
        for (lane, job) in jobs.iter_mut().enumerate() {
            keys[lane] = job.key;
            let mut response = [0; 32];
            response.copy_from_slice(&job.signature[32..]);
            job.valid = scalar::is_reduced(&words::to_words(&response));
            if job.valid {
                words::put(&mut responses, lane, &response);
            }
        }
        let digest = Digest::scalars::<V>(proof, digests);
        let response = Scalar::from_reduced_words(words::load(proof, &responses));
        let multiple = multiple_of_keys(proof, &keys, digest);
        points[group] = base::add_multiple(multiple, response.odd_digits()).projective;
    }
    let mut encoded = [[0; 32]; JOBS];
    Projective::encode_all(&mut points[..groups], &mut encoded[..jobs.len()]);
    for (job, encoded) in jobs.iter_mut().zip(&encoded) {
        job.valid &= job.signature[..32] == *encoded;
    }
}

/// The negated keys' points times `scalar`.
#[inline(always)]
fn multiple_of_keys<V: DigitLanes>(
    proof: V::Proof,
    keys: &[&VerifyingKey; MAX_LANES],
    scalar: Scalar<V>,
) -> Extended<V> {
    // A point may have a part of small order, so adding the group order would not do: an even
    // scalar is taken one higher, and one point less at the end.
    let even = scalar.is_even();
    let mut digits = OddDigits::new(scalar.to_words());
    let mut sum = Extended::neutral(proof);
    for window in 0..WINDOWS {
        if window > 0 {
            let mut twice = sum.projective;
            for _ in 1..WINDOW_BITS {
                twice = twice.double();
            }
            sum = twice.double_extended();
        }
        let (place, negative) = digits.take_highest();
        let mut places = [0; MAX_LANES];
        place.store(&mut places);
        sum = sum.add(multiples(proof, keys, &places), negative);
    }
    let one = multiples(proof, keys, &[0; MAX_LANES]);
    sum.add(one.or_neutral(even), even)
}

/// The multiple at `places` of each lane's table.
#[inline(always)]
fn multiples<V: DigitLanes>(
    proof: V::Proof,
    keys: &[&VerifyingKey; MAX_LANES],
    places: &Words,
) -> Addend<V> {
    let first = &keys[0].multiples[0].0;
    let mut rows = [[&first[0]; MAX_LANES], [&first[1]; MAX_LANES]];
    for lane in 0..V::LANES {
        #[allow(clippy::cast_possible_truncation)] // below 16
        let row = &keys[lane].multiples[places[lane] as usize % MULTIPLES].0;
        (rows[0][lane], rows[1][lane]) = (&row[0], &row[1]);
    }
    let (low, high) = (V::transpose(proof, rows[0]), V::transpose(proof, rows[1]));
    let mut addend = [Element([low[0]; DIGITS]); 3];
    for i in 0..3 * DIGITS {
        let digit = if i < MAX_LANES {
            low[i]
        } else {
            high[i - MAX_LANES]
        };
        addend[i / DIGITS].0[i % DIGITS] = digit;
    }
    Addend(addend)
}
