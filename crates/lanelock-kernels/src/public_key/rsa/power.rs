//! Powers in lanes: a public exponent by its bits, a secret one by fixed windows.

use super::karatsuba::Factor;
use super::modulus::{MODULUS_BITS, Modulus};
use super::montgomery::{Moduli, Space};
use super::number::Digits;
use super::wide::{Wide, mask};
use crate::arch::digits::{DigitLanes, MAX_LANES};
use crate::arch::register::{Code, Proof};
use crate::arrays::from_fn;
use crate::wipe::wipe;

/// The modulus of each lane with its constants.
#[derive(Debug)]
pub(super) struct Powers<L: DigitLanes, const B: usize> {
    pub moduli: Moduli<L, B>,
    /// R mod n
    pub one: Wide<L, B>,
    /// R² mod n
    pub square: Wide<L, B>,
}

impl<L: DigitLanes, const B: usize> Powers<L, B> {
    /// The constants of each lane's modulus.
    #[inline(always)]
    pub fn gather(proof: L::Proof, moduli: [&Modulus<B>; MAX_LANES]) -> Self {
        Self {
            moduli: Moduli {
                n: factor(proof, moduli.map(|modulus| &modulus.n)),
                shift: factor(proof, moduli.map(|modulus| &modulus.shift)),
                inverse: [
                    L::load(proof, &moduli.map(|modulus| modulus.inverse[0])),
                    L::load(proof, &moduli.map(|modulus| modulus.inverse[1])),
                ],
            },
            one: Wide::gather(proof, moduli.map(|modulus| &modulus.one.blocks()[..])),
            square: Wide::gather(proof, moduli.map(|modulus| &modulus.square.blocks()[..])),
        }
    }

    /// x ← x^e mod n, for x and each odd e ≥ 3 of a lane public; the result is below n.
    ///
    /// Squares and multiplies by the bits of all lanes, from the top: a lane whose bit is not set
    /// multiplies by one if another's is.
    #[inline(always)]
    pub fn raise(&self, x: &mut Wide<L, B>, exponents: &[u32; MAX_LANES]) {
        let powers = self;
        x.proof().call(Raise {
            powers,
            x,
            exponents,
        });
    }

    /// x ← x^e·R^(1 − e) mod n for secret exponents below 2^(512·`B`): a power in Montgomery form,
    /// if x is.
    #[inline(always)]
    pub fn raise_secret(&self, x: &mut Wide<L, B>, exponents: [&Digits<B>; MAX_LANES]) {
        // The table is to fit the first-level cache: at most 30 KiB.
        if B * L::LANES <= 24 {
            x.proof().call(RaiseSecret::<L, B, 16>(self, x, exponents));
        } else {
            x.proof().call(RaiseSecret::<L, B, 8>(self, x, exponents));
        }
    }
}

/// The numbers of the lanes' moduli, as a factor.
#[inline(always)]
fn factor<L: DigitLanes, const B: usize>(
    proof: L::Proof,
    numbers: [&Digits<B>; MAX_LANES],
) -> Factor<L, B> {
    Factor::new(Wide::gather(
        proof,
        numbers.map(|number| &number.blocks()[..]),
    ))
}

/// See [`Powers::raise`].
struct Raise<'a, L: DigitLanes, const B: usize> {
    powers: &'a Powers<L, B>,
    x: &'a mut Wide<L, B>,
    exponents: &'a [u32; MAX_LANES],
}

impl<L: DigitLanes, const B: usize> Code for Raise<'_, L, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            powers,
            x,
            exponents,
        } = self;
        let proof = x.proof();
        let mut space = Space::new(proof);
        let mut base = Wide::zero(proof);
        base.set(x);
        powers
            .moduli
            .multiply(&mut space, &mut base, &powers.square);
        let mut power = Wide::zero(proof);
        let mut factor = Wide::zero(proof);

        let any = exponents.iter().fold(0, |any, exponent| any | exponent);
        let top = any.ilog2();
        let set = |bit: u32| mask::<L>(proof, exponents.map(|exponent| exponent >> bit & 1 == 1));
        power.select(set(top), &base, &powers.one);
        let mut squarings = 1;
        for bit in (1..top).rev() {
            if any >> bit & 1 == 1 {
                powers.moduli.square(&mut space, &mut power, squarings);
                squarings = 0;
                factor.select(set(bit), &base, &powers.one);
                powers.moduli.multiply(&mut space, &mut power, &factor);
            }
            squarings += 1;
        }
        // Every exponent is odd: the last factor, not in Montgomery form, takes the power out of it.
        powers.moduli.square(&mut space, &mut power, squarings);
        powers.moduli.multiply(&mut space, x, &power);
        x.reduce(&powers.moduli.n.number);
    }
}

/// See [`Powers::raise_secret`]: windows of log₂ `ENTRIES` bits; each look-up reads the whole table.
struct RaiseSecret<'a, L: DigitLanes, const B: usize, const ENTRIES: usize>(
    &'a Powers<L, B>,
    &'a mut Wide<L, B>,
    [&'a Digits<B>; MAX_LANES],
);

impl<L: DigitLanes, const B: usize, const ENTRIES: usize> Code for RaiseSecret<'_, L, B, ENTRIES> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(powers, x, exponents) = self;
        let proof = x.proof();
        let width = ENTRIES.ilog2() as usize;
        let mut space = Space::new(proof);
        let mut table: [Wide<L, B>; ENTRIES] = from_fn(|_| Wide::zero(proof));
        table[0].set(&powers.one);
        table[1].set(x);
        for i in 2..ENTRIES {
            let (known, new) = table.split_at_mut(i);
            if i % 2 == 0 {
                new[0].set(&known[i / 2]);
                powers.moduli.square(&mut space, &mut new[0], 1);
            } else {
                new[0].set(&known[i - 1]);
                powers.moduli.multiply(&mut space, &mut new[0], x);
            }
        }
        let mut factor = Wide::zero(proof);
        let windows = (MODULUS_BITS * B).div_ceil(width);
        for window in (0..windows).rev() {
            let mut index = exponents.map(|exponent| exponent.window(window * width, width));
            look_up(&mut factor, &table, L::load(proof, &index));
            wipe(&mut index);
            if window == windows - 1 {
                x.set(&factor);
            } else {
                powers.moduli.square(&mut space, x, width);
                powers.moduli.multiply(&mut space, x, &factor);
            }
        }
    }
}

/// The entry that `index` names in each lane. Every entry is read.
#[inline(always)]
fn look_up<L: DigitLanes, const B: usize>(found: &mut Wide<L, B>, table: &[Wide<L, B>], index: L) {
    for (block, found) in found.0.iter_mut().enumerate() {
        let mut chosen = table[0].0[block];
        for (entry, number) in (0..).zip(table).skip(1) {
            let here = index.equals(L::splat(index.proof(), entry));
            for (chosen, digit) in chosen.iter_mut().zip(number.0[block]) {
                *chosen = L::select(here, digit, *chosen);
            }
        }
        *found = chosen;
    }
}
