//! Poly1305 in lanes of 64-bit words: five limbs of 26 bits, whose products of 32 by 32 bits every
//! register has. One register is in flight: its multiplications take as long as its carries wait.

#![allow(unsafe_code)] // loads through per-lane pointers

use super::BLOCK;
use super::field::{MASK_42, MASK_44};
use super::lanes::{Columns, LANES};
use crate::arch::digits::Words;
use crate::arch::words::{Kernel, LongLanes, Registers, WordLanes};

const MASK_26: u64 = (1 << 26) - 1;

/// Absorbs `blocks` blocks in each of the first `lanes` lanes.
///
/// # Safety
/// The first `lanes` pointers, rounded up to a register, are valid for reading `blocks` blocks.
pub(super) struct Absorb<'c> {
    pub columns: &'c mut Columns,
    pub at: &'c [*const u8; LANES],
    pub lanes: usize,
    pub blocks: usize,
}

impl Kernel for Absorb<'_> {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        const { assert!(LANES.is_multiple_of(S::U64::COUNT)) };
        for lane in (0..self.lanes).step_by(S::U64::COUNT) {
            // SAFETY: a register's pointers from `lane` on, below `lanes` rounded up.
            unsafe {
                let at = self.at.as_ptr().add(lane);
                absorb::<S::U64>(proof, self.columns, lane, at, self.blocks);
            }
        }
    }
}

/// Absorbs `blocks` blocks in each lane of the register that begins with `lane`.
///
/// # Safety
/// `at` is valid for a register of pointers, each valid for reading `blocks` blocks; the register
/// ends at or before the last lane.
#[inline(always)]
unsafe fn absorb<V: LongLanes>(
    proof: V::Proof,
    columns: &mut Columns,
    lane: usize,
    at: *const *const u8,
    blocks: usize,
) {
    let mask = V::splat(proof, MASK_26);
    let high_bit = V::splat(proof, 1 << 24); // 2¹²⁸ above the block
    let mut h = narrow::<V>(load(proof, &columns.h, lane));
    let r = narrow::<V>(load(proof, &columns.r, lane));
    let mut s = r;
    for limb in &mut s {
        // 2¹³⁰ ≡ 5.
        *limb = limb.add(limb.shift_left::<2>());
    }
    for block in 0..blocks {
        // SAFETY: a register's pointers, each with this block after it.
        let (low, high) = unsafe { V::load_pairs(proof, at, block * BLOCK) };
        // Blocks below 2²⁶ a limb, sums below 2²⁷ + 2¹¹: five products with 5 r are below 2⁵⁹.
        let a = [
            h[0].add(low.and(mask)),
            h[1].add(low.shift::<26>().and(mask)),
            h[2].add(low.shift::<52>().add(high.shift_left::<12>().and(mask))),
            h[3].add(high.shift::<14>().and(mask)),
            h[4].add(high.shift::<40>().add(high_bit)),
        ];
        macro_rules! sum {
            ($v:expr, $w:expr, $x:expr, $y:expr, $z:expr) => {{
                let early = a[1].multiply($w).add_product(a[2], $x);
                let late = a[3].multiply($y).add_product(a[4], $z);
                early.add(late).add_product(a[0], $v)
            }};
        }
        let d0 = sum!(r[0], s[4], s[3], s[2], s[1]);
        let d1 = sum!(r[1], r[0], s[4], s[3], s[2]);
        let d2 = sum!(r[2], r[1], r[0], s[4], s[3]);
        let d3 = sum!(r[3], r[2], r[1], r[0], s[4]);
        let d4 = sum!(r[4], r[3], r[2], r[1], r[0]);
        h = carry(mask, [d0, d1, d2, d3, d4]);
    }
    for (words, limb) in columns.h.iter_mut().zip(widen(h)) {
        let words = &mut words.as_flattened_mut()[lane..lane + V::COUNT];
        // SAFETY: the words of one register.
        unsafe { limb.store(words.as_mut_ptr()) };
    }
}

/// The limbs of the register that begins with `lane`.
#[inline(always)]
fn load<V: LongLanes>(proof: V::Proof, words: &[[Words; 2]; 3], lane: usize) -> [V; 3] {
    let mut limbs = [V::splat(proof, 0); 3];
    for (limb, words) in limbs.iter_mut().zip(words) {
        let words = &words.as_flattened()[lane..lane + V::COUNT];
        // SAFETY: the words of one register.
        *limb = unsafe { V::load(proof, words.as_ptr()) };
    }
    limbs
}

/// Carries, two at a time side by side: limbs below 2²⁶ but for two of them, which are up to 2¹¹
/// larger.
#[inline(always)]
fn carry<V: LongLanes>(mask: V, [d0, d1, d2, d3, d4]: [V; 5]) -> [V; 5] {
    let d4 = d4.add(d3.shift::<26>());
    let d1 = d1.add(d0.shift::<26>());
    let (h3, h0) = (d3.and(mask), d0.and(mask));
    let over = d4.shift::<26>();
    let d2 = d2.add(d1.shift::<26>());
    let (h4, h1) = (d4.and(mask), d1.and(mask));
    let h0 = h0.add(over).add(over.shift_left::<2>());
    let h3 = h3.add(d2.shift::<26>());
    let h2 = d2.and(mask);
    let h1 = h1.add(h0.shift::<26>());
    let h4 = h4.add(h3.shift::<26>());
    [h0.and(mask), h1, h2, h3.and(mask), h4]
}

/// Limbs of 26 bits from those of 44, 44 and 42 bits, which are below 2⁴⁶.
#[inline(always)]
fn narrow<V: LongLanes>([a, b, c]: [V; 3]) -> [V; 5] {
    let proof = a.proof();
    let (mask_44, mask_42) = (V::splat(proof, MASK_44), V::splat(proof, MASK_42));
    let mask_26 = V::splat(proof, MASK_26);
    let b = b.add(a.shift::<44>());
    let c = c.add(b.shift::<44>());
    let over = c.shift::<42>();
    let a = a.and(mask_44).add(over).add(over.shift_left::<2>());
    let (b, c) = (b.and(mask_44), c.and(mask_42));
    [
        a.and(mask_26),
        a.shift::<26>().add(b.shift_left::<18>().and(mask_26)),
        b.shift::<8>().and(mask_26),
        b.shift::<34>().add(c.shift_left::<10>().and(mask_26)),
        c.shift::<16>(),
    ]
}

/// The inverse of [`narrow`], of limbs below 2²⁷.
#[inline(always)]
fn widen<V: LongLanes>([h0, h1, h2, h3, h4]: [V; 5]) -> [V; 3] {
    let mask_44 = V::splat(h0.proof(), MASK_44);
    let a = h0.add(h1.shift_left::<26>());
    let b = h2.shift_left::<8>().add(h3.shift_left::<34>());
    let b = b.add(a.shift::<44>());
    let c = h4.shift_left::<16>().add(b.shift::<44>());
    [a.and(mask_44), b.and(mask_44), c]
}
