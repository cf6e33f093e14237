//! A service manager that has started this command, where the program is a child of it.
//!
//! It listens to the service's main process alone, and tells by its number whom its sockets and its
//! watchdog are for. So the program becomes the main process (sd_notify(3)) before its first
//! instruction.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::Command;

use rustix::process::{Pid, Signal, WaitOptions};

use crate::terminal::say;

/// Where the manager listens: a path, or an abstract name after `@`.
const SOCKET: &str = "NOTIFY_SOCKET";

/// Stops, and becomes the program when it goes on, with the variables that come before `--`: what is
/// preloaded is for the program. The manager's two have to be its own number for a program that
/// listens to them.
const STOPPED: &str = "kill -STOP $$\n\
                       [ -z \"$LISTEN_PID\" ] || LISTEN_PID=$$\n\
                       [ -z \"$WATCHDOG_PID\" ] || WATCHDOG_PID=$$\n\
                       until [ \"$1\" = -- ]; do export \"$1\"; shift; done\n\
                       shift\n\
                       exec \"$@\"";

#[derive(Debug)]
pub(super) struct Supervisor {
    socket: OsString,
}

impl Supervisor {
    pub(super) fn of_this_process() -> Option<Self> {
        let socket = std::env::var_os(SOCKET).filter(|name| !name.is_empty())?;
        Some(Self { socket })
    }

    /// Makes the child, a command that was made by [`stopped`], the main process, and lets it run.
    pub(super) fn hand_over(&self, child: Pid) -> io::Result<()> {
        let stopped = rustix::process::waitpid(Some(child), WaitOptions::UNTRACED)?;
        if stopped.is_none_or(|(_, status)| !status.stopped()) {
            return Err(io::Error::other("it ended before its start"));
        }
        let told = self.send(&format!("MAINPID={}", child.as_raw_nonzero()));
        if let Err(error) = told {
            say(&format!("{SOCKET}={}: {error}", self.socket.display()));
        }
        rustix::process::kill_process(child, Signal::CONT)?;
        Ok(())
    }

    fn send(&self, message: &str) -> io::Result<()> {
        let address = match self.socket.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
            path => SocketAddr::from_pathname(OsStr::from_bytes(path))?,
        };
        UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address)?;
        Ok(())
    }
}

/// The command, stopped before its first instruction.
pub(super) fn stopped(command: &Command) -> Command {
    let mut stopped = Command::new("/bin/sh");
    stopped.args(["-c", STOPPED, "sh"]);
    for (name, value) in command.get_envs() {
        let mut variable = name.to_owned();
        variable.push("=");
        variable.push(value.unwrap_or_default());
        stopped.arg(variable);
    }
    stopped.arg("--").arg(command.get_program());
    stopped.args(command.get_args());
    stopped
}
