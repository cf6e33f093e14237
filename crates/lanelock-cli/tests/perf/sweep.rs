//! `lanelock perf sweep`: who takes part, what is written, how it goes on.

use std::fs;
use std::path::Path;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::peers::{actor, built};
use crate::perf;

/// Cells of one hash, in turns that end as soon as they can.
fn sweep(state: &Path) -> assert_cmd::Command {
    let mut command = perf("sweep --algorithm sha256 --peer evp --turn 0.000001 --state");
    command.arg(state);
    command
}

/// Whether this CPU has the native engine, which a sweep is about; says so if not.
fn has_native() -> bool {
    let has = lanelock_native::Native::new().is_ok_and(|native| native.is_some());
    if !has {
        eprintln!("left out: the native engine has no tier for this CPU");
    }
    has
}

#[test]
fn a_peer_with_other_results_ends_it() {
    if !has_native() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let peers = actor(
        "ready route=a routes=a",
        "digest fnv1a=00000000000000ff",
        "",
    );
    sweep(&state)
        .env("LANELOCK_PEERS", peers.path())
        .assert()
        .code(1)
        .stderr(contains("sha256 compute, 16 bytes").and(contains("evp and native get different")));
    // What was finished is kept, and nothing but --resume goes on with it.
    sweep(&state)
        .env("LANELOCK_PEERS", peers.path())
        .assert()
        .code(2)
        .stderr(contains("--state").and(contains("--resume")));
}

#[test]
fn names_that_no_sweep_has_are_refused_before_anything_is_measured() {
    if !has_native() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let peers = actor("unsupported reason=\"not this one\"", "", "");
    for (words, expected) in [
        ("sha256", "--algorithm sha256: no peer has it"),
        ("sha-257", "--algorithm sha-257: not in a sweep"),
    ] {
        perf(format!("sweep --peer evp --algorithm {words} --state"))
            .arg(&state)
            .env("LANELOCK_PEERS", peers.path())
            .assert()
            .code(2)
            .stderr(contains(expected));
    }
    perf("sweep --tier avx1024")
        .assert()
        .code(2)
        .stderr(contains("avx1024").and(contains("aesni")));
    assert!(!state.exists());
}

#[test]
fn a_sweep_beside_a_real_peer_writes_every_form_and_removes_its_state() {
    if !has_native() {
        return;
    }
    if !built("evp") {
        eprintln!("left out: no lanelock-peer-evp is built");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    sweep(&path("state"))
        .arg("--json")
        .arg(path("json"))
        .arg("--html")
        .arg(path("html"))
        .arg("--record")
        .arg(path("csv"))
        .assert()
        .success()
        .stdout(contains("the fastest peer").and(contains("evp: OpenSSL")));
    assert!(!path("state").exists());
    let json: Value = serde_json::from_str(&fs::read_to_string(path("json")).unwrap()).unwrap();
    assert_eq!(json["schema"], "lanelock-perf-sweep/1");
    let cells = json["results"].as_array().unwrap();
    assert_eq!(cells.len(), 6 * 8, "bursts, lengths");
    for cell in cells {
        let names: Vec<_> = cell["times"].as_array().unwrap().iter().collect();
        assert_eq!(names[0]["contestant"], "native");
        assert_eq!(names[1]["contestant"], "evp");
        assert!(names[1]["ns_per_op"].as_f64().unwrap() > 0.0);
    }
    let csv = fs::read_to_string(path("csv")).unwrap();
    let lines: Vec<_> = csv.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 1 + cells.len());
    assert!(csv.contains("# native: rustc "), "{csv}");
    assert!(
        fs::read_to_string(path("html"))
            .unwrap()
            .contains("Bursts of 32, 1 key")
    );
}
