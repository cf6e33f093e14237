//! What the kernel knows about a server's process.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

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
pub(super) fn cpu_time(pid: u32) -> io::Result<Duration> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))?;
    tasks.map(|task| time_of(&task?.path())).sum()
}

/// Processor time that the calling thread has used.
pub(super) fn own_cpu_time() -> io::Result<Duration> {
    time_of(Path::new("/proc/thread-self"))
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
}
