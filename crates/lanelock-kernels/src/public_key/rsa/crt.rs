//! A private power in lanes by the Chinese remainder theorem (RFC 8017, section 5.1.2,
//! with two primes).

use super::key::PrivateKey;
use super::montgomery::{Space, multiply_add};
use super::number::Digits;
use super::power::Powers;
use super::wide::Wide;
use crate::arch::digits::{DigitLanes, MAX_LANES};
use crate::arch::register::{Code, Proof};

/// The exponents of a key modulo p − 1 and q − 1.
pub(super) type Exponents<'k, const P: usize> = [&'k Digits<P>; 2];

/// x^d mod n of the first `count` lanes, whose numbers are below R·p and R·q of their keys; the
/// powers are below n. Other lanes hold anything.
///
/// Half a power is a task for a lane: one pass does for half as many numbers as there are lanes, two for
/// all.
#[inline(always)]
pub(super) fn raise<L: DigitLanes, const P: usize, const N: usize>(
    proof: L::Proof,
    count: usize,
    keys: [&PrivateKey<P, N>; MAX_LANES],
    exponents: [Exponents<'_, P>; MAX_LANES],
    x: &mut Wide<L, N>,
) {
    let task = Raise {
        count,
        keys,
        exponents,
        x,
    };
    proof.call(task);
}

/// See [`raise`].
struct Raise<'a, L: DigitLanes, const P: usize, const N: usize> {
    count: usize,
    keys: [&'a PrivateKey<P, N>; MAX_LANES],
    exponents: [Exponents<'a, P>; MAX_LANES],
    x: &'a mut Wide<L, N>,
}

impl<L: DigitLanes, const P: usize, const N: usize> Code for Raise<'_, L, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            count,
            keys,
            exponents,
            x,
        } = self;
        let proof = x.proof();
        let numbers = x.scatter();
        let mut residues = [const { [const { Digits::ZERO }; 2] }; MAX_LANES];
        for first in (0..2 * count).step_by(L::LANES) {
            // Lanes that have no task do the first one again.
            let tasks: [_; MAX_LANES] = core::array::from_fn(|lane| {
                let task = if first + lane < 2 * count {
                    first + lane
                } else {
                    first
                };
                (task / 2, task % 2)
            });
            let powers =
                Powers::<L, P>::gather(proof, tasks.map(|(i, half)| &keys[i].primes[half].modulus));
            let mut space = Space::new(proof);
            let mut power = residue(&powers, &mut space, tasks.map(|(i, _)| &numbers[i]));
            powers.raise_secret(&mut power, tasks.map(|(i, half)| exponents[i][half]));

            let mut one = Wide::zero(proof);
            one.0[0][0] = L::splat(proof, 1);
            powers.moduli.multiply(&mut space, &mut power, &one);
            power.reduce(&powers.moduli.n.number);
            let results = tasks.into_iter().zip(power.scatter());
            for ((i, half), result) in results.take(L::LANES) {
                residues[i][half] = result;
            }
        }
        let [power_p, power_q] = [0, 1].map(|half| {
            let lanes = residues
                .each_ref()
                .map(|residues| &residues[half].blocks()[..]);
            Wide::gather(proof, lanes)
        });
        recombine(keys, power_p, &power_q, x);
    }
}

/// x·R modulo each lane's prime, below six times that.
#[inline(always)]
fn residue<L: DigitLanes, const P: usize, const N: usize>(
    powers: &Powers<L, P>,
    space: &mut Space<L, P>,
    x: [&Digits<N>; MAX_LANES],
) -> Wide<L, P> {
    let proof = powers.one.proof();
    let halves = x.map(|number| number.blocks().split_at(P));
    let mut low = Wide::gather(proof, halves.map(|(low, _)| low));
    powers.moduli.multiply(space, &mut low, &powers.square);
    // The high half has weight R, and R³ brings that into Montgomery form.
    let mut high = Wide::gather(proof, halves.map(|(_, high)| high));
    powers.moduli.multiply(space, &mut high, &powers.square);
    powers.moduli.multiply(space, &mut high, &powers.square);
    low.add(&high);
    low
}

/// q·((m_p − m_q)/q mod p) + m_q, for both residues below their primes.
#[inline(always)]
fn recombine<L: DigitLanes, const P: usize, const N: usize>(
    keys: [&PrivateKey<P, N>; MAX_LANES],
    power_p: Wide<L, P>,
    power_q: &Wide<L, P>,
    x: &mut Wide<L, N>,
) {
    let proof = x.proof();
    let p = Powers::<L, P>::gather(proof, keys.map(|key| &key.primes[0].modulus));
    let q = Wide::gather(proof, keys.map(|key| &key.primes[1].modulus.n.blocks()[..]));
    let coefficient = Wide::gather(proof, keys.map(|key| &key.coefficient.blocks()[..]));
    let mut quotient = power_p;
    // Both primes have the same top bit, so that m_q is below 2p.
    quotient.add(&p.moduli.n.number);
    quotient.add(&p.moduli.n.number);
    quotient.subtract(power_q);
    let mut space = Space::new(proof);
    p.moduli.multiply(&mut space, &mut quotient, &coefficient);
    quotient.reduce(&p.moduli.n.number);
    multiply_add(x, &quotient, &q, power_q);
}
