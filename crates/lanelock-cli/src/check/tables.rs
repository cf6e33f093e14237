//! What the check found, as aligned tables.

use std::fmt::Write;

use lanelock::Algorithm;
use lanelock::algorithm::{Order, Spec};
use lanelock_conformance::differential::{Row, Tally};
use lanelock_conformance::suite::FileOutcome;

use super::Findings;
use crate::report::table::align;

/// Everything, failures last.
pub(super) fn render(findings: &Findings, seed: u64) -> String {
    let mut text = String::new();
    for (title, files) in [
        ("known answers of the standards", &findings.standards),
        ("Wycheproof", &findings.wycheproof),
    ] {
        if !files.is_empty() {
            let _ = write!(text, "\n{title}\n{}\n", known_answers(files));
            text.push_str(&skips(files));
        }
    }
    for (title, files) in [
        ("Wycheproof, public keys", &findings.public_keys),
        (
            "random operations with public keys against OpenSSL",
            &findings.random_keys,
        ),
    ] {
        if !files.is_empty() {
            let _ = write!(text, "\n{title}\n");
        }
        for file in files {
            let _ = writeln!(text, "  {file}");
        }
    }
    let rows = summarised(&findings.random.rows);
    if !rows.is_empty() {
        let _ = write!(
            text,
            "\nrandom messages against the reference\n{}\n",
            random(&rows)
        );
    }
    for file in findings.standards.iter().chain(&findings.wycheproof) {
        for failure in &file.failures {
            let _ = write!(
                text,
                "\nWRONG: {}, {} ({}): {}\n  expected {}\n  got      {}\n",
                file.name,
                failure.test,
                failure.comment,
                failure.mismatch,
                hex(&failure.mismatch.expected),
                hex(&failure.mismatch.got),
            );
        }
    }
    for file in findings.keys() {
        for failure in &file.failures {
            let _ = write!(text, "\nWRONG: {}, {failure}\n", file.name);
        }
    }
    if let Some(failure) = &findings.random.failure {
        let _ = write!(text, "\nWRONG: {failure}\n");
    }
    text.push('\n');
    text.push_str(&verdict(findings, seed));
    text
}

/// All in one line.
pub(super) fn verdict(findings: &Findings, seed: u64) -> String {
    match findings.wrong() {
        0 => format!(
            "all correct: {} operations in {:.1} s\n",
            findings.operations(),
            findings.elapsed.as_secs_f64(),
        ),
        _ => format!("wrong results found; repeat with --seed {seed}\n"),
    }
}

fn known_answers(files: &[FileOutcome]) -> String {
    let titles = [
        "  file",
        "tests",
        "right",
        "refused",
        "skipped",
        "wrong",
        "operations",
        "tampered",
    ];
    let rows = files.iter().map(|file| {
        let name = match file.name == file.algorithm {
            true => file.name.clone(),
            false => format!("{} ({})", file.algorithm, file.name),
        };
        vec![
            format!("  {name}"),
            file.tests.to_string(),
            file.right.to_string(),
            file.refused.to_string(),
            file.skips().to_string(),
            file.failures.len().to_string(),
            file.operations.to_string(),
            file.tampered.to_string(),
        ]
    });
    align(&titles, |at| at == 0, rows)
}

/// Why tests were skipped.
fn skips(files: &[FileOutcome]) -> String {
    let mut text = String::new();
    for file in files {
        for (reason, count) in &file.skipped {
            let _ = writeln!(text, "  skipped {count} of {}: {reason}", file.algorithm);
        }
    }
    text
}

fn random(rows: &[Row]) -> String {
    let titles = [
        "  algorithm",
        "operations",
        "right",
        "tampered",
        "refused",
        "segments",
        "separate",
        "guard page",
        "queued",
    ];
    let rows = rows.iter().map(|Row { name, tally }| {
        let Tally {
            operations,
            succeeded,
            tampered,
            refused,
            segmented,
            separate,
            guarded,
            queued,
            ..
        } = tally;
        let counts = [
            operations, succeeded, tampered, refused, segmented, separate, guarded, queued,
        ];
        let counts = counts.map(ToString::to_string);
        [format!("  {name}")].into_iter().chain(counts).collect()
    });
    align(&titles, |at| at == 0, rows)
}

/// The rows, those of all chains of a cipher in one order as one.
fn summarised(rows: &[Row]) -> Vec<Row> {
    let mut sums: Vec<Row> = Vec::new();
    for row in rows {
        let name = label(&row.name);
        match sums.iter_mut().find(|sum| sum.name == name) {
            Some(sum) => sum.tally += row.tally,
            None => sums.push(Row {
                name,
                tally: row.tally,
            }),
        }
    }
    sums
}

fn label(name: &str) -> String {
    let Ok(spec) = name.parse::<Spec>() else {
        return name.to_owned();
    };
    let halves = name.split_once('+');
    match (spec.algorithm, halves) {
        (Algorithm::Chain(Order::EncryptThenMac, ..), Some((cipher, _))) => {
            format!("{cipher} + each MAC")
        }
        (Algorithm::Chain(Order::MacThenEncrypt, ..), Some((_, cipher))) => {
            format!("each MAC + {cipher}")
        }
        _ => name.to_owned(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_a_cipher_share_a_row() {
        assert_eq!(label("aes-128-cbc+hmac-sha1"), "aes-128-cbc + each MAC");
        assert_eq!(label("aes-128-cmac+3des-ctr"), "each MAC + 3des-ctr");
        assert_eq!(label("aes-128-gcm"), "aes-128-gcm");
        assert_eq!(label("all algorithms mixed"), "all algorithms mixed");
    }
}
