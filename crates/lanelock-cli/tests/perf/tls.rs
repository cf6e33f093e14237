//! `lanelock perf tls`, on servers without the provider.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::haproxy::haproxy;
use crate::{perf, report};
use lanelock_testkit::{has_lanes, provider_module, write_script};

#[test]
fn every_handshake_is_a_full_one_on_the_server_too() {
    if haproxy().is_none() {
        return;
    }
    let (_, rows) = report(
        "tls --provider=none --key=p256,ed25519 --tls=1.2,1.3 --connections=1,3 --seconds=0.1 \
         --rounds=1",
    );
    assert_eq!(rows.len(), 8);
    for row in &rows {
        assert_eq!(row["contestant"], "haproxy");
        assert!(row["full_handshakes"].as_u64().unwrap() > 0, "{row}");
        assert!(row["server_cpu_ns_per_op"].as_f64().unwrap() > 1e3, "{row}");
        assert!(row["p99_ns"].as_u64() >= row["p50_ns"].as_u64(), "{row}");
    }
    let of = |operation| move |row: &&Value| row["operation"] == operation;
    assert_eq!(rows.iter().filter(of("tls-1.2-handshake")).count(), 4);
}

/// What `--provider` wants to be told.
fn provider() -> String {
    format!("--provider={}", provider_module().display())
}

#[test]
fn with_the_provider_handshakes_share_batches() {
    if haproxy().is_none() || !has_lanes() {
        return;
    }
    let work = "--key=p384 --connections=16 --seconds=0.3 --rounds=1";
    let (_, rows) = report(format!("tls {} {work}", provider()));
    let [stock, ours] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(stock["contestant"], "haproxy");
    assert_eq!(stock["lanes_filled"], Value::Null);
    assert_eq!(ours["contestant"], "haproxy+lanelock");
    assert_eq!(ours["reference"], "haproxy");
    assert!(ours["full_handshakes"].as_u64() > Some(0), "{ours}");
    assert!(ours["lanes_filled"].as_f64() > Some(1.0), "{ours}");
    let batched = ours["batched_percent"].as_f64().unwrap();
    assert!(batched > 1.0 && batched <= 100.0, "{ours}");
}

/// Servers without an asynchronous mode of their own.
#[test]
fn servers_that_know_of_no_asynchronous_mode_share_batches() {
    if !has_lanes() {
        return;
    }
    for (server, program, key) in [
        ("nginx", "nginx", "p256"),
        ("lighttpd", "lighttpd", "p256"),
        ("redis", "redis-server", "p256"),
        ("unbound", "unbound", "p256"),
        ("mosquitto", "mosquitto", "p256"),
        ("httpd", "apache2", "rsa-2048"),
        ("mariadb", "mariadbd", "rsa-2048"),
    ] {
        if !installed(program) {
            eprintln!("SKIPPED: {server} is not installed (tools/setup servers)");
            continue;
        }
        let work = "--tls=1.2,1.3 --connections=16 --seconds=0.3 --rounds=1";
        let (_, rows) = report(format!(
            "tls --server={server} --key={key} {} {work}",
            provider()
        ));
        assert_eq!(rows.len(), 4, "{rows:?}");
        for pair in rows.chunks(2) {
            let [stock, ours] = pair else {
                panic!("{rows:?}")
            };
            assert_eq!(stock["contestant"], server);
            assert_eq!(stock["lanes_filled"], Value::Null);
            assert_eq!(ours["contestant"], format!("{server}+lanelock"));
            assert!(ours["full_handshakes"].as_u64() > Some(0), "{ours}");
            assert!(ours["lanes_filled"].as_f64() > Some(1.0), "{ours}");
        }
    }
}

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    folders.any(|folder| folder.join(program).is_file())
}

/// A program in front of HAProxy sees the configuration that OpenSSL will read.
#[test]
fn the_deadline_is_in_the_modules_configuration() {
    if haproxy().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [program, seen] = ["haproxy", "seen"].map(|name| folder.path().join(name));
    let script = format!(
        "#!/bin/sh\nPATH=$PATH:/usr/sbin\ncat \"${{OPENSSL_CONF:-/dev/null}}\" >> {}\n\
         exec haproxy \"$@\"\n",
        seen.display()
    );
    write_script(&program, &script);
    let work = "--key=p256 --connections=4 --seconds=0.1 --rounds=1";
    let (provider, program) = (provider(), program.display());
    report(format!(
        "tls {provider} --haproxy={program} --deadline=70 {work}"
    ));
    let seen = std::fs::read_to_string(seen).unwrap();
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines.contains(&"deadline = 70"), "{seen}");
    assert!(lines.contains(&"activate = 1"), "{seen}");
}

