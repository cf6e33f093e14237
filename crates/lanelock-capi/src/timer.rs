//! A descriptor that is readable when a key queue has something to do.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Instant;

use crate::error::{Failure, LANELOCK_ERROR_SYSTEM};

/// A timer of the system.
#[derive(Debug)]
pub(crate) struct Timer {
    descriptor: OwnedFd,
    set_to: Due,
}

/// When it is readable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Due {
    Never,
    Now,
    At(Instant),
}

impl Timer {
    pub(crate) fn new() -> Result<Self, Failure> {
        // SAFETY: no pointers.
        let descriptor = unsafe {
            libc::timerfd_create(
                libc::CLOCK_MONOTONIC,
                libc::TFD_CLOEXEC | libc::TFD_NONBLOCK,
            )
        };
        if descriptor < 0 {
            return Err(failed("timerfd_create"));
        }
        Ok(Self {
            // SAFETY: a descriptor that was just made for this.
            descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) },
            set_to: Due::Never,
        })
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }

    /// Makes it readable at that time and not before, without a system call if it is so already.
    pub(crate) fn set(&mut self, due: Due) -> Result<(), Failure> {
        if due == self.set_to {
            return Ok(());
        }
        let nanoseconds = match due {
            Due::Never => 0,
            Due::Now => 1,
            // All zeros would stop the timer.
            Due::At(at) => at
                .saturating_duration_since(Instant::now())
                .as_nanos()
                .max(1),
        };
        let seconds = libc::time_t::try_from(nanoseconds / 1_000_000_000);
        let rest = libc::c_long::try_from(nanoseconds % 1_000_000_000);
        // SAFETY: integers alone, of which zeros are values.
        let mut spec: libc::itimerspec = unsafe { std::mem::zeroed() };
        spec.it_value.tv_sec = seconds.unwrap_or(libc::time_t::MAX);
        spec.it_value.tv_nsec = rest.expect("less than a second");
        let descriptor = self.descriptor();
        // SAFETY: a structure to read; the place for the old one may be null.
        let set =
            unsafe { libc::timerfd_settime(descriptor, 0, &raw const spec, std::ptr::null_mut()) };
        if set < 0 {
            return Err(failed("timerfd_settime"));
        }
        self.set_to = due;
        Ok(())
    }
}

fn failed(call: &str) -> Failure {
    let why = std::io::Error::last_os_error();
    Failure::new(LANELOCK_ERROR_SYSTEM, format!("{call}: {why}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn is_readable(timer: &Timer, wait_milliseconds: i32) -> bool {
        let mut poll = libc::pollfd {
            fd: timer.descriptor(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one structure.
        unsafe { libc::poll(&raw mut poll, 1, wait_milliseconds) == 1 }
    }

    #[test]
    fn it_is_readable_from_the_time_on_that_was_set_last() {
        let mut timer = Timer::new().expect("Linux");
        assert!(!is_readable(&timer, 0));
        timer.set(Due::Now).expect("set");
        assert!(
            is_readable(&timer, -1) && is_readable(&timer, 0),
            "and stays so"
        );
        let hour = Instant::now() + Duration::from_secs(3600);
        timer.set(Due::At(hour)).expect("set");
        assert!(!is_readable(&timer, 0));
        timer.set(Due::At(Instant::now())).expect("set");
        assert!(is_readable(&timer, -1));
        timer.set(Due::Never).expect("set");
        assert!(!is_readable(&timer, 0));
    }
}
