//! Public-key operations: which engine runs them, and how many at a time.

use std::fmt::Write as _;

use lanelock::Device;
use lanelock::engine::public_key::PublicKeyEngine;
use serde::Serialize;

/// One operation on one kind of key, for a session that names no engine.
#[derive(Debug, Serialize)]
pub(super) struct KeyRow {
    algorithm: String,
    engine: &'static str,
    /// Operations that run in lockstep; 1 if each runs by itself.
    lanes: usize,
}

/// Every operation, in the engines' order.
pub(super) fn rows(device: &Device) -> Vec<KeyRow> {
    let mut rows: Vec<KeyRow> = Vec::new();
    for engine in device.engines() {
        let offered = engine.public_key().map(|keys| keys.capabilities());
        for capability in offered.unwrap_or_default() {
            let algorithm = capability.spec.to_string();
            if rows.iter().all(|row| row.algorithm != algorithm) {
                rows.push(KeyRow {
                    algorithm,
                    engine: engine.name(),
                    lanes: capability.lanes,
                });
            }
        }
    }
    rows
}

/// Operations by what is said of them.
pub(super) fn render(rows: &[KeyRow]) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows {
        let text = row.describe();
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(&row.algorithm),
            None => groups.push((text, vec![&row.algorithm])),
        }
    }
    groups
        .iter()
        .fold(String::new(), |mut text, (what, names)| {
            let _ = writeln!(text, "  {what}: {}", names.join(", "));
            text
        })
}

impl KeyRow {
    fn describe(&self) -> String {
        let Self { engine, lanes, .. } = self;
        match lanes {
            1 => format!("{engine}, one at a time"),
            _ => format!("{engine}, {lanes} at a time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_which_the_same_is_true_share_a_line() {
        let rows = [("a", 8), ("b", 1), ("c", 8)].map(|(algorithm, lanes)| KeyRow {
            algorithm: algorithm.to_owned(),
            engine: "first",
            lanes,
        });
        let expected = "  first, 8 at a time: a, c\n  first, one at a time: b\n";
        assert_eq!(render(&rows), expected);
    }
}
