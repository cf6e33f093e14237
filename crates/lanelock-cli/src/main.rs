//! The `lanelock` command: which engines this machine has, whether they are right, how fast; and
//! programs under the provider, from outside.

#![deny(unsafe_code)]

mod args;
mod check;
mod completions;
mod engines;
mod failure;
mod machine;
mod perf;
mod report;
mod row;
mod run;
mod shown;
mod stats;
mod tour;
mod trace;

use std::process::ExitCode;

fn main() -> ExitCode {
    match args::parse().and_then(|command| command.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
