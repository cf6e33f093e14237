//! What [`super::line`] is built of. `tests/interleavings` puts others in their place, which try every
//! order of the threads' steps.

pub(super) use std::sync::Arc;
pub(super) use std::sync::atomic::{AtomicPtr, Ordering};

use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// How long a thread sleeps at most.
pub(super) struct Patience {
    until: Instant,
}

impl Patience {
    pub(super) fn of(limit: Duration) -> Self {
        Self {
            until: Instant::now() + limit,
        }
    }

    fn left(&self) -> Option<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

/// A word that a thread can sleep on (futex(2)).
pub(super) struct Futex(AtomicU32);

impl Futex {
    pub(super) const fn new(value: u32) -> Self {
        Self(AtomicU32::new(value))
    }

    pub(super) fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    pub(super) fn swap(&self, value: u32) -> u32 {
        self.0.swap(value, Ordering::AcqRel)
    }

    /// Puts `new` where `old` is.
    ///
    /// # Errors
    /// What is there instead.
    pub(super) fn replace(&self, old: u32, new: u32) -> Result<(), u32> {
        let placed = self
            .0
            .compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
        placed.map(|_| ())
    }

    /// Sleeps while the word is `value`, until [`Futex::wake`] or for no reason; false if the patience
    /// is at its end.
    pub(super) fn park(&self, value: u32, patience: &mut Patience) -> bool {
        let Some(left) = patience.left() else {
            return false;
        };
        let timeout = libc::timespec {
            tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(1),
            tv_nsec: left.subsec_nanos().into(),
        };
        // SAFETY: a word and a time that live as long as the call.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                value,
                &raw const timeout,
            )
        };
        true
    }

    /// Wakes the thread that sleeps on the word.
    pub(super) fn wake(&self) {
        let one = 1_u32;
        // SAFETY: the word is only an address here.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                one,
            )
        };
    }
}

/// [`std::cell::UnsafeCell`] with its accesses in functions, which can be watched.
pub(super) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    pub(super) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    pub(super) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
