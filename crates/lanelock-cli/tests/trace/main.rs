//! `lanelock trace` against servers on loopback: what it counts is what was done.
//!
//! Servers run with copies of the libraries, so that no other process of the machine meets a
//! probe. Needs root, bpftrace and a kernel with uprobes; what is missing is named.

#[path = "../support/haproxy.rs"]
mod haproxy;
mod hostile;
mod provider;
mod site;
mod synchronous;

use std::path::Path;
use std::process::Command;

/// Why probes cannot be tested here.
pub(crate) fn obstacle() -> Option<&'static str> {
    let works = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output();
        output.is_ok_and(|output| output.status.success())
    };
    let id = Command::new("id").arg("-u").output().expect("coreutils");
    match () {
        () if id.stdout != b"0\n" => Some("not root"),
        () if !works("bpftrace", "--version") => Some("bpftrace is not installed"),
        () if !works("openssl", "version") => Some("openssl is not installed"),
        () if !Path::new("/sys/bus/event_source/devices/uprobe").exists() => {
            Some("the kernel has no uprobes")
        }
        () if !Path::new("/sys/kernel/btf/vmlinux").exists() => {
            Some("the kernel has no type information")
        }
        () => None,
    }
}

macro_rules! needs_probes {
    () => {
        if let Some(why) = crate::obstacle() {
            eprintln!("SKIPPED: {why}");
            return;
        }
    };
}

pub(crate) use needs_probes;
