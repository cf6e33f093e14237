//! The command line as a whole. Each command's arguments are in the module of that command.

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::{check, completions, engines, perf, run, stats, tour, trace};

/// Bursts of cryptographic operations on the fastest engine of this CPU.
#[derive(Debug, Parser)]
#[command(
    name = "lanelock",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 success, 1 a result is wrong or an operation failed, 2 the \
                  command line asks for something that does not exist. `run` exits with the \
                  program's exit code."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check and measure this machine's engines briefly, and write a report.
    Tour(tour::Args),
    /// Compare engines with independent implementations on thousands of messages.
    Check(check::Args),
    /// List the engines of this machine and their algorithms.
    Engines(engines::Args),
    /// Run a program that uses OpenSSL 3 under lanelock's provider.
    Run(run::Args),
    /// Show the counters of running processes' public-key queues.
    Stats(stats::Args),
    /// Measure engines, peers and baselines.
    Perf(Box<perf::Args>),
    /// Show where a program's TLS handshakes spend their time (needs root and bpftrace).
    Trace(trace::Args),
    /// What `trace` starts its children through.
    #[command(hide = true)]
    Leash(trace::leash::Args),
    /// Print a completion script for a shell.
    Completions(completions::Args),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// Whatever ends the command early or with another exit code than 0.
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Tour(args) => tour::run(args),
            Self::Run(args) => run::run(args),
            Self::Stats(args) => stats::run(args),
            Self::Check(args) => check::run(args),
            Self::Engines(args) => engines::run(args),
            Self::Perf(args) => perf::run(args),
            Self::Trace(args) => trace::run(args),
            Self::Leash(args) => trace::leash::run(args),
            Self::Completions(args) => completions::run(args),
        }
    }
}

/// Reads the command line.
///
/// # Errors
/// [`Failure::Usage`], or [`Failure::Help`] if help was asked for or a command is missing.
pub fn parse() -> Result<Command, Failure> {
    Cli::try_parse().map(|cli| cli.command).map_err(|error| {
        let text = error.render().to_string();
        match text.strip_prefix("error: ") {
            Some(refusal) => Failure::Usage(refusal.trim_end().to_owned()),
            None => Failure::Help(error),
        }
    })
}

/// The command line's description, for completion scripts.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}
