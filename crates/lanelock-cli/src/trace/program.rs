//! The program that is traced: one that runs already, or one that waits for its tracers.

use std::ffi::OsString;
use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, set_child_subreaper};

use super::leash::leashed;
use super::process;
use crate::failure::Failure;
use crate::programs::find;
use crate::shown;

/// A process and its descendants.
#[derive(Debug)]
pub(super) struct Program {
    root: u32,
    child: Option<Child>,
    name: String,
}

/// How long a command may take to end once it was asked to.
const PATIENCE: Duration = Duration::from_secs(5);

impl Program {
    /// A process that runs already.
    pub(super) fn running(pid: u32) -> Result<Self, Failure> {
        let name = process::name(pid)
            .ok_or_else(|| Failure::Usage(format!("--pid {pid}: no such process")))?;
        Ok(Self {
            root: pid,
            child: None,
            name: format!("{name} (process {pid})"),
        })
    }

    /// Starts a command that stops itself before its first instruction, so that its tracers are in
    /// place when it runs. Its process number stays the same.
    pub(super) fn start(command: &[OsString]) -> Result<Self, Failure> {
        let shown: Vec<_> = command.iter().map(shown::name).collect();
        let name = shown.join(" ");
        if find(&command[0]).is_none() {
            return Err(Failure::Usage(format!("{}: no such program", shown[0])));
        }
        let failed = |error: io::Error| Failure::Failed(format!("cannot start {name}: {error}"));
        // Daemons detach from their parent: the nearest subreaper above inherits them.
        set_child_subreaper(Pid::from_raw(1)).map_err(|error| failed(error.into()))?;
        let child = leashed(command, true).spawn().map_err(failed)?;
        let deadline = Instant::now() + PATIENCE;
        while !process::is_stopped(child.id()) {
            if Instant::now() > deadline {
                return Err(Failure::Failed(format!(
                    "{name}: it did not wait to be traced"
                )));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(Self {
            root: std::process::id(),
            child: Some(child),
            name,
        })
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The process whose descendants, with itself, are traced: for a command this process, which
    /// inherits its daemons.
    pub(super) fn root(&self) -> u32 {
        self.root
    }

    /// The processes that are traced now. `tracers` are none of them.
    pub(super) fn processes(&self, tracers: &[u32]) -> Vec<u32> {
        let mut processes = process::tree(self.root);
        if self.child.is_some() {
            processes.remove(&self.root);
        }
        let ours = |pid: &u32| !tracers.contains(pid);
        processes.into_iter().filter(ours).collect()
    }

    /// Lets a command run.
    pub(super) fn resume(&self) {
        if let Some(child) = &self.child {
            signal(child.id(), Signal::CONT);
        }
    }

    /// Whether nothing is left of it.
    pub(super) fn has_ended(&mut self, tracers: &[u32]) -> bool {
        if let Some(child) = &mut self.child {
            // A zombie until it is waited for.
            let _still_running = child.try_wait();
        }
        self.processes(tracers).is_empty()
    }

    /// Ends a command, and returns how it ended if it did by itself; a process that ran already goes
    /// on.
    pub(super) fn end(&mut self, tracers: &[u32]) -> Option<ExitStatus> {
        if let Some(status) = self.child.as_mut()?.try_wait().ok()? {
            self.end_all(tracers);
            return Some(status);
        }
        self.end_all(tracers);
        None
    }

    fn end_all(&mut self, tracers: &[u32]) {
        let deadline = Instant::now() + PATIENCE;
        for pid in self.processes(tracers) {
            signal(pid, Signal::TERM);
        }
        while !self.has_ended(tracers) {
            if Instant::now() > deadline {
                for pid in self.processes(tracers) {
                    signal(pid, Signal::KILL);
                }
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // Gone already unless an error ends the session early.
            let _gone = child.kill();
            let _gone = child.wait();
        }
    }
}

/// Sends a signal to a process that may be gone.
pub(super) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _gone = kill_process(pid, signal);
    }
}
