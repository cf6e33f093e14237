//! Every method, in each implementation, against plain integers.

use std::prelude::v1::*;

use super::{DigitLanes, MAX_LANES, Mask, Words};
use crate::arch::on;
use crate::testing::{Random, machines};

/// Sums of up to five products of numbers below 2^`BITS`.
fn check_products<V: DigitLanes, const BITS: u32>(proof: V::Proof, random: &mut Random) {
    let count = random.below(6);
    let bits = usize::try_from(BITS).unwrap();
    let mut number = || match random.below(4) {
        0 => (1 << BITS) - 1,
        _ => random.next() >> (64 - BITS) >> random.below(bits),
    };
    let mut words = || -> Words { core::array::from_fn(|_| number()) };
    let mut numbers = || -> Vec<Words> { (0..count + 2).map(|_| words()).collect() };
    let (a, b) = (numbers(), numbers());
    let vector = |words: &Words| V::load(proof, words);
    let factors = |words: &[Words]| -> Vec<V::Factor> {
        words.iter().map(|words| vector(words).factor()).collect()
    };
    let (mut low, mut high) = (vector(&a[count]), vector(&a[count + 1]));
    let (factors_a, factors_b) = (factors(&a[..count]), factors(&b[..count]));
    V::add_products::<BITS>(&mut low, &mut high, &factors_a, &factors_b);
    let (mut lows, mut highs) = ([0; MAX_LANES], [0; MAX_LANES]);
    low.store(&mut lows);
    high.store(&mut highs);
    for lane in 0..V::LANES {
        let (mut low, mut high) = (a[count][lane], a[count + 1][lane]);
        for i in 0..count {
            let product = u128::from(a[i][lane]) * u128::from(b[count - 1 - i][lane]);
            low += u64::try_from(product % (1 << BITS)).unwrap();
            high += u64::try_from(product >> BITS).unwrap();
        }
        assert_eq!(
            (lows[lane], highs[lane]),
            (low, high),
            "{count} products of {BITS} bits"
        );
    }
}

/// Two columns of up to 23 products of digits.
fn check_columns<V: DigitLanes>(proof: V::Proof, random: &mut Random) {
    let count = random.below(24);
    let mut number = || match random.below(4) {
        0 => (1 << 52) - 1,
        1 => 0,
        _ => random.next() >> 12,
    };
    let mut numbers = |count: usize| -> Vec<Words> {
        let words = (0..count).map(|_| core::array::from_fn(|_| number()));
        words.collect()
    };
    let (a, b, begin) = (numbers(count), numbers(count + 1), numbers(3));
    let factors = |words: &[Words]| -> Vec<V::Factor> {
        let vectors = words.iter().map(|words| V::load(proof, words));
        vectors.map(DigitLanes::factor).collect()
    };
    let mut sums = core::array::from_fn(|i| V::load(proof, &begin[i]));
    V::add_two_columns(&mut sums, &factors(&a), &factors(&b));
    let mut results = [[0; MAX_LANES]; 3];
    for (result, sum) in results.iter_mut().zip(sums) {
        sum.store(result);
    }
    for lane in 0..V::LANES {
        let mut expected: [u64; 3] = core::array::from_fn(|i| begin[i][lane]);
        for (i, a) in a.iter().enumerate() {
            for column in 0..2 {
                let product = u128::from(a[lane]) * u128::from(b[count - 1 - i + column][lane]);
                expected[column] += u64::try_from(product % (1 << 52)).unwrap();
                expected[column + 1] += u64::try_from(product >> 52).unwrap();
            }
        }
        assert_eq!(
            results.map(|result| result[lane]),
            expected,
            "{count} products"
        );
    }
}

/// The low half of a product, which is a factor again.
fn check_low_products<V: DigitLanes>(proof: V::Proof, random: &mut Random) {
    let mut words = || -> Words { core::array::from_fn(|_| random.next() >> 12) };
    let (a, b) = (words(), words());
    let [x, y, one] = [a, b, [1; MAX_LANES]].map(|words| V::load(proof, &words).factor());
    let low = V::low_product(proof, x, y);
    let (mut sum, mut above) = (V::zero(proof), V::zero(proof));
    V::add_products::<52>(&mut sum, &mut above, &[low], &[one]);
    let mut lows = [0; MAX_LANES];
    sum.store(&mut lows);
    let expected: Words = core::array::from_fn(|i| a[i].wrapping_mul(b[i]) % (1 << 52));
    assert_eq!(lows[..V::LANES], expected[..V::LANES]);
}

