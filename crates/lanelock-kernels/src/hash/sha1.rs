//! SHA-1 compression over any lane type (FIPS 180-4, section 6.1.2).

#![allow(unsafe_code)] // the next block is read by pointer

use super::block::{Block, Next};
use crate::arch::words::WordLanes;

/// One constant for every twenty rounds.
const K: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// One block of every lane; `state[5..]` stays as it is. The block is replaced by the next one, if there is
/// one.
///
/// # Safety
/// The block is set, and whoever made `next` has that one.
#[inline(always)]
pub(super) unsafe fn compress<V: WordLanes<Word = u32>>(
    state: &mut [V; 8],
    block: &mut Block<V>,
    next: Next,
) {
    // Where there are registers for the words, they never go to memory.
    // SAFETY: the caller's promise.
    let mut w = unsafe { block.words() };
    let [a, b, c, d, e, ..] = *state;
    let mut s = [a, b, c, d, e];
    macro_rules! rounds {
        ($($function:ident, $extend:literal, $($t:literal)*;)*) => {$(
            $(s = round::<V, $function, $extend>(s, &mut w, $t);)*
        )*};
    }
    macro_rules! load {
        ($eighth:literal) => {
            // SAFETY: the caller's promise.
            unsafe { next.load_eighth(a.proof(), $eighth, block) }
        };
    }
    rounds!(CHOOSE, true, 0 1 2 3 4 5 6 7 8 9;);
    load!(0);
    rounds!(CHOOSE, true, 10 11 12 13 14 15 16 17 18 19;);
    load!(1);
    rounds!(PARITY, true, 20 21 22 23 24 25 26 27 28 29;);
    load!(2);
    rounds!(PARITY, true, 30 31 32 33 34 35 36 37 38 39;);
    load!(3);
    rounds!(MAJORITY, true, 40 41 42 43 44 45 46 47 48 49;);
    load!(4);
    rounds!(MAJORITY, true, 50 51 52 53 54 55 56 57 58 59;);
    load!(5);
    rounds!(PARITY, true, 60 61 62 63; PARITY, false, 64 65 66 67 68 69;);
    load!(6);
    rounds!(PARITY, false, 70 71 72 73 74 75 76 77 78 79;);
    load!(7);
    for i in 0..5 {
        state[i] = state[i].add(s[i]);
    }
}

const CHOOSE: u8 = 0;
const PARITY: u8 = 1;
const MAJORITY: u8 = 2;

/// Round `t`; with `EXTEND`, it also computes the word that is needed sixteen rounds later, in the place of its
/// own.
#[inline(always)]
fn round<V: WordLanes<Word = u32>, const FUNCTION: u8, const EXTEND: bool>(
    [a, b, c, d, e]: [V; 5],
    w: &mut [V; 16],
    t: usize,
) -> [V; 5] {
    let word = w[t % 16];
    if EXTEND {
        let mixed = w[(t + 13) % 16].xor3(w[(t + 8) % 16], w[(t + 2) % 16]);
        w[t % 16] = mixed.xor(word).rotate::<31, 1>().here();
    }
    // Everything that does not wait for the previous round's `a` is summed first.
    let rest = e.add(word).add(V::splat(a.proof(), K[t / 20]));
    let mixed = match FUNCTION {
        CHOOSE => b.choose(c, d),
        MAJORITY => b.majority(c, d),
        _ => b.xor3(c, d),
    };
    let (rest, turned) = (rest.add(mixed), b.rotate::<2, 30>());
    // Where there are few registers, the compiler would put off what no next round waits for, and have none left.
    let (rest, turned) = if V::HOLDS_BLOCKS {
        (rest, turned)
    } else {
        (rest.here(), turned.here())
    };
    let next = rest.add(a.rotate::<27, 5>()).here();
    [next, a, turned, c, d]
}
