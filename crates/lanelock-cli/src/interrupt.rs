//! How a command is asked to end, whatever it waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// Whether SIGINT or SIGTERM has come. The second one ends the process at once.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// Between two looks at the flag while something else is waited for.
const LOOK: Duration = Duration::from_millis(20);

impl Interrupt {
    /// Listens from now on.
    ///
    /// # Errors
    /// [`Failure::Failed`] if the kernel says no.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let came = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: a first signal finds the flag not yet set.
            flag::register_conditional_shutdown(signal, 1, Arc::clone(&came))
                .and_then(|_| flag::register(signal, Arc::clone(&came)))
                .map_err(|error| Failure::Failed(format!("cannot handle signals: {error}")))?;
        }
        Ok(Self(came))
    }

    /// Whether one has come.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does work that looks at other processes' files and memory. They may lie on a file system
    /// that does not answer, and a signal with a handler interrupts no such wait: it is a thread of
    /// its own that waits, which goes with this process.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a signal comes first.
    pub(crate) fn or<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let (done, result) = mpsc::sync_channel(1);
        thread::spawn(move || {
            // After an interruption there is no receiver any more.
            let _interrupted = done.send(work());
        });
        loop {
            match result.recv_timeout(LOOK) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) if self.came() => {
                    return Err(Failure::Failed("interrupted".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Failed("looking at processes failed".to_owned()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_does_not_end_is_left() {
        let interrupt = Interrupt(Arc::new(AtomicBool::new(false)));
        assert_eq!(interrupt.or(|| 7).expect("no signal"), 7);
        let (_held, never) = mpsc::channel::<()>();
        interrupt.0.store(true, Ordering::Relaxed);
        let left = interrupt.or(move || never.recv().is_ok());
        assert_eq!(left.expect_err("a signal").to_string(), "interrupted");
    }
}
