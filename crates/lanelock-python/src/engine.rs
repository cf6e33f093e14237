//! The device, and a queue pair for each thread that runs.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, OnceLock};

use lanelock::{Device, QueuePair, Session, SessionError, Transform};

/// Most queue pairs that wait for the next column.
const KEPT: usize = 64;

static IDLE: Mutex<Vec<QueuePair>> = Mutex::new(Vec::new());

/// The process's device.
pub(crate) fn device() -> Result<&'static Device, SessionError> {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    if let Some(device) = DEVICE.get() {
        return Ok(device);
    }
    let device = lanelock::open()?;
    Ok(DEVICE.get_or_init(|| device))
}

pub(crate) fn session(transform: Transform) -> Result<Session, SessionError> {
    device()?.session(transform)
}

/// A queue pair that goes back when it is dropped.
pub(crate) struct Queue(Option<QueuePair>);

impl Queue {
    pub(crate) fn take() -> Result<Self, SessionError> {
        // Never waits: a child of a fork may find the lock taken for ever.
        let idle = IDLE.try_lock().ok().and_then(|mut idle| idle.pop());
        Ok(Self(Some(match idle {
            Some(queue) => queue,
            None => device()?.queue_pair(crate::work::BURST),
        })))
    }
}

impl Deref for Queue {
    type Target = QueuePair;

    fn deref(&self) -> &QueuePair {
        self.0.as_ref().expect("taken only by drop")
    }
}

impl DerefMut for Queue {
    fn deref_mut(&mut self) -> &mut QueuePair {
        self.0.as_mut().expect("taken only by drop")
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let (Some(queue), Ok(mut idle)) = (self.0.take(), IDLE.try_lock())
            && idle.len() < KEPT
        {
            idle.push(queue);
        }
    }
}
