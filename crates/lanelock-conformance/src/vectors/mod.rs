//! Known answers of the standards, in one text format.

mod parse;

use lanelock_core::Algorithm;

pub use parse::{ParseError, Vector, parse};

use crate::suite::{FileOutcome, Verdict};
use crate::{Progress, Subject};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("data/", $name, ".txt")))),*]
    };
}

/// Name and text of each file.
const FILES: &[(&str, &str)] = files![
    "3des-cbc",
    "aes-cbc",
    "aes-cbc-hmac",
    "aes-ccm",
    "aes-cmac",
    "aes-ctr",
    "aes-docsis",
    "aes-ecb",
    "aes-gcm",
    "aes-gmac",
    "aes-xts",
    "blake2",
    "camellia-cbc",
    "chacha20",
    "chacha20-poly1305",
    "des-cbc",
    "des-docsis",
    "hmac-md5",
    "hmac-sha1",
    "hmac-sha224",
    "hmac-sha256",
    "hmac-sha3",
    "hmac-sha384",
    "hmac-sha512",
    "md5",
    "poly1305",
    "sha1",
    "sha2",
    "sha3",
    "shake",
    "xchacha20-poly1305",
];

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