/// Words of every size, and the ones at the edges.
fn check<V: DigitLanes>(proof: V::Proof, seed: u64) {
    let mut random = Random::new(seed);
    for round in 0..2000 {
        let mut words = || -> Words {
            core::array::from_fn(|_| match random.below(8) {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << random.below(64),
                3 => (1 << random.below(53)) - 1,
                _ => random.next() >> random.below(64),
            })
        };
        let (x, y, z) = (words(), words(), words());
        let bits = (x[3] ^ y[4].rotate_left(8)).to_le_bytes();
        let [a, b, c] = [x, y, z].map(|words| V::load(proof, &words));
        let (one, other) = (V::mask(proof, bits[0]), V::mask(proof, bits[1]));
        let digit = |word: u64| u128::from(word % (1 << 52));
        let is = |name: &str, vector: V, lane: &dyn Fn(usize) -> u64| {
            // Words that no lane has are left alone.
            let mut stored = [!0; MAX_LANES];
            vector.store(&mut stored);
            let lane = |i: usize| if i < V::LANES { lane(i) } else { !0 };
            assert_eq!(stored, core::array::from_fn(lane), "{name}, round {round}");
        };
        is("load", a, &|i| x[i]);
        is("splat", V::splat(a.proof(), x[1]), &|_| x[1]);
        is("zero", V::zero(proof), &|_| 0);
        is("add", a.add(b), &|i| x[i].wrapping_add(y[i]));
        is("sub", a.sub(b), &|i| x[i].wrapping_sub(y[i]));
        is("and", a.and(b), &|i| x[i] & y[i]);
        is("or", a.or(b), &|i| x[i] | y[i]);
        is("xor", a.xor(b), &|i| x[i] ^ y[i]);
        is("left 51", a.shift_left::<51>(), &|i| x[i] << 51);
        is("left 0", a.shift_left::<0>(), &|i| x[i]);
        is("right 63", a.shift_right::<63>(), &|i| x[i] >> 63);
        is("right 0", a.shift_right::<0>(), &|i| x[i]);
        is("signed 52", a.shift_right_signed::<52>(), &|i| {
            i64::cast_unsigned(x[i].cast_signed() >> 52)
        });
        is("signed 0", a.shift_right_signed::<0>(), &|i| x[i]);
        is("low", c.mul_add_low(a, b), &|i| {
            let low = digit(x[i]) * digit(y[i]) % (1 << 52);
            z[i].wrapping_add(u64::try_from(low).unwrap())
        });
        is("high", c.mul_add_high(a, b), &|i| {
            let high = digit(x[i]) * digit(y[i]) / (1 << 52);
            z[i].wrapping_add(u64::try_from(high).unwrap())
        });
        is("select", V::select(one, a, b), &|i| {
            if bits[0] >> i & 1 == 1 { x[i] } else { y[i] }
        });

        is("lookup", V::lookup(&[x, y], c), &|i| {
            let place = usize::try_from(z[i] % 16).unwrap();
            [x, y][place / MAX_LANES][place % MAX_LANES]
        });
        let rows: [Words; MAX_LANES] = core::array::from_fn(|_| words());
        for distance in [1, 2, 4]
            .into_iter()
            .filter(|distance| *distance < V::LANES)
        {
            is("crossed", a.crossed(distance), &|i| x[i ^ distance]);
        }

        is("first", a.first(), &|_| x[0]);
        let sum = x[..V::LANES]
            .iter()
            .fold(0, |sum: u64, &word| sum.wrapping_add(word));
        assert_eq!(a.sum(), sum, "sum, round {round}");

        let columns = V::transpose(proof, rows.each_ref());
        for (j, column) in columns.into_iter().enumerate() {
            is("transpose", column, &|i| rows[i][j]);
        }

        let bytes = random.bytes(16 * MAX_LANES + 5);
        let at: [*const u8; MAX_LANES] = core::array::from_fn(|i| bytes[16 * i..].as_ptr());
        // SAFETY: 21 bytes at least from each pointer on.
        #[allow(unsafe_code)]
        let (low, high) = unsafe { V::load_pairs(proof, at.as_ptr(), 5) };
        let word = |at: usize| u64::from_le_bytes(bytes[at..][..8].try_into().unwrap());
        is("low word", low, &|i| word(16 * i + 5));
        is("high word", high, &|i| word(16 * i + 13));

        // What lies before the first block need not be memory.
        let first = random.below(V::LANES);
        let blocks = &bytes[5..][..16 * (V::LANES - first)];
        let at = blocks.as_ptr().wrapping_sub(16 * first);
        // SAFETY: the slice has the blocks from the first on.
        #[allow(unsafe_code)]
        let (low, high) = unsafe { V::load_blocks(proof, at, first) };
        let of_block = |i: usize, half: usize| match i.checked_sub(first) {
            Some(block) => word(5 + 16 * block + 8 * half),
            None => 0,
        };
        is("low of blocks", low, &|i| of_block(i, 0));
        is("high of blocks", high, &|i| of_block(i, 1));

        let gather = |chosen: &dyn Fn(usize) -> bool| {
            (0..V::LANES).fold(0, |bits, lane| bits | u8::from(chosen(lane)) << lane)
        };
        let all = gather(&|_| true);
        assert_eq!(one.bits(), bits[0] & all);
        assert_eq!(one.and(other).bits(), bits[0] & bits[1] & all);
        assert_eq!(one.or(other).bits(), (bits[0] | bits[1]) & all);
        assert_eq!(one.xor(other).bits(), (bits[0] ^ bits[1]) & all);
        assert_eq!(one.not().bits(), !bits[0] & all);
        assert_eq!(a.is_zero().bits(), gather(&|i| x[i] == 0));
        assert_eq!(a.is_negative().bits(), gather(&|i| x[i] >> 63 == 1));
        assert_eq!(a.equals(b).bits(), gather(&|i| x[i] == y[i]));
    }
}

#[test]
fn sums_of_products() {
    for (seed, machine) in (1..).zip(machines()) {
        on!(machine.digits, |V, proof, seed: u64| {
            let mut random = Random::new(seed);
            for _ in 0..2000 {
                check_products::<V, 51>(proof, &mut random);
                check_products::<V, 52>(proof, &mut random);
                check_columns::<V>(proof, &mut random);
                check_low_products::<V>(proof, &mut random);
            }
        });
    }
}

#[test]
fn every_register() {
    for (seed, machine) in (1..).zip(machines()) {
        on!(machine.digits, |V, proof, seed: u64| check::<V>(
            proof, seed
        ));
    }
}
