//! `lanelock perf` as scripts use it: names, fields, exit codes, what errors say. No test depends
//! on how fast anything is.

// A test may panic, and its helpers too.
#![allow(clippy::unwrap_used)]

mod errors;
#[path = "../support/haproxy.rs"]
mod haproxy;
mod measurements;
mod peers;
mod pubkey;
mod sweep;
mod tls;

use assert_cmd::Command;
use serde_json::Value;

/// `lanelock perf` with these words.
fn perf(words: impl AsRef<str>) -> Command {
    let mut command = Command::cargo_bin("lanelock").unwrap();
    command.arg("perf").args(words.as_ref().split_whitespace());
    command
}

/// The report of a measurement that succeeds, and its rows.
fn report(words: impl AsRef<str>) -> (Value, Vec<Value>) {
    let output = perf(words).args(["--json", "-"]).assert().success();
    let report: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(report["schema"], "lanelock-perf/1");
    let rows = report["results"].as_array().unwrap().clone();
    (report, rows)
}

/// Every value of a field, in the order of the rows.
fn values<'r>(rows: &'r [Value], field: &str) -> Vec<&'r Value> {
    rows.iter().map(|row| &row[field]).collect()
}
