//! Finished cells on disk, so that a sweep that was ended can go on.
//!
//! Lines of JSON: what has to be the same when it goes on, then each cell as it was finished.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::shown;
use crate::sweep::{Library, Time};

/// What a sweep that goes on has in common with what was measured before.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Header {
    pub machine: Machine,
    pub build: String,
    pub tier: Option<String>,
    pub libraries: Vec<Library>,
}

/// The file, and what it had.
pub struct State {
    path: PathBuf,
    file: File,
    done: HashMap<String, Vec<Time>>,
}

#[derive(Deserialize, Serialize)]
struct Line {
    cell: String,
    times: Vec<Time>,
}

impl State {
    /// Starts a file, or goes on with one.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there is one and `resume` was not asked for, or it is of another sweep;
    /// [`Failure::Failed`] if it is not the file of a sweep, [`Failure::Output`] if it cannot be
    /// written.
    pub fn open(path: &Path, resume: bool, header: &Header) -> Result<Self, Failure> {
        let name = shown::name(path);
        let old = match fs::read_to_string(path) {
            Ok(_) if !resume => {
                return Err(Failure::Usage(format!(
                    "--state {name}: an earlier sweep was not finished; use --resume to go on with \
                     it, or remove the file"
                )));
            }
            Ok(old) => Some(old),
            Err(error) if resume => {
                return Err(Failure::Usage(format!(
                    "--resume: cannot read {name}: {error}; leave it out to start anew"
                )));
            }
            Err(_) => None,
        };
        // What an interrupted write left of a last line goes.
        let end = old
            .as_ref()
            .map_or(0, |old| old.rfind('\n').map_or(0, |at| at + 1));
        let done = match &old {
            Some(old) => finished(&old[..end], &name, header)?,
            None => HashMap::new(),
        };
        let failed = |error| Failure::Output {
            to: name.clone(),
            error,
        };
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        file.set_len(end as u64).map_err(failed)?;
        let mut state = Self {
            path: path.to_owned(),
            file,
            done,
        };
        if old.is_none() {
            state.write(header)?;
        }
        Ok(state)
    }

    /// Whether the cell was finished before.
    pub fn has(&self, cell: &str) -> bool {
        self.done.contains_key(cell)
    }

    /// What was measured in it before.
    pub fn times(&self, cell: &str) -> Option<Vec<Time>> {
        self.done.get(cell).cloned()
    }

    /// Adds a cell.
    ///
    /// # Errors
    /// [`Failure::Output`].
    pub fn finish(&mut self, cell: &str, times: &[Time]) -> Result<(), Failure> {
        self.write(&Line {
            cell: cell.to_owned(),
            times: times.to_vec(),
        })
    }

    /// Removes the file: every cell has been reported.
    ///
    /// # Errors
    /// [`Failure::Output`].
    pub fn remove(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| self.failure(error))
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_string(line).expect("an object with string keys");
        text.push('\n');
        self.file
            .write_all(text.as_bytes())
            .map_err(|error| self.failure(error))
    }

    fn failure(&self, error: std::io::Error) -> Failure {
        Failure::Output {
            to: shown::name(&self.path),
            error,
        }
    }
}

/// The cells of a file.
fn finished(
    text: &str,
    name: &str,
    header: &Header,
) -> Result<HashMap<String, Vec<Time>>, Failure> {
    let mut lines = text.lines();
    let no_state = |error: serde_json::Error| {
        Failure::Failed(format!("{name}: not the state of a sweep: {error}"))
    };
    let old: Header = serde_json::from_str(lines.next().unwrap_or_default()).map_err(no_state)?;
    let parts = [
        ("machine", old.machine == header.machine),
        ("build", old.build == header.build),
        ("--tier", old.tier == header.tier),
        ("--peer, or libraries,", old.libraries == header.libraries),
    ];
    if let Some((what, _)) = parts.iter().find(|(_, same)| !same) {
        return Err(Failure::Usage(format!(
            "--resume: {name} is of a sweep with another {what}; repeat its command line, or remove \
             the file"
        )));
    }
    let cell = |line: &str| serde_json::from_str(line).map(|Line { cell, times }| (cell, times));
    lines.map(cell).collect::<Result<_, _>>().map_err(no_state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(build: &str) -> Header {
        Header {
            machine: Machine::default(),
            build: build.to_owned(),
            tier: None,
            libraries: Vec::new(),
        }
    }

    fn times(ns_per_op: f64) -> Vec<Time> {
        vec![Time {
            contestant: "native".to_owned(),
            ns_per_op,
            ..Time::default()
        }]
    }

    #[test]
    fn a_sweep_that_was_cut_off_goes_on_without_its_last_cell() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let mut state = State::open(&path, false, &header("a")).expect("a new file");
        state.finish("one", &times(1.5)).expect("written");
        state.finish("two", &times(2.5)).expect("written");
        drop(state);
        let text = fs::read_to_string(&path).expect("there");
        fs::write(&path, &text[..text.len() - 5]).expect("cut off");
        let mut state = State::open(&path, true, &header("a")).expect("it goes on");
        assert_eq!(state.times("one"), Some(times(1.5)));
        assert!(!state.has("two"));
        state.finish("two", &times(3.0)).expect("written");
        let state = State::open(&path, true, &header("a")).expect("and again");
        assert_eq!(state.times("one"), Some(times(1.5)));
        assert_eq!(state.times("two"), Some(times(3.0)));
        state.remove().expect("removed");
        assert!(!path.exists());
    }

    #[test]
    fn another_sweep_and_other_files_are_refused_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let refused = |resume, build: &str| {
            let opened = State::open(&path, resume, &header(build)).map(|_| ());
            opened.expect_err("refused").to_string()
        };
        assert!(refused(true, "a").contains("cannot read"));
        State::open(&path, false, &header("a")).expect("a new file");
        let before = fs::read(&path).expect("there");
        assert!(refused(false, "a").contains("use --resume"));
        assert!(refused(true, "b").contains("another build"));
        assert_eq!(fs::read(&path).expect("there"), before);
        fs::write(&path, "shopping list\n").expect("written");
        assert!(refused(true, "a").contains("not the state of a sweep"));
    }
}
