//! `lanelock completions`: a script that completes commands and options in a shell.

use clap_complete::Shell;

use crate::args;
use crate::failure::Failure;
use crate::terminal::print;

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
    print(String::from_utf8_lossy(&script))
}
