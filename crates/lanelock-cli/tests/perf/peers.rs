//! Peers, played by scripts that speak their protocol; and the real ones, if they are built.

use std::fs;
use std::path::{Path, PathBuf};

use lanelock_testkit::{copy_program, write_script};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tempfile::TempDir;

use crate::{perf, report, values};

const CELL: &str = "throughput --algorithm aes-128-cbc --sizes 64 --seconds 0.01 --rounds 2";

/// A folder with an `evp` peer that answers `prepare`, `digest` and `run` with these lines, and says
/// what it drives.
pub fn actor(prepare: &str, digest: &str, run: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("lanelock-peer-evp");
    let script = format!(
        "#!/bin/sh\nwhile read word rest; do case $word in\n  \
         hello) echo 'peer name=evp library=\"a library\"';;\n  prepare) echo '{prepare}';;\n  \
         digest) echo '{digest}';;\n  run) echo '{run}';;\n  quit) exit;;\nesac; done\n"
    );
    write_script(&program, &script);
    folder
}

#[test]
fn a_peer_with_other_results_is_a_failure() {
    let peers = actor(
        "ready route=a routes=a",
        "digest fnv1a=00000000000000ff",
        "",
    );
    perf(CELL)
        .args(["--engine", "openssl", "--peer", "evp"])
        .env("LANELOCK_PEERS", peers.path())
        .assert()
        .code(1)
        .stderr(
            contains("openssl and evp get different results").and(contains("00000000000000ff")),
        );
}

#[test]
fn a_peer_that_refuses_is_quoted() {
    let peers = actor("error reason=\"no memory left\"", "", "");
    perf(CELL)
        .args(["--peer", "evp"])
        .env("LANELOCK_PEERS", peers.path())
        .assert()
        .code(1)
        .stderr(contains("peer evp: no memory left"));
}

#[test]
fn a_peer_without_the_algorithm_is_left_out() {
    let peers = actor("unsupported reason=\"not this one\"", "", "");
    perf(CELL)
        .args(["--peer", "evp"])
        .env("LANELOCK_PEERS", peers.path())
        .assert()
        .success()
        .stderr(contains("evp is left out: not this one"));
}

#[test]
fn a_peer_that_is_not_built_is_named_with_the_remedy() {
    // A copy of the program finds no peers beside itself.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("deep/bin/lanelock");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    copy_program(assert_cmd::cargo::cargo_bin("lanelock"), &copy);
    for (peer, remedy) in [
        ("evp", "make -C peers"),
        ("ipsec-mb", "libipsec-mb-dev"),
        ("evp-3.5", "make peers-newest"),
        ("ipsec-mb-2", "make peers-newest"),
        ("capi", "make install-c"),
    ] {
        assert_cmd::Command::new(&copy)
            .arg("perf")
            .args(CELL.split(' '))
            .args(["--peer", peer])
            .env_remove("LANELOCK_PEERS")
            .current_dir(folder.path())
            .assert()
            .code(2)
            .stderr(contains(format!("--peer {peer}")).and(contains(remedy)));
    }
}

#[test]
fn real_peers_get_the_engines_results() {
    let names: Vec<_> = ["evp", "ipsec-mb"]
        .into_iter()
        .filter(|name| built(name))
        .collect();
    if names.is_empty() {
        eprintln!("left out: no peer in {}", folder().display());
        return;
    }
    let peers = names.join(",");
    let six = "aes-128-cbc,hmac-sha1,aes-128-cmac,aes-128-gcm,aes-128-cbc+hmac-sha1";
    let (_, rows) = report(format!(
        "throughput --engine openssl --algorithm {six} --peer {peers} --sizes 64,1024 \
         --operation encrypt,decrypt,compute,verify --sessions 3 --threads 2 --seconds 0.001 \
         --rounds 1"
    ));
    assert_eq!(rows.len(), 5 * 2 * 2 * (names.len() + 1));
    assert_eq!(values(&rows[..names.len()], "contestant"), names);
    assert_eq!(values(&rows[..names.len()], "ratio")[0], 1.0);
    assert!(rows[0]["route"].is_string());
}

/// Whether the program of a peer is there.
pub fn built(name: &str) -> bool {
    folder().join(format!("lanelock-peer-{name}")).is_file()
}

fn folder() -> PathBuf {
    let target = assert_cmd::cargo::cargo_bin("lanelock");
    let target = target.parent().and_then(Path::parent).unwrap();
    target.join("peers")
}

#[test]
fn real_peers_agree_with_native_on_many_keys_and_a_mix() {
    if !built("ipsec-mb") {
        eprintln!("left out: no ipsec-mb in {}", folder().display());
        return;
    }
    let algorithms = "aes-128-cbc,aes-128-ctr,aes-128-cmac,aes-128-gcm,hmac-sha1,\
                      aes-128-cbc+hmac-sha1,aes-256-ctr+hmac-sha256";
    let (_, rows) = report(format!(
        "throughput --algorithm {algorithms} --peer ipsec-mb --imix --sessions 32 --seconds 0.001 \
         --rounds 1"
    ));
    let of = |name| {
        rows.iter()
            .filter(move |row| row["contestant"] == name)
            .count()
    };
    assert_eq!(of("ipsec-mb"), 7);
    assert_eq!(of("ipsec-mb"), of("openssl"));
    assert!(
        values(&rows, "sessions")
            .iter()
            .all(|sessions| **sessions == 32)
    );
}
