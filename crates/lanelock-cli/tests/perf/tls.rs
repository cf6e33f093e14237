//! `lanelock perf tls`, on servers without the provider.

use std::path::Path;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::{perf, report};

/// Whether HAProxy is installed; says so if not, as a test without it shows nothing.
fn has_haproxy() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join("haproxy").is_file())
        || Path::new("/usr/sbin/haproxy").is_file();
    if !found {
        eprintln!("skipped: HAProxy is missing (apt-get install haproxy)");
    }
    found
}

#[test]
fn every_handshake_is_a_full_one_on_the_server_too() {
    if !has_haproxy() {
        return;
    }
    let (_, rows) = report(&[
        "tls",
        "--provider=none",
        "--key=p256,ed25519",
        "--tls=1.2,1.3",
        "--connections=1,3",
        "--seconds=0.1",
        "--rounds=1",
    ]);
    assert_eq!(rows.len(), 8);
    for row in &rows {
        assert_eq!(row["contestant"], "haproxy");
        assert!(row["full_handshakes"].as_u64().unwrap() > 0, "{row}");
        assert!(row["server_cpu_ns_per_op"].as_f64().unwrap() > 1e3, "{row}");
        assert!(row["p99_ns"].as_u64() >= row["p50_ns"].as_u64(), "{row}");
    }
    let of = |operation| move |row: &&Value| row["operation"] == operation;
    assert_eq!(rows.iter().filter(of("tls-1.2-handshake")).count(), 4);
}

#[test]
fn abandoned_connections_leave_nothing_behind() {
    if !has_haproxy() {
        return;
    }
    let output = perf(&["tls", "--provider=none", "--key=p256", "--connections=20"])
        .args(["--handshakes=600", "--abort=0.4", "--json=-"])
        .assert()
        .success();
    let outcomes: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let count = |name: &str| outcomes[0][name].as_u64().unwrap();
    assert_eq!(count("finished") + count("abandoned"), 600);
    assert!((150..350).contains(&count("abandoned")), "{outcomes}");
    assert_eq!(count("failed"), 0);
}

#[test]
fn what_is_missing_is_told_with_the_remedy() {
    perf(&["tls", "--provider=none", "--haproxy=/nonexistent/haproxy"])
        .assert()
        .code(1)
        .stderr(contains("/nonexistent/haproxy").and(contains("apt-get install haproxy")));
    perf(&["tls", "--provider=/nonexistent.so"])
        .assert()
        .code(2)
        .stderr(contains("/nonexistent.so").and(contains("--provider none")));
    perf(&["tls", "--handshakes=9", "--abort=1.5"])
        .assert()
        .code(2)
        .stderr(contains("'1.5'").and(contains("from 0 to 1")));
}
