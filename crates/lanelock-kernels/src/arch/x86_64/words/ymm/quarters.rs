//! ChaCha20's quarter rounds (RFC 8439, section 2.1) on sixteen registers, which is all there are.

use core::arch::asm;
use core::arch::x86_64::__m256i;
use core::mem::MaybeUninit;

use super::shuffles::{BY_16, BY_24};

#[repr(align(32))]
struct Place(MaybeUninit<__m256i>);

/// The same instruction for all four.
#[rustfmt::skip]
macro_rules! each {
    ($name:literal $to:literal $from:literal $by:literal) => {
        concat!(
            $name, " {", $to, "0}, {", $from, "0}, {", $by, "0}\n",
            $name, " {", $to, "1}, {", $from, "1}, {", $by, "1}\n",
            $name, " {", $to, "2}, {", $from, "2}, {", $by, "2}\n",
            $name, " {", $to, "3}, {", $from, "3}, {", $by, "3}\n",
        )
    };
}

/// Turns the words of all `d` by whole bytes.
#[rustfmt::skip]
macro_rules! shuffled {
    ($order:literal) => {
        concat!(
            "vpshufb {d0}, {d0}, ymmword ptr [rip + {", $order, "}]\n",
            "vpshufb {d1}, {d1}, ymmword ptr [rip + {", $order, "}]\n",
            "vpshufb {d2}, {d2}, ymmword ptr [rip + {", $order, "}]\n",
            "vpshufb {d3}, {d3}, ymmword ptr [rip + {", $order, "}]\n",
        )
    };
}

/// Turns the words of a `b` by bits; takes the register of `a0`.
#[rustfmt::skip]
macro_rules! turned {
    ($b:literal $left:literal $right:literal) => {
        concat!(
            "vpsrld {a0}, {", $b, "}, ", $right, "\n",
            "vpslld {", $b, "}, {", $b, "}, ", $left, "\n",
            "vpor {", $b, "}, {", $b, "}, {a0}\n",
        )
    };
}

/// Half of four quarter rounds, without the sum in `a`. Afterwards `a0` is in its place.
macro_rules! half {
    ($order:literal $left:literal $right:literal) => {
        concat!(
            "vmovdqa ymmword ptr [{place}], {a0}\n",
            each!("vpxor" "d" "d" "a"),
            shuffled!($order),
            each!("vpaddd" "c" "c" "d"),
            each!("vpxor" "b" "b" "c"),
            turned!("b0" $left $right),
            turned!("b1" $left $right),
            turned!("b2" $left $right),
            turned!("b3" $left $right),
        )
    };
}

/// See [`WordLanes::quarter_rounds`](crate::arch::words::WordLanes::quarter_rounds). Sixteen words fill all
/// registers, and a rotation takes one more: the first word of `a`, which nothing waits for then, is in memory
/// meanwhile. The compiler would put six there, or a dozen where integers have work of their own beside.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn quarter_rounds(rows: [[__m256i; 4]; 4]) -> [[__m256i; 4]; 4] {
    let [mut a, mut b, mut c, mut d] = rows;
    let mut place = Place(MaybeUninit::uninit());
    // SAFETY: 32 bytes are written and read in the place, and read from the orders, each of which has as many and
    // is aligned.
    unsafe {
        asm!(
            each!("vpaddd" "a" "a" "b"),
            half!("by_16" "12" "20"),
            "vpaddd {a0}, {b0}, ymmword ptr [{place}]",
            "vpaddd {a1}, {a1}, {b1}",
            "vpaddd {a2}, {a2}, {b2}",
            "vpaddd {a3}, {a3}, {b3}",
            half!("by_24" "7" "25"),
            "vmovdqa {a0}, ymmword ptr [{place}]",
            place = in(reg) place.0.as_mut_ptr(),
            by_16 = sym BY_16, by_24 = sym BY_24,
            a0 = inout(ymm_reg) a[0], a1 = inout(ymm_reg) a[1], a2 = inout(ymm_reg) a[2], a3 = inout(ymm_reg) a[3],
            b0 = inout(ymm_reg) b[0], b1 = inout(ymm_reg) b[1], b2 = inout(ymm_reg) b[2], b3 = inout(ymm_reg) b[3],
            c0 = inout(ymm_reg) c[0], c1 = inout(ymm_reg) c[1], c2 = inout(ymm_reg) c[2], c3 = inout(ymm_reg) c[3],
            d0 = inout(ymm_reg) d[0], d1 = inout(ymm_reg) d[1], d2 = inout(ymm_reg) d[2], d3 = inout(ymm_reg) d[3],
            options(nostack, preserves_flags),
        );
    }
    [a, b, c, d]
}
