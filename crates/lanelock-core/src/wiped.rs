//! Memory that held secrets, wiped as a whole: a box when its content is dropped, and the stack when a session is
//! made.

#![allow(unsafe_code)] // zeros over what was dropped, padding included

use std::fmt;
use std::hint::black_box;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::ptr;

use zeroize::Zeroize;

/// Zeroes its content's whole memory after the content is dropped.
///
/// A content that wipes its keys when it is dropped cannot reach its own padding, nor the unused
/// part of an enum, and either may hold what was on the stack when the content was moved to where
/// it lives: round keys, for one. What a session or a context has on the heap lives in this.
#[repr(transparent)]
pub struct Wiped<T: ?Sized>(
    /// Invariant: alive until [`Drop::drop`].
    ManuallyDrop<T>,
);

impl<T> Wiped<T> {
    /// Wraps `content`. A move leaves a copy of the bytes where the content was: wrap it before
    /// moving it to the heap.
    #[must_use]
    pub fn new(content: T) -> Self {
        Self(ManuallyDrop::new(content))
    }
}

impl<T: ?Sized> Wiped<T> {
    /// Wraps the content of a box where it is.
    #[must_use]
    pub fn boxed(content: Box<T>) -> Box<Self> {
        let raw = Box::into_raw(content) as *mut Self;
        // SAFETY: the box's own pointer; `Self` has the layout of its content.
        unsafe { Box::from_raw(raw) }
    }
}

/// Bytes of stack within which engines leave keys when they prepare a session: a test of `lanelock-native` looks
/// at as many.
const STACK: usize = 32 << 10;

/// Writes zeros over [`STACK`] bytes below the caller's frame, where functions that it called have left keys:
/// values that moved to where they live, and registers that had to go to memory.
#[inline(never)]
pub(crate) fn wipe_stack() {
    black_box(&mut [0_u8; STACK]);
}

impl<T: ?Sized> Drop for Wiped<T> {
    fn drop(&mut self) {
        /// Wipes, however the content's destructor ends.
        struct Memory(*mut [MaybeUninit<u8>]);

        impl Drop for Memory {
            fn drop(&mut self) {
                // SAFETY: the memory that `Wiped::drop` borrows exclusively; its content was
                // dropped, and any bytes may be written over that.
                unsafe { &mut *self.0 }.zeroize();
            }
        }

        let len = size_of_val::<T>(&self.0);
        let content: *mut T = &raw mut *self.0;
        let _wiped_last = Memory(ptr::slice_from_raw_parts_mut(content.cast(), len));
        // SAFETY: the content is alive by the invariant and dropped here alone; nothing reads a
        // `ManuallyDrop` after this.
        unsafe { ptr::drop_in_place(content) };
    }
}

impl<T: ?Sized> Deref for Wiped<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for Wiped<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Shows nothing of the content.
impl<T: ?Sized> fmt::Debug for Wiped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wiped").finish_non_exhaustive()
    }
}
