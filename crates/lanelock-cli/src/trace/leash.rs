//! A hidden command: the step between `lanelock trace` and what it starts, which then goes when
//! the trace does, even if that is killed.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, parent_id};
use std::process::Command;

use rustix::process::{Signal, getpid, kill_process, set_parent_process_death_signal};

use crate::failure::Failure;
use crate::shown;

/// Arguments of `lanelock leash`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the process whose end is to end the command.
    #[arg(long)]
    parent: u32,

    /// Stop until SIGCONT, and from then on live on without the parent.
    #[arg(long)]
    wait: bool,

    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// A command that runs another in its place. It has to be spawned by a thread that lives as long as
/// the process, as the main one does: the kernel counts a thread's end for the parent's.
pub(super) fn leashed(command: &[OsString], wait: bool) -> Command {
    // The link leads to this program even where another has taken its name.
    let mut leash = Command::new("/proc/self/exe");
    leash.args(["leash", "--parent", &std::process::id().to_string()]);
    if wait {
        leash.arg("--wait");
    }
    leash.arg("--").args(command);
    leash
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] if the program cannot be started; otherwise this does not return.
pub fn run(args: &Args) -> Result<(), Failure> {
    let program = &args.command[0];
    let failed = |error: std::io::Error| {
        Failure::Failed(format!("cannot start {}: {error}", shown::name(program)))
    };
    let until = |signal| set_parent_process_death_signal(signal).map_err(|e| failed(e.into()));
    until(Some(Signal::KILL))?;
    if parent_id() != args.parent {
        return Err(Failure::Failed("its parent has ended".to_owned()));
    }
    if args.wait {
        kill_process(getpid(), Signal::STOP).map_err(|error| failed(error.into()))?;
        until(None)?;
    }
    Err(failed(
        Command::new(program).args(&args.command[1..]).exec(),
    ))
}
