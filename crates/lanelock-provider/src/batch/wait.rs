//! The current job's wait context: the descriptor that wakes it, and its callback.

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use lanelock::public_key::Ticket;

use super::{process, turn};
use crate::event_loop;
use crate::ffi::boundary::boundary;
use crate::ffi::{self, AsyncWaitCtx};
use crate::lanes;

/// The wait context of the job that runs.
#[derive(Clone, Copy)]
pub(super) struct Wait(*mut AsyncWaitCtx);

/// The descriptor of one wait context, readable while the job that paused last has reason to run.
///
/// Without a deadline that is from the pause on: at the end of a turn of the event loop all that
/// paused in it are readable, and the first to be resumed runs the batch. With a deadline it is a
/// timer. A descriptor stays with its wait context: contexts share none, and none is reused,
/// because an application may rely on its closing to forget it.
pub(super) struct Descriptor {
    /// None if nobody waits on it.
    fd: Option<OwnedFd>,
    kind: Kind,
    generation: u32,
    waiting: Mutex<Option<(ThreadId, Ticket)>>,
}

/// What makes the program resume a job.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// It is readable from the pause on.
    Event,
    /// It is readable when the operation is due.
    Timer,
    /// Nothing does: the job is resumed from here ([`event_loop`]).
    None,
}

impl Kind {
    pub(super) fn of(deadline: Duration) -> Self {
        match deadline.is_zero() {
            _ if event_loop::is_driven() => Self::None,
            true => Self::Event,
            false => Self::Timer,
        }
    }

    /// Names our descriptors among those of a wait context. Providers with a deadline and without,
    /// each in a library context of its own, may meet in one wait context, and their descriptors
    /// differ.
    fn key(self) -> *const c_void {
        static KEYS: [u8; 3] = [0; 3];
        (&raw const KEYS[self as usize]).cast()
    }
}

/// Descriptors that other threads than their operation's closed.
static CLOSED_ELSEWHERE: AtomicUsize = AtomicUsize::new(0);

impl Wait {
    pub(super) fn current() -> Option<Self> {
        // SAFETY: neither has preconditions but a job that is not null.
        let wait = unsafe {
            let job = ffi::ASYNC_get_current_job();
            if job.is_null() {
                return None;
            }
            ffi::ASYNC_get_wait_ctx(job)
        };
        (!wait.is_null()).then_some(Self(wait))
    }

    /// The context's descriptor, or one that is to be its own; `None` if there is none to be had.
    pub(super) fn descriptor(self, kind: Kind) -> Option<Arc<Descriptor>> {
        if let Some(known) = self.registered(kind) {
            if known.is_ours() {
                return Some(Arc::clone(known));
            }
            self.forget(kind);
        }
        let made = Descriptor::new(kind).map(Arc::new);
        if made.is_none() {
            lanes::refused();
        }
        made
    }

    /// Makes the descriptor the context's, if it is not; false if that failed. The job has to pause
    /// next: HAProxy takes it that it was told of every descriptor that a context has.
    pub(super) fn register(self, descriptor: &Arc<Descriptor>) -> bool {
        if self
            .registered(descriptor.kind)
            .is_some_and(|known| Arc::ptr_eq(known, descriptor))
        {
            return true;
        }
        let fd = descriptor.as_raw_fd();
        let custom = Box::into_raw(Box::new(Arc::clone(descriptor)));
        // SAFETY: a live context; the descriptor is the context's until `cleanup`.
        unsafe {
            let key = descriptor.kind.key();
            if ffi::ASYNC_WAIT_CTX_set_wait_fd(self.0, key, fd, custom.cast(), Some(cleanup)) == 1 {
                return true;
            }
            drop(Box::from_raw(custom));
        }
        false
    }

    fn registered<'d>(self, kind: Kind) -> Option<&'d Arc<Descriptor>> {
        let mut fd = -1;
        let mut custom: *mut c_void = std::ptr::null_mut();
        let key = kind.key();
        // SAFETY: a live context; what is registered under our key is what `register` put there.
        unsafe {
            let found = ffi::ASYNC_WAIT_CTX_get_fd(self.0, key, &raw mut fd, &raw mut custom);
            (found == 1 && !custom.is_null()).then(|| &*custom.cast())
        }
    }

    /// In a child process: gives the parent's descriptor up without touching what it shares.
    fn forget(self, kind: Kind) {
        let Some(known) = self.registered(kind) else {
            return;
        };
        let custom = std::ptr::from_ref(known).cast_mut();
        // SAFETY: as in `register`; clearing does not call `cleanup`.
        unsafe {
            if ffi::ASYNC_WAIT_CTX_clear_fd(self.0, kind.key()) == 1 {
                drop(Box::from_raw(custom));
            }
        }
    }

    /// The job pauses again for the same operation: an event loop that is told of changes alone
    /// (`EPOLLET`, as Traffic Server's) hears of the descriptor once more.
    pub(super) fn remind(self, kind: Kind) {
        if kind == Kind::Event
            && let Some(descriptor) = self.registered(kind)
            && descriptor.is_ours()
        {
            descriptor.make_readable();
        }
    }

    /// The operation is over: its descriptor is no longer readable.
    pub(super) fn settle(self, kind: Kind) {
        if let Some(descriptor) = self.registered(kind)
            && descriptor.is_ours()
        {
            descriptor.settle();
        }
    }

