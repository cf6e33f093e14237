//! The `lanelock` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    lanelock_cli::main()
}
