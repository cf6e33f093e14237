//! `lanelock run`: a program over OpenSSL 3, under lanelock's provider.

mod child;
mod config;
mod dry_run;
mod elf;
mod lanes;
mod library;
pub mod module;
mod place;
mod policy;
mod preload;
mod program;
mod report;
mod signals;
mod supervisor;
mod user_config;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;
use lanelock::telemetry::reader::Listener;

use crate::failure::Failure;
use crate::terminal::{print, say};
use config::Config;
pub use elf::Elf;
use program::Program;
use user_config::UserConfig;

/// Arguments of `lanelock run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The program reads a configuration that includes the one it would have read (OPENSSL_CONF, or its
library's openssl.cnf), loads the providers lanelock and default, and prefers lanelock where both
have an algorithm. The file is named after its content and is kept, so that a server that
re-executes itself finds it: in /run/lanelock for root, in ~/.cache/lanelock (XDG_CACHE_HOME) for
other users, else in /dev/shm. Then this command becomes the program: process id, signals, exit
code and notifications to systemd are the program's own.

With --stats it waits for the program and everything that it starts, forwards signals, and exits
with the program's exit code, or 128 + the number of the signal that ended it. It tells systemd
that the program is the service's main process.

If the configuration leaves out the default provider or asks for FIPS, the program starts without
lanelock, and a line on standard error says so. So does a program with a setuid bit or file
capabilities, which ignores the environment.

A program that is linked with libssl, or is known to load it, also gets the module in LD_PRELOAD:
without it, OpenSSL loses the jobs of connections that are closed in the middle of a handshake.

Batches come from asynchronous mode, in which a handshake pauses while its operation waits for
others. HAProxy has this mode: `ssl-mode-async` in the section global. Servers that do not have
it, but drive non-blocking connections from a loop of epoll, poll or select, as nginx, lighttpd and
Redis do, get it from lanelock (--event-loop). In servers with a thread for each connection, as
Apache httpd, threads that have RSA, P-384 or X25519 operations at the same time share batches
(--threads).
Other programs run as without lanelock; --dry-run says which. LANELOCK_DISABLE=1 in the program's
environment switches the module off.

The module lanelock.so is looked for next to this command, in ../lib/lanelock from there, or where
LANELOCK_PROVIDER says.

Examples:
  lanelock run -- nginx
  lanelock run -- apache2 -D FOREGROUND
  lanelock run --dry-run -- lighttpd -D -f lighttpd.conf
  lanelock run -- haproxy -f haproxy.cfg
  lanelock run --algorithms rsa,ecdsa -- haproxy -f haproxy.cfg
  lanelock run --deadline 50 --stats -- haproxy -f haproxy.cfg
  lanelock run -- openssl speed -async_jobs 16 -seconds 3 rsa2048
  lanelock run --show-config -- haproxy
  LANELOCK_DISABLE=1 lanelock run -- haproxy -f haproxy.cfg")]
pub struct Args {
    #[command(flatten)]
    options: Options,

    /// At the end, print what the program's queues did, and say so if it never entered
    /// asynchronous mode.
    #[arg(long)]
    stats: bool,

    /// Print the configuration and do not start the program.
    #[arg(long, conflicts_with = "stats")]
    show_config: bool,

    /// Print how the program would use lanelock, or why it would not, and do not start it.
    #[arg(long, conflicts_with_all = ["stats", "show_config"])]
    dry_run: bool,

    /// The program and its arguments.
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// What the module is told by its section of the configuration.
#[derive(Clone, Debug, Default, clap::Args)]
struct Options {
    /// Longest time that an operation waits for others, in µs; 0: until the program's event loop
    /// comes round.
    #[arg(long, value_name = "µs", value_parser = deadline())]
    deadline: Option<u64>,

    /// Algorithms that may run in batches [default: all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    algorithms: Vec<Algorithm>,

    /// Whether a server without an asynchronous mode gets one. `auto`: unless its callbacks run a
    /// language interpreter, which needs more stack than a paused handshake has [default: auto].
    #[arg(long, value_name = "WHEN")]
    event_loop: Option<When>,

    /// Whether RSA, P-384 and X25519 operations of threads that wait for them run together. `auto`: where
    /// threads are found to have some at the same time [default: auto].
    #[arg(long, value_name = "WHEN")]
    threads: Option<When>,
}

/// Whether the module does something unasked.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum When {
    Auto,
    On,
    Off,
}

/// What the module runs in batches.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Algorithm {
    /// Signatures and decryption.
    Rsa,
    /// Signatures on P-256 and P-384.
    Ecdsa,
    /// Signatures.
    Ed25519,
    /// Key exchange on P-256 and P-384.
    Ecdh,
    /// Key exchange.
    X25519,
}

