//! What is made at its first use and then kept, and tried again if it could not be made.
//!
//! Nothing here waits: a child process may be forked while another thread is at it.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// When something that failed is tried again: after 1, 3, 7 uses, and so on.
#[derive(Debug)]
pub(crate) struct Retry {
    /// Uses to come that do not try.
    skip: AtomicU32,
    /// How many were skipped last.
    last: AtomicU32,
    /// Most uses between two tries.
    most: u32,
}

/// Most uses between two tries of what the system has refused.
const MOST: u32 = 1023;

impl Retry {
    /// One that skips up to `most` uses.
    pub(crate) const fn new(most: u32) -> Self {
        Self {
            skip: AtomicU32::new(0),
            last: AtomicU32::new(0),
            most,
        }
    }

    /// For what the system refuses.
    pub(crate) const fn of_the_system() -> Self {
        Self::new(MOST)
    }

    /// Whether this use tries. Threads that count at the same time may skip a use less.
    pub(crate) fn is_due(&self) -> bool {
        let skip = self.skip.load(Ordering::Relaxed);
        if skip > 0 {
            self.skip.store(skip - 1, Ordering::Relaxed);
        }
        skip == 0
    }

    /// The try has failed.
    pub(crate) fn failed(&self) {
        let last = (2 * self.last.load(Ordering::Relaxed) + 1).min(self.most);
        self.last.store(last, Ordering::Relaxed);
        self.skip.store(last, Ordering::Relaxed);
    }

    /// The try has succeeded: the next uses try, too.
    pub(crate) fn succeeded(&self) {
        self.last.store(0, Ordering::Relaxed);
        self.skip.store(0, Ordering::Relaxed);
    }
}

/// A value for the rest of the process.
#[derive(Debug)]
pub(crate) struct Lasting<T> {
    value: AtomicPtr<T>,
    retry: Retry,
}

impl<T: Sync + 'static> Lasting<T> {
    pub(crate) const fn new() -> Self {
        Self {
            value: AtomicPtr::new(std::ptr::null_mut()),
            retry: Retry::of_the_system(),
        }
    }

    /// The value, made by `make` if it is not there; `None` if that fails, or failed lately. Several
    /// threads may make it at once, and one's is kept.
    pub(crate) fn get(&'static self, make: impl FnOnce() -> Option<T>) -> Option<&'static T> {
        let mut known = self.value.load(Ordering::Acquire);
        if known.is_null() {
            if !self.retry.is_due() {
                return None;
            }
            known = match make() {
                Some(made) => self.keep(made),
                None => {
                    self.retry.failed();
                    return None;
                }
            };
        }
        // SAFETY: not null, from `keep`, which never frees what it placed.
        Some(unsafe { &*known })
    }

    fn keep(&self, made: T) -> *mut T {
        let made = Box::into_raw(Box::new(made));
        let null = std::ptr::null_mut();
        match self
            .value
            .compare_exchange(null, made, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => made,
            Err(theirs) => {
                // SAFETY: the box just made, which nobody has seen.
                drop(unsafe { Box::from_raw(made) });
                theirs
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lanelock_testkit::in_child;

    use super::*;

    #[test]
    fn what_fails_is_tried_again_less_and_less_often_until_it_works() {
        static VALUE: Lasting<u32> = Lasting::new();
        let mut tries = Vec::new();
        for at in 0..20 {
            let mut tried = false;
            let got = VALUE.get(|| {
                tried = true;
                (at >= 14).then_some(at)
            });
            if tried {
                tries.push(at);
            }
            assert_eq!(got.is_some(), at >= 14, "{at}");
        }
        assert_eq!(tries, [0, 2, 6, 14]);
    }

    #[test]
    fn a_child_that_is_forked_while_it_is_made_does_not_wait() {
        static VALUE: Lasting<u32> = Lasting::new();
        let made = VALUE.get(|| in_child(|| VALUE.get(|| Some(2)) == Some(&2)).then_some(1));
        assert_eq!(made, Some(&1));
    }
}
