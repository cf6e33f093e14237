//! The module in `LD_PRELOAD`, for programs that are linked with libssl.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;

const VARIABLE: &str = "LD_PRELOAD";

/// Has the module stand before what is preloaded already: its `SSL_free` ends the job of a
/// connection that is closed while its handshake is paused, which OpenSSL would lose.
///
/// # Errors
/// [`Failure::Usage`] if the dynamic linker would take the path for several.
pub(super) fn add(command: &mut Command, module: &Path) -> Result<(), Failure> {
    // It splits at both, knows no escape, and looks for what follows from the working directory on.
    if module
        .as_os_str()
        .as_bytes()
        .iter()
        .any(|byte| b" :".contains(byte))
    {
        return Err(Failure::Usage(format!(
            "{}: the program is linked with libssl and needs the module in {VARIABLE}, which \
             cannot hold a path with a space or a colon; install the module elsewhere, and set \
             LANELOCK_PROVIDER to it",
            module.display()
        )));
    }
    let mut list = module.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(VARIABLE).filter(|list: &OsString| !list.is_empty()) {
        list.push(":");
        list.push(others);
    }
    command.env(VARIABLE, list);
    Ok(())
}