    fn callback(self) -> Option<(ffi::AsyncCallback, *mut c_void)> {
        let mut callback = None;
        let mut arg = std::ptr::null_mut();
        // SAFETY: a live context, places for the results.
        let got =
            unsafe { ffi::ASYNC_WAIT_CTX_get_callback(self.0, &raw mut callback, &raw mut arg) };
        (got == 1).then_some(())?;
        Some((callback?, arg))
    }

    /// Whether the application is told by a callback instead of a descriptor.
    pub(super) fn has_callback(self) -> bool {
        self.callback().is_some()
    }

    /// Tells the application, if it set a callback, that the job can be resumed: there is no timer
    /// to do so later.
    pub(super) fn call_back(self) {
        if let Some((callback, arg)) = self.callback() {
            // SAFETY: the application's own function and argument.
            unsafe {
                ffi::ASYNC_WAIT_CTX_set_status(self.0, ffi::ASYNC_STATUS_OK);
                callback(arg);
            }
        }
    }
}

/// Pauses the current job until it is resumed; false if that failed.
pub(super) fn pause() -> bool {
    // SAFETY: no preconditions; no borrow of thread-local state is held by callers (`super::run`).
    unsafe { ffi::ASYNC_pause_job() == 1 }
}

impl Descriptor {
    fn new(kind: Kind) -> Option<Self> {
        // SAFETY: system calls without memory of ours; the result is checked, then owned.
        let open = |fd: c_int| (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) });
        // SAFETY: as above.
        let fd = unsafe {
            match kind {
                Kind::Event => Some(open(libc::eventfd(
                    0,
                    libc::EFD_CLOEXEC | libc::EFD_NONBLOCK,
                ))?),
                Kind::Timer => Some(open(libc::timerfd_create(
                    libc::CLOCK_MONOTONIC,
                    libc::TFD_CLOEXEC | libc::TFD_NONBLOCK,
                ))?),
                Kind::None => None,
            }
        };
        Some(Self {
            fd,
            kind,
            generation: process::generation()?,
            waiting: Mutex::new(None),
        })
    }

    /// Whether this process made it: otherwise its kernel object is shared with the parent.
    fn is_ours(&self) -> bool {
        process::generation() == Some(self.generation)
    }

    pub(super) fn has_fd(&self) -> bool {
        self.fd.is_some()
    }

    /// Its number; -1 if it has none.
    pub(super) fn as_raw_fd(&self) -> c_int {
        self.fd.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// An operation waits: readable when it is due.
    pub(super) fn arm(&self, ticket: Ticket, deadline: Duration) {
        *self.lock() = Some((std::thread::current().id(), ticket));
        match self.kind {
            Kind::Event => self.make_readable(),
            Kind::Timer => self.set_timer(deadline.max(Duration::from_nanos(1))),
            Kind::None => {}
        }
    }

    /// An operation has its result before it was due: readable at once.
    pub(super) fn signal(&self) {
        if self.kind == Kind::Timer {
            self.set_timer(Duration::from_nanos(1));
        }
    }

    fn settle(&self) {
        *self.lock() = None;
        match self.kind {
            Kind::Event => {
                let mut count = 0_u64;
                // SAFETY: eight bytes of room. With nothing to read it fails, which does no harm.
                unsafe { libc::read(self.as_raw_fd(), (&raw mut count).cast(), 8) };
            }
            Kind::Timer => self.set_timer(Duration::ZERO),
            Kind::None => {}
        }
    }

    fn make_readable(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes. It cannot fail before 2^64 - 1 of them.
        unsafe { libc::write(self.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// Sets a timer, off for zero, and forgets whether it was readable.
    fn set_timer(&self, after: Duration) {
        let zero = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let spec = libc::itimerspec {
            it_interval: zero,
            it_value: libc::timespec {
                tv_sec: libc::time_t::try_from(after.as_secs()).unwrap_or(1),
                tv_nsec: after.subsec_nanos().into(),
            },
        };
        // SAFETY: a timer of ours and a whole specification.
        unsafe {
            libc::timerfd_settime(self.as_raw_fd(), 0, &raw const spec, std::ptr::null_mut())
        };
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(ThreadId, Ticket)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often descriptors were closed by other threads than their operation's.
pub(super) fn closed_elsewhere() -> usize {
    CLOSED_ELSEWHERE.load(Ordering::Relaxed)
}

/// The wait context is freed, with its connection: what it waits for is cancelled.
unsafe extern "C" fn cleanup(
    _: *mut AsyncWaitCtx,
    _: *const c_void,
    _: c_int,
    custom: *mut c_void,
) {
    boundary(|| {
        // SAFETY: what `Wait::register` registered, freed once.
        let descriptor = unsafe { Box::from_raw(custom.cast::<Arc<Descriptor>>()) };
        // A parent's thread may have held the lock when this process was made.
        let waiting = descriptor
            .is_ours()
            .then(|| descriptor.lock().take())
            .flatten();
        drop(descriptor);
        match waiting {
            Some((thread, ticket)) if thread == std::thread::current().id() => {
                turn::cancel(ticket);
            }
            // Its thread lets go of it at its next batch.
            Some(_) => {
                CLOSED_ELSEWHERE.fetch_add(1, Ordering::Relaxed);
            }
            None => {}
        }
    })
}
