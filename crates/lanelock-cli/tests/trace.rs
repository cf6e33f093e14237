//! `lanelock trace` against OpenSSL's own server on loopback: what it counts is what was done.
//!
//! The server runs with copies of the libraries, so that no other process of the machine meets a
//! probe. Needs root, bpftrace and a kernel with uprobes; what is missing is named.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Why probes cannot be tested here.
fn obstacle() -> Option<&'static str> {
    let works = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output();
        output.is_ok_and(|output| output.status.success())
    };
    let id = Command::new("id").arg("-u").output().expect("coreutils");
    match () {
        () if id.stdout != b"0\n" => Some("not root"),
        () if !works("bpftrace", "--version") => Some("bpftrace is not installed"),
        () if !works("openssl", "version") => Some("openssl is not installed"),
        () if !Path::new("/sys/bus/event_source/devices/uprobe").exists() => {
            Some("the kernel has no uprobes")
        }
        () if !Path::new("/sys/kernel/btf/vmlinux").exists() => {
            Some("the kernel has no type information")
        }
        () => None,
    }
}

macro_rules! needs_probes {
    () => {
        if let Some(why) = obstacle() {
            eprintln!("SKIPPED: {why}");
            return;
        }
    };
}

/// A key, a certificate, copies of OpenSSL's libraries, and a port.
struct Site {
    directory: TempDir,
    port: u16,
}

