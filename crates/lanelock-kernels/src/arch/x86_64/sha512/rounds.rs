//! The rounds of SHA-512 (FIPS 180-4, section 6.4.2, step 3), with instructions of the schedule between theirs.

use core::arch::asm;

use super::schedule::{Schedule, right_by_eight};
use crate::arch::words::Row;

/// A round of `a` to `h`, which adds what is `sum` bytes behind `at`. `m` is b ^ c; afterwards `n` is a ^ b,
/// which is b ^ c of the next round. At twelve places between its instructions are those of the schedule.
#[rustfmt::skip]
macro_rules! round {
    (
        $a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal
        $m:literal $n:literal $sum:literal
        [$s0:expr, $s1:expr, $s2:expr, $s3:expr, $s4:expr, $s5:expr]
        [$s6:expr, $s7:expr, $s8:expr, $s9:expr, $s10:expr, $s11:expr]
    ) => {
        concat!(
            "add {", $h, "}, qword ptr [{at} + ", $sum, "]\n", $s0,
            "andn {t}, {", $e, "}, {", $g, "}\n",
            "rorx {u}, {", $e, "}, 41\n", $s1,
            "rorx {", $n, "}, {", $e, "}, 18\n", $s2,
            "add {", $h, "}, {t}\n", $s3,
            "xor {u}, {", $n, "}\n",
            "mov {t}, {", $e, "}\n",
            "and {t}, {", $f, "}\n", $s4,
            "rorx {", $n, "}, {", $e, "}, 14\n",
            "add {", $h, "}, {t}\n", $s5,
            "xor {u}, {", $n, "}\n",
            "mov {", $n, "}, {", $a, "}\n",
            "xor {", $n, "}, {", $b, "}\n", $s6,
            "add {", $h, "}, {u}\n", $s7,
            "rorx {u}, {", $a, "}, 39\n",
            "rorx {t}, {", $a, "}, 34\n", $s8,
            "and {", $m, "}, {", $n, "}\n",
            "add {", $d, "}, {", $h, "}\n", $s9,
            "xor {u}, {t}\n", $s10,
            "rorx {t}, {", $a, "}, 28\n",
            "xor {", $m, "}, {", $b, "}\n", $s11,
            "xor {u}, {t}\n",
            "add {", $h, "}, {", $m, "}\n",
            "add {", $h, "}, {u}\n",
        )
    };
}

/// Two rounds, and between them the instructions for one pair of the schedule, in four parts of six.
macro_rules! two {
    (
        $a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal
        [$sum0:literal $sum1:literal] $q0:tt $q1:tt $q2:tt $q3:tt
    ) => {
        concat!(
            round!($a $b $c $d $e $f $g $h "m" "n" $sum0 $q0 $q1),
            round!($h $a $b $c $d $e $f $g "n" "m" $sum1 $q2 $q3),
        )
    };
}

/// Four rounds, and at every second place between them the instructions for one pair.
macro_rules! four {
    (
        $a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal
        [$sum0:literal $sum1:literal $sum2:literal $sum3:literal] $q0:tt $q1:tt $q2:tt $q3:tt
    ) => {
        concat!(
            spread!($a $b $c $d $e $f $g $h "m" "n" $sum0 $q0),
            spread!($h $a $b $c $d $e $f $g "n" "m" $sum1 $q1),
            spread!($g $h $a $b $c $d $e $f "m" "n" $sum2 $q2),
            spread!($f $g $h $a $b $c $d $e "n" "m" $sum3 $q3),
        )
    };
}

/// A round with half of the instructions that have places in it.
macro_rules! spread {
    (
        $a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal
        $m:literal $n:literal $sum:literal
        [$s0:expr, $s1:expr, $s2:expr, $s3:expr, $s4:expr, $s5:expr]
    ) => {
        round!($a $b $c $d $e $f $g $h $m $n $sum [$s0, "", $s1, "", $s2, ""] [$s3, "", $s4, "", $s5, ""])
    };
}

