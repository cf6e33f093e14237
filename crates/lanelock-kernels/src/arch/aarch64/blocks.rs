//! Registers of one AES block.

use core::arch::aarch64::*;

use super::detect::Neon;
use crate::aes::KeySize;
use crate::aes::rounds::{ANY, PerRounds, WithRounds};
use crate::arch::Block;
use crate::arch::blocks::{Kernel, Vector, one_block};
use crate::arch::register::Register;

/// Which registers AES runs on, with the proof that this CPU has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockSet {
    /// One block per register.
    Neon(Neon),
    /// One block in plain integers.
    Portable,
}

impl BlockSet {
    /// Runs `kernel` compiled for these registers.
    ///
    /// # Safety
    /// The contract of `kernel`.
    #[inline]
    pub(crate) unsafe fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the token proves that the CPU has the register's instructions; the kernel's
        // contract is the caller's.
        unsafe {
            match self {
                Self::Neon(proof) => NeonBlock::enter(proof, kernel),
                Self::Portable => Block::enter((), kernel),
            }
        }
    }

    /// Runs `kernel` compiled for these registers, and for the rounds of a key size where speed
    /// depends on that.
    ///
    /// # Safety
    /// The contract of `kernel`; every key of it has this size.
    #[inline]
    pub(crate) unsafe fn run_sized<K: PerRounds>(self, size: KeySize, kernel: K) {
        // SAFETY: as in `run`.
        unsafe {
            match (self, size) {
                (Self::Neon(proof), KeySize::Aes128) => {
                    NeonBlock::enter(proof, (kernel, WithRounds::<10>))
                }
                (Self::Neon(proof), KeySize::Aes192) => {
                    NeonBlock::enter(proof, (kernel, WithRounds::<12>))
                }
                (Self::Neon(proof), KeySize::Aes256) => {
                    NeonBlock::enter(proof, (kernel, WithRounds::<14>))
                }
                (Self::Portable, _) => Block::enter((), (kernel, WithRounds::<ANY>)),
            }
        }
    }

    /// As [`Self::run`], for a kernel that multiplies blocks.
    ///
    /// # Safety
    /// The contract of `kernel`.
    pub(crate) unsafe fn run_products<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the caller's promise.
        unsafe { self.run(kernel) }
    }

    /// As [`Self::run_sized`], for a kernel that multiplies blocks.
    ///
    /// # Safety
    /// The contract of `kernel`; every key of it has this size.
    pub(crate) unsafe fn run_sized_products<K: PerRounds>(self, size: KeySize, kernel: K) {
        // SAFETY: the caller's promise.
        unsafe { self.run_sized(size, kernel) }
    }

    /// As [`Self::run_products`], for a kernel that does little else.
    ///
    /// # Safety
    /// The contract of `kernel`.
    pub(crate) unsafe fn run_hash<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the caller's promise.
        unsafe { self.run(kernel) }
    }

    /// There is no choice of products.
    pub(crate) fn with_four_products(self, _: bool) -> Self {
        self
    }

    /// Whether products of blocks run beside rounds of AES, where that is known.
    pub(crate) fn multiplies_beside_rounds(self) -> bool {
        false
    }

    /// Blocks of a register.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Neon(_) => NeonBlock::BLOCKS,
            Self::Portable => Block::BLOCKS,
        }
    }

    /// The S-box on each byte of a word, if there is an instruction for it.
    pub(crate) fn sub_word(self) -> Option<unsafe fn(u32) -> u32> {
        match self {
            Self::Neon(_) => Some(sub_word),
            Self::Portable => None,
        }
    }
}

/// The S-box on each byte of a word.
///
/// # Safety
/// The CPU has AES.
#[target_feature(enable = "neon,aes")]
fn sub_word(word: u32) -> u32 {
    // The round also shifts rows, which changes nothing where all columns are alike.
    let columns = vreinterpretq_u8_u32(vdupq_n_u32(word));
    vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vaeseq_u8(columns, vdupq_n_u8(0))))
}

/// A register of 128 bits, and the proof of its instructions.
#[derive(Clone, Copy)]
pub(crate) struct NeonBlock(uint8x16_t, Neon);

const _: () = assert!(size_of::<NeonBlock>() == 16);

impl Register for NeonBlock {
    type Proof = Neon;

    #[inline(always)]
    fn proof(self) -> Neon {
        self.1
    }
}

/// Operations that are one expression of intrinsics over the registers of the operands.
macro_rules! operations {
    ($($name:ident = |$a:ident $(, $b:ident)*| $result:expr;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $b: Self)*) -> Self {
            let $a = self.0;
            $(let $b = $b.0;)*
            // SAFETY: `self.1` is the proof of the instructions.
            Self(unsafe { $result }, self.1)
        }
    )*};
}

