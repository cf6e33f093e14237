//! 128-bit registers: four 32-bit words or two 64-bit words.

use core::arch::aarch64::*;
use core::arch::asm;

use crate::arch::aarch64::detect::Neon;
use crate::arch::register::Register;
use crate::arch::words::{DoubleRow, LongLanes, Row, Rows, WordLanes};

/// Four lanes of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct U32x4(uint32x4_t, Neon);

/// Two lanes of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct U64x2(uint64x2_t, Neon);

const _: () = assert!(size_of::<U32x4>() == 16 && size_of::<U64x2>() == 16);

/// What has the same shape for both widths.
macro_rules! lanes {
    (
        $lanes:ident: $count:literal of $word:ident in $register:ident,
        $load:ident $store:ident $of_bytes:ident $swap:ident $transpose:ident,
        $splat:ident $add:ident $xor:ident $select:ident $left:ident $right:ident $insert:ident
    ) => {
        impl Register for $lanes {
            type Proof = Neon;

            #[inline(always)]
            fn proof(self) -> Neon {
                self.1
            }
        }

        impl $lanes {
            /// Rows as columns: `row` gives the registers of a lane one after the other.
            #[inline(always)]
            fn columns<const N: usize>(
                proof: Neon,
                row: impl Fn(usize, usize) -> $register,
            ) -> [Self; N] {
                let mut columns = [Self::splat(proof, 0); N];
                for part in 0..N / $count {
                    let mut rows = [columns[0].0; $count];
                    for lane in 0..$count {
                        rows[lane] = row(lane, part);
                    }
                    let words = $transpose(proof, rows);
                    for i in 0..$count {
                        columns[$count * part + i].0 = words[i];
                    }
                }
                columns
            }

            /// The inverse of [`Self::columns`]; `row` takes the lane, the register's number, and it.
            #[inline(always)]
            fn rows<const N: usize>(
                columns: [Self; N],
                row: impl Fn(usize, usize, $register),
            ) {
                for part in 0..N / $count {
                    let mut words = [columns[0].0; $count];
                    for i in 0..$count {
                        words[i] = columns[$count * part + i].0;
                    }
                    let rows = $transpose(columns[0].1, words);
                    for lane in 0..$count {
                        row(lane, part, rows[lane]);
                    }
                }
            }
        }

        // SAFETY: `COUNT` pointers or rows are read and written.
        unsafe impl WordLanes for $lanes {
            type Word = $word;
            const COUNT: usize = $count;

            #[inline(always)]
            fn splat(proof: Neon, word: $word) -> Self {
                // SAFETY: the token is the proof of NEON.
                Self(unsafe { $splat(word) }, proof)
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: `self.1` is the proof of NEON.
                Self(unsafe { $add(self.0, other.0) }, self.1)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $xor(self.0, other.0) }, self.1)
            }

            #[inline(always)]
            fn xor3(self, b: Self, c: Self) -> Self {
                self.xor(b).xor(c)
            }

            #[inline(always)]
            fn choose(self, b: Self, c: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $select(self.0, b.0, c.0) }, self.1)
            }

            #[inline(always)]
            fn majority(self, b: Self, c: Self) -> Self {
                // Where the first two differ, the third decides.
                self.xor(b).choose(c, self)
            }

            #[inline(always)]
            fn rotate<const R: i32, const L: i32>(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $insert::<R>($left::<L>(self.0), self.0) }, self.1)
            }

            #[inline(always)]
            fn shift<const N: i32>(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $right::<N>(self.0) }, self.1)
            }

            #[inline(always)]
            fn tie(self, other: Self) -> (Self, Self) {
                let (mut a, mut b) = (self.0, other.0);
                // SAFETY: no instruction is emitted; both registers keep their values.
                unsafe {
                    asm!(
                        "/* {0:v} {1:v} */",
                        inout(vreg) a,
                        inout(vreg) b,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                (Self(a, self.1), Self(b, self.1))
            }

            #[inline(always)]
            unsafe fn load_block(proof: Neon, at: *const *const u8, offset: usize) -> [Self; 16] {
                Self::columns(proof, |lane, part| {
                    // SAFETY: the token is the proof of NEON; the caller promises a pointer for each
                    // lane, and 16 words behind it.
                    unsafe {
                        let words = at.add(lane).read().add(offset + 16 * part);
                        $of_bytes($swap(vld1q_u8(words)))
                    }
                })
            }

            #[inline(always)]
            unsafe fn load(proof: Neon, words: *const $word) -> Self {
                // SAFETY: the caller promises the words of one register.
                Self(unsafe { $load(words) }, proof)
            }

            #[inline(always)]
            unsafe fn load_double_rows(proof: Neon, rows: *const DoubleRow<$word>) -> [Self; 16] {
                Self::columns(proof, |lane, part| {
                    // SAFETY: the caller promises a double row for each lane.
                    unsafe { $load(rows.add(lane).cast::<$word>().add($count * part)) }
                })
            }

            #[inline(always)]
            unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<$word>) {
                Self::rows(columns, |lane, part, row| {
                    // SAFETY: the caller promises a double row for each lane.
                    unsafe { $store(rows.add(lane).cast::<$word>().add($count * part), row) };
                });
            }

            #[inline(always)]
            unsafe fn xor_block(_: Neon, mask: *const u8, input: *const u8, output: *mut u8) {
                for at in [0, 16, 32, 48] {
                    // SAFETY: the token is the proof of NEON; the caller promises 64 bytes each.
                    unsafe {
                        let text = veorq_u8(vld1q_u8(mask.add(at)), vld1q_u8(input.add(at)));
                        vst1q_u8(output.add(at), text);
                    }
                }
            }

            #[inline(always)]
            unsafe fn load_rows(proof: Neon, rows: *const Row<$word>) -> [Self; 8] {
                Self::columns(proof, |lane, part| {
                    // SAFETY: the caller promises a row for each lane.
                    unsafe { $load(rows.add(lane).cast::<$word>().add($count * part)) }
                })
            }

            #[inline(always)]
            unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<$word>) {
                Self::rows(columns, |lane, part, row| {
                    // SAFETY: the caller promises a row for each lane.
                    unsafe { $store(rows.add(lane).cast::<$word>().add($count * part), row) };
                });
            }
        }
    };
}

