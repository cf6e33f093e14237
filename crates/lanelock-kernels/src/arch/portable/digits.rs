//! Eight plain integers: any CPU, and what the tests and the check for secret-dependent branches
//! run on.

use crate::arch::digits::{self, DIGIT_BITS, DigitLanes, MAX_LANES, Mask, Words};
use crate::arch::register::Register;
use crate::wipe::Plain;

/// Eight lanes in an array.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Portable(Words);

/// All ones in the lanes that are chosen, zero in the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableMask(Words);

// SAFETY: integers.
unsafe impl Plain for Portable {}

const DIGIT: u64 = (1 << DIGIT_BITS) - 1;

/// `f` lane by lane.
#[inline(always)]
fn each(a: Words, b: Words, f: impl Fn(u64, u64) -> u64) -> Words {
    let mut result = a;
    for lane in 0..MAX_LANES {
        result[lane] = f(a[lane], b[lane]);
    }
    result
}

// What takes some instructions is a function: the kernels inline everything, and this is not the
// code that has to be fast.
impl Register for Portable {
    type Proof = ();

    #[inline(never)]
    fn proof(self) {}
}

impl DigitLanes for Portable {
    type Mask = PortableMask;
    type Factor = Self;

    const LANES: usize = MAX_LANES;
    const IN_REGISTERS: bool = false;
    const BY_COLUMNS: bool = false;

    #[inline(never)]
    fn splat((): (), word: u64) -> Self {
        Self([word; MAX_LANES])
    }

    #[inline(never)]
    fn load((): (), words: &Words) -> Self {
        Self(*words)
    }

    #[inline(never)]
    fn store(self, words: &mut Words) {
        *words = self.0;
    }

    #[inline(never)]
    fn add(self, other: Self) -> Self {
        Self(each(self.0, other.0, u64::wrapping_add))
    }

    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        Self(each(self.0, other.0, u64::wrapping_sub))
    }

    #[inline(never)]
    fn and(self, other: Self) -> Self {
        Self(each(self.0, other.0, |a, b| a & b))
    }

    #[inline(never)]
    fn or(self, other: Self) -> Self {
        Self(each(self.0, other.0, |a, b| a | b))
    }

    #[inline(never)]
    fn xor(self, other: Self) -> Self {
        Self(each(self.0, other.0, |a, b| a ^ b))
    }

    #[inline(never)]
    fn shift_left<const N: u32>(self) -> Self {
        Self(each(self.0, self.0, |a, _| a << N))
    }

    #[inline(never)]
    fn shift_right<const N: u32>(self) -> Self {
        Self(each(self.0, self.0, |a, _| a >> N))
    }

    #[inline(never)]
    fn shift_right_signed<const N: u32>(self) -> Self {
        Self(each(self.0, self.0, |a, _| {
            (a.cast_signed() >> N).cast_unsigned()
        }))
    }

    #[inline(never)]
    fn mul_add_low(self, a: Self, b: Self) -> Self {
        let low = each(a.0, b.0, |a, b| (a & DIGIT).wrapping_mul(b & DIGIT) & DIGIT);
        self.add(Self(low))
    }

    #[inline(never)]
    #[allow(clippy::cast_possible_truncation)] // 52 bits remain
    fn mul_add_high(self, a: Self, b: Self) -> Self {
        let high = each(a.0, b.0, |a, b| {
            ((u128::from(a & DIGIT) * u128::from(b & DIGIT)) >> DIGIT_BITS) as u64
        });
        self.add(Self(high))
    }

    #[inline(always)]
    fn factor(self) -> Self {
        self
    }

    #[inline(always)]
    fn add_products<const BITS: u32>(low: &mut Self, high: &mut Self, a: &[Self], b: &[Self]) {
        digits::add_products::<Self, BITS>(low, high, a, b);
    }

    #[inline(never)]
    fn is_zero(self) -> PortableMask {
        // Of a number and its negative, at least one has the top bit, unless it is zero.
        PortableMask(each(self.0, self.0, |a, _| {
            ((a | a.wrapping_neg()) >> 63).wrapping_sub(1)
        }))
    }

    #[inline(never)]
    fn is_negative(self) -> PortableMask {
        PortableMask(self.shift_right_signed::<63>().0)
    }

    #[inline(never)]
    fn select(mask: PortableMask, a: Self, b: Self) -> Self {
        // The compiler must not find out that the mask is a choice, and make it a branch.
        let mask = core::hint::black_box(mask);
        b.xor(a.xor(b).and(Self(mask.0)))
    }

    #[inline(never)]
    fn lookup(table: &[Words; 2], index: Self) -> Self {
        let mut found = Self([0; MAX_LANES]);
        for (place, word) in (0..).zip(table.iter().flatten()) {
            let here = index
                .and(Self([15; MAX_LANES]))
                .equals(Self([place; MAX_LANES]));
            found = Self::select(here, Self([*word; MAX_LANES]), found);
        }
        found
    }

    #[inline(never)]
    fn transpose((): (), rows: [&Words; MAX_LANES]) -> [Self; MAX_LANES] {
        let mut columns = [Self([0; MAX_LANES]); MAX_LANES];
        for lane in 0..MAX_LANES {
            for j in 0..MAX_LANES {
                columns[j].0[lane] = rows[lane][j];
            }
        }
        columns
    }

    #[inline(never)]
    unsafe fn load_pairs((): (), at: *const *const u8, offset: usize) -> (Self, Self) {
        let (mut low, mut high) = ([0; MAX_LANES], [0; MAX_LANES]);
        for lane in 0..MAX_LANES {
            // SAFETY: one of the caller's pointers, valid for both words.
            let words = unsafe {
                at.add(lane)
                    .read()
                    .add(offset)
                    .cast::<[[u8; 8]; 2]>()
                    .read()
            };
            [low[lane], high[lane]] = words.map(u64::from_le_bytes);
        }
        (Self(low), Self(high))
    }

    #[inline(never)]
    fn mask((): (), bits: u8) -> PortableMask {
        let mut mask = [0; MAX_LANES];
        for lane in 0..MAX_LANES {
            mask[lane] = 0_u64.wrapping_sub(u64::from(bits >> lane & 1));
        }
        PortableMask(mask)
    }
}

impl Mask for PortableMask {
    #[inline(never)]
    fn bits(self) -> u8 {
        let mut bits = 0;
        for lane in 0..MAX_LANES {
            bits |= self.0[lane].to_le_bytes()[0] & 1 << lane;
        }
        bits
    }

    #[inline(never)]
    fn and(self, other: Self) -> Self {
        Self(each(self.0, other.0, |a, b| a & b))
    }

    #[inline(never)]
    fn or(self, other: Self) -> Self {
        Self(each(self.0, other.0, |a, b| a | b))
    }

    #[inline(never)]
    fn xor(self, other: Self) -> Self {
        Self(each(self.0, other.0, |a, b| a ^ b))
    }

    #[inline(never)]
    fn not(self) -> Self {
        Self(each(self.0, self.0, |a, _| !a))
    }
}
