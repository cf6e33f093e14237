//! `lanelock perf pubkey`.

use assert_cmd::Command;
use serde_json::Value;

fn pubkey(args: &[&str]) -> Value {
    let output = Command::cargo_bin("lanelock")
        .expect("the command")
        .args([
            "perf", "pubkey", "--engine", "openssl", "--keys", "2", "--json", "-",
        ])
        .args(args)
        .assert()
        .success();
    serde_json::from_slice(&output.get_output().stdout).expect("JSON")
}

#[test]
fn each_operation_and_batch_has_a_row() {
    let report = pubkey(&[
        "--algorithm=x25519-derive,ed25519-sign,p256-sign,p256-verify",
        "--batch=1,3",
        "--seconds=0.01",
        "--rounds=1",
    ]);
    let rows = report["results"].as_array().expect("rows");
    assert_eq!(rows.len(), 8);
    for row in rows {
        assert!(row["ops_per_s"].as_f64().expect("a rate") > 0.0);
        assert!([1, 3].contains(&row["batch"].as_u64().expect("a batch")));
    }
}

#[test]
fn an_engine_is_measured_without_its_counters_beside_itself() {
    let report = pubkey(&[
        "--algorithm=x25519-derive",
        "--batch=1",
        "--seconds=0.01",
        "--rounds=1",
        "--uncounted",
    ]);
    let rows = report["results"].as_array().expect("rows");
    let names: Vec<_> = rows.iter().map(|row| row["contestant"].as_str()).collect();
    assert_eq!(names, [Some("openssl"), Some("openssl, uncounted")]);
    assert_eq!(rows[1]["ratio"].as_f64(), Some(1.0));
}

#[test]
fn each_policy_has_its_latencies() {
    let report = pubkey(&["--algorithm=x25519-derive", "--rate=1000", "--seconds=0.05"]);
    let rows = report["results"].as_array().expect("rows");
    let policies: Vec<_> = rows.iter().map(|row| row["policy"].as_str()).collect();
    assert_eq!(
        policies,
        [Some("single"), Some("deadline"), Some("adaptive")]
    );
    assert!(rows.iter().all(|row| row["p99_ns"].as_u64() > Some(0)));
}

#[test]
fn an_unknown_operation_is_told_with_those_there_are() {
    let output = Command::cargo_bin("lanelock")
        .expect("the command")
        .args(["perf", "pubkey", "--algorithm", "rsa-2048-dance"])
        .assert()
        .failure();
    let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(
        text.contains("rsa-2048-dance") && text.contains("x25519-derive"),
        "{text}"
    );
}
