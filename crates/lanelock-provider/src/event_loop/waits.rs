//! Where event loops wait.
//!
//! A wait of a thread with paused connections first looks, without waiting, for what the program has
//! to see to; if that is nothing, the connections go on, and then it waits as it was asked to.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, size_t, timespec, timeval};

use super::{handshake, resume};
use crate::ffi::boundary::boundary;

thread_local! {
    static HAS_WAITED: Cell<bool> = const { Cell::new(false) };
    /// What the last wait found ready.
    static READY: Cell<c_int> = const { Cell::new(0) };
    /// Handshakes that began since.
    static BEGUN: Cell<u32> = const { Cell::new(0) };
}

/// How long a connection waits for room in its socket before it tries again.
const RETRY: Duration = Duration::from_millis(5);

/// A function of the C library's, which stands behind this module's.
struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Where it is.
    fn find(&self) -> *mut c_void {
        let known = self.found.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: a terminated string; the search begins after this object.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// The C library's function of this name and type; -1 and `ENOSYS` from this function if there is none.
macro_rules! next {
    ($name:literal: fn($($arg:ty),*) -> c_int) => {{
        static NEXT: Next = Next::new($name);
        let found = NEXT.find();
        if found.is_null() {
            // SAFETY: the calling thread's own.
            unsafe { *libc::__errno_location() = libc::ENOSYS };
            return -1;
        }
        // SAFETY: the type is that of the C library's header for this name.
        unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) -> c_int>(found)
        }
    }};
}

/// Whether the calling thread has waited for events in one of these functions.
pub(super) fn has_waited() -> bool {
    HAS_WAITED.try_with(Cell::get).unwrap_or(false)
}

/// Whether a handshake that begins now may meet others: where the loop has one thing to do at a time,
/// it would have asynchronous mode for nothing.
pub(super) fn has_company() -> bool {
    let begun = BEGUN.replace(BEGUN.get().saturating_add(1));
    begun > 0 || READY.get() > 1 || resume::is_needed()
}

/// How long a wait lasts at most; `None` is until an event comes.
type Limit = Option<Duration>;

/// Waits by `wait` as long as `asked`, and has paused connections go on.
fn wait(asked: Limit, wait: impl FnMut(Limit) -> c_int) -> c_int {
    let ready = resume_and_wait(asked, wait);
    // Not for a thread that ends.
    let _gone = HAS_WAITED.try_with(|waited| {
        waited.set(true);
        READY.set(ready);
        BEGUN.set(0);
    });
    ready
}

fn resume_and_wait(asked: Limit, mut wait: impl FnMut(Limit) -> c_int) -> c_int {
    if handshake::is_driven() {
        return wait(asked);
    }
    resume::comes_round();
    if !resume::is_needed() {
        return wait(asked);
    }
    let ready = wait(Some(Duration::ZERO));
    let is_idle = ready == 0 && asked != Some(Duration::ZERO);
    resume::turn(is_idle);
    if !is_idle {
        return ready;
    }
    let started = Instant::now();
    while resume::has_unsent() {
        let left = asked.map(|asked| asked.saturating_sub(started.elapsed()));
        let ready = wait(Some(left.map_or(RETRY, |left| left.min(RETRY))));
        if ready != 0 || left.is_some_and(|left| left.is_zero()) {
            return ready;
        }
        resume::turn(true);
    }
    wait(asked.map(|asked| asked.saturating_sub(started.elapsed())))
}

/// Whether a socket has anything for its reader, an end or an error included.
pub(super) fn is_readable(fd: c_int) -> bool {
    let mut socket = pollfd {
        fd,
        events: libc::POLLIN | libc::POLLRDHUP,
        revents: 0,
    };
    let mut look = || -> c_int {
        let next = next!(c"poll": fn(*mut pollfd, nfds_t, c_int) -> c_int);
        // SAFETY: one entry; it does not wait.
        unsafe { next(&raw mut socket, 1, 0) }
    };
    look() > 0
}

/// Milliseconds as epoll_wait(2) and poll(2) take them: never less than asked for.
fn milliseconds(limit: Limit) -> c_int {
    limit.map_or(-1, |limit| {
        c_int::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX)
    })
}

fn from_milliseconds(milliseconds: c_int) -> Limit {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

/// # Safety
/// `time` is null, or as ppoll(2).
unsafe fn from_timespec(time: *const timespec) -> Limit {
    // SAFETY: the caller's.
    let time = unsafe { time.as_ref() }?;
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Some(Duration::from_secs(seconds) + Duration::from_nanos(time.tv_nsec.unsigned_abs()))
}

fn timespec(limit: Duration) -> timespec {
    timespec {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    }
}

/// A pointer to a limit, null for none.
fn pointer<T>(limit: &Option<T>) -> *const T {
    limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref)
}

/// # Safety
/// As epoll_wait(2).
pub(super) unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    boundary(|| {
        let next = next!(c"epoll_wait": fn(c_int, *mut epoll_event, c_int, c_int) -> c_int);
        // SAFETY: the caller's arguments.
        wait(from_milliseconds(timeout), |limit| unsafe {
            next(epoll, events, most, milliseconds(limit))
        })
    })
}

/// # Safety
/// As epoll_pwait(2).
pub(super) unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    signals: *const sigset_t,
) -> c_int {
    boundary(|| {
        let next = next!(
            c"epoll_pwait": fn(c_int, *mut epoll_event, c_int, c_int, *const sigset_t) -> c_int
        );
        // SAFETY: the caller's arguments.
        wait(from_milliseconds(timeout), |limit| unsafe {
            next(epoll, events, most, milliseconds(limit), signals)
        })
    })
}