impl Site {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let ldd = Command::new("ldd")
            .arg(which("openssl"))
            .output()
            .expect("ldd runs");
        for line in String::from_utf8_lossy(&ldd.stdout).lines() {
            let path = line.split(" => ").nth(1).and_then(|p| p.split(' ').next());
            if let Some(path) = path.filter(|p| p.contains("libssl") || p.contains("libcrypto")) {
                let name = Path::new(path).file_name().expect("a file");
                fs::copy(path, directory.path().join(name)).expect("copied");
            }
        }
        assert!(directory.path().join("libssl.so.3").exists(), "{ldd:?}");
        let made = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            ])
            .args([
                "-subj",
                "/CN=localhost",
                "-keyout",
                "key.pem",
                "-out",
                "cert.pem",
            ])
            .current_dir(&directory)
            .stderr(Stdio::null())
            .status();
        assert!(made.expect("openssl runs").success());
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("bound").port();
        Self { directory, port }
    }

    /// Arguments of a server that ends after so many connections.
    fn server(&self, connections: u32) -> Vec<String> {
        let words = format!(
            "openssl s_server -accept 127.0.0.1:{} -naccept {connections} -key key.pem \
             -cert cert.pem -quiet",
            self.port
        );
        words.split(' ').map(str::to_owned).collect()
    }

    /// Runs in the directory, with the copies of the libraries and an input that does not end.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(&self.directory)
            .env("LD_LIBRARY_PATH", self.directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    /// Waits for the server, without a connection to it.
    fn wait_for_server(&self) {
        let wanted = format!("0100007F:{:04X}", self.port);
        let deadline = Instant::now() + Duration::from_secs(60);
        let listens = || {
            let table = fs::read_to_string("/proc/net/tcp").expect("Linux");
            table.lines().any(|line| {
                let mut words = line.split_whitespace().skip(1);
                words.next() == Some(&wanted) && words.nth(1) == Some("0A")
            })
        };
        while !listens() {
            assert!(Instant::now() < deadline, "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// One whole handshake.
    fn connect(&self, version: &str) {
        let mut client = Command::new("openssl")
            .args(["s_client", "-connect", &format!("127.0.0.1:{}", self.port)])
            .args([version, "-quiet", "-no_ign_eof"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl runs");
        let mut input = client.stdin.take().expect("piped");
        input.write_all(b"hello\n").expect("the client reads");
        drop(input);
        assert!(client.wait().expect("it ends").success(), "{version}");
    }

    /// A connection that is no TLS.
    fn connect_in_vain(&self) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("sent");
        let mut answer = Vec::new();
        let _alert_or_reset = std::io::Read::read_to_end(&mut stream, &mut answer);
    }
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a path");
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
        .expect(program)
}

fn lanelock() -> &'static str {
    env!("CARGO_BIN_EXE_lanelock")
}

/// Ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

#[test]
fn a_command_s_handshakes_and_signatures_are_counted() {
    needs_probes!();
    let site = Site::new();
    let json = site.directory.path().join("trace.json");
    let html = site.directory.path().join("trace.html");
    let trace = site
        .command(lanelock())
        .args(["trace", "--crypto", "--seconds", "120", "--json"])
        .args([&json, Path::new("--html"), &html])
        .arg("--")
        .args(site.server(6))
        .spawn()
        .expect("it starts");
    site.wait_for_server();
    for version in ["-tls1_3", "-tls1_2", "-tls1_3", "-tls1_2", "-tls1_3"] {
        site.connect(version);
    }
    site.connect_in_vain();
    let output = trace.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("handshakes: 5 completed, 1 failed, 0 cut off"),
        "{text}"
    );
    let figures: Value = serde_json::from_slice(&fs::read(json).expect("written")).expect("JSON");
    let handshakes = &figures["handshakes"];
    assert_eq!(handshakes["time"]["count"], 5, "{figures}");
    let crypto = figures["crypto"].as_array().expect("timed");
    let signed = crypto.iter().find(|o| o["name"] == "EVP_DigestSign");
    assert_eq!(signed.expect("RSA signatures")["count"], 5, "{figures}");
    let share = figures["crypto_share"].as_f64().expect("timed");
    assert!(share > 0.0 && share < 1.0, "{share}");
    let page = fs::read_to_string(html).expect("written");
    assert!(page.contains("The first 6"), "every handshake is drawn");
}

#[test]
fn a_process_s_handshakes_are_counted_from_now_on() {
    needs_probes!();
    let site = Site::new();
    let words = site.server(100);
    let server = Server(
        site.command(which(&words[0]))
            .args(&words[1..])
            .spawn()
            .expect("it starts"),
    );
    site.wait_for_server();
    site.connect("-tls1_3");
    let mut trace = site
        .command(lanelock())
        .args(["trace", "--events", "--pid", &server.0.id().to_string()])
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(trace.stdout.take().expect("piped")).lines();
    let titles = lines.next().expect("titles").expect("text");
    assert!(titles.starts_with("TIME(us)"), "{titles}");
    for version in ["-tls1_3", "-tls1_2", "-tls1_3"] {
        site.connect(version);
    }
    drop(server); // the trace ends with it
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    assert!(trace.wait().expect("it ends").success());
    let done = rest.iter().filter(|line| line.ends_with(" done"));
    assert_eq!(done.count(), 3, "{rest:#?}");
    let totals = "handshakes: 3 completed, 0 failed, 0 cut off";
    assert!(rest.iter().any(|line| line == totals), "{rest:#?}");
}

#[test]
fn a_process_without_libssl_is_refused() {
    needs_probes!();
    let sleeper = Server(Command::new("sleep").arg("60").spawn().expect("it starts"));
    let pid = sleeper.0.id().to_string();
    let output = Command::new(lanelock())
        .args(["trace", "--pid", &pid])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    let expected = format!("process {pid} (sleep) has no libssl mapped");
    assert!(told.contains(&expected), "{told}");
}

#[test]
fn what_is_missing_is_named_with_its_remedy() {
    needs_probes!();
    let told = |command: &mut Command| {
        let output = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    };
    let trace = |arguments: &[&str]| {
        let mut command = Command::new(lanelock());
        command.arg("trace").args(arguments);
        command
    };
    let (code, text) = told(trace(&["--", "/no/such/program"]).env("HOME", "/"));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("/no/such/program: no such program"), "{text}");
    let (code, text) = told(&mut trace(&["--pid", "4194305"]));
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("--pid 4194305: there is no process"),
        "{text}"
    );
    let (code, text) = told(&mut trace(&[]));
    assert_eq!(code, Some(2), "{text}");
    let (code, text) = told(trace(&["--", "true"]).env("PATH", "/nowhere"));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("apt-get install bpftrace"), "{text}");
    let mut other = trace(&["--", "true"]);
    if let Ok(output) = other.uid(65_534).output() {
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("needs root: run it with sudo"), "{text}");
    } else {
        eprintln!("SKIPPED in part: another user cannot reach the executable");
    }
}
