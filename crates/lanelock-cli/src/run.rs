//! `lanelock run`.

use crate::failure::Failure;

/// Arguments of `lanelock run`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
///
/// # Errors
/// Not built yet.
pub fn run(_args: &Args) -> Result<(), Failure> {
    Err(Failure::Failed("run: not built yet".to_owned()))
}
