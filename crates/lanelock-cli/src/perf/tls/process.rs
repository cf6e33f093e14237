//! What the kernel knows about a server's process.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;

/// Counts that must be where they were once all clients have gone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Footprint {
    /// Open descriptors.
    pub(super) descriptors: usize,
    /// Resident memory in bytes.
    pub(super) resident: u64,
}

impl Footprint {
    /// Of the process `pid`.
    pub(super) fn of(pid: u32) -> io::Result<Self> {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))?.count();
        let statm = fs::read_to_string(format!("/proc/{pid}/statm"))?;
        let pages = statm.split_ascii_whitespace().nth(1);
        let pages: u64 = pages
            .and_then(|pages| pages.parse().ok())
            .ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self {
            descriptors,
            resident: pages * rustix::param::page_size() as u64,
        })
    }
}

/// Processor time that all threads of `pid` have used, user and system.
///
/// Two counts are at hand, and neither is above the truth: to the nanosecond, of the threads that run;
/// in hundredths of a second, of those that have ended as well.
pub(super) fn cpu_time(pid: u32) -> io::Result<Duration> {
    let running = time_of_all(Path::new(&format!("/proc/{pid}/task")))?;
    Ok(running.max(time_of_process(pid)?))
}

/// Processor time that the calling thread has used.
pub(super) fn own_cpu_time() -> io::Result<Duration> {
    time_of(Path::new("/proc/thread-self"))
}

fn time_of_process(pid: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // After the program's name, which may hold anything, and eleven more: user's and system's time.
    let times = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let times = times.split_ascii_whitespace().skip(11).take(2);
    let times: Option<Vec<u64>> = times.map(|time| time.parse().ok()).collect();
    match times.as_deref() {
        Some(&[user, system]) => {
            let per_second = rustix::param::clock_ticks_per_second();
            Ok(Duration::from_millis((user + system) * 1000 / per_second))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn time_of_all(tasks: &Path) -> io::Result<Duration> {
    let times = fs::read_dir(tasks)?.map(|task| match time_of(&task?.path()) {
        // A thread that has ended since the folder was read, or since its file was opened.
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                || error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) =>
        {
            Ok(Duration::ZERO)
        }
        time => time,
    });
    times.sum()
}

fn time_of(task: &Path) -> io::Result<Duration> {
    // Nanoseconds on the processor, nanoseconds waiting for it, time slices.
    let line = fs::read_to_string(task.join("schedstat"))?;
    let time = line.split_ascii_whitespace().next();
    let time = time.and_then(|time| time.parse().ok());
    let nanoseconds = time.ok_or(io::ErrorKind::InvalidData)?;
    Ok(Duration::from_nanos(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_and_work_show() {
        let me = std::process::id();
        let (before, own) = (cpu_time(me).expect("times"), own_cpu_time());
        let mut sum = 0_u64;
        while cpu_time(me).expect("times") < before + Duration::from_millis(5)
            || own_cpu_time().expect("a time") == *own.as_ref().expect("a time")
        {
            sum = (0..100_000_u64).fold(sum, |sum, n| std::hint::black_box(sum ^ n));
        }
        let footprint = Footprint::of(me).expect("counts");
        assert!(footprint.descriptors >= 3);
        assert!(footprint.resident > 100_000);
    }

    #[test]
    fn threads_that_have_ended_count() {
        let work = || {
            let mut sum = 0_u64;
            while own_cpu_time().expect("a time") < Duration::from_millis(100) {
                sum = (0..100_000_u64).fold(sum, |sum, n| std::hint::black_box(sum ^ n));
            }
        };
        std::thread::spawn(work).join().expect("it ends");
        let all = cpu_time(std::process::id()).expect("times");
        assert!(all >= Duration::from_millis(80), "{all:?}");
    }

    #[test]
    fn a_thread_that_ends_meanwhile_is_left_out() {
        let tasks = tempfile::tempdir().expect("a folder");
        for (task, time) in [
            ("10", Some("5 0 0\n")),
            ("11", None),
            ("12", Some("7 0 0\n")),
        ] {
            let task = tasks.path().join(task);
            fs::create_dir(&task).expect("made");
            if let Some(time) = time {
                fs::write(task.join("schedstat"), time).expect("written");
            }
        }
        let sum = time_of_all(tasks.path()).expect("times");
        assert_eq!(sum, Duration::from_nanos(12));
        assert!(time_of_all(&tasks.path().join("13")).is_err());
    }
}