impl Vector for NeonBlock {
    one_block!(Neon);

    #[inline(always)]
    fn zero(proof: Neon) -> Self {
        // SAFETY: the token is the proof of NEON.
        Self(unsafe { vdupq_n_u8(0) }, proof)
    }

    #[inline(always)]
    unsafe fn load(proof: Neon, from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes.
        Self(unsafe { vld1q_u8(from) }, proof)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's 16 bytes.
        unsafe { vst1q_u8(to, self.0) }
    }

    // Behind a barrier, the key of a round would be added by an instruction of its own.
    #[inline(always)]
    fn pin<const G: usize>(_: &mut [Self; G]) {}

    operations! {
        xor = |a, b| veorq_u8(a, b);
        xor3 = |a, b, c| veorq_u8(a, veorq_u8(b, c));
        and = |a, b| vandq_u8(a, b);
        aes_enc = |a, key| aes_enc(a, key);
        aes_enc_last = |a, key| aes_enc_last(a, key);
        aes_dec = |a, key| aes_dec(a, key);
        aes_dec_last = |a, key| aes_dec_last(a, key);
        reverse = |a| {
            let halves = vrev64q_u8(a);
            vextq_u8::<8>(halves, halves)
        };
        add32 = |a, b| {
            vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
        };
        add64 = |a, b| {
            vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)))
        };
        swap_halves = |a| vextq_u8::<8>(a, a);
        low_to_high = |a| vextq_u8::<8>(vdupq_n_u8(0), a);
        high_to_low = |a| vextq_u8::<8>(a, vdupq_n_u8(0));
        words_up = |a| vextq_u8::<12>(vdupq_n_u8(0), a);
        bytes_up = |a| vextq_u8::<15>(vdupq_n_u8(0), a);
        last_byte = |a| vextq_u8::<15>(a, vdupq_n_u8(0));
        last_word = |a| vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(a)));
        last_word_rotated = |a| {
            let word = vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(a));
            vreinterpretq_u8_u32(vsriq_n_u32::<8>(vshlq_n_u32::<24>(word), word))
        };
    }

    #[inline(always)]
    fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of PMULL.
        Self(unsafe { clmul::<HALVES>(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn shl64(self, bits: u32) -> Self {
        // SAFETY: `self.1` is the proof of NEON.
        let shifted = unsafe {
            let count = vdupq_n_s64(i64::from(bits.min(64)));
            vshlq_u64(vreinterpretq_u64_u8(self.0), count)
        };
        // SAFETY: as above.
        Self(unsafe { vreinterpretq_u8_u64(shifted) }, self.1)
    }

    #[inline(always)]
    fn shr64(self, bits: u32) -> Self {
        // SAFETY: `self.1` is the proof of NEON.
        let shifted = unsafe {
            // A negative count shifts to the right.
            let count = vdupq_n_s64(-i64::from(bits.min(64)));
            vshlq_u64(vreinterpretq_u64_u8(self.0), count)
        };
        // SAFETY: as above.
        Self(unsafe { vreinterpretq_u8_u64(shifted) }, self.1)
    }
}

// AESE and AESD add their key before the round, x86-64's add it after. What is added after a round meets
// the zero key of the next one, and the compiler makes one instruction of the two.

#[inline]
#[target_feature(enable = "neon,aes")]
fn aes_enc(a: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    veorq_u8(vaesmcq_u8(vaeseq_u8(a, vdupq_n_u8(0))), key)
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn aes_enc_last(a: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    veorq_u8(vaeseq_u8(a, vdupq_n_u8(0)), key)
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn aes_dec(a: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    veorq_u8(vaesimcq_u8(vaesdq_u8(a, vdupq_n_u8(0))), key)
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn aes_dec_last(a: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    veorq_u8(vaesdq_u8(a, vdupq_n_u8(0)), key)
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn clmul<const HALVES: i32>(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    let (a, b) = (vreinterpretq_p64_u8(a), vreinterpretq_p64_u8(b));
    vreinterpretq_u8_p128(match HALVES {
        0x00 => vmull_p64(vgetq_lane_p64::<0>(a), vgetq_lane_p64::<0>(b)),
        0x01 => vmull_p64(vgetq_lane_p64::<1>(a), vgetq_lane_p64::<0>(b)),
        0x10 => vmull_p64(vgetq_lane_p64::<0>(a), vgetq_lane_p64::<1>(b)),
        _ => vmull_high_p64(a, b),
    })
}