impl When {
    /// Its name, on the command line and in the configuration.
    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

impl Algorithm {
    /// Its name, on the command line and in the configuration.
    fn name(&self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// What the module takes as its deadline.
pub fn deadline() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(0..=1_000_000)
}

/// Becomes the program; with --stats, runs it.
///
/// # Errors
/// [`Failure::Usage`] if the program cannot be started under the provider, [`Failure::Exit`] with
/// the exit code of one that was run, if that is not 0.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.dry_run {
        return dry_run::run(&args.command[0], &args.options);
    }
    let program = Program::find(&args.command[0])?;
    let options = &args.options;
    let mut command = Command::new(&program.path);
    // A program may look at the name that it is called by.
    command.arg0(&args.command[0]).args(&args.command[1..]);
    let user = user_config(program.libcrypto.as_deref());
    let found = UserConfig::read(user.as_deref())?;
    let objection = match program.is_privileged {
        true => Some(program::PRIVILEGED.to_owned()),
        false => policy::objection(&found, user.as_deref())?,
    };
    if let Some(objection) = objection {
        say(&format!(
            "{objection}. {} starts as without lanelock",
            program.path.display()
        ));
        return match args.show_config {
            true => Ok(()),
            false => Err(become_program(command, &program)),
        };
    }
    let module = module::find()?;
    let config = Config::new(&module, user.as_deref(), &found, options)?;
    if args.show_config {
        return print(config.text);
    }
    let preloaded = program.is_preloaded(options.event_loop);
    configure(&mut command, &config, preloaded.then_some(&*module))?;
    let Some(listener) = args.stats.then(listener).flatten() else {
        return Err(become_program(command, &program));
    };
    command.env(lanelock::telemetry::SOCKET, listener.name());
    let code = child::run(command, &program)?;
    report::print(listener, &program);
    match code {
        0 => Ok(()),
        code => Err(Failure::Exit(code)),
    }
}

/// Has `command`, a program with libssl, run under the provider as this command would have it.
///
/// # Errors
/// [`Failure::Usage`] if the configuration is not to have the module, or cannot name it, or cannot
/// be kept.
pub fn under_provider(
    command: &mut Command,
    module: &Path,
    deadline: Option<u64>,
) -> Result<(), Failure> {
    let user = user_config(None);
    let found = UserConfig::read(user.as_deref())?;
    if let Some(objection) = policy::objection(&found, user.as_deref())? {
        return Err(Failure::Usage(objection));
    }
    let options = Options {
        deadline,
        ..Options::default()
    };
    let config = Config::new(module, user.as_deref(), &found, &options)?;
    configure(command, &config, Some(module))
}

/// Has `command` read the configuration, and preload the module that is named.
fn configure(
    command: &mut Command,
    config: &Config,
    preloaded: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(module) = preloaded {
        preload::add(command, module)?;
    }
    for warning in &config.warnings {
        say(warning);
    }
    command.env("OPENSSL_CONF", place::keep(&config.text)?);
    Ok(())
}

/// What hears the program's statistics. They are no reason not to start it.
fn listener() -> Option<Listener> {
    let started = Listener::start();
    if let Err(error) = &started {
        say(&format!(
            "--stats: cannot listen for the program: {error}; it starts without --stats"
        ));
    }
    started.ok()
}

/// Returns only if the program cannot be executed.
fn become_program(mut command: Command, program: &Program) -> Failure {
    let error = command.exec();
    Failure::Usage(format!("{}: {error}", program.path.display()))
}

/// The configuration for a program that would read the file `user`.
///
/// # Errors
/// [`Failure::Usage`] if it is not to have the module, or the two cannot be put together.
pub fn configuration(module: &Path, user: &Path) -> Result<String, Failure> {
    let found = UserConfig::read(Some(user))?;
    if let Some(objection) = policy::objection(&found, Some(user))? {
        return Err(Failure::Usage(objection));
    }
    Config::new(module, Some(user), &found, &Options::default()).map(|config| config.text)
}

/// The program in the arguments of `lanelock run`, if they make sense.
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

/// The configuration that the program would read; `None` if there is none.
fn user_config(libcrypto: Option<&Path>) -> Option<PathBuf> {
    let path = match std::env::var_os("OPENSSL_CONF") {
        // For libcrypto, an empty name is no configuration.
        Some(path) => PathBuf::from(path),
        None => library::directory(libcrypto)?.join("openssl.cnf"),
    };
    // A configuration that is not there is none, as for OpenSSL.
    path.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_follows_the_options() {
        let program_of =
            |words: &str| program(&words.split(' ').map(OsString::from).collect::<Vec<_>>());
        for words in [
            "--deadline 5 -- haproxy -f x",
            "--stats haproxy",
            "--algorithms rsa,x25519 haproxy",
            "haproxy -- --stats",
        ] {
            assert_eq!(program_of(words), Some("haproxy".into()), "{words}");
        }
        for words in [
            "--stats",
            "--deadline haproxy -f",
            "--algorithms dsa haproxy",
        ] {
            assert_eq!(program_of(words), None, "{words}");
        }
    }
}