/// The instructions that make the pair sixteen words behind `p`, in twenty-four places, and the `rounds` they are
/// between. The pairs behind `p` are called by their distance. The new one takes the register of the fourth, and
/// that one goes to `p`'s: after four of them every pair is where the text began. `w` is [`Schedule::part`] of `p`,
/// and free when it has been added; `v` becomes that of the next.
macro_rules! shifting {
    (
        $rounds:ident $names:tt $sums:tt
        $p:literal $p1:literal $p4:literal $p5:literal $p7:literal $w:literal $v:literal
    ) => {
        with_names!($rounds $names $sums
            [
                concat!("vpsrlq {x}, {", $p1, "}, 1\n"),
                concat!("vpsllq {y}, {", $p1, "}, 63\n"),
                concat!("vpshufb {", $v, "}, {", $p1, "}, {order}\n"),
                "vpor {x}, {x}, {y}\n",
                concat!("vpsrlq {y}, {", $p1, "}, 7\n"),
                concat!("vpxor {", $v, "}, {", $v, "}, {x}\n")
            ]
            [
                concat!("vpxor {", $v, "}, {", $v, "}, {y}\n"),
                concat!("vpsrlq {x}, {", $p7, "}, 19\n"),
                concat!("vpaddq {", $v, "}, {", $v, "}, {", $p5, "}\n"),
                concat!("vpsllq {y}, {", $p7, "}, 45\n"),
                concat!("vpalignr {z}, {", $v, "}, {", $w, "}, 8\n"),
                "vpor {x}, {x}, {y}\n"
            ]
            [
                "",
                concat!("vpaddq {", $w, "}, {", $p, "}, {z}\n"),
                concat!("vpsrlq {y}, {", $p7, "}, 61\n"),
                concat!("vpsllq {z}, {", $p7, "}, 3\n"),
                "vpor {z}, {z}, {y}\n",
                concat!("vpsrlq {y}, {", $p7, "}, 6\n")
            ]
            [
                "vpxor {z}, {z}, {x}\n",
                "vpxor {z}, {z}, {y}\n",
                concat!("vmovdqa {", $p, "}, {", $p4, "}\n"),
                concat!("vpaddq {", $p4, "}, {", $w, "}, {z}\n"),
                "",
                ""
            ]
        )
    };
}

/// As [`shifting`], by rotations of AVX-512.
macro_rules! rotating {
    (
        $rounds:ident $names:tt $sums:tt
        $p:literal $p1:literal $p4:literal $p5:literal $p7:literal $w:literal $v:literal
    ) => {
        with_names!($rounds $names $sums
            [
                concat!("vprorq {", $v, "}, {", $p1, "}, 1\n"),
                "",
                concat!("vprorq {x}, {", $p1, "}, 8\n"),
                "",
                concat!("vpsrlq {y}, {", $p1, "}, 7\n"),
                ""
            ]
            [
                concat!("vpternlogq {", $v, "}, {x}, {y}, 0x96\n"),
                "",
                concat!("vpaddq {", $v, "}, {", $v, "}, {", $p5, "}\n"),
                "",
                concat!("vpalignr {z}, {", $v, "}, {", $w, "}, 8\n"),
                ""
            ]
            [
                concat!("vprorq {x}, {", $p7, "}, 19\n"),
                concat!("vpaddq {", $w, "}, {", $p, "}, {z}\n"),
                concat!("vprorq {y}, {", $p7, "}, 61\n"),
                "",
                concat!("vpsrlq {z}, {", $p7, "}, 6\n"),
                ""
            ]
            [
                "vpternlogq {z}, {x}, {y}, 0x96\n",
                concat!("vmovdqa {", $p, "}, {", $p4, "}\n"),
                concat!("vpaddq {", $p4, "}, {", $w, "}, {z}\n"),
                "",
                "",
                ""
            ]
        )
    };
}

/// No instructions.
macro_rules! nothing {
    ($rounds:ident $names:tt $sums:tt $($pair:literal)*) => {
        with_names!($rounds $names $sums
            ["", "", "", "", "", ""]
            ["", "", "", "", "", ""]
            ["", "", "", "", "", ""]
            ["", "", "", "", "", ""]
        )
    };
}

/// The `rounds` by the names of their variables, with what is between them.
macro_rules! with_names {
    ($rounds:ident [$($name:literal)*] $($rest:tt)*) => {
        $rounds!($($name)* $($rest)*)
    };
}

/// Eight rounds beside four pairs, whose instructions are `steps`.
macro_rules! eight {
    ($steps:ident) => {
        concat!(
            $steps!(two ["a" "b" "c" "d" "e" "f" "g" "h"] ["0" "8"] "p0" "p1" "p4" "p5" "p7" "w" "v"),
            $steps!(two ["g" "h" "a" "b" "c" "d" "e" "f"] ["32" "40"] "p1" "p2" "p5" "p6" "p4" "v" "w"),
            $steps!(two ["e" "f" "g" "h" "a" "b" "c" "d"] ["64" "72"] "p2" "p3" "p6" "p7" "p5" "w" "v"),
            $steps!(two ["c" "d" "e" "f" "g" "h" "a" "b"] ["96" "104"] "p3" "p0" "p7" "p4" "p6" "v" "w"),
        )
    };
}

