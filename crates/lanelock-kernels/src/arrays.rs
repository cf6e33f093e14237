//! Arrays made element by element, always inlined.
//!
//! The standard library's functions are generic calls that the compiler may put into another
//! codegen unit, without a tier's instructions: there each register passes through memory.

#![allow(unsafe_code)] // arrays that are initialised element by element

use core::mem::MaybeUninit;

/// `body` with the constant `I` = 0 … `n` − 1, `n` at most ten, as straight code.
///
/// The compiler does not unroll every loop of ten, and registers whose number in an array it does
/// not know are in memory. The loops that it does unroll, it unrolls behind inlining: a thousand of
/// them in one kernel take it seconds.
macro_rules! each {
    ($n:ident, |$i:ident| $body:block) => {{
        const { assert!($n <= 10) };
        each!(@ $n, $i, $body, 0 1 2 3 4 5 6 7 8 9)
    }};
    (@ $n:ident, $i:ident, $body:block, $($index:literal)*) => {{
        $({
            const $i: usize = $index;
            if const { $i < $n } $body
        })*
    }};
}
pub(crate) use each;

/// Element `i` is `make(i)`.
#[inline(always)]
pub(crate) fn from_fn<T, const N: usize>(mut make: impl FnMut(usize) -> T) -> [T; N] {
    let mut made = [const { MaybeUninit::<T>::uninit() }; N];
    let mut i = 0;
    while i < N {
        made[i].write(make(i));
        i += 1;
    }
    // SAFETY: the loop has initialised all `N` elements, which are moved out once.
    unsafe { made.as_ptr().cast::<[T; N]>().read() }
}

/// Element `i` is `turn(from[i])`.
#[inline(always)]
pub(crate) fn map<T: Copy, U, const N: usize>(
    from: [T; N],
    mut turn: impl FnMut(T) -> U,
) -> [U; N] {
    from_fn(|i| turn(from[i]))
}
