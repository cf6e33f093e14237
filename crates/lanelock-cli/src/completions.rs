//! `lanelock completions`: a script that completes commands and options in a shell.

use std::io;
use std::io::Write;

use clap_complete::Shell;

use crate::args;
use crate::failure::Failure;

/// Arguments of `lanelock completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  lanelock completions bash > ~/.local/share/bash-completion/completions/lanelock")]
pub struct Args {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Output`] if standard output cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "lanelock", &mut script);
    io::stdout()
        .lock()
        .write_all(&script)
        .map_err(Failure::stdout)
}