/// Sixteen rounds beside four pairs.
macro_rules! sixteen {
    ($steps:ident) => {
        concat!(
            $steps!(four ["a" "b" "c" "d" "e" "f" "g" "h"] ["0" "8" "32" "40"] "p0" "p1" "p4" "p5" "p7" "w" "v"),
            $steps!(four ["e" "f" "g" "h" "a" "b" "c" "d"] ["64" "72" "96" "104"] "p1" "p2" "p5" "p6" "p4" "v" "w"),
            $steps!(four ["a" "b" "c" "d" "e" "f" "g" "h"] ["128" "136" "160" "168"] "p2" "p3" "p6" "p7" "p5" "w" "v"),
            $steps!(four ["e" "f" "g" "h" "a" "b" "c" "d"] ["192" "200" "224" "232"] "p3" "p0" "p7" "p4" "p6" "v" "w"),
        )
    };
}

/// Eight rounds beside none.
macro_rules! eight_alone {
    ($steps:ident) => {
        concat!(
            $steps!(four ["a" "b" "c" "d" "e" "f" "g" "h"] ["0" "8" "32" "40"]),
            $steps!(four ["e" "f" "g" "h" "a" "b" "c" "d"] ["64" "72" "96" "104"]),
        )
    };
}

/// Runs a text of rounds on the state, beside a schedule or alone.
macro_rules! run {
    ($text:expr, $state:ident, $at:ident, beside $schedule:ident, $($operands:tt)*) => {
        run!(
            $text, $state, $at,
            p0 = inout(ymm_reg) $schedule.pairs[0], p1 = inout(ymm_reg) $schedule.pairs[1],
            p2 = inout(ymm_reg) $schedule.pairs[2], p3 = inout(ymm_reg) $schedule.pairs[3],
            p4 = inout(ymm_reg) $schedule.pairs[4], p5 = inout(ymm_reg) $schedule.pairs[5],
            p6 = inout(ymm_reg) $schedule.pairs[6], p7 = inout(ymm_reg) $schedule.pairs[7],
            w = inout(ymm_reg) $schedule.part, v = out(ymm_reg) _,
            x = out(ymm_reg) _, y = out(ymm_reg) _, z = out(ymm_reg) _,
            $($operands)*
        )
    };
    ($text:expr, $state:ident, $at:ident, $($operands:tt)*) => {{
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = $state;
        asm!(
            // Whether a loop fits in the lines of the cache of decoded instructions depends on where it begins.
            ".p2align 6",
            $text,
            at = in(reg) $at,
            a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
            e = inout(reg) e, f = inout(reg) f, g = inout(reg) g, h = inout(reg) h,
            m = inout(reg) b ^ c => _, n = out(reg) _, t = out(reg) _, u = out(reg) _,
            $($operands)*
            options(readonly, nostack),
        );
        [a, b, c, d, e, f, g, h]
    }};
}

/// `ROUNDS` rounds, eight or sixteen, whose sums begin `at` the first block's word or the second's; and
/// beside them, the next eight words of both blocks.
///
/// # Safety
/// As [`Schedule::new`]. `at` is valid for two words of each pair of the rounds.
#[inline(always)]
pub(super) unsafe fn beside<const ROTATES: bool, const ROUNDS: usize>(
    state: Row<u64>,
    at: *const u64,
    schedule: &mut Schedule<ROTATES>,
) -> Row<u64> {
    // SAFETY: the caller's promises, passed on.
    unsafe {
        if ROTATES {
            beside_rotations::<ROTATES, ROUNDS>(state, at, schedule)
        } else {
            beside_shifts::<ROTATES, ROUNDS>(state, at, schedule)
        }
    }
}

/// Eight rounds.
///
/// # Safety
/// The CPU has BMI1 and BMI2. `at` is valid for two words of each of four pairs.
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
pub(super) unsafe fn alone(state: Row<u64>, at: *const u64) -> Row<u64> {
    // SAFETY: the text reads two words of each pair of its rounds, as the caller promises.
    unsafe { run!(eight_alone!(nothing), state, at,) }
}

/// # Safety
/// As [`beside`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn beside_shifts<const ROTATES: bool, const ROUNDS: usize>(
    state: Row<u64>,
    at: *const u64,
    schedule: &mut Schedule<ROTATES>,
) -> Row<u64> {
    // SAFETY: as in `alone`.
    unsafe {
        let order = right_by_eight();
        match ROUNDS {
            8 => run!(eight!(shifting), state, at, beside schedule, order = in(ymm_reg) order,),
            _ => {
                run!(sixteen!(shifting), state, at, beside schedule, order = in(ymm_reg) order,)
            }
        }
    }
}

/// # Safety
/// As [`beside`].
#[inline]
#[target_feature(enable = "avx512f,avx512vl,bmi1,bmi2")]
unsafe fn beside_rotations<const ROTATES: bool, const ROUNDS: usize>(
    state: Row<u64>,
    at: *const u64,
    schedule: &mut Schedule<ROTATES>,
) -> Row<u64> {
    // SAFETY: as in `alone`.
    unsafe {
        match ROUNDS {
            8 => run!(eight!(rotating), state, at, beside schedule,),
            _ => run!(sixteen!(rotating), state, at, beside schedule,),
        }
    }
}
