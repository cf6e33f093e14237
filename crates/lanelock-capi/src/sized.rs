//! Structures that may grow: they begin with their size in bytes, which the program sets.
//!
//! A program that was built with an older header passes a smaller size; what it does not have is
//! zero, or not written. A newer one passes a larger size; what the library does not know must be
//! zero.

use std::mem::MaybeUninit;

use crate::error::{Failure, LANELOCK_ERROR_SIZE};

/// A structure that begins with a `u32` of its size.
///
/// # Safety
/// It is `repr(C)`, begins with the size as a `u32`, has no padding, and any bytes are a value of
/// it.
pub(crate) unsafe trait Sized32: Copy {
    /// What error texts call it.
    const NAME: &'static str;
    /// Size of its first version, in bytes.
    const FIRST: usize;
}

/// A copy of a structure that C passes.
///
/// # Safety
/// `from` is null or valid for reads of the size that it begins with.
pub(crate) unsafe fn read<T: Sized32>(from: *const T) -> Result<T, Failure> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_structure(from)? };
    let mut value = MaybeUninit::<T>::zeroed();
    let known = size.min(size_of::<T>());
    // SAFETY: `known` bytes of both; any bytes are a value of `T`.
    let value = unsafe {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast(), known);
        value.assume_init()
    };
    // SAFETY: the rest of what the size covers.
    let rest = unsafe { std::slice::from_raw_parts(from.cast::<u8>().add(known), size - known) };
    if rest.iter().any(|&byte| byte != 0) {
        let text = format!(
            "{}: {size} bytes; this library knows {}, and the bytes after them are not zero",
            T::NAME,
            size_of::<T>()
        );
        return Err(Failure::new(LANELOCK_ERROR_SIZE, text));
    }
    Ok(value)
}

/// Writes a structure as far as the place that C passes goes; its size stays as it is there, and
/// bytes of it that the library does not know become zero.
///
/// # Safety
/// `to` is null or valid for reads and writes of the size that it begins with.
pub(crate) unsafe fn write<T: Sized32>(value: &T, to: *mut T) -> Result<(), Failure> {
    const SIZE: usize = size_of::<u32>();
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_structure(to)? };
    let known = size.min(size_of::<T>());
    // SAFETY: `known` bytes of both, and the rest of what the size covers.
    unsafe {
        let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), to.cast::<u8>());
        std::ptr::copy_nonoverlapping(from.add(SIZE), to.add(SIZE), known - SIZE);
        to.add(known).write_bytes(0, size - known);
    }
    Ok(())
}

/// # Safety
/// As for [`read`].
unsafe fn size_of_structure<T: Sized32>(at: *const T) -> Result<usize, Failure> {
    /// Larger than any structure will ever be.
    const MOST: usize = 4096;
    if at.is_null() {
        return Err(Failure::null(T::NAME));
    }
    // SAFETY: it begins with its size.
    let size = unsafe { at.cast::<u32>().read_unaligned() } as usize;
    if !(T::FIRST..=MOST).contains(&size) {
        let text = format!("{}: size {size}; set it to its sizeof", T::NAME);
        return Err(Failure::new(LANELOCK_ERROR_SIZE, text));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Now {
        size: u32,
        first: u32,
        second: u64,
    }

    // SAFETY: integers without padding.
    unsafe impl Sized32 for Now {
        const NAME: &'static str = "now";
        const FIRST: usize = 8;
    }

    /// The same structure in another version.
    #[repr(C)]
    struct Of<const N: usize>([u32; N]);

    fn read_words<const N: usize>(words: &[u32; N]) -> Result<Now, i32> {
        // SAFETY: sizes in these tests are within the array, or refused.
        unsafe { read(words.as_ptr().cast::<Now>()) }.map_err(|failure| failure.code)
    }

    #[test]
    fn an_older_program_leaves_out_what_it_does_not_have() {
        let read = read_words(&[8, 5, 9, 9]).expect("the first version");
        assert_eq!((read.first, read.second), (5, 0));
        let mut older = Of([8, 1, 0x77, 0x77]);
        let value = Now {
            size: 16,
            first: 2,
            second: 3,
        };
        // SAFETY: eight bytes.
        unsafe { write(&value, (&raw mut older).cast()) }.expect("written");
        assert_eq!(older.0, [8, 2, 0x77, 0x77]);
    }

    #[test]
    fn a_newer_program_must_not_ask_for_what_is_not_known() {
        assert_eq!(read_words(&[24, 5, 6, 0, 0, 0]).expect("zeros").second, 6);
        assert_eq!(read_words(&[24, 5, 6, 0, 0, 1]), Err(LANELOCK_ERROR_SIZE));
        let mut newer = Of([24, 1, 1, 1, 1, 1]);
        let value = Now {
            size: 16,
            first: 2,
            second: 3,
        };
        // SAFETY: 24 bytes.
        unsafe { write(&value, (&raw mut newer).cast()) }.expect("written");
        assert_eq!(newer.0, [24, 2, 3, 0, 0, 0]);
    }

    #[test]
    fn wrong_sizes_are_refused() {
        for size in [0, 4, 7, 4097, u32::MAX] {
            assert_eq!(read_words(&[size, 0, 0, 0]), Err(LANELOCK_ERROR_SIZE));
        }
        // SAFETY: null is allowed.
        assert!(unsafe { read::<Now>(std::ptr::null()) }.is_err());
    }
}
