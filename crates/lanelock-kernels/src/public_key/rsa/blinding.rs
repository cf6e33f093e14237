//! Base blinding (Kocher, "Timing attacks on implementations of Diffie-Hellman, RSA, DSS, and
//! other systems", 1996): a private power is taken of c·r^e, and its result divided by r.

use core::fmt;

use super::crt;
use super::key::PrivateKey;
use super::montgomery::Space;
use super::number::{BLOCK_BYTES, Digits};
use super::power::Powers;
use super::wide::Wide;
use crate::arch::digits::{DigitLanes, MAX_LANES, Mask};
use crate::arch::register::Code;
use crate::taint::declassify;

/// r^e and 1/r modulo a key's modulus, for a secret random r that no other message has at the same
/// time. Each use squares both. Wiped when dropped.
///
/// One belongs to one key and is to be renewed after some uses
/// ([`RENEW_AFTER`](Self::RENEW_AFTER)): used with another key, the message fails its check.
#[derive(Clone)]
pub struct Blinding<const N: usize> {
    /// r^e, in Montgomery form, below 3n
    pub(super) factor: Digits<N>,
    /// 1/r, in Montgomery form, below 3n
    pub(super) inverse: Digits<N>,
    pub(super) uses: u32,
}

impl<const N: usize> Blinding<N> {
    /// Uses after which OpenSSL renews a blinding, and a user of this one should.
    pub const RENEW_AFTER: u32 = 32;

    /// How many messages it has blinded.
    #[must_use]
    pub fn uses(&self) -> u32 {
        self.uses
    }

    /// Whether one of both numbers is the other's. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn shares_a_number(&self, other: &Self) -> bool {
        self.factor.equals(&other.factor) || self.inverse.equals(&other.inverse)
    }
}

impl<const N: usize> fmt::Debug for Blinding<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blinding").finish_non_exhaustive()
    }
}

/// A blinding to make.
#[derive(Debug)]
pub struct BlindingJob<'j, const P: usize, const N: usize> {
    /// The key.
    pub key: &'j PrivateKey<P, N>,
    /// Secret random bytes: r is this number, which has 8·`N` bits more than the modulus, reduced.
    pub random: &'j [[u8; BLOCK_BYTES]; N],
    /// Written: `None` if r cannot be inverted, which does not happen by chance, or after a fault.
    pub made: Option<Blinding<N>>,
}

/// Makes blindings of a key for each lane at most.
pub(super) struct Make<'m, 'j, L: DigitLanes, const P: usize, const N: usize> {
    pub proof: L::Proof,
    /// Invariant: at least one, and no more than there are lanes.
    pub jobs: &'m mut [BlindingJob<'j, P, N>],
}

impl<L: DigitLanes, const P: usize, const N: usize> Code for Make<'_, '_, L, P, N> {
    type Output = ();

    /// The inverse is r^(p − 2) modulo each prime: the work of a private power.
    #[inline(always)]
    fn run(self) {
        let Self { proof, jobs } = self;
        let keys: [_; MAX_LANES] = core::array::from_fn(|lane| jobs[lane.min(jobs.len() - 1)].key);
        let powers = Powers::<L, N>::gather(proof, keys.map(|key| &key.public.modulus));
        let random: [Digits<N>; MAX_LANES] = core::array::from_fn(|lane| {
            let job = &jobs[lane.min(jobs.len() - 1)];
            Digits::from_bytes(job.random.as_flattened()).unwrap_or(Digits::ZERO) // it fits
        });
        let mut r = Wide::gather(proof, random.each_ref().map(|r| &r.blocks()[..]));
        let mut space = Space::new(proof);
        let mut one = Wide::zero(proof);
        one.0[0][0] = L::splat(proof, 1);
        powers.moduli.multiply(&mut space, &mut r, &powers.square);
        powers.moduli.multiply(&mut space, &mut r, &one);
        r.reduce(&powers.moduli.n.number);

        let mut inverse = Wide::zero(proof);
        inverse.set(&r);
        let exponents = keys.map(|key| {
            key.primes.each_ref().map(|prime| {
                let mut exponent = prime.modulus.n.clone();
                exponent.subtract(&Digits::small(2), u64::MAX);
                exponent
            })
        });
        let exponents = exponents.each_ref().map(|pair| pair.each_ref());
        crt::raise(proof, jobs.len(), keys, exponents, &mut inverse);

        powers
            .moduli
            .multiply(&mut space, &mut inverse, &powers.square);
        let mut product = Wide::zero(proof);
        product.set(&r);
        powers.moduli.multiply(&mut space, &mut product, &inverse);
        product.reduce(&powers.moduli.n.number);
        let inverted = product.equals(&one).bits();

        powers.raise(&mut r, &keys.map(|key| key.public.exponent));
        powers.moduli.multiply(&mut space, &mut r, &powers.square);
        let made = r.scatter().into_iter().zip(inverse.scatter());
        for (lane, (job, (factor, inverse))) in jobs.iter_mut().zip(made).enumerate() {
            job.made = declassify(inverted >> lane & 1 == 1).then_some(Blinding {
                factor,
                inverse,
                uses: 0,
            });
        }
    }
}
