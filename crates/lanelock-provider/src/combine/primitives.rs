//! What [`super::line`] is built of. `tests/interleavings` puts others in their place, which try every
//! order of the threads' steps.

pub(super) use std::sync::Arc;
pub(super) use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

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

/// How many a line has: batches that may be under way at once without waking each other's threads.
pub(super) const BELLS: usize = 16;

/// A word that threads sleep on (futex(2)), on a cache line of its own.
#[repr(align(64))]
pub(super) struct Bell(AtomicU32);

impl Bell {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// How often it has rung.
    pub(super) fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    /// Sleeps until it has rung more than `rung` times, or wakes for no reason; false if the patience is
    /// at its end.
    pub(super) fn park(&self, rung: u32, patience: &mut Patience) -> bool {
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
                rung,
                &raw const timeout,
            )
        };
        true
    }

    /// Wakes all threads that sleep on it.
    pub(super) fn ring(&self) {
        self.0.fetch_add(1, Ordering::Release);
        // SAFETY: the word is only an address here.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                i32::MAX,
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
