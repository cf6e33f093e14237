//! `lanelock perf tls`, on servers without the provider.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::haproxy::haproxy;
use crate::{perf, report};
use lanelock_toy::{has_lanes, provider_module};

#[test]
fn every_handshake_is_a_full_one_on_the_server_too() {
    if haproxy().is_none() {
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

/// What `--provider` wants to be told.
fn provider() -> String {
    format!("--provider={}", provider_module().display())
}

#[test]
fn with_the_provider_handshakes_share_batches() {
    if haproxy().is_none() || !has_lanes() {
        return;
    }
    let work = [
        "--key=p256",
        "--connections=16",
        "--seconds=0.3",
        "--rounds=1",
    ];
    let (_, rows) = report(&[&["tls", &provider()], &work[..]].concat());
    let [stock, ours] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(stock["contestant"], "haproxy");
    assert_eq!(stock["lanes_filled"], Value::Null);
    assert_eq!(ours["contestant"], "haproxy+lanelock");
    assert_eq!(ours["reference"], "haproxy");
    assert!(ours["full_handshakes"].as_u64() > Some(0), "{ours}");
    assert!(ours["lanes_filled"].as_f64() > Some(1.0), "{ours}");
    let batched = ours["batched_percent"].as_f64().unwrap();
    assert!(batched > 1.0 && batched <= 100.0, "{ours}");
}

/// A program in front of HAProxy sees the configuration that OpenSSL will read.
#[test]
fn the_deadline_is_in_the_modules_configuration() {
    if haproxy().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [program, seen] = ["haproxy", "seen"].map(|name| folder.path().join(name));
    let script = format!(
        "#!/bin/sh\nPATH=$PATH:/usr/sbin\ncat \"${{OPENSSL_CONF:-/dev/null}}\" >> {}\n\
         exec haproxy \"$@\"\n",
        seen.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let program = format!("--haproxy={}", program.display());
    let work = [
        "--key=p256",
        "--connections=4",
        "--seconds=0.1",
        "--rounds=1",
    ];
    report(&[&["tls", &provider(), &program, "--deadline=70"], &work[..]].concat());
    let seen = std::fs::read_to_string(seen).unwrap();
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines.contains(&"deadline = 70"), "{seen}");
    assert!(lines.contains(&"activate = 1"), "{seen}");
}

#[test]
fn abandoned_connections_leave_nothing_behind() {
    if haproxy().is_none() {
        return;
    }
    let output = perf(&["tls", "--provider=none", "--key=p256", "--connections=20"])
        .args(["--handshakes=600", "--abort=0.4", "--json=-"])
        .assert()
        .success();
    let document: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(document["schema"], "lanelock-perf-tls/1");
    let outcomes = &document["outcomes"];
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
    perf(&["tls", "--deadline=1000001"])
        .assert()
        .code(2)
        .stderr(contains("--deadline").and(contains("1000000")));
    perf(&["tls", "--handshakes=9", "--abort=1.5"])
        .assert()
        .code(2)
        .stderr(contains("'1.5'").and(contains("from 0 to 1")));
}
