//! Processes that choose their names, their files and what becomes of those.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lanelock_testkit::{copy_program, provider_module};
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::Value;

use crate::needs_probes;
use crate::site::{Server, Site, lanelock, which};

/// A server of `site` under any name, with these files mapped as well.
fn server(site: &Site, name: &OsStr, preloaded: &[PathBuf]) -> Server {
    let words = site.server(100);
    let program = site.directory.path().join(name);
    copy_program(which(&words[0]), &program);
    let mut command = site.command(program);
    command.args(&words[1..]);
    let files: Vec<_> = preloaded.iter().map(|file| file.as_os_str()).collect();
    command.env("LD_PRELOAD", files.join(OsStr::new(":")));
    let server = Server(command.spawn().expect("it starts"));
    site.wait_for_server();
    server
}

/// A library that the server does not need.
fn library() -> PathBuf {
    let list = Command::new("/sbin/ldconfig").arg("-p").output();
    let list = String::from_utf8(list.expect("ldconfig runs").stdout).expect("paths");
    let lines = list.lines().filter(|line| line.contains("libm.so.6 "));
    let mut paths = lines.filter_map(|line| Some(PathBuf::from(line.split_once(" => ")?.1)));
    paths.next().expect("glibc's")
}

fn bytes(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

#[test]
fn a_command_of_any_name_is_traced_to_its_end() {
    needs_probes!();
    for (name, shown) in [
        (&b"caf\xe9"[..], "caf\\xe9"),
        (b"\x1b]0;pwned\x07", "\\u{1b}]0;pwned\\u{7}"),
        (b"x\norigin 5\n", "x\\norigin 5\\n"),
    ] {
        let site = Site::new();
        let words = site.server(2);
        let program = site.directory.path().join(OsStr::from_bytes(name));
        copy_program(which(&words[0]), &program);
        let files = ["trace.json", "trace.html"].map(|file| site.directory.path().join(file));
        let trace = site
            .command(lanelock())
            .args(["trace", "--events", "--seconds", "120"])
            .args([OsStr::new("--json"), files[0].as_os_str()])
            .args([OsStr::new("--html"), files[1].as_os_str(), OsStr::new("--")])
            .arg(&program)
            .args(&words[1..])
            .spawn()
            .expect("it starts");
        site.wait_for_server();
        site.connect("-tls1_3");
        site.connect("-tls1_3");
        let output = trace.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let odd = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(odd), "{text:?}");
        let done = text.lines().filter(|line| line.ends_with(" done"));
        let done: Vec<_> = done.collect();
        assert_eq!(done.len(), 2, "{text}");
        assert!(done[0].contains(shown), "{shown}: {text}");
        let json = fs::read(&files[0]).expect("written");
        let figures: Value = serde_json::from_slice(&json).expect("JSON");
        assert_eq!(figures["schema"], "lanelock-trace/1");
        assert_eq!(figures["handshakes"]["completed"], 2, "{figures}");
        let page = fs::read_to_string(&files[1]).expect("text");
        assert!(!page.contains(odd) && page.contains(shown), "{shown}");
    }
}

#[test]
fn a_process_of_any_name_is_there() {
    needs_probes!();
    let site = Site::new();
    let server = server(&site, &bytes(b"caf\xe9"), &[]);
    let output = Command::new(lanelock())
        .args([
            "trace",
            "--seconds",
            "0.1",
            "--pid",
            &server.0.id().to_string(),
        ])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let expected = format!("caf\\xe9 (process {})", server.0.id());
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_file_that_a_fifo_has_replaced_is_not_waited_for() {
    needs_probes!();
    let site = Site::new();
    let mapped = site.directory.path().join("m.so");
    fs::copy(library(), &mapped).expect("copied");
    let server = server(&site, OsStr::new("server"), std::slice::from_ref(&mapped));
    fs::remove_file(&mapped).expect("mapped still");
    for name in ["m.so", "m.so (deleted)"] {
        let fifo = site.directory.path().join(name);
        mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).expect("a FIFO");
    }
    // The library, too, has given its name to something else.
    let libssl = site.directory.path().join("libssl.so.3");
    fs::remove_file(&libssl).expect("mapped still");
    mkfifoat(CWD, &libssl, Mode::RUSR | Mode::WUSR).expect("a FIFO");
    let trace = Command::new(lanelock())
        .args([
            "trace",
            "--crypto",
            "--events",
            "--pid",
            &server.0.id().to_string(),
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let (trace, mut lines) = once_it_traces(trace);
    site.connect("-tls1_3");
    drop(server); // the trace ends with it
    let totals = "handshakes: 1 completed, 0 failed, 0 cut off";
    assert!(lines.any(|line| line.expect("text") == totals));
    assert!(trace.wait_with_output().expect("it ends").status.success());
}

#[test]
fn a_name_hides_no_module_that_pauses() {
    needs_probes!();
    let site = Site::new();
    let module = site.directory.path().join(bytes(b"caf\xe9.so"));
    fs::copy(provider_module(), &module).expect("copied");
    let server = server(&site, &bytes(b"caf\xe9"), &[module]);
    let output = Command::new(lanelock())
        .args(["trace", "--crypto", "--pid", &server.0.id().to_string()])
        .output()
        .expect("it runs");
    let told = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1), "{told}");
    let expected = format!("--crypto: process {} (caf\\xe9) has ", server.0.id());
    assert!(told.contains(&expected), "{told}");
    assert!(
        told.contains("/caf\\xe9.so mapped, which may pause"),
        "{told}"
    );
}

#[test]
fn a_signal_ends_the_trace_and_all_that_it_started() {
    needs_probes!();
    for signal in ["-TERM", "-INT", "-KILL"] {
        let site = Site::new();
        let server = server(&site, OsStr::new("server"), &[]);
        let trace = site
            .command(lanelock())
            .args(["trace", "--events", "--pid", &server.0.id().to_string()])
            .spawn()
            .expect("it starts");
        let (trace, lines) = once_it_traces(trace);
        let tracers = children(trace.id());
        assert!(!tracers.is_empty());
        let mut trace = ended_by(signal, trace);
        let status = trace.wait().expect("it ends");
        assert_eq!(status.success(), signal != "-KILL", "{status}");
        drop(lines);
        for tracer in tracers {
            // It ends when the kernel gets to it; a tracer that stays is waited for in vain.
            while is_there(tracer) {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        assert!(is_there(server.0.id()), "it ran before the trace");
    }
}

type Lines = std::io::Lines<BufReader<std::process::ChildStdout>>;

/// A trace with events, whose titles say that its probes are in place.
fn once_it_traces(mut trace: Child) -> (Child, Lines) {
    let mut lines = BufReader::new(trace.stdout.take().expect("piped")).lines();
    let titles = lines.next().expect("titles").expect("text");
    assert!(titles.starts_with("TIME(us)"), "{titles}");
    (trace, lines)
}

fn ended_by(signal: &str, child: Child) -> Child {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("coreutils").success());
    child
}

fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = fs::read_to_string(path).expect("Linux");
    text.split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect()
}

/// Whether a process is there that has not ended.
fn is_there(pid: u32) -> bool {
    let stat = fs::read(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| !String::from_utf8_lossy(&stat).contains(") Z "))
}
