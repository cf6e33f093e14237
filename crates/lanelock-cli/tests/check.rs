//! `lanelock check` as a user runs it.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn check() -> Command {
    let mut command = Command::cargo_bin("lanelock").unwrap();
    command.arg("check");
    command
}

#[test]
fn an_algorithm_is_checked_and_the_seed_is_printed() {
    check()
        .args("--quick --algorithm aes-128-gcm --seed 7".split(' '))
        .assert()
        .success()
        .stdout(contains("engine openssl, seed 7"))
        .stdout(contains("AES-GCM (AesGcm)"))
        .stdout(contains(
            "skipped 1 of AES-GCM: aes-128-gcm: IV of 257 bytes; allowed: 1 to 128",
        ))
        .stdout(contains("all correct: "));
}

#[test]
fn the_same_seed_repeats_a_run() {
    let run = || {
        let output = check()
            .args("--quick --algorithm hmac-sha1,aes-128-cbc+hmac-sha1 --seed 3".split(' '))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // An engine's last line has the time in it.
        text.lines()
            .filter(|line| !line.starts_with("all correct: "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn names_that_do_not_exist_are_refused_with_those_that_do() {
    check()
        .args(["--engine", "quartz"])
        .assert()
        .code(2)
        .stderr(contains("--engine quartz: no such engine; there are: "))
        .stderr(contains("openssl"));
    check()
        .args(["--algorithm", "rot13"])
        .assert()
        .code(2)
        .stderr(contains("unknown algorithm 'rot13'"));
    check()
        .args(["--quick", "--exhaustive"])
        .assert()
        .code(2)
        .stderr(contains("cannot be used with"));
}

const FILE: &str = r#"{
  "algorithm": "AES-GCM",
  "numberOfTests": 2,
  "testGroups": [{"ivSize": 96, "keySize": 128, "tagSize": 128, "type": "AeadTest", "tests": [
    {"tcId": 1, "comment": "test case 2", "result": "valid", "flags": [],
     "key": "00000000000000000000000000000000", "iv": "000000000000000000000000", "aad": "",
     "msg": "00000000000000000000000000000000", "ct": "0388dace60b6a392f328c2b971b2fe78",
     "tag": "ab6e47d42cec13bdf53a67b21257bddf"},
    {"tcId": 2, "comment": "a flipped bit", "result": "invalid", "flags": [],
     "key": "00000000000000000000000000000000", "iv": "000000000000000000000000", "aad": "",
     "msg": "", "ct": "", "tag": "58e2fccefa7e3061367f1d57a4e7455b"}
  ]}]
}"#;

#[test]
fn a_file_of_the_users_is_run_and_its_wrong_tests_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    std::fs::write(&path, FILE).unwrap();
    check()
        .arg("--vectors")
        .arg(&path)
        .assert()
        .success()
        .stdout(contains("mine.json"))
        .stdout(contains("random messages").not());

    std::fs::write(&path, FILE.replace("fe78", "fe79")).unwrap();
    check()
        .arg("--vectors")
        .arg(&path)
        .assert()
        .code(1)
        .stdout(contains(
            "tcId 1 (test case 2): protect, in place: buffer: byte 15 of 16 is wrong",
        ))
        .stdout(contains("got      0388dace60b6a392f328c2b971b2fe78"));
}

#[test]
fn a_file_that_is_no_test_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    let refuse = |text: &str, why: &str| {
        std::fs::write(&path, text).unwrap();
        let assert = check().arg("--vectors").arg(&path).assert().code(2);
        assert.stderr(contains("mine.json").and(contains(why)));
    };
    refuse("{}", "missing field");
    refuse(&FILE.replace("AES-GCM", "ROT13"), "no algorithm 'ROT13'");
    refuse(
        &FILE.replace(": 2,\n", ": 3,\n"),
        "numberOfTests says 3, but there are 2",
    );
    let mut missing = check();
    missing.args(["--vectors", "/nowhere/at.all"]);
    missing
        .assert()
        .code(2)
        .stderr(contains("/nowhere/at.all: No such file"));
}

#[test]
fn timing_refuses_what_it_cannot_time() {
    let refuse = |arguments: &str, why: &str| {
        let assert = check().args(arguments.split(' ')).assert().code(2);
        assert.stderr(contains(why));
    };
    refuse(
        "--timing --tier sse2",
        "--tier sse2: no such tier; this machine has: ",
    );
    refuse(
        "--timing --algorithm 3des-cbc",
        "no native kernel for it on these tiers",
    );
    refuse("--timing --seconds 0", "use seconds above 0");
    refuse("--timing --quick", "cannot be used with");
    refuse("--seconds 2", "--timing");
}

#[test]
fn timing_says_what_too_few_measurements_are() {
    check()
        .args("--timing --algorithm aes-128-ctr --seconds 1e-9".split(' '))
        .assert()
        .code(1)
        .stderr(contains("too few to tell, 10000 are needed"));
}

#[test]
fn timing_explains_itself() {
    check()
        .arg("--help")
        .assert()
        .success()
        .stdout(contains("lanelock check --timing"))
        .stdout(contains("Welch's t-test"));
}
