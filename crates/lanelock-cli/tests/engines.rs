//! `lanelock engines` and `lanelock completions` as a user runs them.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use assert_cmd::Command;
use lanelock_testkit::lanes;
use predicates::str::contains;
use serde_json::Value;

fn lanelock() -> Command {
    Command::cargo_bin("lanelock").unwrap()
}

#[test]
fn the_table_has_engines_algorithms_and_choices() {
    lanelock()
        .arg("engines")
        .assert()
        .success()
        .stdout(contains("engine openssl: OpenSSL 3"))
        .stdout(contains("aes-{128,192,256}-gcm"))
        .stdout(contains("4 to 16 in steps of 2"))
        .stdout(contains("chosen for a session that names no engine"))
        .stdout(contains("openssl, one at a time: "));
}

#[test]
fn the_json_has_the_same_for_programs() {
    let output = lanelock().args(["engines", "--json"]).output().unwrap();
    assert!(output.status.success());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "lanelock-engines/1");
    assert!(
        json["machine"]["openssl"]
            .as_str()
            .unwrap()
            .starts_with("OpenSSL")
    );
    let algorithms = json["engines"][0]["algorithms"].as_array().unwrap();
    let gcm = algorithms
        .iter()
        .find(|row| row["names"][0] == "aes-128-gcm")
        .unwrap();
    assert_eq!(gcm["iv"][0]["max"], 128);
    assert_eq!(gcm["tag"][0]["min"], 4);
    assert_eq!(gcm["features"]["chains"], false);
    let choices = json["choices"].as_array().unwrap();
    assert!(choices.len() > 50);
    assert!(choices.iter().all(|choice| choice["engine"].is_string()));
    let keys = json["public_keys"].as_array().unwrap();
    let x25519 = keys.iter().find(|row| row["algorithm"] == "x25519-derive");
    assert_eq!(x25519.unwrap()["lanes"], lanes());
    for row in keys {
        let is_ml_kem = row["algorithm"].as_str().unwrap().starts_with("ml-kem");
        let expected = match row["engine"] == "native" {
            true if is_ml_kem => 8,
            true => lanes(),
            false => 1,
        };
        assert_eq!(row["lanes"], expected, "{row}");
    }
}

#[test]
fn completions_are_a_script() {
    for shell in ["bash", "zsh", "fish"] {
        lanelock()
            .args(["completions", shell])
            .assert()
            .success()
            .stdout(contains("lanelock"));
    }
}
