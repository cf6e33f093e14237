//! `lanelock stats` on a process that is at work.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::process::{Child, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;

const ALGORITHM: &str = "x25519-derive";

/// Ends with the test, however that ends.
struct Busy(Child);

impl Busy {
    /// A process that derives secrets one at a time for a minute.
    fn start(telemetry: &str) -> Self {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lanelock"));
        command.args(["perf", "pubkey", "--engine", "openssl", "--batch", "1"]);
        command.args(["--algorithm", ALGORITHM, "--seconds", "60"]);
        command.env("LANELOCK_STATS", telemetry);
        Self(command.stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Its counts, as soon as it counts more than `least`.
    fn counts(&self, least: u64) -> Value {
        for _ in 0..600 {
            let output = stats(&[&self.pid(), "--json"]).output().unwrap();
            if output.status.success() {
                let page: Value = serde_json::from_slice(&output.stdout).unwrap();
                if work(&page)["completed"].as_u64() > Some(least) {
                    return page;
                }
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("nothing is counted");
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The row of the algorithm that is at work; the keys have been made with others.
fn work(page: &Value) -> &Value {
    let rows = page["algorithms"].as_array().unwrap().iter();
    let mut rows = rows.filter(|row| row["algorithm"] == ALGORITHM);
    rows.next().unwrap_or(&Value::Null)
}

fn stats(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("lanelock").unwrap();
    command.arg("stats").args(args);
    command
}

fn text(args: &[&str]) -> String {
    let output = stats(args).assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

fn refusal(args: &[&str]) -> String {
    let output = stats(args).assert().code(2).get_output().stderr.clone();
    String::from_utf8(output).unwrap()
}

#[test]
fn a_busy_process_is_read_in_every_form() {
    let busy = Busy::start("on");
    let first = busy.counts(0);
    let row = work(&first);
    assert_eq!(first["pid"].as_u64(), Some(busy.0.id().into()));
    assert_eq!(row["algorithm"], ALGORITHM);
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap();
    assert_eq!((number(row, "failed"), number(row, "batches")), (0, 0));
    assert!(number(row, "submitted") >= number(row, "completed"));
    let compute = &row["compute_ns"];
    assert!(number(compute, "p50") > 1000, "{compute}");
    assert!(number(compute, "p50") <= number(compute, "p99"));
    assert_eq!(number(&row["wait_ns"], "count"), 0, "bursts do not wait");
    let threads = first["threads"].as_array().unwrap();
    assert!(threads.iter().any(|row| row["algorithm"] == ALGORITHM));

    // It goes on counting.
    let before = number(row, "completed");
    let second = busy.counts(before);
    assert!(number(work(&second), "singles") > before);

    let table = text(&[&busy.pid(), "--threads"]);
    assert!(
        table.starts_with(&format!("process {}, counted for ", busy.pid())),
        "{table}"
    );
    let rows = table.lines().filter(|line| line.contains(ALGORITHM));
    assert_eq!(
        rows.count(),
        3,
        "all, the thread at work, and the queue that has ended:\n{table}"
    );

    let watched = text(&[&busy.pid(), "--watch", "0.1", "--times", "2"]);
    assert_eq!(watched.matches("the last ").count(), 2, "{watched}");

    prometheus(&text(&[&busy.pid(), "--prometheus"]));
}

/// Each sample belongs to a family that has been declared, and histograms add up.
fn prometheus(page: &str) {
    let mut families = Vec::new();
    let mut counts = std::collections::BTreeMap::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            families.push(rest.split(' ').next().unwrap().to_owned());
        } else if !line.starts_with('#') {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            assert!(
                families
                    .iter()
                    .any(|family| name.starts_with(family.as_str())),
                "{line}"
            );
            counts.insert(series.to_owned(), value.parse::<f64>().unwrap());
        }
    }
    let of = |name: &str, last: &str| {
        let mut found = counts.iter().filter(|(series, _)| {
            series.starts_with(&format!("{name}{{")) && series.ends_with(last)
        });
        *found.next().unwrap_or_else(|| panic!("{name} {last}")).1
    };
    let all = of("lanelock_compute_seconds_bucket", "le=\"+Inf\"}");
    assert!(all > 0.0);
    assert_eq!(all, of("lanelock_compute_seconds_count", "}"));
    let steps = ["0.000001", "0.001", "1"].map(|bound| {
        of(
            "lanelock_compute_seconds_bucket",
            &format!("le=\"{bound}\"}}"),
        )
    });
    assert!(
        steps.is_sorted() && steps[2] <= all && steps[1] > 0.0,
        "{steps:?}"
    );
    assert!(of("lanelock_operations_total", "}") > 0.0);
}

#[test]
fn who_cannot_be_read_is_told_why() {
    // Numbers end at 2^22 on Linux.
    let absent = refusal(&["8388608"]);
    assert!(
        absent.contains("process 8388608: there is none"),
        "{absent}"
    );
    let none = refusal(&[&std::process::id().to_string()]);
    assert!(
        none.contains("no lanelock-stats inside") && none.contains("lanelock run"),
        "{none}"
    );
    assert!(refusal(&["1", "--json", "--watch"]).contains("--watch"));
    assert!(refusal(&["1", "--watch", "0"]).contains("0.01 to 86400"));
}

#[test]
fn a_process_that_is_told_to_keeps_no_page() {
    let busy = Busy::start("off");
    for _ in 0..20 {
        let said = refusal(&[&busy.pid()]);
        assert!(said.contains("LANELOCK_STATS=off"), "{said}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
