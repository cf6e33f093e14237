//! The hash functions, each compression written once over a lane type.

#![allow(unsafe_code)] // passes schedules on by pointer

use super::block::{Block, Next};
use super::{Job, Kernels, schedule, sha1, sha2};
use crate::arch::sha;
use crate::arch::words::{Compression, Row, WideWord, Word, WordLanes};
use crate::machine::Machine;

/// A hash function of the SHA family; sealed.
///
/// Kernels rely on the lengths: a digest is no longer than a row of the function's words. No other
/// crate can implement this trait, or [`Compress`]:
///
/// ```compile_fail,E0277
/// use lanelock_kernels::hash::{Algorithm, Compress};
///
/// #[derive(Clone, Copy, Debug)]
/// struct Mine;
///
/// impl Compress for Mine {
///     type Word = u32;
///     const EXTENSION: Option<unsafe fn(*mut [u32; 8], *const *const u8, usize, usize)> = None;
///     fn has_extension(_: lanelock_kernels::Machine) -> bool { false }
///     const FEW: [usize; 4] = [1; 4];
///     unsafe fn compress<V, B, N>(_: &mut [V; 8], _: &mut B, _: N) {}
/// }
///
/// impl Algorithm for Mine {
///     const NAME: &'static str = "mine";
///     const DIGEST: usize = 64; // a row of 32-bit words has 32 bytes
///     const INITIAL: [u32; 8] = [0; 8];
/// }
/// ```
pub trait Algorithm: Compress {
    /// Its name as in the standard.
    const NAME: &'static str;
    /// Digest length in bytes; a multiple of the word.
    const DIGEST: usize;
    /// The initial chaining value.
    const INITIAL: Row<Self::Word>;

    /// Runs every job. Not generic in its implementations, like the functions below: the code of
    /// a tier is compiled in this crate, once.
    #[doc(hidden)]
    fn run(kernels: &Kernels<Self>, jobs: &mut [Job<'_, Self>]);

    /// What runs on `machine`.
    #[doc(hidden)]
    fn on(machine: Machine) -> &'static Kernels<Self>;
}

/// The compression function; sealed.
pub trait Compress: sealed::Sealed + Copy + core::fmt::Debug + Send + Sync + 'static {
    /// Word of the state and of the message schedule.
    type Word: WideWord;
    /// Block length in bytes: 16 words.
    const BLOCK: usize = 16 * Self::Word::BYTES;
    /// The compression by instructions made for it, if such exist.
    #[doc(hidden)]
    const EXTENSION: Option<Compression<Self::Word>>;
    /// Whether a machine has the instructions of [`Self::EXTENSION`].
    #[doc(hidden)]
    fn has_extension(machine: Machine) -> bool;
    /// Up to this many messages in flight, [`Self::EXTENSION`] is faster than lanes of 512 bits: where
    /// rounds of several messages overlap ([`Machine::sha_pace`]), and where they do not; then, than
    /// lanes of 256 bits, and than those where rounds of SHA-1 are sparse.
    #[doc(hidden)]
    const FEW: [usize; 4];

    /// One block of every lane; it is replaced by the next one, if there is one.
    ///
    /// # Safety
    /// The block is set, and whoever made `next` has that one.
    #[doc(hidden)]
    unsafe fn compress<V: WordLanes<Word = Self::Word>>(
        state: &mut [V; 8],
        block: &mut Block<V>,
        next: Next,
    );
}

mod sealed {
    /// A function of this module.
    pub trait Sealed {}
}

macro_rules! algorithm {
    ($(#[$doc:meta])* $type:ident, $name:literal, $word:ident, $digest:literal,
     $compress:path, $extension:expr, $proof:ident, $few:expr, $initial:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $type;

        impl Algorithm for $type {
            const NAME: &'static str = $name;
            const DIGEST: usize = $digest;
            const INITIAL: Row<$word> = $initial;

            #[inline(never)]
            fn run(kernels: &Kernels<Self>, jobs: &mut [Job<'_, Self>]) {
                schedule::run(kernels, jobs);
            }

            #[inline(never)]
            fn on(machine: Machine) -> &'static Kernels<Self> {
                Kernels::table(machine)
            }
        }

        impl sealed::Sealed for $type {}

        impl Compress for $type {
            type Word = $word;
            const EXTENSION: Option<Compression<$word>> = $extension;
            const FEW: [usize; 4] = $few;

            fn has_extension(machine: Machine) -> bool {
                machine.$proof.is_some()
            }

            #[inline(always)]
            unsafe fn compress<V: WordLanes<Word = $word>>(
                state: &mut [V; 8],
                block: &mut Block<V>,
                next: Next,
            ) {
                // SAFETY: the caller's promise, passed on.
                unsafe { $compress(state, block, next) }
            }
        }
    };
}

algorithm!(
    /// SHA-1 (FIPS 180-4): for HMAC and for protocols that still name it.
    Sha1,
    "SHA-1",
    u32,
    20,
    sha1::compress,
    sha::SHA1,
    sha,
    [8, 4, 32, 6],
    [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0, 0, 0, 0]
);
algorithm!(
    /// SHA-224 (FIPS 180-4).
    Sha224,
    "SHA-224",
    u32,
    28,
    sha2::compress_256,
    sha::SHA256,
    sha,
    [12, 8, 32, 32],
    [
        0xc105_9ed8, 0x367c_d507, 0x3070_dd17, 0xf70e_5939, 0xffc0_0b31, 0x6858_1511, 0x64f9_8fa7,
        0xbefa_4fa4,
    ]
);
algorithm!(
    /// SHA-256 (FIPS 180-4).
    Sha256,
    "SHA-256",
    u32,
    32,
    sha2::compress_256,
    sha::SHA256,
    sha,
    [12, 8, 32, 32],
    [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19,
    ]
);
algorithm!(
    /// SHA-384 (FIPS 180-4).
    Sha384,
    "SHA-384",
    u64,
    48,
    sha2::compress_512,
    sha::SHA512,
    sha512,
    [1; 4],
    [
        0xcbbb_9d5d_c105_9ed8, 0x629a_292a_367c_d507, 0x9159_015a_3070_dd17, 0x152f_ecd8_f70e_5939,
        0x6733_2667_ffc0_0b31, 0x8eb4_4a87_6858_1511, 0xdb0c_2e0d_64f9_8fa7, 0x47b5_481d_befa_4fa4,
    ]
);
algorithm!(
    /// SHA-512 (FIPS 180-4).
    Sha512,
    "SHA-512",
    u64,
    64,
    sha2::compress_512,
    sha::SHA512,
    sha512,
    [1; 4],
    [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]
);
