//! A process that has a page, and what the page says.

use std::time::SystemTime;

use lanelock::telemetry::Inactive;
use lanelock::telemetry::reader::process::Process;
use lanelock::telemetry::reader::{FindError, Reader, Snapshot};

use crate::shown;

/// One process.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) pid: u32,
    /// Its name, as it may be shown.
    pub(super) name: String,
    pub(super) started: Option<SystemTime>,
    /// Its page, or why that makes no sense.
    pub(super) page: Result<Snapshot, String>,
}

/// All processes with a page that this one may read.
#[derive(Debug, Default)]
pub(super) struct All {
    pub(super) processes: Vec<Observed>,
    /// How many processes are not ours to look at.
    pub(super) unseen: usize,
}

impl Observed {
    /// What a process is called in tables.
    pub(super) fn title(pid: u32) -> String {
        let name = Process::new(pid).name().unwrap_or_default();
        format!("process {pid} ({})", shown::bytes(&name))
    }

    /// A process with this page.
    pub(super) fn new(pid: u32, page: Result<Snapshot, String>) -> Self {
        let process = Process::new(pid);
        Self {
            pid,
            name: shown::bytes(&process.name().unwrap_or_default()),
            started: process.started(),
            page,
        }
    }
}

impl All {
    /// Looks at every process.
    pub(super) fn find() -> Self {
        let mut all = Self::default();
        for pid in Process::all() {
            let page = match Reader::open(pid) {
                Ok(reader) => reader.read().map_err(|error| error.to_string()),
                Err(FindError::Page(_, error)) => Err(error.to_string()),
                Err(FindError::NotPermitted(_)) => {
                    all.unseen += 1;
                    continue;
                }
                // It has ended meanwhile, or has no page.
                Err(_) => continue,
            };
            all.processes.push(Observed::new(pid, page));
        }
        all
    }
}

/// A word for the reason, which keeps its meaning.
pub(super) fn word(reason: Inactive) -> &'static str {
    match reason {
        Inactive::Cpu => "cpu",
        Inactive::TierForced => "tier-forced",
        Inactive::TierUnknown => "tier-unknown",
        Inactive::TierUnavailable => "tier-unavailable",
        Inactive::NoMemory => "no-memory",
        Inactive::Configuration => "configuration",
        Inactive::Environment => "environment",
        Inactive::NoDefaultProvider => "no-default-provider",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_word_of_its_own() {
        let mut words = Inactive::ALL.map(word).to_vec();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Inactive::ALL.len());
        assert!(!words.contains(&"other"));
    }
}
