//! The `lanelock` command: which engines this machine has, whether they are right, how fast; and
//! programs under the provider, from outside.
//!
//! A library for its own binary and for the fuzz targets, which reach its [`readers`]. It promises no
//! stable interface.

#![deny(unsafe_code)]

mod args;
mod check;
mod completions;
mod engines;
mod failure;
mod figures;
mod interrupt;
mod machine;
mod perf;
mod programs;
mod progress;
pub mod readers;
mod report;
mod row;
mod run;
mod shown;
mod stats;
mod sweep;
mod terminal;
mod tour;
mod trace;

use std::process::ExitCode;

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    match args::parse().and_then(|command| command.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
