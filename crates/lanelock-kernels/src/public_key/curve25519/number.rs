//! Arithmetic modulo p = 2²⁵⁵ − 19, one number at a time: for tables that the compiler computes,
//! and for public keys, which are prepared one by one.
//!
//! Only public numbers come here.

use super::field::{DIGIT, DIGITS, RADIX};

/// A number in digits of weight 2⁵¹, below 2⁵¹ + 2¹³; the number may exceed p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number([u64; DIGITS]);

impl Number {
    pub(super) const ZERO: Self = Self([0; DIGITS]);
    pub(super) const ONE: Self = Self([1, 0, 0, 0, 0]);

    /// A small number.
    pub(super) const fn small(number: u32) -> Self {
        Self([number as u64, 0, 0, 0, 0])
    }

    /// From a number below 2²⁵⁶ in words; bit 255 is dropped.
    pub(super) const fn from_words([a, b, c, d]: [u64; 4]) -> Self {
        Self([
            a & DIGIT,
            (a >> 51 | b << 13) & DIGIT,
            (b >> 38 | c << 26) & DIGIT,
            (c >> 25 | d << 39) & DIGIT,
            d >> 12 & DIGIT,
        ])
    }

    /// The digits of the number modulo p.
    pub(super) const fn digits(self) -> [u64; DIGITS] {
        let [a, b, c, d, e] = self.0;
        // Adding 19 reaches bit 255 if the number is at least p, which is then taken off.
        let q =
            (e + ((d + ((c + ((b + ((a + 19) >> RADIX)) >> RADIX)) >> RADIX)) >> RADIX)) >> RADIX;
        let a = a + 19 * q;
        let b = b + (a >> RADIX);
        let c = c + (b >> RADIX);
        let d = d + (c >> RADIX);
        let e = e + (d >> RADIX);
        [a & DIGIT, b & DIGIT, c & DIGIT, d & DIGIT, e & DIGIT]
    }

    pub(super) const fn is_zero(self) -> bool {
        let [a, b, c, d, e] = self.digits();
        a | b | c | d | e == 0
    }

    /// The sign of RFC 8032, section 5.1.2.
    pub(super) const fn is_odd(self) -> bool {
        self.digits()[0] & 1 == 1
    }

    pub(super) const fn add(self, other: Self) -> Self {
        let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (self.0, other.0);
        carry([a0 + b0, a1 + b1, a2 + b2, a3 + b3, a4 + b4])
    }

    pub(super) const fn sub(self, other: Self) -> Self {
        let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (self.0, other.0);
        // 4p, whose digits are larger than any number's.
        carry([
            a0 + 4 * (DIGIT - 18) - b0,
            a1 + 4 * DIGIT - b1,
            a2 + 4 * DIGIT - b2,
            a3 + 4 * DIGIT - b3,
            a4 + 4 * DIGIT - b4,
        ])
    }

    pub(super) const fn negate(self) -> Self {
        Self::ZERO.sub(self)
    }

    #[allow(clippy::cast_possible_truncation)] // digits and carries of 2⁵¹
    pub(super) const fn mul(self, other: Self) -> Self {
        let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (self.0, other.0);
        let (c1, c2, c3, c4) = (19 * b1, 19 * b2, 19 * b3, 19 * b4);
        const fn product(a: u64, b: u64) -> u128 {
            a as u128 * b as u128
        }
        let r0 =
            product(a0, b0) + product(a1, c4) + product(a2, c3) + product(a3, c2) + product(a4, c1);
        let r1 =
            product(a0, b1) + product(a1, b0) + product(a2, c4) + product(a3, c3) + product(a4, c2);
        let r2 =
            product(a0, b2) + product(a1, b1) + product(a2, b0) + product(a3, c4) + product(a4, c3);
        let r3 =
            product(a0, b3) + product(a1, b2) + product(a2, b1) + product(a3, b0) + product(a4, c4);
        let r4 =
            product(a0, b4) + product(a1, b3) + product(a2, b2) + product(a3, b1) + product(a4, b0);
        let r1 = r1 + (r0 >> RADIX);
        let r2 = r2 + (r1 >> RADIX);
        let r3 = r3 + (r2 >> RADIX);
        let r4 = r4 + (r3 >> RADIX);
        let low = (r0 as u64 & DIGIT) + 19 * ((r4 >> RADIX) as u64);
        Self([
            low & DIGIT,
            (r1 as u64 & DIGIT) + (low >> RADIX),
            r2 as u64 & DIGIT,
            r3 as u64 & DIGIT,
            r4 as u64 & DIGIT,
        ])
    }

    pub(super) const fn square(self) -> Self {
        self.mul(self)
    }

    const fn square_times(self, n: u32) -> Self {
        let mut power = self;
        let mut i = 0;
        while i < n {
            power = power.square();
            i += 1;
        }
        power
    }

    /// `self` to the power p − 2, which is the inverse, or zero for zero.
    pub(super) const fn invert(self) -> Self {
        // p − 2 = 2⁵ (2²⁵⁰ − 1) + 11
        let eleven = self.square_times(3).mul(self).mul(self.square());
        self.ones_250().square_times(5).mul(eleven)
    }

    /// A square root of `numerator` / `denominator`, if there is one (RFC 8032, section 5.1.3);
    /// zero if the numerator is zero.
    pub(super) const fn root_of_ratio(numerator: Self, denominator: Self) -> Option<Self> {
        let (u, v) = (numerator, denominator);
        let v_3 = v.square().mul(v);
        let v_7 = v_3.square().mul(v);
        let root = u.mul(v_3).mul(u.mul(v_7).power_p58());
        let check = v.mul(root.square());
        if check.sub(u).is_zero() {
            Some(root)
        } else if check.add(u).is_zero() {
            // 2 is not a square, so 2 to the power (p − 1) / 4 is a root of −1.
            let two = Self::small(2);
            Some(root.mul(two.power_p58().square().mul(two)))
        } else {
            None
        }
    }

    /// `self` to the power (p − 5) / 8 = 2² (2²⁵⁰ − 1) + 1.
    const fn power_p58(self) -> Self {
        self.ones_250().square_times(2).mul(self)
    }

    /// `self` to the power 2²⁵⁰ − 1.
    const fn ones_250(self) -> Self {
        let ones_2 = self.square().mul(self);
        let ones_4 = ones_2.square_times(2).mul(ones_2);
        let ones_5 = ones_4.square().mul(self);
        let ones_10 = ones_5.square_times(5).mul(ones_5);
        let ones_20 = ones_10.square_times(10).mul(ones_10);
        let ones_40 = ones_20.square_times(20).mul(ones_20);
        let ones_50 = ones_40.square_times(10).mul(ones_10);
        let ones_100 = ones_50.square_times(50).mul(ones_50);
        let ones_200 = ones_100.square_times(100).mul(ones_100);
        ones_200.square_times(50).mul(ones_50)
    }
}

/// Carries once, all digits at the same time; digits are below 2⁶⁰.
const fn carry([a, b, c, d, e]: [u64; DIGITS]) -> Number {
    Number([
        (a & DIGIT) + 19 * (e >> RADIX),
        (b & DIGIT) + (a >> RADIX),
        (c & DIGIT) + (b >> RADIX),
        (d & DIGIT) + (c >> RADIX),
        (e & DIGIT) + (d >> RADIX),
    ])
}
