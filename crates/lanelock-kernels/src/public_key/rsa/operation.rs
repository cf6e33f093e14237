//! The public and the private operation of a message for each lane at most (RFC 8017, sections 5.1 and
//! 5.2), without padding.

use core::fmt;

use super::blinding::Blinding;
use super::crt;
use super::key::{PrivateKey, PublicKey};
use super::montgomery::Space;
use super::number::Digits;
use super::power::Powers;
use super::wide::Wide;
use crate::arch::digits::{DigitLanes, MAX_LANES, Mask};
use crate::arch::register::Code;
use crate::taint::declassify;

/// A message for the public operation: its `key.exponent`-th power.
#[derive(Debug)]
pub struct PublicJob<'j, const N: usize> {
    /// The key.
    pub key: &'j PublicKey<N>,
    /// A big-endian number below the modulus, as long as the modulus.
    pub input: &'j [u8],
    /// As long as the modulus.
    pub output: &'j mut [u8],
    /// Written: whether the output is the result. If not, it is untouched.
    pub result: Result<(), Failure>,
}

/// A message for the private operation: its root.
#[derive(Debug)]
pub struct PrivateJob<'j, const P: usize, const N: usize> {
    /// The key.
    pub key: &'j PrivateKey<P, N>,
    /// Of this key; `None` leaves the message unblinded, so that timing and power consumption tell
    /// more of the key.
    pub blinding: Option<&'j mut Blinding<N>>,
    /// A big-endian number below the modulus, as long as the modulus.
    pub input: &'j [u8],
    /// As long as the modulus.
    pub output: &'j mut [u8],
    /// Written: whether the output is the result. If not, it is untouched, or zeros after a fault.
    pub result: Result<(), Failure>,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Failure {
    /// Input or output is not as long as the modulus.
    Length,
    /// The input is not below the modulus.
    OutOfRange,
    /// The result, raised to the public exponent, is not the input: the computation went wrong, or
    /// the key is wrong, or the blinding is of another key.
    Fault,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "input and output must be as long as the modulus",
            Self::OutOfRange => "the input is not below the modulus",
            Self::Fault => "the result failed the check with the public exponent",
        })
    }
}

impl core::error::Error for Failure {}

/// The public operation of a message for each lane at most.
pub(super) struct Public<'m, 'j, L: DigitLanes, const N: usize> {
    pub proof: L::Proof,
    /// Invariant: at least one, and no more than there are lanes.
    pub jobs: &'m mut [PublicJob<'j, N>],
}

impl<L: DigitLanes, const N: usize> Code for Public<'_, '_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { proof, jobs } = self;
        let keys: [_; MAX_LANES] = core::array::from_fn(|lane| jobs[lane.min(jobs.len() - 1)].key);
        let mut numbers = [const { Digits::<N>::ZERO }; MAX_LANES];
        for (job, number) in jobs.iter_mut().zip(&mut numbers) {
            let read = read(job.key, job.input, job.output);
            job.result = read.map(|read| *number = read);
        }
        let powers = Powers::<L, N>::gather(proof, keys.map(|key| &key.modulus));
        let mut x = Wide::gather(proof, numbers.each_ref().map(|number| &number.blocks()[..]));
        powers.raise(&mut x, &keys.map(|key| key.exponent));
        for (job, number) in jobs.iter_mut().zip(&mut x.scatter()) {
            if job.result.is_ok() {
                number.write_bytes(job.output);
            }
        }
    }
}

/// The private operation of a message for each lane at most.
pub(super) struct Private<'m, 'j, L: DigitLanes, const P: usize, const N: usize> {
    pub proof: L::Proof,
    /// Invariant: at least one, and no more than there are lanes.
    pub jobs: &'m mut [PrivateJob<'j, P, N>],
    /// Whether results are checked before they leave.
    pub check: bool,
}

