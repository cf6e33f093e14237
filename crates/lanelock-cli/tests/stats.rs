//! `lanelock stats` on a process that is at work.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

#[path = "support/exposition.rs"]
mod exposition;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
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
        Self::called(env!("CARGO_BIN_EXE_lanelock"), telemetry)
    }

    /// The same, as a program at this path.
    fn called(program: impl AsRef<OsStr>, telemetry: &str) -> Self {
        let mut command = std::process::Command::new(program);
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
                assert_eq!(page["schema"], "lanelock-stats/1");
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
        table.starts_with(&format!("process {} (lanelock), counted for ", busy.pid())),
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

    let samples = exposition::parse(&text(&[&busy.pid(), "--prometheus"]));
    let pid = busy.pid();
    let own = |name: &str, more: &[(&str, &str)]| {
        let labels = [&[("pid", &*pid), ("comm", "lanelock")], more].concat();
        exposition::value(&samples, name, &labels)
    };
    let derived = ("algorithm", ALGORITHM);
    let all = own(
        "lanelock_compute_seconds_bucket",
        &[derived, ("le", "+Inf")],
    );
    assert!(all > 0.0);
    assert_eq!(all, own("lanelock_compute_seconds_count", &[derived]));
    let steps = ["0.000001", "0.001", "1"]
        .map(|bound| own("lanelock_compute_seconds_bucket", &[derived, ("le", bound)]));
    assert!(
        steps.is_sorted() && steps[2] <= all && steps[1] > 0.0,
        "{steps:?}"
    );
    assert!(own("lanelock_operations_total", &[derived]) > 0.0);
    assert_eq!(own("lanelock_up", &[]), 1.0);
    assert_eq!(own("lanelock_uncounted_total", &[]), 0.0);
    let started = own("lanelock_process_start_time_seconds", &[]);
    let counting = own("lanelock_page_start_time_seconds", &[]);
    // Both are rounded down to seconds, from different clocks.
    assert!(started > 1e9 && started <= counting + 2.0);
}

/// One of two processes has a name that is no text and that a terminal would obey.
#[test]
fn all_processes_are_written_to_one_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join(OsStr::from_bytes(b"\x1b[31m\"caf\xe9"));
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_lanelock"), &odd).unwrap();
    let shown = "\\u{1b}[31m\"caf\\xe9";
    let processes = [Busy::start("on"), Busy::called(&odd, "on")];
    for busy in &processes {
        busy.counts(0);
    }

    let list = text(&[]);
    assert!(list.contains(shown) && !list.contains('\x1b'), "{list}");
    let all: Value = serde_json::from_str(&text(&["--all", "--json"])).unwrap();
    assert_eq!(all["schema"], "lanelock-stats-processes/1");
    let names = all["processes"].as_array().unwrap().iter();
    let names: Vec<_> = names
        .filter_map(|process| process["name"].as_str())
        .collect();
    assert!(names.contains(&shown) && names.contains(&"lanelock"));
    assert!(text(&["--all"]).matches(ALGORITHM).count() >= 2);

    let file = folder.path().join("lanelock.prom");
    let words = [
        "--all",
        "--prometheus",
        "--textfile",
        file.to_str().unwrap(),
    ];
    assert_eq!(text(&words), "");
    let samples = exposition::parse(&std::fs::read_to_string(&file).unwrap());
    assert!(exposition::value(&samples, "lanelock_processes", &[]) >= 2.0);
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    assert_eq!(
        exposition::value(&samples, "lanelock_build_info", &version),
        1.0
    );
    for (busy, name) in processes.iter().zip(["lanelock", shown]) {
        let pid = busy.pid();
        let labels = [("pid", &*pid), ("comm", name)];
        assert_eq!(exposition::value(&samples, "lanelock_up", &labels), 1.0);
        let labels = [&labels[..], &[("algorithm", ALGORITHM)]].concat();
        assert!(exposition::value(&samples, "lanelock_operations_total", &labels) > 0.0);
    }
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "node_exporter is another user");
    if let Some(promtool) = exposition::promtool() {
        let checked = Command::new(promtool)
            .args(["check", "metrics"])
            .write_stdin(std::fs::read(&file).unwrap())
            .assert()
            .success();
        assert!(checked.get_output().stderr.is_empty(), "{checked}");
    }

    // What cannot be written leaves the old file.
    let none = folder.path().join("none/lanelock.prom");
    let failed = stats(&[
        "--all",
        "--prometheus",
        "--textfile",
        none.to_str().unwrap(),
    ])
    .assert()
    .code(1);
    let told = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert!(
        told.contains("cannot write") && told.contains("lanelock.prom"),
        "{told}"
    );
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        2,
        "no temporary file is left"
    );
}

/// A FIFO that its owner calls as the page is called, in a file system that only he sees.
#[test]
fn a_fifo_in_place_of_the_page_is_not_waited_for() {
    let script = "mount -t tmpfs none /mnt && mkfifo /mnt/memfd:lanelock-stats && \
                  exec 4<>/mnt/memfd:lanelock-stats 3</mnt/memfd:lanelock-stats 4<&- && \
                  umount -l /mnt && echo ready && exec sleep 600";
    let mut holder = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(holder.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let holder = Busy(holder);
    if line != "ready\n" {
        eprintln!("SKIPPED: this kernel gives an ordinary user no mount namespace");
        return;
    }
    let link = std::fs::read_link(format!("/proc/{}/fd/3", holder.pid())).unwrap();
    assert_eq!(link.to_str(), Some("/memfd:lanelock-stats"));
    let told = refusal(&[&holder.pid()]);
    assert!(told.contains("it has no lanelock-stats"), "{told}");
}

#[test]
fn who_cannot_be_read_is_told_why() {
    // Numbers end at 2^22 on Linux.
    let absent = refusal(&["8388608"]);
    assert!(
        absent.contains("process 8388608: no such process"),
        "{absent}"
    );
    let none = refusal(&[&std::process::id().to_string()]);
    assert!(
        none.contains("it has no lanelock-stats") && none.contains("lanelock run"),
        "{none}"
    );
    assert!(refusal(&["1", "--json", "--watch"]).contains("--watch"));
    assert!(refusal(&["1", "--watch", "0"]).contains("0.01 to 86400"));
    assert!(refusal(&["--prometheus"]).contains("give its process id, or --all"));
    assert!(refusal(&["1", "--all"]).contains("cannot be used with"));
    assert!(refusal(&["--all", "--textfile", "x"]).contains("--prometheus"));
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
