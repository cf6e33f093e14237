//! Processes and their descendants.

use std::collections::BTreeSet;

use lanelock::telemetry::reader::process::{Process, Status};

use crate::shown;

/// The process's name, as it may be shown.
pub(super) fn name(pid: u32) -> Option<String> {
    Some(shown::bytes(&Process::new(pid).name()?))
}

/// Whether it is stopped by a signal.
pub(super) fn is_stopped(pid: u32) -> bool {
    Process::new(pid)
        .status()
        .is_some_and(|status| status.state == 'T')
}

/// The processes below `root` and itself, without those that have ended.
pub(super) fn tree(root: u32) -> BTreeSet<u32> {
    let all: Vec<(u32, Status)> = Process::all()
        .into_iter()
        .filter_map(|pid| Some((pid, Process::new(pid).status()?)))
        .filter(|(_, status)| status.state != 'Z')
        .collect();
    let mut tree = BTreeSet::from([root]);
    loop {
        let before = tree.len();
        let below = all
            .iter()
            .filter(|(_, status)| tree.contains(&status.parent));
        let below: Vec<u32> = below.map(|(pid, _)| *pid).collect();
        tree.extend(below);
        if tree.len() == before {
            tree.retain(|pid| all.iter().any(|(other, _)| other == pid));
            return tree;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_the_root_of_its_tree() {
        let me = std::process::id();
        assert!(tree(me).contains(&me));
        assert!(name(me).is_some_and(|name| !name.is_empty()));
        assert!(!is_stopped(me));
    }
}
