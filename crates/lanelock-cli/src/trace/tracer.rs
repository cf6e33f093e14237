//! One bpftrace process.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::Signal;

use super::output::Message;
use super::program::signal;
use crate::failure::Failure;

/// A script that runs, and threads that read what it says.
#[derive(Debug)]
pub(super) struct Tracer {
    child: Child,
    output: Option<JoinHandle<()>>,
    errors: Option<JoinHandle<String>>,
}

/// How often bpftrace is looked at while it removes its probes, and how long in between: looks, since
/// a machine that sleeps meanwhile would use up a time.
const LOOKS: u32 = 4_000;
const LOOK: Duration = Duration::from_millis(5);

/// What a tracer says: its number, and a message, an unreadable line, or nothing more.
pub(super) type Said = (usize, Option<Result<Message, String>>);

/// The scripts' argument: figures for programs.
pub(super) const TOTALS: &str = "2";
/// The scripts' argument: events as well.
pub(super) const EVENTS: &str = "3";

impl Tracer {
    /// Starts a script. It says what it has to say under `number`.
    ///
    /// # Errors
    /// [`Failure::Failed`] if bpftrace cannot be started.
    pub(super) fn start(
        bpftrace: &Path,
        script: &str,
        mode: &str,
        (number, says): (usize, Sender<Said>),
    ) -> Result<Self, Failure> {
        let mut child = Command::new(bpftrace)
            .args(["-f", "json", "-e", script, mode])
            .env("BPFTRACE_MAP_KEYS_MAX", "65536")
            .env("BPFTRACE_PERF_RB_PAGES", "512")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the session, which then stops its tracers.
            .process_group(0)
            .spawn()
            .map_err(|error| {
                Failure::Failed(format!("cannot start {}: {error}", bpftrace.display()))
            })?;
        let output = child.stdout.take().map(|output| {
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if let Some(said) = Message::parse(&line).transpose()
                        && says.send((number, Some(said))).is_err()
                    {
                        return;
                    }
                }
                // Nobody listens to a session that failed.
                let _unheard = says.send((number, None));
            })
        });
        let errors = child.stderr.take().map(|mut errors| {
            thread::spawn(move || {
                let mut text = String::new();
                let _rest = errors.read_to_string(&mut text);
                text
            })
        });
        Ok(Self {
            child,
            output,
            errors,
        })
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to print its maps and to end.
    pub(super) fn stop(&self) {
        signal(self.child.id(), Signal::INT);
    }

    /// Waits until it has ended, and returns what it complained about. One that does not end is
    /// killed, and its figures are lost.
    pub(super) fn join(mut self) -> String {
        let mut looks = 0;
        while matches!(self.child.try_wait(), Ok(None)) {
            looks += 1;
            if looks > LOOKS {
                let _gone = self.child.kill();
                let _gone = self.child.wait();
                return "it did not end when it was asked to, and its figures are missing"
                    .to_owned();
            }
            thread::sleep(LOOK);
        }
        if let Some(output) = self.output.take() {
            let _panicked = output.join();
        }
        let errors = self.errors.take().and_then(|errors| errors.join().ok());
        complaints(&errors.unwrap_or_default())
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // Only where a session fails: a tracer must not outlive it.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// Without what bpftrace 0.17 says on machines without a mounted tracefs or with a limit on locked
/// memory, where all works.
fn complaints(errors: &str) -> String {
    const HARMLESS: [&str; 3] = ["RLIMIT_MEMLOCK", "uprobe_events", "failed to detach probe"];
    let lines: Vec<&str> = errors
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !HARMLESS.iter().any(|word| line.contains(word)))
        .collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_complaints_are_passed_on() {
        let errors = "\
ERROR: Unknown error -1: couldn't set RLIMIT_MEMLOCK for bpftrace. If your program is not loading
open(/sys/kernel/tracing/uprobe_events): No such file or directory
ERROR: failed to detach probe: uprobe:/tmp/x:SSL_free

ERROR: Could not resolve symbol: /tmp/x:SSL_new
";
        assert_eq!(
            complaints(errors),
            "ERROR: Could not resolve symbol: /tmp/x:SSL_new"
        );
    }
}
