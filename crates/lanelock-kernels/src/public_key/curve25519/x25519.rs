//! X25519 (RFC 7748, section 5).

#![allow(unsafe_code)] // runs lanes with the instructions of a token

use super::base;
use super::field::{Element, GROUPS};
use super::point::Extended;
use super::scalar::{self, Scalar};
use super::words::{self, Secret};
use crate::arch::digits::{DigitLanes, Mask};
use crate::arch::on;
use crate::machine::Machine;
use crate::taint::declassify;
use crate::wipe::wipe;

/// Bytes of a secret key, of a public key and of a shared secret.
pub const BYTES: usize = 32;

/// The `u` coordinate of the base point.
const BASE: [u8; BYTES] = {
    let mut bytes = [0; BYTES];
    bytes[0] = 9;
    bytes
};

/// A secret key; wiped on drop.
pub struct SecretKey([u8; BYTES]);

impl SecretKey {
    /// Any 32 bytes are a key; the bits that section 5 fixes are set and cleared.
    #[must_use]
    pub fn new(bytes: &[u8; BYTES]) -> Self {
        let mut key = Self(*bytes);
        scalar::clamp(&mut key.0);
        key
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl core::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("x25519::SecretKey")
    }
}

/// The agreement of a secret key with a peer's public key.
#[derive(Debug)]
pub struct Agreement<'j> {
    /// Our secret key.
    pub key: &'j SecretKey,
    /// The peer's public key: any 32 bytes, of which the top bit is ignored.
    pub peer: &'j [u8; BYTES],
    /// Receives the shared secret; unchanged if there is none.
    pub shared: &'j mut [u8; BYTES],
    /// Whether there is a shared secret. There is none if the peer's point is of small order
    /// (RFC 7748, section 6.1): all keys would agree on zero.
    pub agreed: bool,
}

/// Computes all shared secrets.
pub fn agree(machine: Machine, jobs: &mut [Agreement<'_>]) {
    for jobs in jobs.chunks_mut(machine.digits.lanes() * GROUPS) {
        on!(machine.digits, |V, proof, jobs: &mut [Agreement<'_>]| {
            agree_in_lanes::<V>(proof, jobs);
        });
    }
}

/// A public key to compute.
#[derive(Debug)]
pub struct PublicKey<'j> {
    /// The secret key.
    pub key: &'j SecretKey,
    /// Receives its public key.
    pub public: &'j mut [u8; BYTES],
}

