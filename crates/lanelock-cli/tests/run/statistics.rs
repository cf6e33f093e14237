//! What `--stats` says, and whom it listens to.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use super::Scene;

/// Work for which this very command has a queue.
const WORK: &str = "perf pubkey --engine openssl --algorithm x448-derive --batch 1 --seconds 0.05";

#[test]
fn stats_of_a_program_without_openssl_say_so() {
    let scene = Scene::new();
    let output = scene
        .run(&["--stats", "--", "sh", "-c", "exit 3"])
        .assert()
        .code(3);
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(said.contains("sh has not loaded the provider"), "{said}");
}

/// This command is itself a program with queues: its pages reach the one that waits for it, from a
/// process that it has started, too.
#[test]
fn stats_of_a_program_with_queues_are_a_table() {
    let scene = Scene::new();
    let lanelock = env!("CARGO_BIN_EXE_lanelock");
    let script = format!("{lanelock} {WORK} >/dev/null; {lanelock} {WORK} >/dev/null");
    let output = scene
        .run(&["--stats", "--", "sh", "-c", &script])
        .assert()
        .success();
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(said.contains("2 processes"), "{said}");
    let row = said
        .lines()
        .find(|line| line.contains("x448-derive"))
        .expect("a row");
    let count: u64 = row.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(count > 0, "{row}");
}

/// The test is not a descendant of the command that it has started, so neither is this process of
/// its; it knows the socket and the token.
#[test]
fn a_page_of_another_process_is_not_counted() {
    let scene = Scene::new();
    let mut command = scene.lanelock();
    let script = "echo $LANELOCK_STATS_SOCKET; read line";
    let mut child = command
        .args(["--stats", "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut socket = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut socket).unwrap();
    let stranger = std::process::Command::new(env!("CARGO_BIN_EXE_lanelock"))
        .args(WORK.split(' '))
        .env("LANELOCK_STATS_SOCKET", socket.trim_end())
        .output()
        .unwrap();
    assert!(stranger.status.success());
    writeln!(child.stdin.take().unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("sh has not loaded the provider"), "{said}");
}

/// Four descriptors are enough for everything but the socket.
#[test]
fn without_a_socket_the_program_starts_all_the_same() {
    let scene = Scene::new();
    let script = "ulimit -n 4; exec \"$@\"";
    let mut command = assert_cmd::Command::new("sh");
    command.args([
        "-c",
        script,
        "sh",
        env!("CARGO_BIN_EXE_lanelock"),
        "run",
        "--stats",
        "--",
    ]);
    command
        .args(["sh", "-c", "exit 5"])
        .env("LANELOCK_PROVIDER", scene.path("lanelock.so"));
    let output = command.env_remove("OPENSSL_CONF").assert().code(5);
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(
        said.starts_with("lanelock: --stats: cannot listen for the program"),
        "{said}"
    );
}
