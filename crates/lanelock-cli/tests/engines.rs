//! `lanelock engines` and `lanelock completions` as a user runs them.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use assert_cmd::Command;
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
    assert!([1, 8].contains(&x25519.unwrap()["lanes"].as_u64().unwrap()));
    for row in keys {
        assert_eq!(row["single_engine"], "openssl", "{row}");
        assert!(row["break_even"].is_null(), "not asked for: {row}");
    }
}

#[test]
fn measuring_tells_which_engine_runs_what() {
    let output = lanelock()
        .args(["engines", "--measure", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "lanelock-engines/1");
    let choices = json["choices"].as_array().unwrap();
    assert!(
        choices
            .iter()
            .any(|choice| choice["algorithm"] == "aes-128-cbc+hmac-sha1")
    );
    for choice in choices {
        // What has a stand-in was measured for every number and length; what has none, not.
        let kinds = choice["measured"].as_array().map_or(0, Vec::len);
        let expected = if choice["stand_in"].is_string() {
            25
        } else {
            0
        };
        assert_eq!(kinds, expected, "{choice}");
        for kind in choice["measured"].as_array().into_iter().flatten() {
            let [engine, stand_in] =
                ["engine_ns", "stand_in_ns"].map(|name| kind[name].as_u64().unwrap());
            // Parts of a nanosecond are not printed: a close race may have either end.
            let faster = if 16 * (stand_in + 1) <= 15 * engine {
                &choice["stand_in"]
            } else if 16 * stand_in >= 15 * (engine + 1) {
                &choice["engine"]
            } else {
                continue;
            };
            assert_eq!(&kind["chosen"], faster, "{kind}");
        }
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
