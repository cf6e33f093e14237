//! Runs the program as a child, for what there is to do after its end.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io, thread};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use super::program::Program;
use super::signals;
use super::supervisor::{self, Supervisor};
use crate::failure::Failure;

/// Whether the program itself has ended; those that it has started may go on.
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// Starts the program and waits until it and everything that it has started have ended. Returns the
/// program's exit code, or 128 + the number of the signal that ended it.
pub(super) fn run(command: Command, program: &Program) -> Result<u8, Failure> {
    let failed = |what: &str, error: io::Error| {
        Failure::Failed(format!("{}: {what}: {error}", program.path.display()))
    };
    // Daemons lose their parent, and would be lost to us.
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own))
        .map_err(|error| failed("cannot wait for the processes that it starts", error.into()))?;
    let signals = SignalsInfo::<WithOrigin>::new(signals::passed_on())
        .map_err(|error| failed("cannot forward signals", error))?;
    let supervisor = Supervisor::of_this_process();
    let mut command = match &supervisor {
        Some(_) => supervisor::stopped(&command),
        None => command,
    };
    let child = command
        .spawn()
        .map_err(|error| Failure::Usage(format!("{}: {error}", program.path.display())))?;
    let pid = Pid::from_child(&child);
    if let Some(supervisor) = supervisor {
        supervisor
            .hand_over(pid)
            .map_err(|error| failed("cannot make it the service's main process", error))?;
    }
    thread::spawn(move || pass_on(signals, pid));
    let mut code = None;
    loop {
        match rustix::process::wait(WaitOptions::UNTRACED) {
            Ok(Some((stopped, status))) if status.stopped() => {
                let signal = status.stopping_signal();
                if stopped == pid && signal.is_some_and(signals::is_job_control) {
                    // The shell that has this command for a job is to see it stop.
                    let _stopped = rustix::process::kill_process(own, Signal::STOP);
                }
            }
            Ok(Some((ended, status))) if ended == pid => {
                HAS_ENDED.store(true, Ordering::SeqCst);
                code = Some(exit_code(ExitStatus::from_raw(status.as_raw())));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::CHILD) => break,
            Err(error) => return Err(failed("cannot wait for it", error.into())),
        }
    }
    Ok(code.unwrap_or(1))
}

/// A terminal signals every process in its foreground, the program too: what it sends stays here.
fn pass_on(mut signals: SignalsInfo<WithOrigin>, program: Pid) {
    for origin in &mut signals {
        if origin.cause == Cause::Kernel {
            continue;
        }
        let Some(signal) = signals::of_number(origin.signal) else {
            continue;
        };
        let targets = match HAS_ENDED.load(Ordering::SeqCst) {
            false => vec![program],
            true => children(),
        };
        for target in targets {
            // It may just have ended.
            let _gone = rustix::process::kill_process(target, signal);
        }
    }
}

/// Processes that the program has left behind.
fn children() -> Vec<Pid> {
    let own = std::process::id();
    let path = format!("/proc/self/task/{own}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    let numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    numbers.filter_map(Pid::from_raw).collect()
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    u8::try_from(code).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_as_a_shell_has_them() {
        assert_eq!(exit_code(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(exit_code(ExitStatus::from_raw(15)), 128 + 15);
    }
}
