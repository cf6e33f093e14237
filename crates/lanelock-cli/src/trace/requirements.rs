//! What tracing needs from the machine.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::programs::find;

/// Checks all of it and returns the path of bpftrace.
///
/// # Errors
/// [`Failure::Failed`] naming the first thing that is missing and the remedy.
pub(super) fn check() -> Result<PathBuf, Failure> {
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::Failed(
            "tracing needs root: run it with sudo (`lanelock stats` shows a provider's batches \
             without)"
                .to_owned(),
        ));
    }
    for (path, what) in [
        (
            "/sys/bus/event_source/devices/uprobe",
            "uprobes (CONFIG_UPROBE_EVENTS)",
        ),
        (
            "/sys/kernel/btf/vmlinux",
            "type information (CONFIG_DEBUG_INFO_BTF)",
        ),
    ] {
        if !Path::new(path).exists() {
            return Err(Failure::Failed(format!(
                "this kernel has no {what}: {path} is missing; use a kernel with it, such as \
                 Debian's, or trace outside the sandbox"
            )));
        }
    }
    find("bpftrace").ok_or_else(|| {
        Failure::Failed(
            "bpftrace is not installed: apt-get install bpftrace (0.17 or later)".to_owned(),
        )
    })
}