/// Computes all public keys (RFC 7748, section 6.1), several times as fast as [`agree`].
pub fn public_keys(machine: Machine, jobs: &mut [PublicKey<'_>]) {
    for jobs in jobs.chunks_mut(machine.digits.lanes() * GROUPS) {
        on!(machine.digits, |V, proof, jobs: &mut [PublicKey<'_>]| {
            public_keys_in_lanes::<V>(proof, jobs);
        });
    }
}

/// Multiplies the base point of edwards25519, for which there is a table, and maps the point to
/// curve25519: u = (1 + y) / (1 − y) (section 4.1). A clamped scalar is no multiple of the base
/// point's order, so y is not 1.
#[inline(always)]
fn public_keys_in_lanes<V: DigitLanes>(proof: V::Proof, jobs: &mut [PublicKey<'_>]) {
    let mut dividends = [Element::<V>::zero(proof); GROUPS];
    let mut divisors = [Element::<V>::zero(proof); GROUPS];
    let groups = jobs.len().div_ceil(V::LANES);
    let mut columns = Secret::new();
    for (group, jobs) in jobs.chunks(V::LANES).enumerate() {
        for (lane, job) in jobs.iter().enumerate() {
            words::put(&mut columns.0, lane, &job.key.0);
        }
        let scalar = Scalar::from_words(words::load(proof, &columns.0));
        let point = base::add_multiple(Extended::neutral(proof), scalar.odd_digits()).projective;
        // Y and Z, twice.
        let (y, z) = (point.sum.add(point.difference), point.z.add(point.z));
        dividends[group] = z.add(y.wide()).carry();
        divisors[group] = z.sub(y.wide()).carry();
    }
    Element::invert_all(&mut divisors[..groups]);
    for (group, jobs) in jobs.chunks_mut(V::LANES).enumerate() {
        let public = dividends[group].mul(divisors[group]);
        words::store(public.to_words(), &mut columns.0);
        for (lane, job) in jobs.iter_mut().enumerate() {
            *job.public = words::get(&columns.0, lane);
        }
    }
    wipe(&mut dividends);
    wipe(&mut divisors);
}

/// At most [`GROUPS`] jobs for each lane.
#[inline(always)]
fn agree_in_lanes<V: DigitLanes>(proof: V::Proof, jobs: &mut [Agreement<'_>]) {
    let groups = jobs.len().div_ceil(V::LANES);
    let mut x = [Element::zero(proof); GROUPS];
    let mut z = [Element::<V>::zero(proof); GROUPS];
    let mut scalars = Secret::new();
    let mut peers = Secret::new();
    for (group, jobs) in jobs.chunks(V::LANES).enumerate() {
        // Lanes without a job multiply the base point by zero.
        for lane in 0..V::LANES {
            let (key, peer) = jobs
                .get(lane)
                .map_or((&[0; BYTES], &BASE), |job| (&job.key.0, job.peer));
            words::put(&mut scalars.0, lane, key);
            words::put(&mut peers.0, lane, peer);
        }
        let scalars = words::load(proof, &scalars.0);
        let peer = Element::from_words(words::load(proof, &peers.0));
        (x[group], z[group]) = ladder::<V>(scalars, peer);
    }
    Element::invert_all(&mut z[..groups]);
    for (group, jobs) in jobs.chunks_mut(V::LANES).enumerate() {
        let shared = x[group].mul(z[group]);
        let zero = shared.is_zero().bits();
        let mut columns = Secret::new();
        words::store(shared.to_words(), &mut columns.0);
        for (lane, job) in jobs.iter_mut().enumerate() {
            // Without a branch: only the caller may look at the verdict.
            let agreed = zero >> lane & 1 ^ 1;
            let keep = core::hint::black_box(agreed.wrapping_sub(1));
            for (to, byte) in job.shared.iter_mut().zip(words::get(&columns.0, lane)) {
                *to = *to & keep | byte & !keep;
            }
            job.agreed = declassify(agreed == 1);
        }
    }
    wipe(&mut x);
    wipe(&mut z);
}

/// The point `scalar` · `u`, as a fraction; the scalar is below 2²⁵⁵ and even.
///
/// The points of a step are kept as sums and differences of their coordinates: what the next step
/// multiplies, and exchanges where the bit of the scalar differs from the one above.
#[inline(always)]
fn ladder<V: DigitLanes>(scalar: [V; 4], u: Element<V>) -> (Element<V>, Element<V>) {
    let proof = u.0[0].proof();
    let one = Element::one(proof);
    // (1 : 0) and (u : 1)
    let (mut sum, mut difference) = (one, one);
    let (mut other_sum, mut other_difference) = (u.add(one), u.sub(one));
    let mut exchanged = V::mask(proof, 0);
    for word in (0..4).rev() {
        let mut bits = scalar[word];
        let count = if word == 3 { 63 } else { 64 };
        if word == 3 {
            bits = bits.shift_left::<1>();
        }
        for _ in 0..count {
            let bit = bits.is_negative();
            bits = bits.shift_left::<1>();
            let exchange = bit.xor(exchanged);
            exchanged = bit;
            Element::swap(exchange, &mut sum, &mut other_sum);
            Element::swap(exchange, &mut difference, &mut other_difference);

            // The letters of section 5.
            let da = other_difference.mul_wide(sum);
            let cb = other_sum.mul_wide(difference);
            let (aa, bb) = (sum.square_wide(), difference.square_wide());
            let e = aa.sub(bb).carry();
            let x_2 = aa.carry().mul_wide(bb.carry());
            let z_2 = e.mul_wide(e.mul_small(121_665, aa).carry());
            let x_3 = da.add(cb).carry().square_wide();
            let z_3 = u.mul_wide(da.sub(cb).carry().square());

            (sum, difference) = (x_2.add(z_2).carry(), x_2.sub(z_2).carry());
            (other_sum, other_difference) = (x_3.add(z_3).carry(), x_3.sub(z_3).carry());
        }
    }
    // The lowest bit is zero: nothing is left to exchange. Both are doubled.
    (sum.add(difference), sum.sub(difference))
}
