//! SHA-2 compression over any lane type (FIPS 180-4, sections 6.2.2 and 6.4.2).

#![allow(unsafe_code)] // words are kept, and the next block is read, by pointer

use super::block::{Block, Held, Next, Words, Written};
use crate::arch::words::WordLanes;

/// The same function for both word sizes; they differ in constants, rotations and rounds.
macro_rules! sha2 {
    ($(#[$doc:meta])* $compress:ident, $eight:ident, $word:ident, $bits:literal, $k:ident,
     ($A0:literal, $A1:literal, $A2:literal), ($E0:literal, $E1:literal, $E2:literal),
     ($w0:literal, $w1:literal, >> $w2:literal), ($v0:literal, $v1:literal, >> $v2:literal)) => {
        $(#[$doc])*
        /// The block is replaced by the next one, if there is one.
        ///
        /// # Safety
        /// The block is set, and whoever made `next` has that one.
        #[inline(always)]
        pub(super) unsafe fn $compress<V: WordLanes<Word = $word>>(
            state: &mut [V; 8],
            block: &mut Block<V>,
            next: Next,
        ) {
            let mut s = *state;
            let (extended, last) = const {
                let k = $k.as_flattened().as_chunks::<8>().0;
                k.split_at(k.len() - 2)
            };
            // SAFETY: the caller's promises. What the last sixteen rounds read, those before have extended the
            // block by.
            unsafe {
                if V::HOLDS_BLOCKS {
                    let words = block.words();
                    let mut w = Held { words, block, next };
                    for k in extended.as_chunks::<2>().0 {
                        s = $eight::<V, _, 0, true>(s, &mut w, &k[0]);
                        s = $eight::<V, _, 8, true>(s, &mut w, &k[1]);
                    }
                    s = $eight::<V, _, 0, false>(s, &mut w, &last[0]);
                    s = $eight::<V, _, 8, false>(s, &mut w, &last[1]);
                } else {
                    // Eight at a time: more code is slower.
                    let mut w = Written::of(block);
                    for k in extended {
                        s = $eight::<V, _, 0, true>(s, &mut w, k);
                        w.advance();
                    }
                    for k in last {
                        s = $eight::<V, _, 0, false>(s, &mut w, k);
                        w.advance();
                    }
                    next.load(s[0].proof(), block);
                }
            }
            for i in 0..8 {
                state[i] = state[i].add(s[i]);
            }
        }

        /// Eight rounds, the first of which is number `FIRST` to the words. With `EXTEND`, each also computes the
        /// word that is needed sixteen rounds later.
        ///
        /// # Safety
        /// The contracts of `w`.
        #[inline(always)]
        unsafe fn $eight<
            V: WordLanes<Word = $word>,
            W: Words<V>,
            const FIRST: usize,
            const EXTEND: bool,
        >(
            state: [V; 8],
            w: &mut W,
            k: &[$word; 8],
        ) -> [V; 8] {
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
            let proof = a.proof();
            macro_rules! round {
                ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $t:expr) => {
                    let t = FIRST + $t;
                    // SAFETY: the caller's promise.
                    let word = unsafe { w.get(t, 0) };
                    if EXTEND {
                        // SAFETY: as above.
                        let (near, middle, far) = unsafe { (w.get(t, 1), w.get(t, 9), w.get(t, 14)) };
                        let near = near
                            .rotate::<$w0, { $bits - $w0 }>()
                            .xor3(near.rotate::<$w1, { $bits - $w1 }>(), near.shift::<$w2>());
                        let far = far
                            .rotate::<$v0, { $bits - $v0 }>()
                            .xor3(far.rotate::<$v1, { $bits - $v1 }>(), far.shift::<$v2>());
                        let word = word.add(middle).add(near).add(far).here();
                        // SAFETY: as above.
                        unsafe { w.extend(t, word) };
                    }
                    let rest = $h.add(word.add(V::splat(proof, k[$t])));
                    // Else the compiler would add the constant last, and the next round wait for that.
                    let rest = if V::HOLDS_BLOCKS { rest.here() } else { rest };
                    let sigma = $e
                        .rotate::<$E0, { $bits - $E0 }>()
                        .xor3($e.rotate::<$E1, { $bits - $E1 }>(), $e.rotate::<$E2, { $bits - $E2 }>());
                    let first = rest.add($e.choose($f, $g)).add(sigma);
                    let sigma = $a
                        .rotate::<$A0, { $bits - $A0 }>()
                        .xor3($a.rotate::<$A1, { $bits - $A1 }>(), $a.rotate::<$A2, { $bits - $A2 }>());
                    $d = $d.add(first).here();
                    $h = sigma.add($a.majority($b, $c)).add(first).here();
                    if !EXTEND {
                        // SAFETY: as above.
                        unsafe { w.behind(t) }
                    }
                };
            }
            round!(a b c d e f g h, 0);
            round!(h a b c d e f g, 1);
            round!(g h a b c d e f, 2);
            round!(f g h a b c d e, 3);
            round!(e f g h a b c d, 4);
            round!(d e f g h a b c, 5);
            round!(c d e f g h a b, 6);
            round!(b c d e f g h a, 7);
            [a, b, c, d, e, f, g, h]
        }
    };
}

sha2!(
    /// One block of every lane: SHA-256 and SHA-224.
    compress_256, eight_256, u32, 32, K256,
    (2, 13, 22), (6, 11, 25), (7, 18, >> 3), (17, 19, >> 10)
);
sha2!(
    /// One block of every lane: SHA-512 and SHA-384.
    compress_512, eight_512, u64, 64, K512,
    (28, 34, 39), (14, 18, 41), (1, 8, >> 7), (19, 61, >> 6)
);

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
pub(crate) const K256: [[u32; 16]; 4] = [
    [
        0x428a_2f98,
        0x7137_4491,
        0xb5c0_fbcf,
        0xe9b5_dba5,
        0x3956_c25b,
        0x59f1_11f1,
        0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98,
        0x1283_5b01,
        0x2431_85be,
        0x550c_7dc3,
        0x72be_5d74,
        0x80de_b1fe,
        0x9bdc_06a7,
        0xc19b_f174,
    ],
    [
        0xe49b_69c1,
        0xefbe_4786,
        0x0fc1_9dc6,
        0x240c_a1cc,
        0x2de9_2c6f,
        0x4a74_84aa,
        0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152,
        0xa831_c66d,
        0xb003_27c8,
        0xbf59_7fc7,
        0xc6e0_0bf3,
        0xd5a7_9147,
        0x06ca_6351,
        0x1429_2967,
    ],
    [
        0x27b7_0a85,
        0x2e1b_2138,
        0x4d2c_6dfc,
        0x5338_0d13,
        0x650a_7354,
        0x766a_0abb,
        0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1,
        0xa81a_664b,
        0xc24b_8b70,
        0xc76c_51a3,
        0xd192_e819,
        0xd699_0624,
        0xf40e_3585,
        0x106a_a070,
    ],
    [
        0x19a4_c116,
        0x1e37_6c08,
        0x2748_774c,
        0x34b0_bcb5,
        0x391c_0cb3,
        0x4ed8_aa4a,
        0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee,
        0x78a5_636f,
        0x84c8_7814,
        0x8cc7_0208,
        0x90be_fffa,
        0xa450_6ceb,
        0xbef9_a3f7,
        0xc671_78f2,
    ],
];
/// The first 64 bits of the fractional parts of the cube roots of the first 80 primes.
pub(crate) const K512: [[u64; 16]; 5] = [
    [
        0x428a_2f98_d728_ae22,
        0x7137_4491_23ef_65cd,
        0xb5c0_fbcf_ec4d_3b2f,
        0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538,
        0x59f1_11f1_b605_d019,
        0x923f_82a4_af19_4f9b,
        0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242,
        0x1283_5b01_4570_6fbe,
        0x2431_85be_4ee4_b28c,
        0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f,
        0x80de_b1fe_3b16_96b1,
        0x9bdc_06a7_25c7_1235,
        0xc19b_f174_cf69_2694,
    ],
    [
        0xe49b_69c1_9ef1_4ad2,
        0xefbe_4786_384f_25e3,
        0x0fc1_9dc6_8b8c_d5b5,
        0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275,
        0x4a74_84aa_6ea6_e483,
        0x5cb0_a9dc_bd41_fbd4,
        0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab,
        0xa831_c66d_2db4_3210,
        0xb003_27c8_98fb_213f,
        0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2,
        0xd5a7_9147_930a_a725,
        0x06ca_6351_e003_826f,
        0x1429_2967_0a0e_6e70,
    ],
    [
        0x27b7_0a85_46d2_2ffc,
        0x2e1b_2138_5c26_c926,
        0x4d2c_6dfc_5ac4_2aed,
        0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de,
        0x766a_0abb_3c77_b2a8,
        0x81c2_c92e_47ed_aee6,
        0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364,
        0xa81a_664b_bc42_3001,
        0xc24b_8b70_d0f8_9791,
        0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218,
        0xd699_0624_5565_a910,
        0xf40e_3585_5771_202a,
        0x106a_a070_32bb_d1b8,
    ],
    [
        0x19a4_c116_b8d2_d0c8,
        0x1e37_6c08_5141_ab53,
        0x2748_774c_df8e_eb99,
        0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63,
        0x4ed8_aa4a_e341_8acb,
        0x5b9c_ca4f_7763_e373,
        0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc,
        0x78a5_636f_4317_2f60,
        0x84c8_7814_a1f0_ab72,
        0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28,
        0xa450_6ceb_de82_bde9,
        0xbef9_a3f7_b2c6_7915,
        0xc671_78f2_e372_532b,
    ],
    [
        0xca27_3ece_ea26_619c,
        0xd186_b8c7_21c0_c207,
        0xeada_7dd6_cde0_eb1e,
        0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba,
        0x0a63_7dc5_a2c8_98a6,
        0x113f_9804_bef9_0dae,
        0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84,
        0x32ca_ab7b_40c7_2493,
        0x3c9e_be0a_15c9_bebc,
        0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6,
        0x597f_299c_fc65_7e2a,
        0x5fcb_6fab_3ad6_faec,
        0x6c44_198c_4a47_5817,
    ],
];
