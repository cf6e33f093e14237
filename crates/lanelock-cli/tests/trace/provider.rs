//! Programs under the provider, started by `lanelock run`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::haproxy::haproxy;
use crate::needs_probes;
use crate::site::{Site, lanelock};
use lanelock_testkit::{has_lanes, provider_module};

/// `lanelock trace` of what `lanelock run` starts, its figures in this file.
fn trace(site: &Site, json: &Path) -> Command {
    let mut trace = site.command(lanelock());
    trace
        .args(["trace", "--seconds", "120", "--json"])
        .arg(json)
        .env("LANELOCK_PROVIDER", provider_module())
        .args(["--", lanelock(), "run"]);
    trace
}

fn figures(json: &Path) -> Value {
    serde_json::from_slice(&fs::read(json).expect("written")).expect("JSON")
}

/// The provider's own counts and the probes know nothing of each other.
#[test]
fn batches_of_a_program_without_tls_are_those_that_the_provider_counts() {
    needs_probes!();
    if !has_lanes() {
        return;
    }
    let site = Site::new();
    let json = site.directory.path().join("trace.json");
    let output = trace(&site, &json)
        .args(["--stats", "--", "openssl", "speed", "-async_jobs", "8"])
        .args(["-seconds", "1", "ecdsap384"])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let table = String::from_utf8_lossy(&output.stderr);
    let row = table.lines().find(|line| line.contains("p384-sign"));
    let mut words = row.expect(&table).split_whitespace();
    let name = words.next();
    let count = words.next().and_then(|word| word.parse().ok());
    let figures = figures(&json);
    let algorithms = figures["batches"]["algorithms"]
        .as_array()
        .expect("batches");
    assert_eq!(algorithms.len(), 1, "{figures}");
    assert_eq!(algorithms[0]["name"].as_str(), name);
    // One that was given up when the second was over is submitted and not done.
    assert_eq!(
        figures["batches"]["done"].as_u64(),
        count,
        "{table}{figures}"
    );
    assert!(
        algorithms[0]["lanes_average"].as_f64() > Some(1.0),
        "{figures}"
    );
    assert_eq!(
        figures["notes"].as_array().expect("notes").len(),
        0,
        "{figures}"
    );
}

#[test]
fn a_handshake_that_is_paused_counts_once() {
    needs_probes!();
    if !has_lanes() {
        return;
    }
    let Some(haproxy) = haproxy() else {
        return;
    };
    let site = Site::new();
    let json = site.directory.path().join("trace.json");
    let pem = ["cert.pem", "key.pem"]
        .map(|name| fs::read_to_string(site.directory.path().join(name)).expect("made by openssl"));
    fs::write(site.directory.path().join("both.pem"), pem.concat()).expect("written");
    let configuration = format!(
        "global\n  nbthread 1\n  ssl-mode-async\n  ssl-propquery ?provider=lanelock\n\
         defaults\n  mode http\n  timeout client 20s\n  timeout server 20s\n  \
         timeout connect 5s\n\
         frontend tls\n  bind 127.0.0.1:{} ssl crt both.pem\n  http-request return status 200\n",
        site.port
    );
    fs::write(site.directory.path().join("haproxy.cfg"), configuration).expect("written");
    let trace = trace(&site, &json)
        .arg("--")
        .arg(haproxy)
        .args(["-db", "-f", "haproxy.cfg"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    site.wait_for_server();
    let load = site
        .command(lanelock())
        .args([
            "perf",
            "tls",
            "--connect",
            &format!("127.0.0.1:{}", site.port),
        ])
        .args([
            "--certificate",
            "cert.pem",
            "--handshakes",
            "300",
            "--connections",
            "20",
        ])
        .output()
        .expect("it runs");
    assert!(load.status.success(), "{load:?}");
    let ended = Command::new("kill")
        .args(["-INT", &trace.id().to_string()])
        .status();
    assert!(ended.expect("coreutils").success());
    let output = trace.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    let figures = figures(&json);
    let handshakes = &figures["handshakes"];
    assert_eq!(handshakes["completed"], 300, "{figures}");
    assert_eq!(handshakes["time"]["count"], 300, "{figures}");
    let paused = handshakes["paused"]["count"].as_u64().expect("some paused");
    assert!((1..=300).contains(&paused), "{figures}");
    let pauses = handshakes["returned_for_later"]["paused"].as_u64();
    assert!(pauses >= Some(paused), "{figures}");
    let batches = &figures["batches"];
    assert!(batches["done"].as_u64() >= Some(paused), "{figures}");
    assert_eq!(batches["failed"], 0, "{figures}");
}
