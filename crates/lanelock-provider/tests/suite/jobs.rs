//! ASYNC_JOBs as an event loop drives them.

use std::ffi::{c_int, c_void};
use std::time::Duration;

#[repr(C)]
struct AsyncJob([u8; 0]);
#[repr(C)]
pub struct AsyncWaitCtx([u8; 0]);

unsafe extern "C" {
    fn ASYNC_start_job(
        job: *mut *mut AsyncJob,
        wait: *mut AsyncWaitCtx,
        result: *mut c_int,
        function: unsafe extern "C" fn(*mut c_void) -> c_int,
        args: *mut c_void,
        size: usize,
    ) -> c_int;
    fn ASYNC_WAIT_CTX_new() -> *mut AsyncWaitCtx;
    fn ASYNC_WAIT_CTX_free(wait: *mut AsyncWaitCtx);
    fn ASYNC_WAIT_CTX_get_all_fds(
        wait: *mut AsyncWaitCtx,
        fds: *mut c_int,
        count: *mut usize,
    ) -> c_int;
    fn ASYNC_WAIT_CTX_set_callback(
        wait: *mut AsyncWaitCtx,
        callback: unsafe extern "C" fn(*mut c_void) -> c_int,
        arg: *mut c_void,
    ) -> c_int;
    fn ASYNC_cleanup_thread();
    fn ASYNC_get_current_job() -> *mut AsyncJob;
}

type Work<'w> = Box<dyn FnMut() + 'w>;

/// A job with its wait context.
pub struct Job<'w> {
    job: *mut AsyncJob,
    wait: *mut AsyncWaitCtx,
    work: Box<Work<'w>>,
    pub pauses: u32,
    pub state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    Ready,
    Paused,
    Finished,
}

unsafe extern "C" fn call(args: *mut c_void) -> c_int {
    let work: *mut *mut Work<'_> = args.cast();
    unsafe { (**work)() };
    1
}

impl<'w> Job<'w> {
    pub fn new(work: impl FnMut() + 'w) -> Self {
        Self {
            job: std::ptr::null_mut(),
            wait: unsafe { ASYNC_WAIT_CTX_new() },
            work: Box::new(Box::new(work)),
            pauses: 0,
            state: State::Ready,
        }
    }

    /// Starts or resumes the job.
    pub fn resume(&mut self) -> State {
        assert_ne!(self.state, State::Finished, "there is nothing to resume");
        let mut result = 0;
        let mut args: *mut Work<'w> = &raw mut *self.work;
        let status = unsafe {
            ASYNC_start_job(
                &raw mut self.job,
                self.wait,
                &raw mut result,
                call,
                (&raw mut args).cast(),
                size_of::<*mut Work<'w>>(),
            )
        };
        self.state = match status {
            2 => {
                self.pauses += 1;
                State::Paused
            }
            3 => {
                assert_eq!(result, 1);
                State::Finished
            }
            other => panic!("ASYNC_start_job returned {other}"),
        };
        self.state
    }

    pub fn descriptors(&self) -> Vec<c_int> {
        let mut count = 0;
        unsafe {
            ASYNC_WAIT_CTX_get_all_fds(self.wait, std::ptr::null_mut(), &raw mut count);
            let mut fds = vec![0; count];
            ASYNC_WAIT_CTX_get_all_fds(self.wait, fds.as_mut_ptr(), &raw mut count);
            fds
        }
    }

    /// Whether its descriptor is readable now, or becomes so within `within`.
    pub fn is_readable(&self, within: Duration) -> bool {
        let fds = self.descriptors();
        assert_eq!(fds.len(), 1, "a wait context has one descriptor");
        let mut poll = libc::pollfd {
            fd: fds[0],
            events: libc::POLLIN,
            revents: 0,
        };
        let timeout = c_int::try_from(within.as_millis()).expect("a short time");
        unsafe { libc::poll(&raw mut poll, 1, timeout) == 1 }
    }

    /// Has the application told by a callback.
    pub fn set_callback(&self, calls: &std::cell::Cell<u32>) {
        unsafe extern "C" fn count(calls: *mut c_void) -> c_int {
            let calls: &std::cell::Cell<u32> = unsafe { &*calls.cast() };
            calls.set(calls.get() + 1);
            1
        }
        let calls = std::ptr::from_ref(calls).cast_mut().cast();
        unsafe { ASYNC_WAIT_CTX_set_callback(self.wait, count, calls) };
    }

    /// Frees the wait context while the job is paused, as closing its connection does. The job's
    /// own stack is lost: nobody can resume it.
    pub fn abandon(mut self) {
        assert_eq!(self.state, State::Paused);
        unsafe { ASYNC_WAIT_CTX_free(self.wait) };
        self.wait = std::ptr::null_mut();
        // What the job's stack refers to must stay.
        let work = std::mem::replace(&mut self.work, Box::new(Box::new(|| ())));
        std::mem::forget(work);
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if !self.wait.is_null() {
            unsafe { ASYNC_WAIT_CTX_free(self.wait) };
        }
    }
}

/// An event loop: starts all jobs, then resumes those whose descriptors are readable, in the order
/// that `order` gives their indices, until all have finished. Returns the turns it took.
pub fn drive(jobs: &mut [Job<'_>], mut order: impl FnMut(&mut Vec<usize>)) -> usize {
    for job in jobs.iter_mut() {
        job.resume();
    }
    for turn in 0..10_000 {
        let paused = |job: &Job<'_>| job.state == State::Paused;
        let mut ready: Vec<usize> = (0..jobs.len())
            .filter(|&index| paused(&jobs[index]) && jobs[index].is_readable(Duration::ZERO))
            .collect();
        if !jobs.iter().any(paused) {
            return turn;
        }
        order(&mut ready);
        for index in ready {
            jobs[index].resume();
        }
        if turn > 100 {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
    panic!("jobs never finish");
}

/// An event loop that hears of changes alone, as Traffic Server's: it registers a job's descriptor
/// at the job's first pause, and resumes a job once for each time that it is told. The last to be
/// told of is resumed first.
pub fn drive_by_edges(jobs: &mut [Job<'_>]) {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    let epoll = unsafe { OwnedFd::from_raw_fd(libc::epoll_create1(libc::EPOLL_CLOEXEC)) };
    for (job, index) in jobs.iter_mut().zip(0..) {
        if job.resume() == State::Paused {
            let mut event = libc::epoll_event {
                events: (libc::EPOLLIN | libc::EPOLLET).cast_unsigned(),
                u64: index,
            };
            let (add, fd) = (libc::EPOLL_CTL_ADD, job.descriptors()[0]);
            let added = unsafe { libc::epoll_ctl(epoll.as_raw_fd(), add, fd, &raw mut event) };
            assert_eq!(added, 0);
        }
    }
    while jobs.iter().any(|job| job.state == State::Paused) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        let told = unsafe { libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), 64, 10_000) };
        assert!(told > 0, "paused jobs that nobody is told of");
        for event in events[..usize::try_from(told).expect("positive")]
            .iter()
            .rev()
        {
            let index = usize::try_from(event.u64).expect("an index");
            if jobs[index].state == State::Paused {
                jobs[index].resume();
            }
        }
    }
}

/// Frees this thread's pool of stacks.
pub fn clean_up_thread() {
    unsafe { ASYNC_cleanup_thread() };
}

/// Whether the caller runs in a job.
pub fn is_in_job() -> bool {
    !unsafe { ASYNC_get_current_job() }.is_null()
}
