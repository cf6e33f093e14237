//! `lanelock run`: a program over OpenSSL 3, under lanelock's provider.

mod child;
mod config;
mod elf;
mod library;
pub mod module;
mod program;
mod report;
mod user_config;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::builder::RangedU64ValueParser;
use lanelock::telemetry::reader::Listener;

use crate::failure::Failure;
use config::Config;
pub use config::ConfigFile;
use program::Program;

/// Arguments of `lanelock run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The program reads a configuration that includes the one it would have read (OPENSSL_CONF, or its
library's openssl.cnf), loads the providers lanelock and default, and prefers lanelock where both
have an algorithm. The file is in memory (/dev/shm) and goes when the last process that the program
has started ends, which is what this command waits for. Signals go to the program; the exit code is
the program's, or 128 + the number of the signal that ended it.

A program that is linked with libssl gets the module in LD_PRELOAD, too: without, OpenSSL loses the
jobs of connections that are closed in the middle of a handshake.

Batches come from asynchronous mode, in which a server pauses a handshake while its operation
waits for others. HAProxy: `ssl-mode-async` in the section global. Other programs run as they
always do.

The module lanelock.so is looked for beside this command, in ../lib/lanelock from there, or where
LANELOCK_PROVIDER says.

Examples:
  lanelock run -- haproxy -f haproxy.cfg
  lanelock run --deadline 50 --stats -- haproxy -f haproxy.cfg
  lanelock run -- openssl speed -async_jobs 16 -seconds 3 rsa2048
  lanelock run --show-config -- haproxy")]
pub struct Args {
    /// Longest wait of an operation for others, in µs; 0 is until the program's event loop comes
    /// round.
    #[arg(long, value_name = "µs", value_parser = deadline())]
    deadline: Option<u64>,

    /// At the end, print what the program's queues did, and say so if it never entered
    /// asynchronous mode.
    #[arg(long)]
    stats: bool,

    /// Print the configuration and do not start the program.
    #[arg(long, conflicts_with = "stats")]
    show_config: bool,

    /// The program and its arguments.
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// What the module takes as its deadline.
pub fn deadline() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(0..=1_000_000)
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] if the program cannot run under the provider, [`Failure::Exit`] with the
/// program's exit code if that is not 0.
pub fn run(args: &Args) -> Result<(), Failure> {
    let program = Program::find(&args.command[0])?;
    let module = module::find()?;
    let user = user_config(program.libcrypto.as_deref());
    let config = Config::new(&module, user.as_deref(), args.deadline)?;
    if args.show_config {
        let written = std::io::stdout().lock().write_all(config.text.as_bytes());
        return written.map_err(Failure::stdout);
    }
    for warning in &config.warnings {
        say(warning);
    }
    let listener = match args.stats {
        true => Some(Listener::start().map_err(|error| {
            Failure::Failed(format!("--stats: cannot listen for the program: {error}"))
        })?),
        false => None,
    };
    let file = config.write()?;
    let mut command = std::process::Command::new(&program.path);
    command.env("OPENSSL_CONF", file.path());
    if let Some(listener) = &listener {
        command.env(lanelock::telemetry::SOCKET, listener.name());
    }
    if program.has_libssl {
        command.env("LD_PRELOAD", preloaded(&module));
    }
    set_name(&mut command, &args.command[0]);
    command.args(&args.command[1..]);
    let code = child::run(command, &program)?;
    drop(file);
    if let Some(listener) = listener {
        report::print(listener, &program);
    }
    match code {
        0 => Ok(()),
        code => Err(Failure::Exit(code)),
    }
}

/// Has `command`, a program with libssl, run under the provider as this command would have it, for
/// as long as the file is there.
///
/// # Errors
/// [`Failure::Usage`] if the configuration cannot name the module, [`Failure::Output`].
pub fn under_provider(
    command: &mut std::process::Command,
    module: &Path,
    deadline: Option<u64>,
) -> Result<ConfigFile, Failure> {
    let config = Config::new(module, user_config(None).as_deref(), deadline)?;
    for warning in &config.warnings {
        say(warning);
    }
    let file = config.write()?;
    command.env("OPENSSL_CONF", file.path());
    command.env("LD_PRELOAD", preloaded(module));
    Ok(file)
}

/// The program in the arguments behind `lanelock run`, if they make sense.
pub fn program(arguments: &[OsString]) -> Option<OsString> {
    /// Arguments alone, without a command that they belong to.
    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Alone {
        #[command(flatten)]
        run: Args,
    }
    let parsed = Alone::try_parse_from(arguments).ok()?;
    parsed.run.command.into_iter().next()
}

/// The module before what is preloaded already: its `SSL_free` ends the job of a connection that is
/// closed while its handshake is paused, which OpenSSL would lose.
fn preloaded(module: &Path) -> OsString {
    let mut list = module.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|list| !list.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

/// A program may look at the name that it is called by.
fn set_name(command: &mut std::process::Command, name: &OsString) {
    use std::os::unix::process::CommandExt;
    command.arg0(name);
}

/// The configuration that the program would read; `None` if there is none.
fn user_config(libcrypto: Option<&Path>) -> Option<PathBuf> {
    let chosen = std::env::var_os("OPENSSL_CONF").filter(|path| !path.is_empty());
    let path = match chosen {
        Some(path) => PathBuf::from(path),
        None => library::directory(libcrypto)?.join("openssl.cnf"),
    };
    // A configuration that is not there is none, as for OpenSSL.
    path.canonicalize().ok()
}

/// A sentence on standard error.
fn say(text: &str) {
    // Without a reader there is nobody to tell.
    let _unheard = writeln!(std::io::stderr(), "lanelock: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_behind_the_options() {
        let program_of =
            |words: &str| program(&words.split(' ').map(OsString::from).collect::<Vec<_>>());
        for words in [
            "--deadline 5 -- haproxy -f x",
            "--stats haproxy",
            "haproxy -- --stats",
        ] {
            assert_eq!(program_of(words), Some("haproxy".into()), "{words}");
        }
        for words in ["--stats", "--deadline haproxy -f"] {
            assert_eq!(program_of(words), None, "{words}");
        }
    }
}
