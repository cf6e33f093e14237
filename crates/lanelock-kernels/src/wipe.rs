//! Overwriting secrets so that the compiler keeps the writes.

#![allow(unsafe_code)] // raw writes over values that hold no references

use core::mem::MaybeUninit;
use core::sync::atomic::{Ordering, compiler_fence};

/// Plain data: any bytes are a value, all zeros among them, and nothing is dropped.
///
/// # Safety
/// That is so for the type.
pub unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for u8 {}
// SAFETY: integers.
unsafe impl Plain for u32 {}
// SAFETY: integers.
unsafe impl Plain for u64 {}
// SAFETY: integers.
unsafe impl Plain for i64 {}
// SAFETY: arrays of plain data.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Fills `place` with zeros where it is: a value that is large would otherwise pass over the stack,
/// unless the compiler optimises that away.
#[inline]
pub(crate) fn zeroed<T: Plain>(place: &mut MaybeUninit<T>) -> &mut T {
    // SAFETY: the place is writable and zeros are a value of `T`.
    unsafe {
        place.as_mut_ptr().write_bytes(0, 1);
        place.assume_init_mut()
    }
}

/// Writes zeros over `secrets`.
#[inline]
pub(crate) fn wipe<T: Plain>(secrets: &mut [T]) {
    // SAFETY: the slice is writable and zeros are a value of `T`.
    unsafe { secrets.as_mut_ptr().write_bytes(0, secrets.len()) };
    // The compiler cannot tell what happens to the pointer here, so the zeros must be in memory.
    core::hint::black_box(secrets.as_mut_ptr());
    compiler_fence(Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::wipe;

    #[test]
    fn zeros_are_written() {
        let mut rows = [[7_u32; 8]; 3];
        wipe(&mut rows);
        assert_eq!(rows, [[0; 8]; 3]);
    }
}
