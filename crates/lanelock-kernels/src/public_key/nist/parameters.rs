//! The curves y² = x³ − 3 x + b of SP 800-186, section 3.2.1, and their primes.

use core::fmt::Debug;

use crate::arch::digits::DigitLanes;
use crate::public_key::digits::columns::Columns;
use crate::public_key::digits::residue::{Modulus, Prime};
use crate::public_key::digits::{DIGIT, from_words};

/// A curve of prime order; numbers are plain, in N digits.
pub(super) trait Parameters<const N: usize>: Copy + Debug + 'static {
    /// The prime of the field, p.
    type Field: Prime<N>;
    /// The order of the curve and of its base point, n; n < p < 2 n.
    type Order: Modulus<N>;
    /// b.
    const B: [u64; N];
    /// The base point.
    const GENERATOR: [[u64; N]; 2];
    /// Bits of n and of p.
    const BITS: usize;
}

/// P-256's p = 2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶ − 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prime256;

impl Modulus<5> for Prime256 {
    const M: [u64; 5] = from_words(&[0xffff_ffff_0000_0001, 0, 0xffff_ffff, u64::MAX]);

    /// −1 / p = 1 modulo 2⁹⁶: the multiple is the column itself, whose low 52 bits meet −1.
    #[inline(always)]
    fn clear<V: DigitLanes>(t: &mut Columns<V, 5>, i: usize) {
        let u = *t.at(i);
        *t.at(i + 1) = t.at(i + 1).add(u.shift_right_signed::<52>());
        t.add_shifted::<{ 96 - 52 }, 8>(i + 1, u);
        t.add_shifted::<{ 192 - 3 * 52 }, 16>(i + 3, u);
        // 2²⁵⁶ − 2²²⁴
        if V::BY_COLUMNS {
            t.add_shifted::<{ 256 - 4 * 52 }, 4>(i + 4, u);
            t.sub_shifted::<{ 224 - 4 * 52 }, 36>(i + 4, u);
        } else {
            t.mul_add(i + 4, u, V::splat(u.proof(), (1 << 48) - (1 << 16)));
        }
    }
}

impl Prime<5> for Prime256 {
    /// Takes q p away, where q is what the number has above bit 256. The lowest bits that stay in
    /// the top digit exceed what the digits below can borrow and what q puts there, at most 2²¹.
    #[inline(always)]
    fn fold<V: DigitLanes>(digits: &mut [V; 5]) {
        let bias = V::splat(digits[0].proof(), 1 << 22);
        let q = digits[4].sub(bias).shift_right_signed::<48>();
        digits[4] = digits[4].sub(q.shift_left::<48>());
        digits[4] = digits[4].add(q.shift_left::<16>());
        digits[3] = digits[3].sub(q.shift_left::<36>());
        digits[1] = digits[1].sub(q.shift_left::<44>());
        digits[0] = digits[0].add(q);
    }
}

/// The order of P-256.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order256;

impl Modulus<5> for Order256 {
    const M: [u64; 5] = from_words(&[
        0xffff_ffff_0000_0000,
        0xffff_ffff_ffff_ffff,
        0xbce6_faad_a717_9e84,
        0xf3b9_cac2_fc63_2551,
    ]);
}

impl Parameters<5> for super::P256 {
    type Field = Prime256;
    type Order = Order256;
    const B: [u64; 5] = from_words(&[
        0x5ac6_35d8_aa3a_93e7,
        0xb3eb_bd55_7698_86bc,
        0x651d_06b0_cc53_b0f6,
        0x3bce_3c3e_27d2_604b,
    ]);
    const GENERATOR: [[u64; 5]; 2] = [
        from_words(&[
            0x6b17_d1f2_e12c_4247,
            0xf8bc_e6e5_63a4_40f2,
            0x7703_7d81_2deb_33a0,
            0xf4a1_3945_d898_c296,
        ]),
        from_words(&[
            0x4fe3_42e2_fe1a_7f9b,
            0x8ee7_eb4a_7c0f_9e16,
            0x2bce_3357_6b31_5ece,
            0xcbb6_4068_37bf_51f5,
        ]),
    ];
    const BITS: usize = 256;
}

/// P-384's p = 2³⁸⁴ − 2¹²⁸ − 2⁹⁶ + 2³² − 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prime384;

