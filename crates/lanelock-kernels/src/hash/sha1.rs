//! SHA-1 compression over any lane type (FIPS 180-4, section 6.1.2).

#![allow(unsafe_code)] // the schedule is raw memory

use crate::arch::words::WordLanes;

/// One constant for every twenty rounds.
const K: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// One block of every lane; `state[5..]` stays as it is.
///
/// Five rounds are unrolled, after which the state is in its registers again: the code of a
/// compression is a few cache lines, so that short messages, which leave it after a block or two,
/// do not wait for instructions.
///
/// # Safety
/// `w` is valid for writing [`SCHEDULE`](super::SCHEDULE) elements, and the first 16, the block,
/// are initialised.
#[inline(always)]
pub(crate) unsafe fn compress<V: WordLanes<Word = u32>>(state: &mut [V; 8], mut w: *mut V) {
    let [a, b, c, d, e, ..] = *state;
    let mut s = [a, b, c, d, e];
    let proof = a.proof();
    let [k0, k1, k2, k3] = [
        V::splat(proof, K[0]),
        V::splat(proof, K[1]),
        V::splat(proof, K[2]),
        V::splat(proof, K[3]),
    ];
    // SAFETY: 80 rounds read one word each, and the first 64 of them write the one 16 further on
    // from words before it.
    unsafe {
        macro_rules! rounds {
            ($count:literal, $k:ident, $function:ident, $extend:literal) => {
                for _ in 0..$count {
                    s = five::<V, $function, $extend>(s, w, $k);
                    w = w.add(5);
                }
            };
        }
        rounds!(4, k0, CHOOSE, 5);
        rounds!(4, k1, PARITY, 5);
        rounds!(4, k2, MAJORITY, 5);
        rounds!(1, k3, PARITY, 4);
        rounds!(3, k3, PARITY, 0);
    }
    for i in 0..5 {
        state[i] = state[i].add(s[i]);
    }
}

const CHOOSE: u8 = 0;
const PARITY: u8 = 1;
const MAJORITY: u8 = 2;

/// Five rounds; the first `EXTEND` of them also compute the word that is needed 16 rounds later.
///
/// # Safety
/// `w` is valid for 21 elements, of which the first 16 are initialised.
#[inline(always)]
unsafe fn five<V: WordLanes<Word = u32>, const FUNCTION: u8, const EXTEND: usize>(
    [mut a, mut b, mut c, mut d, mut e]: [V; 5],
    w: *mut V,
    k: V,
) -> [V; 5] {
    macro_rules! round {
        ($a:ident $b:ident $c:ident $d:ident $e:ident, $t:expr) => {
            // SAFETY: `$t` + 16 ≤ 20; the words behind it were written in earlier rounds.
            let word = unsafe { w.add($t).read() };
            if $t < EXTEND {
                // SAFETY: as above.
                unsafe {
                    let mixed = w.add($t + 13).read();
                    let mixed = mixed.xor3(w.add($t + 8).read(), w.add($t + 2).read());
                    w.add($t + 16).write(mixed.xor(word).rotate::<31, 1>());
                }
            }
            // Everything that does not wait for the previous round's `a` is summed first.
            let rest = $e.add(word).add(k);
            let mixed = match FUNCTION {
                CHOOSE => $b.choose($c, $d),
                MAJORITY => $b.majority($c, $d),
                _ => $b.xor3($c, $d),
            };
            $e = rest.add(mixed).add($a.rotate::<27, 5>()).in_step();
            $b = $b.rotate::<2, 30>();
        };
    }
    round!(a b c d e, 0);
    round!(e a b c d, 1);
    round!(d e a b c, 2);
    round!(c d e a b, 3);
    round!(b c d e a, 4);
    [a, b, c, d, e]
}
