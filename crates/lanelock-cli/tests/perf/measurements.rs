//! What each measurement reports.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use serde_json::Value;

use crate::{perf, report, values};

fn tiny(words: &str) -> String {
    format!("{words} --seconds 0.01 --rounds 2")
}

#[test]
fn throughput_has_a_row_for_each_cell_under_stable_names() {
    let arguments =
        tiny("throughput --algorithm aes-128-cbc,hmac-sha1 --sizes 64,1k --engine openssl,null");
    let (report, rows) = report(arguments);
    for field in ["cpu", "tiers", "openssl", "cores", "kernel", "os"] {
        assert!(!report["machine"][field].is_null(), "{field}");
    }
    assert!(
        report["command"]
            .as_str()
            .unwrap()
            .contains("perf throughput")
    );
    assert_eq!(rows.len(), 8);
    for row in &rows {
        for field in ["size", "burst", "sessions", "threads"] {
            assert!(row[field].is_u64(), "{field}: {row}");
        }
        for field in ["ops_per_s", "gbit_per_s", "ns_per_op"] {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
    }
    assert_eq!(rows[0]["algorithm"], "aes-128-cbc");
    assert_eq!(rows[0]["operation"], "encrypt");
    assert_eq!(rows[7]["operation"], "compute");
    assert_eq!(
        values(&rows[..4], "contestant"),
        ["openssl", "null", "openssl", "null"]
    );
    assert_eq!(values(&rows[..4], "size"), [64, 64, 1024, 1024]);
}

#[test]
fn ratios_compare_with_the_reference() {
    let arguments = tiny("throughput --algorithm sha256 --sizes 64 --engine openssl,null");
    let (_, rows) = report(format!("{arguments} --reference null"));
    assert_eq!(values(&rows, "reference"), ["null", "null"]);
    assert_eq!(rows[1]["ratio"], 1.0);
    let (_, rows) = report(arguments);
    assert_eq!(rows[0]["ratio"], 1.0);
}

#[test]
fn the_choice_of_a_session_that_names_no_engine_takes_part() {
    let arguments = "throughput --algorithm xchacha20-poly1305 --sizes 64 --burst 1";
    let (_, rows) = report(tiny(&format!("{arguments} --engine auto,openssl")));
    assert_eq!(values(&rows, "contestant"), ["auto", "openssl"]);
}

#[test]
fn a_mix_of_lengths_is_reported_with_its_mean() {
    let mix = "64:7,576:4,1500:1";
    let arguments = format!("throughput --algorithm aes-128-ctr --imix {mix}");
    let (_, rows) = report(tiny(&arguments));
    assert_eq!(rows[0]["size"], 354);
    assert_eq!(rows[0]["imix"], mix);
}

#[test]
fn every_layout_and_operation_runs() {
    let six = "aes-128-cbc,hmac-sha1,aes-128-gcm,aes-128-cbc+hmac-sha1,3des-ctr,aes-128-gmac";
    let common = format!(
        "throughput --engine openssl --algorithm {six} --sizes 128 --seconds 0.001 --rounds 1 \
         --operation encrypt,decrypt,compute,verify"
    );
    for (more, cells) in [
        ("--layout separate", 1),
        ("--segments 3", 1),
        ("--segments 3 --layout separate", 1),
        ("--layout copy", 1),
        ("--threads 1,2 --sessions 1,40 --burst 1,7", 8),
    ] {
        let (_, rows) = report(format!("{common} {more}"));
        assert_eq!(rows.len(), 12 * cells, "{more:?}");
    }
}

#[test]
fn latency_percentiles_ascend() {
    let arguments = "latency --engine openssl --algorithm aes-128-gcm --sizes 64 --burst 1,8";
    let (_, rows) = report(format!("{arguments} --seconds 0.01"));
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let fields = ["p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns"];
        let latencies: Vec<_> = fields.iter().map(|f| row[*f].as_u64().unwrap()).collect();
        assert!(latencies.is_sorted() && latencies[0] > 0, "{latencies:?}");
        assert!(row["latency_curve"].as_array().unwrap().len() > 10);
    }
}

#[test]
fn cycles_split_into_framework_and_engine() {
    let (_, rows) = report(tiny(
        "cycles --engine openssl --algorithm hmac-sha1 --sizes 64",
    ));
    assert_eq!(values(&rows, "contestant"), ["openssl", "null"]);
    let cycles = |row: &Value, field: &str| row[field].as_f64().unwrap();
    for row in &rows {
        assert!(cycles(row, "core_cycles_per_op") > 0.0);
        assert_eq!(
            cycles(row, "framework_cycles_per_op"),
            cycles(&rows[1], "cycles_per_op")
        );
    }
    assert_eq!(cycles(&rows[1], "engine_cycles_per_op"), 0.0);
}

