//! Known answers of the standards, in one text format.

mod parse;

use lanelock_core::Algorithm;

pub use parse::{ParseError, Vector, parse};

use crate::suite::{FileOutcome, Verdict};
use crate::{Progress, Subject};

// FILES: name and text of each file of `data`.
include!(concat!(env!("OUT_DIR"), "/vectors.rs"));

/// Every vector, with its file's name.
///
/// # Panics
/// If a file of this crate does not parse.
#[must_use]
pub fn all() -> Vec<(&'static str, Vec<Vector>)> {
    FILES
        .iter()
        .map(|&(name, text)| match parse(text) {
            Ok(vectors) => (name, vectors),
            Err(error) => panic!("{name}.txt: {error}"),
        })
        .collect()
}

/// Runs every vector whose algorithm `subject` offers and `wanted` accepts.
///
/// # Panics
/// If a file of this crate does not parse.
pub fn run(
    subject: &Subject,
    wanted: impl Fn(Algorithm) -> bool,
    progress: &dyn Progress,
) -> Vec<FileOutcome> {
    let mut files = all();
    for (_, vectors) in &mut files {
        vectors.retain(|v| subject.offers(v.spec.algorithm) && wanted(v.spec.algorithm));
    }
    files.retain(|(_, vectors)| !vectors.is_empty());
    let total = files.iter().map(|(_, vectors)| vectors.len() as u64).sum();
    progress.begin("standards", total);
    let outcomes = files
        .iter()
        .map(|(name, vectors)| {
            let mut outcome = FileOutcome::new(name, name, vectors.len());
            for vector in vectors {
                let id = format!("line {}", vector.line);
                let ran = vector.known.check(subject, true);
                outcome.count(Verdict::Right, &id, &vector.source, ran);
                progress.advance(1, name);
            }
            outcome
        })
        .collect();
    progress.end();
    outcomes
}

#[cfg(test)]
mod tests;