lanes!(
    U32x4: 4 of u32 in uint32x4_t,
    vld1q_u32 vst1q_u32 vreinterpretq_u32_u8 vrev32q_u8 transpose_four,
    vdupq_n_u32 vaddq_u32 veorq_u32 vbslq_u32 vshlq_n_u32 vshrq_n_u32 vsriq_n_u32
);
lanes!(
    U64x2: 2 of u64 in uint64x2_t,
    vld1q_u64 vst1q_u64 vreinterpretq_u64_u8 vrev64q_u8 transpose_two,
    vdupq_n_u64 vaddq_u64 veorq_u64 vbslq_u64 vshlq_n_u64 vshrq_n_u64 vsriq_n_u64
);

/// Transposes 4 × 4 words of 32 bits.
#[inline(always)]
fn transpose_four(_: Neon, [a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    // SAFETY: the token is the proof of NEON.
    unsafe {
        let even = |a, b| vreinterpretq_u64_u32(vtrn1q_u32(a, b));
        let odd = |a, b| vreinterpretq_u64_u32(vtrn2q_u32(a, b));
        let (ab, cd) = (even(a, b), even(c, d));
        let (ab_odd, cd_odd) = (odd(a, b), odd(c, d));
        [
            vreinterpretq_u32_u64(vtrn1q_u64(ab, cd)),
            vreinterpretq_u32_u64(vtrn1q_u64(ab_odd, cd_odd)),
            vreinterpretq_u32_u64(vtrn2q_u64(ab, cd)),
            vreinterpretq_u32_u64(vtrn2q_u64(ab_odd, cd_odd)),
        ]
    }
}

/// Transposes 2 × 2 words of 64 bits.
#[inline(always)]
fn transpose_two(_: Neon, [a, b]: [uint64x2_t; 2]) -> [uint64x2_t; 2] {
    // SAFETY: the token is the proof of NEON.
    unsafe { [vtrn1q_u64(a, b), vtrn2q_u64(a, b)] }
}

// SAFETY: the loads and stores are of one register.
unsafe impl Rows for U32x4 {
    #[inline(always)]
    unsafe fn broadcast_row(proof: Neon, row: *const u32) -> Self {
        // SAFETY: the caller promises four words.
        unsafe { Self::load(proof, row) }
    }

    #[inline(always)]
    fn turn<const ORDER: i32>(self) -> Self {
        // SAFETY: `self.1` is the proof of NEON.
        let turned = unsafe {
            match ORDER {
                0x39 => vextq_u32::<1>(self.0, self.0),
                0x4e => vextq_u32::<2>(self.0, self.0),
                0x93 => vextq_u32::<3>(self.0, self.0),
                _ => unreachable!("rows are only rotated"),
            }
        };
        Self(turned, self.1)
    }

    #[inline(always)]
    unsafe fn load_of_rows(proof: Neon, from: *const DoubleRow<u32>) -> [Self; 4] {
        let from = from.cast::<u32>();
        // SAFETY: the caller promises one double row, of four registers.
        unsafe {
            [
                Self::load(proof, from),
                Self::load(proof, from.add(4)),
                Self::load(proof, from.add(8)),
                Self::load(proof, from.add(12)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn store_of_rows(rows: [Self; 4], to: *mut DoubleRow<u32>) {
        for i in 0..4 {
            // SAFETY: the caller promises one double row, of four registers.
            unsafe { vst1q_u32(to.cast::<u32>().add(4 * i), rows[i].0) };
        }
    }
}

// SAFETY: two pointers are read, two words written.
unsafe impl LongLanes for U64x2 {
    #[inline(always)]
    fn xor_and_not(self, b: Self, c: Self) -> Self {
        // SAFETY: `self.1` is the proof of NEON.
        Self(unsafe { veorq_u64(self.0, vbicq_u64(c.0, b.0)) }, self.1)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vandq_u64(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vshlq_n_u64::<N>(self.0) }, self.1)
    }

    // In assembly: where LLVM knows that the upper halves are zero it takes the intrinsic for a product
    // of whole words, which NEON has not, and multiplies in integer registers.
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        let product: uint64x2_t;
        // SAFETY: as above; the instruction touches registers alone.
        unsafe {
            asm!(
                "umull {product:v}.2d, {a:v}.2s, {b:v}.2s",
                product = lateout(vreg) product,
                a = in(vreg) vmovn_u64(self.0),
                b = in(vreg) vmovn_u64(other.0),
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        Self(product, self.1)
    }

    #[inline(always)]
    fn add_product(self, a: Self, b: Self) -> Self {
        let mut sum = self.0;
        // SAFETY: as in `multiply`.
        unsafe {
            asm!(
                "umlal {sum:v}.2d, {a:v}.2s, {b:v}.2s",
                sum = inlateout(vreg) sum,
                a = in(vreg) vmovn_u64(a.0),
                b = in(vreg) vmovn_u64(b.0),
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        Self(sum, self.1)
    }

    #[inline(always)]
    unsafe fn load_pairs(proof: Neon, at: *const *const u8, offset: usize) -> (Self, Self) {
        let [low, high] = Self::columns(proof, |lane, _| {
            // SAFETY: the caller promises a pointer for each lane, and 16 bytes behind it.
            unsafe { vreinterpretq_u64_u8(vld1q_u8(at.add(lane).read().add(offset))) }
        });
        (low, high)
    }

    #[inline(always)]
    unsafe fn load_words(proof: Neon, at: *const *const u8, offset: usize) -> [Self; 8] {
        Self::columns(proof, |lane, part| {
            // SAFETY: the caller promises a pointer for each lane, and 64 bytes behind it.
            unsafe {
                let words = at.add(lane).read().add(offset + 16 * part);
                vreinterpretq_u64_u8(vld1q_u8(words))
            }
        })
    }

    #[inline(always)]
    unsafe fn store(self, words: *mut u64) {
        // SAFETY: the caller promises room for one register.
        unsafe { vst1q_u64(words, self.0) }
    }
}
