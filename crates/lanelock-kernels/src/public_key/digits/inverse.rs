//! Inverses modulo an odd number: one of plain integers does for all lanes of a register.
//!
//! The lanes are multiplied together, and the inverse of the product with all lanes but one is that
//! lane's (Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", 1987).
//! The product is inverted by division steps (Bernstein and Yang, "Fast constant-time gcd computation
//! and modular inversion", TCHES 2019) that begin with δ = 1/2: of those, a number of b bits takes
//! (9437 b + 1) / 4096, which is proved in HOL Light (`Divstep/divstep_bounds.ml`). All are taken, so
//! that time and addresses depend on the modulus alone.

#![allow(clippy::needless_range_loop)] // an index names the limb on both sides

use core::hint::black_box;

use crate::arch::digits::MAX_LANES;
use crate::wipe::{Plain, wipe};

/// A number in each lane, all modulo one prime.
pub(in crate::public_key) trait Invert: Copy + Plain {
    /// How many lanes: a power of two, at most 2^[`MOST_LEVELS`].
    const LANES: usize;

    /// The products, lane by lane.
    fn product(self, other: Self) -> Self;

    /// Lane i is what lane i ⊕ `distance` was.
    fn crossed(self, distance: usize) -> Self;

    /// The inverse of the first lane, in all of them.
    fn inverse_of_first(self) -> Self;

    /// The inverses of numbers none of which is zero.
    #[inline(always)]
    fn inverses(self) -> Self {
        // Lane i of level l: the product of the 2^l lanes whose numbers differ from i in the low l
        // bits.
        let levels = Self::LANES.ilog2() as usize;
        let mut products = [self; MOST_LEVELS + 1];
        for level in 0..levels {
            let half = products[level];
            products[level + 1] = half.product(half.crossed(1 << level));
        }
        let mut inverse = products[levels].inverse_of_first();
        for level in (0..levels).rev() {
            inverse = inverse.product(products[level].crossed(1 << level));
        }
        wipe(&mut products);
        inverse
    }
}

const MOST_LEVELS: usize = MAX_LANES.ilog2() as usize;

/// Bits of a limb, and the division steps that its content determines: ten times this, or fifteen
/// times, are as many as 256 and 384 bits take.
const LIMB: u32 = 59;
const MASK: u64 = (1 << LIMB) - 1;

/// A number modulo which others are inverted, those in N digits of `RADIX` bits.
#[derive(Clone, Copy, Debug)]
pub(in crate::public_key) struct Inverter<const N: usize, const RADIX: u32> {
    /// M, odd.
    modulus: [i64; N],
    /// 1 / M modulo 2⁵⁹.
    inverse: u64,
    /// Below M.
    numerator: [i64; N],
    /// Division steps, in limbs.
    rounds: usize,
}

impl<const N: usize, const RADIX: u32> Inverter<N, RADIX> {
    /// Of a modulus and a number below it that is divided.
    pub const fn new(modulus: &[u64; N], numerator: &[u64; N]) -> Self {
        let mut top = N - 1;
        while modulus[top] == 0 {
            top -= 1;
        }
        let bits =
            RADIX as usize * (top + 1) - (modulus[top] << (64 - RADIX)).leading_zeros() as usize;
        // Numbers between −2 M and 2 M.
        assert!(bits + 2 <= LIMB as usize * N);
        let modulus = regroup::<N, RADIX, LIMB>(modulus);
        Self {
            modulus: signed(modulus),
            inverse: super::inverse(modulus[0]) & MASK,
            numerator: signed(regroup::<N, RADIX, LIMB>(numerator)),
            rounds: (9437 * bits + 1).div_ceil(4096).div_ceil(LIMB as usize),
        }
    }

    /// The numerator divided by `number`, which is below M; zero for zero.
    pub fn divide_by(&self, number: &[u64; N]) -> [u64; N] {
        // M divides d · number − f · numerator, and the same with e and g.
        let (mut f, mut g) = (self.modulus, signed(regroup::<N, RADIX, LIMB>(number)));
        let (mut d, mut e) = ([0; N], self.numerator);
        let mut delta = -1;
        for _ in 0..self.rounds {
            let matrix = Matrix::of_steps(&mut delta, f[0], g[0]);
            matrix.apply(&mut f, &mut g);
            matrix.apply_modulo(&mut d, &mut e, self);
        }
        // g is 0 and f is 1 or −1, or M or −M if the number was zero: then d is zero.
        self.reduce(&mut d, sign(&f));
        let quotient = regroup::<N, LIMB, RADIX>(&d.map(i64::cast_unsigned));
        for secret in [&mut f, &mut g, &mut d, &mut e] {
            wipe(secret);
        }
        quotient
    }