/// # Safety
/// As epoll_pwait2(2).
pub(super) unsafe extern "C" fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: *const timespec,
    signals: *const sigset_t,
) -> c_int {
    boundary(|| {
        let next = next!(
            c"epoll_pwait2":
                fn(c_int, *mut epoll_event, c_int, *const timespec, *const sigset_t) -> c_int
        );
        // SAFETY: the caller's arguments.
        wait(unsafe { from_timespec(timeout) }, |limit| unsafe {
            let limit = limit.map(timespec);
            next(epoll, events, most, pointer(&limit), signals)
        })
    })
}

/// # Safety
/// As poll(2).
pub(super) unsafe extern "C" fn poll(sockets: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    boundary(|| {
        let next = next!(c"poll": fn(*mut pollfd, nfds_t, c_int) -> c_int);
        // SAFETY: the caller's arguments.
        wait(from_milliseconds(timeout), |limit| unsafe {
            next(sockets, count, milliseconds(limit))
        })
    })
}

/// What programs that are built with `_FORTIFY_SOURCE` call for poll(2).
///
/// # Safety
/// As poll(2), with the bytes that `sockets` has.
pub(super) unsafe extern "C" fn poll_chk(
    sockets: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
    size: size_t,
) -> c_int {
    boundary(|| {
        let next = next!(c"__poll_chk": fn(*mut pollfd, nfds_t, c_int, size_t) -> c_int);
        // SAFETY: the caller's arguments.
        wait(from_milliseconds(timeout), |limit| unsafe {
            next(sockets, count, milliseconds(limit), size)
        })
    })
}

/// # Safety
/// As ppoll(2).
pub(super) unsafe extern "C" fn ppoll(
    sockets: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    signals: *const sigset_t,
) -> c_int {
    boundary(|| {
        let next =
            next!(c"ppoll": fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t) -> c_int);
        // SAFETY: the caller's arguments.
        wait(unsafe { from_timespec(timeout) }, |limit| unsafe {
            let limit = limit.map(timespec);
            next(sockets, count, pointer(&limit), signals)
        })
    })
}

/// As [`poll_chk`], for ppoll(2).
///
/// # Safety
/// As ppoll(2), with the bytes that `sockets` has.
pub(super) unsafe extern "C" fn ppoll_chk(
    sockets: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    signals: *const sigset_t,
    size: size_t,
) -> c_int {
    boundary(|| {
        let next = next!(
            c"__ppoll_chk":
                fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t, size_t) -> c_int
        );
        // SAFETY: the caller's arguments.
        wait(unsafe { from_timespec(timeout) }, |limit| unsafe {
            let limit = limit.map(timespec);
            next(sockets, count, pointer(&limit), signals, size)
        })
    })
}

/// The sets of select(2), which each call overwrites.
struct Sets {
    places: [*mut fd_set; 3],
    asked: [Vec<u8>; 3],
}

impl Sets {
    /// # Safety
    /// The sets are null or have room for `count` descriptors.
    unsafe fn new(count: c_int, places: [*mut fd_set; 3]) -> Self {
        // The kernel reads and writes whole words.
        let bytes = usize::try_from(count).unwrap_or(0).div_ceil(64) * 8;
        let asked = places.map(|place| match place.is_null() || !resume::is_needed() {
            true => Vec::new(),
            // SAFETY: the caller's.
            false => unsafe { std::slice::from_raw_parts(place.cast::<u8>(), bytes) }.to_vec(),
        });
        Self { places, asked }
    }

    /// Writes down what was asked for.
    ///
    /// # Safety
    /// As [`Sets::new`].
    unsafe fn restore(&self) {
        for (place, asked) in self.places.iter().zip(&self.asked) {
            if !asked.is_empty() {
                // SAFETY: so many bytes were read there.
                unsafe { std::ptr::copy_nonoverlapping(asked.as_ptr(), place.cast(), asked.len()) };
            }
        }
    }
}

/// # Safety
/// As select(2).
pub(super) unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    boundary(|| {
        let next = next!(
            c"select": fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int
        );
        // SAFETY: the caller's arguments. The time that is left goes to the caller, as the kernel has
        // it.
        unsafe {
            let sets = Sets::new(count, [read, write, except]);
            let asked = timeout.as_ref().map(|time| {
                let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
                Duration::from_secs(seconds) + Duration::from_micros(time.tv_usec.unsigned_abs())
            });
            let started = Instant::now();
            let ready = wait(asked, |limit| {
                sets.restore();
                let mut limit = limit.map(|limit| timeval {
                    tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
                    tv_usec: limit.subsec_micros().into(),
                });
                let limit = limit
                    .as_mut()
                    .map_or(std::ptr::null_mut(), std::ptr::from_mut);
                next(count, read, write, except, limit)
            });
            if let (Some(left), Some(asked)) = (timeout.as_mut(), asked) {
                let rest = asked.saturating_sub(started.elapsed());
                left.tv_sec = libc::time_t::try_from(rest.as_secs()).unwrap_or(libc::time_t::MAX);
                left.tv_usec = rest.subsec_micros().into();
            }
            ready
        }
    })
}

/// # Safety
/// As pselect(2).
pub(super) unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    signals: *const sigset_t,
) -> c_int {
    boundary(|| {
        let next = next!(
            c"pselect": fn(
                c_int, *mut fd_set, *mut fd_set, *mut fd_set, *const timespec, *const sigset_t
            ) -> c_int
        );
        // SAFETY: the caller's arguments.
        unsafe {
            let sets = Sets::new(count, [read, write, except]);
            wait(from_timespec(timeout), |limit| {
                sets.restore();
                let limit = limit.map(timespec);
                next(count, read, write, except, pointer(&limit), signals)
            })
        }
    })
}
