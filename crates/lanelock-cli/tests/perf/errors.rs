//! What errors say and with which code they end.

use std::process::{Command, Stdio};

use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};

use crate::perf;

/// The message of a command line that is refused: exit code 2, nothing on standard output.
fn refused(words: impl AsRef<str>) -> String {
    let assert = perf(words)
        .assert()
        .code(2)
        .stdout("")
        .stderr(starts_with("lanelock: "));
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_refusal_names_the_option_the_value_and_the_remedy() {
    for (arguments, words) in [
        (
            "--algorithm aes-129-cbc",
            &["aes-129-cbc", "--algorithm", "lanelock engines"][..],
        ),
        ("--engine warp", &["--engine warp", "openssl", "null"]),
        ("--reference warp", &["--reference warp", "openssl"]),
        (
            "--algorithm aes-128-cbc --sizes 100",
            &["--sizes 100", "aes-128-cbc", "multiples of 16"],
        ),
        (
            "--algorithm aes-128-xts --imix 8:1,16:1",
            &["--imix 8", "at least 16"],
        ),
        (
            "--algorithm hmac-sha1 --operation decrypt",
            &["--operation decrypt", "hmac-sha1 has compute and verify"],
        ),
        (
            "--algorithm aes-128-gcm --operation decrypt --layout in-place",
            &["--layout in-place", "--layout separate"],
        ),
        (
            "--sessions 100 --pool 50",
            &["--pool 50", "--sessions 100", "at least 100"],
        ),
        (
            "--peer evp --segments 2",
            &["--segments 2", "--peer evp", "leave one of them out"],
        ),
        ("--peer evp --layout copy", &["--layout copy", "--peer evp"]),
        ("--sizes 1:x", &["--sizes", "'x'", "2k for 2048"]),
        ("--sizes 64 --imix 64:1", &["--sizes", "--imix"]),
        ("--burst 0", &["--burst", "'0'", "from 1 to 4096"]),
        ("--seconds 0", &["--seconds", "'0'", "above 0"]),
        ("--json - --csv -", &["--json -", "--csv -", "file"]),
    ] {
        let message = refused(format!("throughput {arguments}"));
        for word in words {
            assert!(
                message.contains(word),
                "{arguments:?}: '{word}' is not in: {message}"
            );
        }
    }
}

#[test]
fn other_measurements_refuse_what_makes_no_sense_to_them() {
    for (arguments, word) in [
        ("copy --algorithm hmac-sha1", "writes only a tag"),
        ("uplift --baseline warp", "clone-per-op"),
        ("latency --peer evp", "--peer"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
}

#[test]
fn a_cell_that_nobody_offers_is_a_failure() {
    let arguments = "--engine clone-per-op --algorithm aes-128-ccm --sizes 64";
    perf(format!("throughput {arguments}"))
        .assert()
        .code(1)
        .stderr(contains("aes-128-ccm encrypt, 64 bytes").and(contains("no contestant offers it")));
}

#[test]
fn a_file_that_cannot_be_written_is_a_failure() {
    let arguments = "throughput --algorithm sha1 --sizes 64 --seconds 0.001";
    perf(format!("{arguments} --json /nonexistent/r.json"))
        .assert()
        .code(1)
        .stderr(contains("lanelock: cannot write /nonexistent/r.json"));
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("lanelock"))
        .args("perf throughput --algorithm sha1 --sizes 64 --seconds 0.01".split(' '))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn without_a_measurement_the_help_says_what_there_is() {
    perf("")
        .assert()
        .code(2)
        .stdout("")
        .stderr(starts_with("Measure engines"));
    perf("--help")
        .assert()
        .success()
        .stdout(starts_with("Measure engines"));
}
