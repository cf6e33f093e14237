//! Passes on the compiler and its flags, which measurements report.

use std::env;
use std::process::Command;

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc = rustc.map_or_else(
        |_| "rustc".into(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    // Cargo separates flags by this character.
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").replace('\x1f', " ");
    let flags = if flags.is_empty() {
        "none".to_owned()
    } else {
        flags
    };
    println!(
        "cargo:rustc-env=LANELOCK_BUILD={rustc}, {}, profile {}, opt-level {}, flags: {flags}",
        variable("TARGET"),
        variable("PROFILE"),
        variable("OPT_LEVEL"),
    );
    println!("cargo:rerun-if-changed=build.rs");
}
