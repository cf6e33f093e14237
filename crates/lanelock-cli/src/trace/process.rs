//! What /proc says about processes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that a process has mapped, by their paths in its own mount namespace.
///
/// # Errors
/// None if there is no such process, or it is not ours to look at.
pub(super) fn mapped_files(pid: u32) -> Option<BTreeSet<PathBuf>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    Some(files_of(&maps))
}

fn files_of(maps: &str) -> BTreeSet<PathBuf> {
    maps.lines()
        .filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])))
        .collect()
}

/// The process's name, as `ps` shows it.
pub(super) fn name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Whether it is stopped by a signal.
pub(super) fn is_stopped(pid: u32) -> bool {
    status(pid).is_some_and(|status| status.state == 'T')
}

/// The processes below `root` and itself, without those that have ended.
pub(super) fn tree(root: u32) -> BTreeSet<u32> {
    let all: Vec<(u32, Status)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, status(pid)?)))
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

struct Status {
    state: char,
    parent: u32,
}

fn status(pid: u32) -> Option<Status> {
    parse_status(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// `pid (name) state parent …`; a name may hold spaces and parentheses.
fn parse_status(stat: &str) -> Option<Status> {
    let mut rest = stat.rsplit_once(") ")?.1.split(' ');
    Some(Status {
        state: rest.next()?.chars().next()?,
        parent: rest.next()?.parse().ok()?,
    })
}

/// Whether a file's bytes hold this name as a whole: an ELF file's string tables do for every
/// symbol that it defines or imports.
pub(super) fn names_symbol(file: &Path, symbol: &str) -> bool {
    let wanted: Vec<u8> = [b"\0", symbol.as_bytes(), b"\0"].concat();
    fs::read(file).is_ok_and(|bytes| bytes.windows(wanted.len()).any(|window| window == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_files_are_read_with_spaces_and_marks() {
        let maps = "\
7f00-7f01 r-xp 00000000 fe:01 42                         /usr/lib/libssl.so.3
7f01-7f02 r--p 00001000 fe:01 42                         /usr/lib/libssl.so.3
7f03-7f04 r-xp 00000000 fe:01 43                         /opt/my app/libx.so (deleted)
7f05-7f06 rw-p 00000000 00:00 0                          [heap]
7f07-7f08 rw-p 00000000 00:00 0 
";
        let files: Vec<_> = files_of(maps).into_iter().collect();
        let expected = ["/opt/my app/libx.so (deleted)", "/usr/lib/libssl.so.3"];
        assert_eq!(files, expected.map(PathBuf::from));
    }

    #[test]
    fn a_name_with_parentheses_does_not_hide_the_state() {
        let status = parse_status("12 (a) b) R) S 34 12 12 0").expect("well formed");
        assert_eq!((status.state, status.parent), ('S', 34));
    }

    #[test]
    fn a_process_is_the_root_of_its_tree() {
        let me = std::process::id();
        assert!(tree(me).contains(&me));
        assert!(
            tree(me)
                .iter()
                .all(|pid| name(*pid).is_some() || *pid != me)
        );
        assert!(!is_stopped(me));
    }

    #[test]
    fn symbols_are_found_as_whole_names() {
        let me = std::env::current_exe().expect("a test has a file");
        assert!(!names_symbol(&me, "no_such_symbol_is_in_here_"));
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(&file, b"\0ASYNC_pause_job\0SSL_new_x\0").expect("written");
        assert!(names_symbol(file.path(), "ASYNC_pause_job"));
        assert!(!names_symbol(file.path(), "SSL_new"));
    }
}
