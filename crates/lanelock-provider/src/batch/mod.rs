//! Paused jobs and the batches they join.
//!
//! An operation belongs to its thread's [`turn::Turn`], never to the job's own stack: a connection
//! can be closed while its job is paused, and the job is then never resumed. What the job keeps is
//! a ticket. The wait context of its connection gets one descriptor ([`wait::Descriptor`]) that
//! makes the event loop resume the job; when it is freed, it cancels the operation.

mod company;
mod fork;
mod stack;
mod turn;
mod wait;

use std::sync::OnceLock;
use std::time::Duration;

use lanelock::Device;
use lanelock::public_key::KeyJob;
use zeroize::Zeroizing;

pub(crate) use stack::on_large_stack;
use turn::{Resumed, Submitted};
use wait::Wait;

/// The memory of an operation, wiped when it goes.
pub(crate) type Bytes = Zeroizing<Vec<u8>>;

/// The engines, opened at the first operation that can join a batch and never closed: threads
/// keep their queues until they end, and that can be after the provider is unloaded.
pub(crate) fn device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Option<Device>> = OnceLock::new();
    DEVICE.get_or_init(|| lanelock::open().ok()).as_ref()
}

/// Whether the caller runs inside a job that can pause.
pub(crate) fn inside_job() -> bool {
    Wait::current().is_some()
}

/// Inside a job, runs the operation that `make` describes with its thread's next batch: pauses the
/// job unless that runs at once. `None` if the caller is to run the operation by itself: outside
/// of a job, where nobody is there to fill a batch, and if the operation did not succeed, whose
/// error is then told as usual.
pub(crate) fn run(
    deadline: Duration,
    make: impl FnOnce() -> Option<KeyJob<Bytes>>,
) -> Option<KeyJob<Bytes>> {
    let wait = Wait::current()?;
    if !on_large_stack(turn::has_company).flatten()? {
        return None;
    }
    let job = make()?;
    let descriptor = wait.descriptor(deadline)?;
    let submitted = on_large_stack(|| turn::submit(job, descriptor, deadline)).flatten()?;
    let ticket = match submitted {
        Submitted::Done(job) => return succeeded(job),
        Submitted::Waiting(ticket) => ticket,
    };
    descriptor.arm(ticket, deadline);
    let mut pauses = 0;
    let job = loop {
        // The application may be told at once: the job pauses before it can act on that, on this
        // same thread.
        wait.call_back();
        let paused = wait::pause();
        pauses += 1;
        let force = !paused || wait.has_callback() || pauses > turn::MOST_PAUSES;
        match on_large_stack(|| turn::resume(ticket, pauses, force)).flatten() {
            Some(Resumed::Done(job)) => break Some(job),
            Some(Resumed::TooEarly) => {}
            Some(Resumed::Alone) | None => break None,
        }
    };
    wait.settle();
    succeeded(job?)
}

fn succeeded(job: KeyJob<Bytes>) -> Option<KeyJob<Bytes>> {
    (job.status() == lanelock::Status::Success).then_some(job)
}
