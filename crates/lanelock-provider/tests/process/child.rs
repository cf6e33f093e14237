//! A test that goes on in a process of its own: this program once more, with that test alone.

use std::path::Path;
use std::process::{Command, Output};

/// Names what the process is to do, in place of the test.
const ROLE: &str = "LANELOCK_TEST_ROLE";

/// What this process is to do, if it is one that [`again`] started.
pub fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// This program with `test` (`module::name`) alone, in `role`.
pub fn again(test: &str, role: &str) -> Command {
    again_as(&std::env::current_exe().expect("a path"), test, role)
}

/// As [`again`], with this copy of the program.
pub fn again_as(program: &Path, test: &str, role: &str) -> Command {
    with_role(Command::new(program), test, role)
}

/// As [`again`], as the first process of a new namespace of process numbers.
pub fn again_as_first(test: &str, role: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork"]);
    command.arg(std::env::current_exe().expect("a path"));
    with_role(command, test, role)
}

fn with_role(mut command: Command, test: &str, role: &str) -> Command {
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role);
    command
}

/// What the process printed, if it succeeded.
#[track_caller]
pub fn output_of(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("started");
    let said = String::from_utf8_lossy(&stdout).into_owned();
    let errors = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{status}\n{said}\n{errors}");
    said
}

/// Ends a forked child after `work`, with 1 if that panics.
pub fn end_after(work: impl FnOnce()) -> ! {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    unsafe { libc::_exit(i32::from(done.is_err())) }
}

/// Waits for a child to end; its status.
pub fn wait_for(child: libc::pid_t) -> i32 {
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    let mut status = -1;
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status
}

/// Makes a child by the system call alone: the C library's handlers know nothing of it.
pub fn clone_raw(flags: libc::c_int) -> libc::pid_t {
    let flags = libc::c_long::from(libc::SIGCHLD | flags);
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    libc::pid_t::try_from(child).expect("a process number")
}