#[test]
fn memory_counts_sessions_and_contexts() {
    let arguments = "memory --engine openssl --algorithm aes-128-cbc --sessions 1,500";
    let (_, rows) = report(arguments);
    assert_eq!(values(&rows, "sessions"), [1, 500]);
    assert!(rows[0]["grown_per_session"].is_null());
    for field in [
        "bytes_per_session",
        "bytes_per_context",
        "grown_per_context",
    ] {
        assert!(rows[1][field].as_u64().unwrap() > 0, "{field}");
    }
}

#[test]
fn verify_passes_for_every_known_answer() {
    let known = include_str!("../../src/perf/known_answers.txt");
    let mut names: Vec<_> = known
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    names.dedup();
    let (_, rows) = report(format!("verify --algorithm {}", names.join(",")));
    // Engines that offer less are asked for what they offer.
    assert!(rows.len() >= known.lines().count());
    assert!(rows.iter().all(|row| row["passed"] == true));
}

#[test]
fn uplift_compares_each_baseline_with_the_engine() {
    let arguments = tiny("uplift --algorithm aes-128-cbc,3des-ctr --sizes 64 --threads 2");
    let (_, rows) = report(&arguments);
    let names = values(&rows, "contestant");
    let (cbc, counter) = names.split_at(4);
    assert_eq!(
        cbc,
        ["clone-per-op", "fetch-per-op", "padding-per-op", "openssl"]
    );
    assert_eq!(
        counter,
        ["clone-per-op", "fetch-per-op", "rekey-per-op", "openssl"]
    );
    for row in &rows {
        let engine = row["contestant"] == "openssl";
        assert_eq!(row["uplift_percent"].is_null(), engine, "{row}");
    }
    perf(arguments)
        .assert()
        .success()
        .stdout(contains(
            "aes-128-cbc encrypt, 2 threads: clone-per-op against openssl",
        ))
        .stdout(contains(
            "buffer sz (B)  prev (Gbps)  optimised (Gbps)  uplift",
        ));
}

#[test]
fn copy_compares_a_copy_with_a_separate_output() {
    let (_, rows) = report(tiny("copy --engine openssl --sizes 4k --pool-mib 1"));
    assert_eq!(
        values(&rows, "contestant"),
        ["copy-then-in-place", "openssl"]
    );
    assert_eq!(values(&rows, "layout"), ["copy", "separate"]);
}

#[test]
fn csv_has_the_names_of_json_as_its_header() {
    let arguments = "throughput --algorithm sha1 --sizes 64 --csv -";
    perf(tiny(arguments)).assert().success().stdout(
        starts_with(
            "algorithm,operation,contestant,size,burst,sessions,threads,ops_per_s,gbit_per_s,\
             ns_per_op",
        )
        .and(contains("\nsha1,compute,openssl,64,32,1,1,")),
    );
}

#[test]
fn files_are_written_beside_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (json, csv, html) = (file("r.json"), file("r.csv"), file("r.html"));
    perf(tiny(
        "throughput --engine openssl --algorithm sha1 --sizes 64",
    ))
    .arg("--json")
    .arg(&json)
    .arg("--csv")
    .arg(&csv)
    .arg("--html")
    .arg(&html)
    .assert()
    .success()
    .stdout(contains(
        "sha1 compute, 1 thread, 1 session, 32 ops per burst",
    ));
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(report["schema"], "lanelock-perf/1");
    assert_eq!(report["results"][0]["algorithm"], "sha1");
    assert_eq!(std::fs::read_to_string(csv).unwrap().lines().count(), 2);
    assert!(
        std::fs::read_to_string(html)
            .unwrap()
            .starts_with("<!DOCTYPE html>")
    );
}

#[test]
fn every_measurement_has_help_with_examples() {
    for name in "throughput latency cycles memory verify uplift copy".split(' ') {
        perf(format!("{name} --help"))
            .assert()
            .success()
            .stdout(contains("Examples:").and(contains(format!("lanelock perf {name}"))));
    }
}

#[test]
fn a_mix_without_a_value_is_the_simple_imix() {
    let arguments = "throughput --algorithm aes-128-cbc --imix --sessions 32 --engine openssl";
    let (_, rows) = report(tiny(arguments));
    assert_eq!(rows[0]["imix"], "64:7,576:4,1504:1");
    assert_eq!(rows[0]["sessions"], 32);
}
