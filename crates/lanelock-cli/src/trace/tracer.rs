//! One bpftrace process.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::Signal;

use super::leash::leashed;
use super::output::Message;
use super::program::signal;
use crate::failure::Failure;
use crate::shown;

/// A script that runs, and threads that read what it says.
#[derive(Debug)]
pub(super) struct Tracer {
    child: Child,
    output: Option<JoinHandle<()>>,
    errors: Option<JoinHandle<Vec<u8>>>,
}

/// How often bpftrace is looked at while it removes its probes, and how long in between: looks, since
/// a machine that sleeps meanwhile would use up a time.
const LOOKS: u32 = 4_000;
const LOOK: Duration = Duration::from_millis(5);
/// Looks after which it is asked again: bpftrace 0.17 notices a signal only while it waits for
/// events, not while it reads one.
const AGAIN: u32 = 100;

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
        let words = [
            bpftrace.as_os_str(),
            "-f".as_ref(),
            "json".as_ref(),
            "-e".as_ref(),
        ];
        let words = words.into_iter().chain([script.as_ref(), mode.as_ref()]);
        let words: Vec<OsString> = words.map(OsStr::to_owned).collect();
        let mut child = leashed(&words, false)
            .env("BPFTRACE_MAP_KEYS_MAX", "65536")
            .env("BPFTRACE_PERF_RB_PAGES", "512")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the session, which then stops its tracers.
            .process_group(0)
            .spawn()
            .map_err(|error| {
                Failure::Failed(format!("cannot start {}: {error}", shown::name(bpftrace)))
            })?;
        let output = child.stdout.take().map(|output| {
            thread::spawn(move || {
                // Names of processes are in it, which may be no text.
                for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
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
                let mut text = Vec::new();
                let _rest = errors.read_to_end(&mut text);
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

    /// Asks it to print its maps and to end. A second SIGINT would end it without its maps.
    pub(super) fn stop(&self) {
        signal(self.child.id(), Signal::TERM);
    }

    /// Waits until it has ended, and returns what it complained about. One that does not end is
    /// killed, and its figures are lost.
    pub(super) fn join(mut self) -> String {
        let mut looks = 0;
        while matches!(self.child.try_wait(), Ok(None)) {
            looks += 1;
            if looks % AGAIN == 0 {
                self.stop();
            }
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
fn complaints(errors: &[u8]) -> String {
    const HARMLESS: [&str; 3] = ["RLIMIT_MEMLOCK", "uprobe_events", "failed to detach probe"];
    let mut lines: Vec<String> = errors
        .split(|byte| *byte == b'\n')
        .map(|line| shown::bytes(line.trim_ascii()))
        .filter(|line| !line.is_empty() && !HARMLESS.iter().any(|word| line.contains(word)))
        .collect();
    lines.dedup();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_complaints_are_passed_on() {
        let errors = b"\
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
