//! Signals that go to the program.

use std::fs;

use rustix::process::Signal;
use signal_hook::consts::signal::{
    SIGBUS, SIGCHLD, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSTOP, SIGSYS, SIGTRAP, SIGTSTP, SIGTTIN,
    SIGTTOU,
};

/// Real-time signals but for those that the C library keeps: two with glibc, three with musl.
const REAL_TIME: std::ops::RangeInclusive<i32> = FIRST_REAL_TIME..=64;
const FIRST_REAL_TIME: i32 = if cfg!(target_env = "musl") { 35 } else { 34 };

/// What cannot be caught, what comes of a process's own faults, and what its children cause.
const OWN: [i32; 9] = [
    SIGKILL, SIGSTOP, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGCHLD,
];

/// All others, but for those that this process was told to ignore, as nohup(1) does: the program
/// inherits that.
pub(super) fn passed_on() -> Vec<i32> {
    let ignored = ignored();
    let named = (1..=31).filter(|number| !OWN.contains(number));
    let all = named.chain(REAL_TIME);
    all.filter(|number| ignored & 1 << (number - 1) == 0)
        .collect()
}

/// Whether a shell stops its jobs by this signal, or a terminal those in its background.
pub(super) fn is_job_control(number: i32) -> bool {
    [SIGTSTP, SIGTTIN, SIGTTOU].contains(&number)
}

/// The signal of a number; `None` if none can be sent.
pub(super) fn of_number(number: i32) -> Option<Signal> {
    if REAL_TIME.contains(&number) {
        #[allow(unsafe_code)]
        // SAFETY: a real-time signal of the kernel's range, above those that C libraries keep for
        // themselves.
        return Some(unsafe { Signal::from_raw_unchecked(number) });
    }
    Signal::from_named_raw(number)
}

/// A bit for each signal, 1 in the lowest place.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_that_is_passed_on_can_be_sent() {
        let passed_on = passed_on();
        // Whoever runs the tests may have had some ignored: nohup, or a shell in the background.
        let ignored = usize::try_from(ignored().count_ones()).unwrap();
        assert!(passed_on.len() + ignored > 50, "{passed_on:?}");
        for number in passed_on {
            assert_eq!(of_number(number).map(Signal::as_raw), Some(number));
        }
        assert!(
            OWN.into_iter()
                .all(|number| !self::passed_on().contains(&number))
        );
    }

    #[test]
    fn what_is_ignored_stays_so() {
        // Rust's runtime ignores it.
        assert!(!passed_on().contains(&signal_hook::consts::SIGPIPE));
    }
}
