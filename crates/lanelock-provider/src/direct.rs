//! Operations that run at once, in the caller's thread, with a queue that the thread keeps for them.

use std::cell::RefCell;

use lanelock::public_key::{FlushPolicy, KeyDevice, KeyOp, KeyQueue};

use crate::batch::{self, Bytes, device};

thread_local! {
    /// With the process that it is of.
    static QUEUE: RefCell<Option<(u32, KeyQueue<Bytes>)>> = const { RefCell::new(None) };
}

/// Runs `ops` together on the large stack; true if all succeeded. False also when the thread ends,
/// and if there are no engines or no memory, this time.
pub(crate) fn process(ops: &mut [KeyOp<'_>]) -> bool {
    let count = ops.len();
    let succeeded = QUEUE.try_with(|queue| {
        let mut queue = queue.try_borrow_mut().ok()?;
        let process = batch::generation()?;
        if queue.as_ref().is_some_and(|(of, _)| *of != process) {
            // A parent's: another of its threads may have held a lock that dropping it takes.
            std::mem::forget(queue.take());
        }
        batch::on_large_stack(|| {
            if queue.is_none() {
                let made = device()?.key_queue_of(1, FlushPolicy::default());
                *queue = Some((process, made));
            }
            let (_, queue) = queue.as_mut()?;
            Some(queue.process(ops).succeeded)
        })?
    });
    succeeded.ok().flatten() == Some(count)
}
