//! `lanelock run` with the provider's module: what it says of programs that use it, and that do not.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::process::Output;

use assert_cmd::Command;
use lanelock_testkit::{has_lanes, provider_module};

/// `lanelock run --stats` of this command.
fn command(command: &str) -> Command {
    let mut run = Command::cargo_bin("lanelock").unwrap();
    run.args(["run", "--stats", "--"]).args(command.split(' '));
    run.env("LANELOCK_PROVIDER", provider_module())
        .env_remove("OPENSSL_CONF");
    run
}

/// What it has printed, having succeeded.
fn run(command: &str) -> Output {
    self::command(command)
        .assert()
        .success()
        .get_output()
        .clone()
}

/// What `lanelock` itself says at the end, behind what the program says.
fn said(command: &str) -> String {
    String::from_utf8(run(command).stderr).unwrap()
}

#[test]
fn a_program_that_stays_synchronous_is_told_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    let options = "-algorithm RSA -pkeyopt rsa_keygen_bits:2048";
    said(&format!("openssl genpkey {options} -out {}", key.display()));
    let message = folder.path().join("message");
    std::fs::write(&message, "text").unwrap();
    let sign = format!(
        "openssl pkeyutl -sign -rawin -in {} -inkey {}",
        message.display(),
        key.display()
    );
    let Output { stdout, stderr, .. } = run(&sign);
    assert_eq!(stdout.len(), 256, "a signature");
    let said = String::from_utf8(stderr).unwrap();
    if !has_lanes() {
        assert!(said.contains("which runs nothing in lanes"), "{said}");
        return;
    }
    assert!(
        said.contains("openssl never entered asynchronous mode"),
        "{said}"
    );
    for server in [
        "`ssl-mode-async`",
        "`proxy.config.ssl.async.handshake.enabled INT 1`",
    ] {
        assert!(said.contains(server), "{said}");
    }
}

#[test]
fn a_program_without_private_keys_is_told_which_ones_count() {
    let said = said("openssl list -providers");
    if !has_lanes() {
        assert!(said.contains("which runs nothing in lanes"), "{said}");
        return;
    }
    assert!(
        said.contains("has loaded the provider, but used no private key"),
        "{said}"
    );
    let keys = "(RSA of 2048 to 4096 bits, P-256, P-384, Ed25519, X25519)";
    assert!(said.contains(keys), "{said}");
}

#[test]
fn a_program_whose_provider_runs_nothing_in_lanes_is_told_why() {
    for (variable, value, reason) in [
        (
            "LANELOCK_TIER",
            "avx1024",
            "LANELOCK_TIER has an unknown value; unset it",
        ),
        (
            "LANELOCK_DISABLE",
            "1",
            "LANELOCK_DISABLE is set in the environment",
        ),
        (
            "LANELOCK_TIER",
            "aesni",
            match has_lanes() {
                true => "LANELOCK_TIER forces a tier without lanes",
                false => "this CPU has neither AVX-512 IFMA nor AVX2 with FMA",
            },
        ),
    ] {
        let mut run = command("openssl speed -async_jobs 8 -seconds 1 ecdsap256");
        let output = run.env(variable, value).assert().success();
        let said = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        let sentence =
            format!("openssl has loaded the provider, which runs nothing in lanes: {reason}");
        assert!(said.contains(&sentence), "{variable}={value}: {said}");
        assert!(!said.contains("asynchronous mode"), "{said}");
    }
}

#[test]
fn stats_of_a_program_whose_provider_is_switched_off_name_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let configuration = folder.path().join("openssl.cnf");
    let text = format!(
        "openssl_conf = i\n[i]\nproviders = p\n[p]\ndefault = d\nlanelock = l\n[d]\nactivate = 1\n\
         [l]\nmodule = {}\nenabled = no\nactivate = 1\n",
        provider_module().display()
    );
    std::fs::write(&configuration, text).unwrap();
    // It waits for its standard input to end.
    let mut program = std::process::Command::new("openssl")
        .args(["dgst", "-sha256"])
        .env("OPENSSL_CONF", &configuration)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let stats = || {
        let mut stats = Command::cargo_bin("lanelock").unwrap();
        stats.args(["stats", &program.id().to_string()]);
        stats.output().unwrap()
    };
    // Until it has read its configuration there is no page.
    let tries = (0..200).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        stats()
    });
    let output = tries.into_iter().find(|output| output.status.success());
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
    let said = String::from_utf8(output.expect("a page").stdout).unwrap();
    let reason = "the provider runs nothing in lanes: its configuration section has enabled = no";
    assert!(said.contains(reason), "{said}");
}

#[test]
fn a_program_in_asynchronous_mode_has_a_table() {
    if !has_lanes() {
        return;
    }
    let said = said("openssl speed -async_jobs 8 -seconds 1 ecdsap384");
    assert!(said.contains("openssl, one process"), "{said}");
    let row = said
        .lines()
        .find(|line| line.contains("p384-sign"))
        .expect(&said);
    let figures: Vec<&str> = row.split_whitespace().collect();
    let [operations, _, failed, batches, lanes] = figures[1..6] else {
        panic!("{row}");
    };
    assert!(
        operations.parse::<u64>().unwrap() > batches.parse().unwrap(),
        "{row}"
    );
    assert!(lanes.parse::<f64>().unwrap() > 1.0, "{row}");
    assert_eq!(failed, "0");
}
