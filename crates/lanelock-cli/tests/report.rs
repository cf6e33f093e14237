//! The page with charts, as a measurement writes it.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use assert_cmd::Command;

#[test]
fn a_measurement_becomes_a_page_that_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    Command::cargo_bin("lanelock")
        .unwrap()
        .args("perf throughput --algorithm aes-128-ctr --sizes 64,256,1k".split(' '))
        .args("--engine openssl --seconds 0.01 --rounds 1 --html".split(' '))
        .arg(&path)
        .assert()
        .success();
    let html = std::fs::read_to_string(&path).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>"));
    assert!(html.contains("aes-128-ctr encrypt") && html.contains("<svg"));
    assert!(
        html.contains("--sizes 64,256,1k"),
        "the command that repeats it"
    );
    for reference in ["http", "src=", "url(", "@import", "<script"] {
        assert!(!html.contains(reference), "{reference}");
    }
}