    /// Brings a number between −2 M and M, negated if `negative` has all bits set, between 0 and M.
    #[inline(always)]
    fn reduce(&self, number: &mut [i64; N], negative: i64) {
        self.add_where_negative(number);
        for limb in number.iter_mut() {
            *limb = (*limb ^ negative) - negative;
        }
        carry(number);
        self.add_where_negative(number);
    }

    /// Adds M to a negative number.
    #[inline(always)]
    fn add_where_negative(&self, number: &mut [i64; N]) {
        let negative = sign(number);
        for i in 0..N {
            number[i] += self.modulus[i] & negative;
        }
        carry(number);
    }
}

/// What a limb of division steps does to f and g, which become u f + v g and q f + r g, both divided
/// by 2⁵⁹. The absolute values of u and v together are at most 2⁵⁹, and those of q and r.
#[derive(Clone, Copy)]
struct Matrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

impl Matrix {
    /// The steps that the low limbs of f and g determine; `delta` is −(δ + 1/2).
    #[inline(always)]
    fn of_steps(delta: &mut i64, f: i64, g: i64) -> Self {
        let mut low = [f.cast_unsigned(), g.cast_unsigned()];
        // A number of 32 bits holds half of the steps.
        let first = Self::of_half::<{ LIMB / 2 }>(delta, &mut low);
        let second = Self::of_half::<{ LIMB - LIMB / 2 }>(delta, &mut low);
        Self {
            u: second.u * first.u + second.v * first.q,
            v: second.u * first.v + second.v * first.r,
            q: second.q * first.u + second.r * first.q,
            r: second.q * first.v + second.r * first.r,
        }
    }

    /// `STEPS` < 31 steps.
    #[inline(always)]
    fn of_half<const STEPS: u32>(delta: &mut i64, low: &mut [u64; 2]) -> Self {
        let [mut f, mut g] = *low;
        // Both numbers of a row in one: u + 2³² v.
        let (mut uv, mut qr) = (1_u64, 1_u64 << 32);
        for _ in 0..STEPS {
            let odd = (g & 1).wrapping_neg();
            let positive = (*delta >> 63).cast_unsigned();
            // g + f, or g − f if δ is positive, if g is odd.
            g = g.wrapping_add((f ^ positive).wrapping_sub(positive) & odd);
            qr = qr.wrapping_add((uv ^ positive).wrapping_sub(positive) & odd);
            // What g was becomes f if δ is positive and g odd: f + (g − f).
            let swap = positive & odd;
            f = f.wrapping_add(g & swap);
            uv = uv.wrapping_add(qr & swap);
            *delta = (*delta ^ swap.cast_signed()) - 1;
            g >>= 1;
            uv <<= 1;
        }
        *low = [f, g];
        let ([u, v], [q, r]) = (halves(uv), halves(qr));
        Self { u, v, q, r }
    }

    /// f and g after the steps.
    #[inline(always)]
    fn apply<const N: usize>(self, f: &mut [i64; N], g: &mut [i64; N]) {
        let Self { u, v, q, r } = self;
        let mut low = product(u, f[0]) + product(v, g[0]);
        let mut high = product(q, f[0]) + product(r, g[0]);
        for i in 1..N {
            let (below_f, below_g) = (f[i], g[i]);
            low = (low >> LIMB) + product(u, below_f) + product(v, below_g);
            high = (high >> LIMB) + product(q, below_f) + product(r, below_g);
            f[i - 1] = low_limb(low);
            g[i - 1] = low_limb(high);
        }
        f[N - 1] = top_limb(low);
        g[N - 1] = top_limb(high);
    }

