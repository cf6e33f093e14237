//! Paused jobs and the batches they join.
//!
//! An operation belongs to its thread's [`turn::Turn`], never to the job's own stack: a connection
//! can be closed while its job is paused, and the job is then never resumed. What the job keeps is
//! a ticket. The wait context of its connection gets one descriptor ([`wait::Descriptor`]) that
//! makes the event loop resume the job; when it is freed, it cancels the operation.

mod callback;
mod process;
mod stack;
mod turn;
mod wait;

use std::ffi::c_int;
use std::time::Duration;

use lanelock::Device;
use lanelock::public_key::KeyJob;
use zeroize::Zeroizing;

use crate::event_loop;
use crate::lanes;
use crate::lasting::Lasting;
pub(crate) use callback::is_libcryptos;
pub(crate) use process::generation;
pub(crate) use stack::{Stack, on_large_stack};
pub(crate) use turn::is_done;
use turn::{Jobs, Resumed, Submitted};
use wait::{Kind, Wait};

/// The memory of an operation, wiped when it goes.
pub(crate) type Bytes = Zeroizing<Vec<u8>>;

/// The engines, opened at the first operation that can join a batch and never closed: threads
/// keep their queues until they end, and that can be after the provider is unloaded. `None` if they
/// cannot be opened now.
pub(crate) fn device() -> Option<&'static Device> {
    static DEVICE: Lasting<Device> = Lasting::new();
    let device = DEVICE.get(|| lanelock::open_public_keys().ok());
    if device.is_none() {
        lanes::refused();
    }
    device
}

/// Whether the caller runs inside a job that can pause.
pub(crate) fn inside_job() -> bool {
    Wait::current().is_some()
}

/// Whether an operation of the caller's can join a batch: inside a job.
pub(crate) fn can_join() -> bool {
    let inside = inside_job();
    if !inside {
        lanelock::telemetry::module::outside_of_jobs();
    }
    inside
}

/// Why an operation has no result from a batch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NoResult {
    /// The caller is to run it by itself: outside of a job, in a callback of the application's,
    /// where nobody is there to fill a batch, and if it failed, so that the error is told as usual.
    Delegate,
    /// Its job is to come to an end.
    Cancelled,
}

/// Inside a job, runs the operation that `make` describes with its thread's next batch: pauses the
/// job unless that runs at once.
pub(crate) fn run(
    deadline: Duration,
    make: impl FnOnce() -> Option<KeyJob<Bytes>>,
) -> Result<KeyJob<Bytes>, NoResult> {
    let (job, _) = run_both(deadline, || Some((make()?, None)))?;
    Ok(job)
}

/// As [`run`], for an operation that may have a second job; it pauses once.
pub(crate) fn run_both(
    deadline: Duration,
    make: impl FnOnce() -> Option<(KeyJob<Bytes>, Option<KeyJob<Bytes>>)>,
) -> Result<(KeyJob<Bytes>, Option<KeyJob<Bytes>>), NoResult> {
    let jobs = || make().map(|(first, second)| [Some(first), second]);
    let [first, second] = run_jobs(deadline, jobs)?;
    Ok((first.ok_or(NoResult::Delegate)?, second))
}

fn run_jobs(deadline: Duration, make: impl FnOnce() -> Option<Jobs>) -> Result<Jobs, NoResult> {
    if turn::is_cancelling() {
        return Err(NoResult::Cancelled);
    }
    let Some((wait, submitted)) = submit(deadline, make) else {
        return Err(NoResult::Delegate);
    };
    let ticket = match submitted {
        Submitted::Done(jobs) => return succeeded(jobs),
        Submitted::Waiting(ticket) => ticket,
    };
    let mut pauses = 0;
    let result = loop {
        // The application may be told at once: the job pauses before it can act on that, on this
        // same thread.
        wait.call_back();
        event_loop::pausing(ticket, deadline);
        let paused = wait::pause();
        pauses += 1;
        let force = !paused
            || event_loop::is_resuming()
            || wait.has_callback()
            || pauses > turn::MOST_PAUSES;
        match on_large_stack(|| turn::resume(ticket, pauses, force)).flatten() {
            Some(Resumed::Done(jobs)) => break succeeded(jobs),
            Some(Resumed::TooEarly) => wait.remind(Kind::of(deadline)),
            Some(Resumed::Cancelled) => break Err(NoResult::Cancelled),
            Some(Resumed::Alone) | None => break Err(NoResult::Delegate),
        }
    };
    wait.settle(Kind::of(deadline));
    result
}

/// Hands the operation to the thread's queue; `None` if it is to be delegated.
fn submit(deadline: Duration, make: impl FnOnce() -> Option<Jobs>) -> Option<(Wait, Submitted)> {
    let Some(wait) = Wait::current() else {
        lanelock::telemetry::module::outside_of_jobs();
        return None;
    };
    if !event_loop::may_pause()
        || !on_large_stack(turn::has_company).flatten()?
        || callback::is_active()
        || !event_loop::is_drained()
    {
        return None;
    }
    // Keys are read and sessions opened with libcrypto's help, for which a job's stack is small.
    let jobs = on_large_stack(make).flatten()?;
    let descriptor = wait.descriptor(Kind::of(deadline))?;
    let submitted = on_large_stack(|| turn::submit(jobs, &descriptor, deadline)).flatten()?;
    if let Submitted::Waiting(ticket) = submitted {
        if !wait.register(&descriptor) {
            turn::cancel(ticket);
            return None;
        }
        descriptor.arm(ticket, deadline);
    }
    lanes::granted();
    Some((wait, submitted))
}

fn succeeded(jobs: Jobs) -> Result<Jobs, NoResult> {
    let is_success = |job: &KeyJob<Bytes>| job.status() == lanelock::Status::Success;
    match jobs.iter().flatten().all(is_success) {
        true => Ok(jobs),
        false => Err(NoResult::Delegate),
    }
}

/// Whether this thread paused the job that was given one of these descriptors, for an operation.
pub(crate) fn owns(descriptors: &[c_int]) -> bool {
    turn::owns(descriptors)
}

/// While the value lives, jobs that are resumed end with a failure, and their operations are cancelled.
pub(crate) fn cancel() -> Cancelling {
    Cancelling::new()
}

/// Whether a [`Cancelling`] of this thread lives.
pub(crate) fn is_cancelling() -> bool {
    turn::is_cancelling()
}

/// See [`cancel`].
pub(crate) struct Cancelling(());

impl Cancelling {
    fn new() -> Self {
        turn::set_cancelling(true);
        Self(())
    }
}

impl Drop for Cancelling {
    fn drop(&mut self) {
        turn::set_cancelling(false);
    }
}