impl<L: DigitLanes, const P: usize, const N: usize> Code for Private<'_, '_, L, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { proof, jobs, check } = self;
        let keys: [_; MAX_LANES] = core::array::from_fn(|lane| jobs[lane.min(jobs.len() - 1)].key);
        let mut numbers = [const { Digits::<N>::ZERO }; MAX_LANES];
        for (job, number) in jobs.iter_mut().zip(&mut numbers) {
            let read = read(&job.key.public, job.input, job.output);
            job.result = read.map(|read| *number = read);
        }
        let powers = Powers::<L, N>::gather(proof, keys.map(|key| &key.public.modulus));
        let input = Wide::gather(proof, numbers.each_ref().map(|number| &number.blocks()[..]));
        let mut x = Wide::zero(proof);
        x.set(&input);
        let inverse = blind(&powers, keys, jobs, &mut x);

        let exponents = keys.map(|key| key.primes.each_ref().map(|prime| &prime.exponent));
        crt::raise(proof, jobs.len(), keys, exponents, &mut x);
        if let Some(inverse) = inverse {
            let mut space = Space::new(proof);
            powers.moduli.multiply(&mut space, &mut x, &inverse);
            x.reduce(&powers.moduli.n.number);
        }

        let mut right = u8::MAX;
        if check {
            let mut power = Wide::zero(proof);
            power.set(&x);
            powers.raise(&mut power, &keys.map(|key| key.public.exponent));
            right = power.equals(&input).bits();
        }
        for (lane, (job, number)) in jobs.iter_mut().zip(&mut x.scatter()).enumerate() {
            if job.result.is_err() {
                continue;
            }
            if declassify(right >> lane & 1 == 1) {
                number.write_bytes(job.output);
            } else {
                job.output.fill(0);
                job.result = Err(Failure::Fault);
            }
        }
    }
}

/// Blinds the messages that are to be and makes their blindings ready for the next ones; the
/// factors that undo it, if there are any.
#[inline(always)]
fn blind<L: DigitLanes, const P: usize, const N: usize>(
    powers: &Powers<L, N>,
    keys: [&PrivateKey<P, N>; MAX_LANES],
    jobs: &mut [PrivateJob<'_, P, N>],
    x: &mut Wide<L, N>,
) -> Option<Wide<L, N>> {
    if jobs.iter().all(|job| job.blinding.is_none()) {
        return None;
    }
    let blinding = |lane: usize| jobs.get(lane).and_then(|job| job.blinding.as_deref());
    let lanes: [_; MAX_LANES] = core::array::from_fn(|lane| match blinding(lane) {
        Some(blinding) => [&blinding.factor, &blinding.inverse],
        None => [&keys[lane].public.modulus.one; 2],
    });
    let [mut factor, mut inverse] =
        [0, 1].map(|i| Wide::gather(x.proof(), lanes.map(|pair| &pair[i].blocks()[..])));
    let mut space = Space::new(x.proof());
    powers.moduli.multiply(&mut space, x, &factor);
    let mut unblind = Wide::zero(x.proof());
    unblind.set(&inverse);

    powers.moduli.square(&mut space, &mut factor, 1);
    powers.moduli.square(&mut space, &mut inverse, 1);
    let next = factor.scatter().into_iter().zip(inverse.scatter());
    for (job, (factor, inverse)) in jobs.iter_mut().zip(next) {
        if let (Some(blinding), Ok(())) = (&mut job.blinding, job.result) {
            blinding.factor = factor;
            blinding.inverse = inverse;
            blinding.uses += 1;
        }
    }
    Some(unblind)
}

/// The number in `input`, if a result for it can be written to `output`.
fn read<const N: usize>(
    key: &PublicKey<N>,
    input: &[u8],
    output: &[u8],
) -> Result<Digits<N>, Failure> {
    if input.len() != PublicKey::<N>::BYTES || output.len() != PublicKey::<N>::BYTES {
        return Err(Failure::Length);
    }
    Digits::from_bytes(input)
        .filter(|number| declassify(number.is_below(&key.modulus.n)))
        .ok_or(Failure::OutOfRange)
}
