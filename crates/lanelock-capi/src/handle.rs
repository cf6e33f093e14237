//! Handles: what a C program holds of the library's objects.

use std::any::TypeId;
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::error::{Failure, LANELOCK_ERROR_BUSY, LANELOCK_ERROR_HANDLE};

/// An object behind a handle.
pub(crate) trait Handle: Sized + 'static {
    /// What error texts call it.
    const NAME: &'static str;
}

/// The handles that were given out and not taken back, by address. A freed one is found here without
/// a look at its memory.
static LIVE: LazyLock<Mutex<HashMap<usize, TypeId>>> = LazyLock::new(Mutex::default);

/// Moves an object to the heap.
pub(crate) fn give<T: Handle>(object: T) -> *mut T {
    let handle = Box::into_raw(Box::new(object));
    live(|live| live.insert(handle as usize, TypeId::of::<T>()));
    handle
}

/// The object of a handle that C passes.
///
/// # Safety
/// No other thread frees it meanwhile.
pub(crate) unsafe fn lend<'a, T: Handle>(handle: *const T) -> Result<&'a T, Failure> {
    check(handle)?;
    // SAFETY: it is live, so `give` has made it, and it stays, says the caller.
    Ok(unsafe { &*handle })
}

/// As [`lend`], for functions that are called for each burst: in builds without debug assertions a
/// freed handle is not found.
///
/// # Safety
/// As for [`lend`]; without debug assertions the handle is live or null.
#[inline]
pub(crate) unsafe fn lend_hot<'a, T: Handle>(handle: *const T) -> Result<&'a T, Failure> {
    if cfg!(debug_assertions) {
        // SAFETY: the caller's promise.
        return unsafe { lend(handle) };
    }
    // SAFETY: null or live, says the caller.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::null(T::NAME))
}

/// Takes the object of a handle back; none for null.
///
/// # Safety
/// No other thread uses it meanwhile.
pub(crate) unsafe fn take<T: Handle>(handle: *mut T) -> Result<Option<Box<T>>, Failure> {
    if handle.is_null() {
        return Ok(None);
    }
    check(handle)?;
    live(|live| live.remove(&(handle as usize)));
    // SAFETY: it was live, so it is from `give`, and is taken back once.
    Ok(Some(unsafe { Box::from_raw(handle) }))
}

/// As [`take`], for what one thread at a time uses: refused while one does.
///
/// # Safety
/// As for [`take`], as far as `inner` of it does not tell.
pub(crate) unsafe fn take_idle<T: Handle, C>(
    handle: *mut T,
    inner: impl FnOnce(&T) -> &OneThread<C>,
) -> Result<Option<Box<T>>, Failure> {
    if !handle.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { inner(lend(handle)?).enter()? });
    }
    // SAFETY: the caller's promise.
    unsafe { take(handle) }
}

/// Whether the handle is live and a `T`'s.
pub(crate) fn check<T: Handle>(handle: *const T) -> Result<(), Failure> {
    if handle.is_null() {
        return Err(Failure::null(T::NAME));
    }
    match live(|live| live.get(&(handle as usize)).copied()) {
        Some(found) if found == TypeId::of::<T>() => Ok(()),
        found => {
            let why = match found {
                None => "was freed, or is not from this library",
                Some(_) => "is a handle of another type",
            };
            let text = format!("{}: {handle:p} {why}", T::NAME);
            Err(Failure::new(LANELOCK_ERROR_HANDLE, text))
        }
    }
}

fn live<R>(f: impl FnOnce(&mut HashMap<usize, TypeId>) -> R) -> R {
    f(&mut LIVE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What one thread at a time may use.
pub(crate) struct OneThread<T> {
    busy: AtomicBool,
    content: UnsafeCell<T>,
}

/// The content, while this thread is the one.
pub(crate) struct Entered<'a, T>(&'a OneThread<T>);

impl<T> OneThread<T> {
    pub(crate) fn new(content: T) -> Self {
        Self {
            busy: AtomicBool::new(false),
            content: UnsafeCell::new(content),
        }
    }

    /// The content. A second thread is always found in builds with debug assertions. Others find it
    /// most of the time: what is exact takes an atomic read-modify-write for each burst.
    ///
    /// # Safety
    /// Without debug assertions, no other thread has entered.
    #[inline]
    pub(crate) unsafe fn enter(&self) -> Result<Entered<'_, T>, Failure> {
        let busy = if cfg!(debug_assertions) {
            self.busy.swap(true, Ordering::Acquire)
        } else {
            let busy = self.busy.load(Ordering::Relaxed);
            self.busy.store(true, Ordering::Relaxed);
            busy
        };
        if busy {
            return Err(Failure::new(
                LANELOCK_ERROR_BUSY,
                "two threads use one queue at the same time; give each thread its own",
            ));
        }
        Ok(Entered(self))
    }
}

impl<T> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: entered, so no other thread has a reference; those of this one go through `self`.
        unsafe { &*self.0.content.get() }
    }
}

impl<T> DerefMut for Entered<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`.
        unsafe { &mut *self.0.content.get() }
    }
}

impl<T: fmt::Debug> fmt::Debug for OneThread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneThread").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LANELOCK_ERROR_NULL;

    struct One(u8);
    struct Other;

    impl Handle for One {
        const NAME: &'static str = "one";
    }

    impl Handle for Other {
        const NAME: &'static str = "other";
    }

    #[test]
    fn freed_and_foreign_handles_are_found() {
        let handle = give(One(7));
        // SAFETY: one thread.
        unsafe {
            assert_eq!(lend(handle).expect("live").0, 7);
            let wrong = lend(handle.cast::<Other>()).err().expect("another type");
            assert_eq!(wrong.code, LANELOCK_ERROR_HANDLE);
            assert!(wrong.text.contains("another type"), "{}", wrong.text);
            assert!(take(handle).expect("live").is_some());
            let freed = take(handle).err().expect("freed");
            assert_eq!(freed.code, LANELOCK_ERROR_HANDLE);
            assert!(freed.text.contains("freed"), "{}", freed.text);
            assert!(take::<One>(std::ptr::null_mut()).expect("null").is_none());
            let null = lend::<One>(std::ptr::null()).err().expect("null");
            assert_eq!(null.code, LANELOCK_ERROR_NULL);
        }
    }

    #[test]
    fn a_second_thread_is_turned_away_until_the_first_has_left() {
        let one = OneThread::new(3);
        // SAFETY: this thread alone.
        unsafe {
            let mut entered = one.enter().expect("free");
            *entered += 1;
            let second = one.enter().err().expect("taken");
            assert_eq!(second.code, LANELOCK_ERROR_BUSY);
            drop(entered);
            assert_eq!(*one.enter().expect("free again"), 4);
        }
    }
}