#[test]
fn multi_accept_is_in_the_configuration_of_nginx() {
    if !installed("nginx") {
        eprintln!("SKIPPED: no nginx on this machine");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [program, seen] = ["nginx", "seen"].map(|name| folder.path().join(name));
    // After `-c`, which comes first.
    let script = format!(
        "#!/bin/sh\nPATH=$PATH:/usr/sbin\ncat \"$2\" > {}\nexec nginx \"$@\"\n",
        seen.display()
    );
    write_script(&program, &script);
    let work = "--key=p256 --connections=4 --seconds=0.1 --rounds=1";
    for (option, told) in [
        ("", "multi_accept off;"),
        ("--multi-accept", "multi_accept on;"),
    ] {
        let (provider, program) = (provider(), program.display());
        report(format!(
            "tls --server=nginx {provider} --program={program} {option} {work}"
        ));
        let seen = std::fs::read_to_string(&seen).unwrap();
        assert!(seen.contains(told), "{seen}");
    }
}

#[test]
fn abandoned_connections_leave_nothing_behind() {
    if haproxy().is_none() {
        return;
    }
    let work = "--connections=20 --handshakes=600 --abort=0.4 --json=-";
    let output = perf(format!("tls --provider=none --key=p256 {work}"))
        .assert()
        .success();
    let document: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(document["schema"], "lanelock-perf-tls/1");
    let outcomes = &document["outcomes"];
    let count = |name: &str| outcomes[0][name].as_u64().unwrap();
    assert_eq!(count("finished") + count("abandoned"), 600);
    assert!((150..350).contains(&count("abandoned")), "{outcomes}");
    assert_eq!(count("failed"), 0);
}

#[test]
fn slow_clients_succeed_among_others_and_are_counted() {
    if haproxy().is_none() {
        return;
    }
    let work =
        "tls --provider=none --key=p256 --connections=20 --handshakes=100 --abort=0.3 --slow=0.5";
    let output = perf(format!("{work} --tls=1.2,1.3 --json=-"))
        .assert()
        .success();
    let document: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    for outcome in document["outcomes"].as_array().unwrap() {
        let count = |name: &str| outcome[name].as_u64().unwrap();
        assert_eq!(count("finished") + count("abandoned"), 100);
        assert!((20..50).contains(&count("slow")), "{outcome}");
        assert_eq!(count("failed"), 0);
    }
    perf(work)
        .assert()
        .success()
        .stdout(contains(" of them slowly), ").and(contains(" abandoned, 0 failed in ")));
}

/// OpenSSL's own server, which ends with its handle.
struct Server(Child, u16);

impl Server {
    fn start(folder: &Path) -> Self {
        let any = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = any.local_addr().unwrap().port();
        drop(any);
        let address = format!("127.0.0.1:{port}");
        let child = Command::new("openssl")
            .args([
                "s_server", "-quiet", "-www", "-cert", "cert.pem", "-key", "key.pem",
            ])
            .args(["-accept", &address])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self(child, port);
        for _ in 0..1000 {
            if TcpStream::connect(&address).is_ok() {
                return server;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("openssl s_server does not listen");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn servers_that_run_already_are_measured_in_turns() {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("openssl")
        .args("req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256".split(' '))
        .args("-subj /CN=localhost -keyout key.pem -out cert.pem".split(' '))
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    let [one, other] = [(); 2].map(|()| Server::start(folder.path()));
    let certificate = folder.path().join("cert.pem");
    let servers = format!(
        "tls --connect 127.0.0.1:{},127.0.0.1:{} --certificate {} --connections 2 --seconds 0.1 \
         --rounds 1",
        one.1,
        other.1,
        certificate.display()
    );
    let (_, rows) = report(format!("{servers} --pid {},{}", one.0.id(), other.0.id()));
    assert_eq!(rows.len(), 2);
    for (row, server) in rows.iter().zip([&one, &other]) {
        assert_eq!(row["contestant"], format!("127.0.0.1:{}", server.1));
        assert_eq!(row["reference"], format!("127.0.0.1:{}", one.1));
        assert_eq!(row["algorithm"], "p256");
        assert!(row["full_handshakes"].as_u64() > Some(0), "{row}");
        assert!(row["server_cpu_ns_per_op"].as_f64() > Some(1e3), "{row}");
    }
    let (_, rows) = report(&servers);
    assert_eq!(rows[0]["server_cpu_ns_per_op"], Value::Null);
    perf(format!("{servers} --pid 1"))
        .assert()
        .code(2)
        .stderr(contains("1 processes for 2 servers"));
}

#[test]
fn what_is_missing_is_told_with_the_remedy() {
    perf("tls --provider=none --haproxy=/nonexistent/haproxy")
        .assert()
        .code(1)
        .stderr(contains("/nonexistent/haproxy").and(contains("apt-get install haproxy")));
    perf("tls --provider=/nonexistent.so")
        .assert()
        .code(2)
        .stderr(contains("/nonexistent.so").and(contains("--provider none")));
    perf("tls --deadline=1000001")
        .assert()
        .code(2)
        .stderr(contains("--deadline").and(contains("1000000")));
    perf("tls --server=lighttpd --multi-accept")
        .assert()
        .code(2)
        .stderr(contains("--multi-accept").and(contains("--server nginx")));
    perf("tls --handshakes=9 --abort=1.5")
        .assert()
        .code(2)
        .stderr(contains("'1.5'").and(contains("from 0 to 1")));
    perf("tls --handshakes=9 --slow=-1")
        .assert()
        .code(2)
        .stderr(contains("--slow").and(contains("'-1'").and(contains("from 0 to 1"))));
    perf("tls --slow=0.1")
        .assert()
        .code(2)
        .stderr(contains("--handshakes <N>"));
}
