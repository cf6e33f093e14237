//! Programs that a test writes and then starts.
//!
//! Each is written by a child process. A process that has a program open for writing may fork in
//! another thread, whose child keeps the descriptor until it executes: as long as it does, nobody can
//! start that program (`ETXTBSY`, "text file busy").

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Copies the program at `from` to `to`, with its permissions.
///
/// # Panics
/// If that fails.
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let (from, to) = (from.as_ref(), to.as_ref());
    let status = Command::new("cp").arg("--").args([from, to]).status();
    let copied = status.is_ok_and(|status| status.success());
    assert!(copied, "{} to {}", from.display(), to.display());
}

/// Writes a script with this text to `path`, for anybody to start.
///
/// # Panics
/// If that fails.
pub fn write_script(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    let mut shell = Command::new("sh")
        .args(["-c", r#"cat >"$0" && chmod 755 "$0""#])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh starts");
    let mut input = shell.stdin.take().expect("piped");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let written = shell.wait().is_ok_and(|status| status.success());
    assert!(written, "{}", path.display());
}