impl Modulus<8> for Prime384 {
    const M: [u64; 8] = from_words(&[
        u64::MAX,
        u64::MAX,
        u64::MAX,
        0xffff_ffff_ffff_fffe,
        0xffff_ffff_0000_0000,
        0x0000_0000_ffff_ffff,
    ]);

    /// The digits of p in the middle are all ones: their sum is a difference of two digits.
    #[inline(always)]
    fn clear<V: DigitLanes>(t: &mut Columns<V, 8>, i: usize) {
        let proof = t.at(i).proof();
        let splat = |digit| V::splat(proof, digit);
        if V::BY_COLUMNS {
            // −1 / p is 2³² + 1, modulo 2⁵².
            let u = t.at(i).add(t.at(i).shift_left::<32>());
            let low = u.and(splat(DIGIT));
            t.add_shifted::<32, 20>(i, u);
            let carry = t.at(i).sub(low).shift_right_signed::<52>();
            *t.at(i + 1) = t.at(i + 1).add(carry);
            t.sub_shifted::<{ 96 - 52 }, 8>(i + 1, u);
            t.sub_shifted::<{ 128 - 2 * 52 }, 28>(i + 2, u);
            t.add_shifted::<{ 384 - 7 * 52 }, 32>(i + 7, u);
            return;
        }
        // −1 / p is 2³² + 1.
        let u = V::zero(proof).mul_add_low(*t.at(i), splat(Self::FACTOR));
        t.mul_add(i, u, splat((1 << 32) - 1));
        let carry = t.at(i).shift_right_signed::<52>();
        *t.at(i + 1) = t.at(i + 1).add(carry);
        // −2⁹⁶ and −2¹²⁸, and what the digits above lend for it.
        t.mul_add(i + 1, u, splat((1 << 52) - (1 << 44)));
        t.mul_add(i + 2, u, splat((1 << 52) - (1 << 24) - 1));
        *t.at(i + 3) = t.at(i + 3).sub(u);
        t.mul_add(i + 7, u, splat(1 << (384 - 7 * 52)));
    }
}

impl Prime<8> for Prime384 {
    /// As for [`Prime256`], with bit 384; the digits below borrow less than 64.
    #[inline(always)]
    fn fold<V: DigitLanes>(digits: &mut [V; 8]) {
        let bias = V::splat(digits[0].proof(), 64);
        let q = digits[7].sub(bias).shift_right_signed::<20>();
        digits[7] = digits[7].sub(q.shift_left::<20>());
        digits[2] = digits[2].add(q.shift_left::<24>());
        digits[1] = digits[1].add(q.shift_left::<44>());
        digits[0] = digits[0].sub(q.shift_left::<32>()).add(q);
    }
}

/// The order of P-384.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order384;

impl Modulus<8> for Order384 {
    const M: [u64; 8] = from_words(&[
        u64::MAX,
        u64::MAX,
        u64::MAX,
        0xc763_4d81_f437_2ddf,
        0x581a_0db2_48b0_a77a,
        0xecec_196a_ccc5_2973,
    ]);
}

impl Parameters<8> for super::P384 {
    type Field = Prime384;
    type Order = Order384;
    const B: [u64; 8] = from_words(&[
        0xb331_2fa7_e23e_e7e4,
        0x988e_056b_e3f8_2d19,
        0x181d_9c6e_fe81_4112,
        0x0314_088f_5013_875a,
        0xc656_398d_8a2e_d19d,
        0x2a85_c8ed_d3ec_2aef,
    ]);
    const GENERATOR: [[u64; 8]; 2] = [
        from_words(&[
            0xaa87_ca22_be8b_0537,
            0x8eb1_c71e_f320_ad74,
            0x6e1d_3b62_8ba7_9b98,
            0x59f7_41e0_8254_2a38,
            0x5502_f25d_bf55_296c,
            0x3a54_5e38_7276_0ab7,
        ]),
        from_words(&[
            0x3617_de4a_9626_2c6f,
            0x5d9e_98bf_9292_dc29,
            0xf8f4_1dbd_289a_147c,
            0xe9da_3113_b5f0_b8c0,
            0x0a60_b1ce_1d7e_819d,
            0x7a43_1d7c_90ea_0e5f,
        ]),
    ];
    const BITS: usize = 384;
}
