//! `lanelock trace`: where the handshakes of a program spend their time, from outside of it.

mod breakdown;
mod buckets;
mod elf;
mod event;
pub mod leash;
mod libraries;
mod library;
mod output;
mod process;
mod program;
mod requirements;
mod script;
mod session;
mod table;
mod tracer;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::perf::number::seconds;
use crate::report::html;
use crate::report::json::{self, Schema};
use crate::run;
use crate::terminal::{print, save};
#[cfg(test)]
pub use breakdown::{Algorithm, Batches};
pub use breakdown::{Breakdown, Times};
pub use event::Event;
use libraries::Libraries;
pub(crate) use libraries::paths;
use program::Program;
use session::Session;

/// Arguments of `lanelock trace`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "lanelock trace [OPTIONS] -- COMMAND...\n       lanelock trace [OPTIONS] --pid PID",
    after_help = "\
Counts the TLS handshakes of a process and its descendants by connection: a handshake that is
returned for later counts once, with its whole time. Crypto is timed batch by batch in a program
that runs under lanelock's provider, and in libcrypto's functions with --crypto. Needs root,
bpftrace and a kernel with uprobes; the program needs neither symbols nor a restart.

Examples:
  lanelock trace --pid $(pgrep -o nginx) --seconds 10 --crypto
  lanelock trace --seconds 10 --html trace.html -- haproxy -f haproxy.cfg
  lanelock trace --events -- curl -s https://example.org
  lanelock trace -- lanelock run -- haproxy -f haproxy.cfg
  lanelock trace --module /usr/lib/lanelock/lanelock.so -- haproxy -f async.cfg
  lanelock trace --pid 4321 --json - | jq .handshakes

Exit codes: 0 success, 1 tracing failed, 2 the command line asks for something that does not
exist. The command's own exit code is reported, not returned."
)]
pub struct Args {
    /// Trace this process and its descendants, from now on.
    #[arg(long, value_name = "PID", conflicts_with = "command")]
    pid: Option<u32>,

    /// Stop after this many seconds, and end COMMAND with SIGTERM [default: when the program ends,
    /// or at Ctrl-C].
    #[arg(long, value_name = "SECONDS", value_parser = seconds(0.0, 86_400.0))]
    seconds: Option<Duration>,

    /// Print a line for each call and each operation as well.
    #[arg(long)]
    events: bool,

    /// Write the figures as JSON; - writes them to standard output, instead of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write a page with charts, and a timeline of the first handshakes.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// The provider's module that COMMAND will load; needed if COMMAND loads it by itself.
    #[arg(long, value_name = "FILE", conflicts_with = "pid")]
    module: Option<PathBuf>,

    /// Also time libcrypto's public-key functions, for programs without the provider. Their return
    /// probes reach every process that uses the same libcrypto, and crash one that pauses
    /// operations: refused while such a process runs; do not start one meanwhile.
    #[arg(long, conflicts_with = "module")]
    crypto: bool,

    /// The command to start and trace.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "pid")]
    command: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] if there is no such program or process, [`Failure::Failed`] if it cannot be
/// traced, with the remedy.
pub fn run(args: &Args) -> Result<(), Failure> {
    let bpftrace = requirements::check()?;
    let interrupt = Interrupt::listen()?;
    let (program, libraries) = match args.pid {
        Some(pid) => (
            Program::running(pid)?,
            interrupt.or(move || Libraries::mapped(pid))??,
        ),
        None => {
            let libraries = Libraries::of_command(&args.program(), args.module()?.as_deref())?;
            (Program::start(&args.command)?, libraries)
        }
    };
    let mut session = Session::start(&bpftrace, program, libraries, args.wants(), interrupt)?;
    session.run(args.seconds)?;
    let (breakdown, events) = session.finish()?;
    args.write(&breakdown, &events)
}

/// What a session collects besides totals.
#[derive(Clone, Copy, Debug)]
struct Wants {
    /// Print events as they come.
    print: bool,
    /// Keep events for a page.
    keep: bool,
    /// Time libcrypto's functions.
    crypto: bool,
}

impl Args {
    /// Whether the command is `lanelock run`.
    fn is_run(&self) -> bool {
        Path::new(&self.command[0]).file_name() == Some("lanelock".as_ref())
            && self.command.get(1).is_some_and(|word| word == "run")
    }

    /// The program that makes connections: the command's own, or the one that `lanelock run` starts.
    fn program(&self) -> OsString {
        let started = self.is_run().then(|| run::program(&self.command[2..]));
        started.flatten().unwrap_or_else(|| self.command[0].clone())
    }

    /// The module that the command will load: the one that is named, or that of `lanelock run`.
    fn module(&self) -> Result<Option<PathBuf>, Failure> {
        match (&self.module, self.is_run()) {
            (None, true) if self.crypto => Err(Failure::Usage(
                "--crypto: `lanelock run` starts a program whose operations may pause, which \
                 return probes would make crash; leave it out, batches are timed as they are"
                    .to_owned(),
            )),
            (None, true) => run::module::find().map(Some),
            (module, _) => Ok(module.clone()),
        }
    }

    fn wants(&self) -> Wants {
        Wants {
            print: self.events,
            keep: self.html.is_some(),
            crypto: self.crypto,
        }
    }

    fn write(&self, breakdown: &Breakdown, events: &[Event]) -> Result<(), Failure> {
        let mut table = Some(table::render(breakdown));
        if let Some(path) = &self.json {
            let json = json::render(Schema::Trace, breakdown);
            if path == Path::new("-") {
                table = Some(json);
            } else {
                save(path, &json)?;
            }
        }
        if let Some(path) = &self.html {
            save(path, &html::trace(breakdown, events))?;
        }
        print(table.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn the_program_of_lanelock_run_is_the_one_that_it_starts() {
        #[derive(Parser)]
        struct Alone {
            #[command(flatten)]
            trace: Args,
        }
        for (words, expected) in [
            ("trace -- nginx -g daemon", "nginx"),
            (
                "trace -- /opt/lanelock run --deadline 5 -- haproxy -f x",
                "haproxy",
            ),
            ("trace -- lanelock check", "lanelock"),
            ("trace -- lanelock run --deadline", "lanelock"),
        ] {
            let parsed = Alone::try_parse_from(words.split(' ')).expect("sound");
            assert_eq!(parsed.trace.program(), expected, "{words}");
        }
    }
}