    /// The same of d and e modulo M. Both stay between −2 M and M.
    #[inline(always)]
    fn apply_modulo<const N: usize, const RADIX: u32>(
        self,
        d: &mut [i64; N],
        e: &mut [i64; N],
        inverter: &Inverter<N, RADIX>,
    ) {
        let Self { u, v, q, r } = self;
        let Inverter {
            modulus, inverse, ..
        } = inverter;
        // M is added once for each negative one, times its factor; so that what follows is positive.
        let (negative_d, negative_e) = (sign(d), sign(e));
        let mut multiple_d = (u & negative_d) + (v & negative_e);
        let mut multiple_e = (q & negative_d) + (r & negative_e);
        let mut sum_d = product(u, d[0]) + product(v, e[0]);
        let mut sum_e = product(q, d[0]) + product(r, e[0]);
        // And a multiple below 2⁵⁹ less, which makes it one of 2⁵⁹.
        let excess = |sum: i128, multiple: i64| {
            let low = low_limb(sum).cast_unsigned().wrapping_mul(*inverse);
            (low.wrapping_add(multiple.cast_unsigned()) & MASK).cast_signed()
        };
        multiple_d -= excess(sum_d, multiple_d);
        multiple_e -= excess(sum_e, multiple_e);
        sum_d += product(modulus[0], multiple_d);
        sum_e += product(modulus[0], multiple_e);
        for i in 1..N {
            let (limb_d, limb_e) = (d[i], e[i]);
            sum_d = (sum_d >> LIMB) + product(u, limb_d) + product(v, limb_e);
            sum_e = (sum_e >> LIMB) + product(q, limb_d) + product(r, limb_e);
            sum_d += product(modulus[i], multiple_d);
            sum_e += product(modulus[i], multiple_e);
            d[i - 1] = low_limb(sum_d);
            e[i - 1] = low_limb(sum_e);
        }
        d[N - 1] = top_limb(sum_d);
        e[N - 1] = top_limb(sum_e);
    }
}

/// All bits if the number is negative, else none. The compiler is not shown that there are only these
/// two values, so that it makes no branch of them.
#[inline(always)]
fn sign<const N: usize>(number: &[i64; N]) -> i64 {
    black_box(number[N - 1] >> 63)
}

#[inline(always)]
fn product(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

#[allow(clippy::cast_possible_truncation)] // the low bits are meant
#[inline(always)]
fn low_limb(sum: i128) -> i64 {
    sum as i64 & MASK.cast_signed()
}

/// What is above the low limb, which fits one.
#[allow(clippy::cast_possible_truncation)] // as promised
#[inline(always)]
fn top_limb(sum: i128) -> i64 {
    (sum >> LIMB) as i64
}

/// The two numbers of less than 32 bits, with their signs, in the sum of one and 2³² times the other.
#[allow(clippy::cast_possible_truncation)] // the low bits are meant
#[inline(always)]
fn halves(row: u64) -> [i64; 2] {
    let low = i64::from(row as i32);
    [low, row.cast_signed().wrapping_sub(low) >> 32]
}

/// Leaves 59 bits in each limb but the highest.
#[inline(always)]
fn carry<const N: usize>(number: &mut [i64; N]) {
    for i in 0..N - 1 {
        number[i + 1] += number[i] >> LIMB;
        number[i] &= MASK.cast_signed();
    }
}

const fn signed<const N: usize>(limbs: [u64; N]) -> [i64; N] {
    let mut signed = [0; N];
    let mut i = 0;
    while i < N {
        signed[i] = limbs[i].cast_signed();
        i += 1;
    }
    signed
}

/// A number in digits of `FROM` bits in digits of `TO` bits, both at most 63; it fits.
#[allow(clippy::cast_possible_truncation)] // the low bits are meant
#[inline(always)]
const fn regroup<const N: usize, const FROM: u32, const TO: u32>(number: &[u64; N]) -> [u64; N] {
    let mut digits = [0; N];
    let (mut rest, mut bits, mut taken) = (0_u128, 0, 0);
    let mut i = 0;
    while i < N {
        while bits < TO && taken < N {
            rest |= (number[taken] as u128) << bits;
            bits += FROM;
            taken += 1;
        }
        digits[i] = rest as u64 & ((1 << TO) - 1);
        rest >>= TO;
        bits = bits.saturating_sub(TO);
        i += 1;
    }
    digits
}

#[cfg(test)]
mod tests;
