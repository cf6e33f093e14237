//! Keccak-f\[1600\] (FIPS 202, 3.3) of one state in each lane.
//!
//! With three-operand logic and rotations as instructions a round is 95 of them: θ takes 10 for the
//! columns' parities, 10 for what each column gets, 25 for the state; ρ 24; χ 25; ι one. Without, it
//! is 188, as a rotation is three, and 25 words do not fit into 16 registers.
//!
//! Zen 4 begins four of them a cycle on registers of up to 256 bits, and two on 512. By that limit a
//! permutation takes 570 cycles of a lone state on AVX-512, 1140 of eight, and 1128 of four on AVX2.
//! With the block that it absorbs it takes 790, about 1630, and 1405: `lanelock perf throughput
//! --algorithm shake128,sha3-256 --sizes 8k --burst 1,32` divided by 49 and 61 blocks, at 3.7 GHz.

#![allow(unsafe_code)] // states in memory

use crate::arch::register::{Code, Proof};
use crate::arch::words::Logic;
use crate::arrays::from_fn;

/// Words of a state.
pub(crate) const WORDS: usize = 25;

/// Permutes the states at `states`: word `i` of the lanes begins at `states[i * COUNT]`. One copy for
/// all callers.
///
/// # Safety
/// `states` is valid for reads and writes of [`WORDS`] · `COUNT` words.
#[inline(always)]
pub(crate) unsafe fn permute<P, V>(proof: P, states: *mut u64)
where
    P: Proof + Into<V::Proof>,
    V: Logic,
{
    proof.enter(Permutation::<V>(proof.into(), states));
}

struct Permutation<V: Logic>(V::Proof, *mut u64);

impl<V: Logic> Code for Permutation<V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(proof, states) = self;
        // SAFETY: the promise of the caller of `permute`.
        unsafe {
            let mut state = from_fn(|i| V::load(proof, states.add(i * V::COUNT)));
            for constant in ROUNDS {
                round(&mut state, V::splat(proof, constant));
            }
            for (i, word) in state.into_iter().enumerate() {
                word.store(states.add(i * V::COUNT));
            }
        }
    }
}

/// One round. Word (x, y) is `a[x + 5 * y]`.
#[inline(always)]
fn round<V: Logic>(a: &mut [V; WORDS], constant: V) {
    let mut parity = [a[0]; 5];
    for x in 0..5 {
        let low = a[x].xor3(a[x + 5], a[x + 10]);
        parity[x] = low.xor3(a[x + 15], a[x + 20]);
    }
    let mut effect = parity;
    for x in 0..5 {
        effect[x] = parity[(x + 4) % 5].xor(parity[(x + 1) % 5].rotate::<63, 1>());
    }
    /// A word after θ, rotated left by `$left`.
    macro_rules! moved {
        ($from:literal, $left:literal) => {
            a[$from]
                .xor(effect[$from % 5])
                .rotate::<{ 64 - $left }, $left>()
        };
    }
    // ρ and π: row by row, what arrives there.
    let rows = [
        [
            a[0].xor(effect[0]),
            moved!(6, 44),
            moved!(12, 43),
            moved!(18, 21),
            moved!(24, 14),
        ],
        [
            moved!(3, 28),
            moved!(9, 20),
            moved!(10, 3),
            moved!(16, 45),
            moved!(22, 61),
        ],
        [
            moved!(1, 1),
            moved!(7, 6),
            moved!(13, 25),
            moved!(19, 8),
            moved!(20, 18),
        ],
        [
            moved!(4, 27),
            moved!(5, 36),
            moved!(11, 10),
            moved!(17, 15),
            moved!(23, 56),
        ],
        [
            moved!(2, 62),
            moved!(8, 55),
            moved!(14, 39),
            moved!(15, 41),
            moved!(21, 2),
        ],
    ];
    for y in 0..5 {
        for x in 0..5 {
            a[x + 5 * y] = rows[y][x].xor_and_not(rows[y][(x + 1) % 5], rows[y][(x + 2) % 5]);
        }
    }
    a[0] = a[0].xor(constant);
}

/// The constants of ι.
const ROUNDS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];
