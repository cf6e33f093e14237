//! Public-key operations: which engine runs them in lanes, and which where there are too few.

use std::fmt::Write as _;

use lanelock::Device;
use serde::Serialize;

use crate::failure::Failure;
use crate::perf;

/// One operation on one kind of key, for a session that names no engine.
#[derive(Debug, Serialize)]
pub(super) struct KeyRow {
    algorithm: String,
    engine: &'static str,
    /// Operations that run in lockstep; 1 if each runs by itself.
    lanes: usize,
    /// What runs those too few for lanes.
    single_engine: &'static str,
    /// Fewest operations that are faster in lanes, if that was measured.
    break_even: Option<usize>,
}

/// Every operation, in the engines' order; break-even is measured if `measure` says so.
///
/// # Errors
/// [`Failure::Failed`] if an operation failed that was to be measured.
pub(super) fn rows(device: &Device, measure: bool) -> Result<Vec<KeyRow>, Failure> {
    let mut rows: Vec<KeyRow> = Vec::new();
    for engine in device.engines() {
        let offered = engine.public_key().map(|keys| keys.capabilities());
        for capability in offered.unwrap_or_default() {
            let algorithm = capability.spec.to_string();
            match rows.iter_mut().find(|row| row.algorithm == algorithm) {
                // The next engine stands in for the lanes of the first.
                Some(row) if row.lanes > 1 && row.single_engine == row.engine => {
                    row.single_engine = engine.name();
                }
                Some(_) => {}
                None => rows.push(KeyRow {
                    algorithm,
                    engine: engine.name(),
                    lanes: capability.lanes,
                    single_engine: engine.name(),
                    break_even: None,
                }),
            }
        }
    }
    if measure {
        for row in rows.iter_mut().filter(|row| row.has_choice()) {
            row.break_even = perf::break_even(device, &row.algorithm)?;
        }
    }
    Ok(rows)
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
    fn has_choice(&self) -> bool {
        self.single_engine != self.engine
    }

    fn describe(&self) -> String {
        let Self {
            engine,
            lanes,
            single_engine,
            ..
        } = self;
        match (lanes, self.break_even) {
            (1, _) => format!("{engine}, one at a time"),
            _ if !self.has_choice() => format!("{engine}, {lanes} at a time"),
            (_, Some(1)) => format!("{engine}, {lanes} at a time, faster from the first on"),
            (_, Some(least)) => {
                format!("{engine}, {lanes} at a time; fewer than {least} on {single_engine}")
            }
            (_, None) => format!(
                "{engine}, {lanes} at a time; too few on {single_engine}, break-even not measured \
                 (--break-even)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(algorithm: &str, lanes: usize, break_even: Option<usize>) -> KeyRow {
        KeyRow {
            algorithm: algorithm.to_owned(),
            engine: "first",
            lanes,
            single_engine: "second",
            break_even,
        }
    }

    #[test]
    fn operations_of_which_the_same_is_true_share_a_line() {
        let rows = [
            row("a", 8, Some(2)),
            row("b", 8, None),
            row("c", 1, None),
            row("d", 8, Some(2)),
            row("e", 8, Some(1)),
        ];
        let expected = "  first, 8 at a time; fewer than 2 on second: a, d\n  first, 8 at a time; \
                        too few on second, break-even not measured (--break-even): b\n  first, \
                        one at a time: c\n  first, 8 at a time, faster from the first on: e\n";
        assert_eq!(render(&rows), expected);
    }
}
