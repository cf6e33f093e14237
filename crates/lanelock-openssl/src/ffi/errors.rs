//! libcrypto's error queue, which belongs to the thread and so to the application as well.

use std::ffi::c_int;

/// Keeps the application's entries: those that libcrypto adds while this value lives are removed,
/// at the latest when it is dropped.
///
/// Each entry point of the engine has one, except operations in which libcrypto has nothing to
/// refuse and nothing to allocate: a mark costs about a tenth of a short message.
#[derive(Debug)]
pub(crate) struct ErrorMark {
    /// There is nothing to remove in the end but what a panic leaves.
    clean: bool,
}

impl ErrorMark {
    pub(crate) fn set() -> Self {
        // SAFETY: no arguments; touches this thread's queue alone. An empty queue takes no mark,
        // and then all that is found later is libcrypto's.
        unsafe { ERR_set_mark() };
        Self { clean: false }
    }

    /// A mark for calls that add entries only if they fail, whose caller then calls
    /// [`ErrorMark::rewind`]: with an empty queue it is not looked at again.
    #[inline]
    pub(crate) fn set_for_burst() -> Self {
        // SAFETY: as in `set`. The call returns 0 for an empty queue.
        let marked = unsafe { ERR_set_mark() } == 1;
        Self { clean: !marked }
    }

    /// Removes what has been added so far. The queue has room for 16 entries: many failures in a
    /// row would push out the application's.
    #[cold]
    pub(crate) fn rewind(&self) {
        // SAFETY: as in `set`. The mark goes with what is above it, so it is set again.
        unsafe {
            ERR_pop_to_mark();
            ERR_set_mark();
        }
    }
}

impl Drop for ErrorMark {
    #[inline]
    fn drop(&mut self) {
        if self.clean && !std::thread::panicking() {
            return;
        }
        // SAFETY: as in `set`.
        unsafe { ERR_pop_to_mark() };
    }
}

unsafe extern "C" {
    // Not declared by openssl-sys.
    fn ERR_set_mark() -> c_int;
    fn ERR_pop_to_mark() -> c_int;
}
