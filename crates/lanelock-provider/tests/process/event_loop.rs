//! A server without an asynchronous mode, in each kind of event loop: its handshakes run in lanes where
//! the module is preloaded, and it serves the same clients.

use std::process::Command;

use lanelock::telemetry::SOCKET;
use lanelock::telemetry::reader::Listener;

use crate::alone;
use crate::preload::Folder;
use lanelock_testkit::{has_lanes, provider_module};

const SERVER: &str = include_str!("event_loop/server.c");

/// Clients of a server; a multiple of those that it has at once.
const CLIENTS: u64 = 96;

/// Bytes that a handshake may take of the 32 KiB of a job's stack: a signal's frame with all registers
/// (AVX-512 and AMX) has some 11 KiB, and what a handler needs comes on top.
const MOST_OF_A_STACK: u64 = 16 * 1024;

/// What a server did.
#[derive(Debug, Default)]
struct Outcome {
    served: u64,
    lost: u64,
    left: u64,
    /// Bytes that a handshake took of its job's stack, at most; 0 without jobs.
    stack: u64,
    /// Signatures and derivations that ran in lanes.
    signed: u64,
    derived: u64,
}

/// The server, with the provider and the module preloaded, in this `mode`.
fn serve(folder: &Folder, mode: &str, arguments: &str) -> Outcome {
    let program = folder.path("server");
    let configuration = folder.path(&format!("{mode}.cnf"));
    let module = provider_module();
    let text = format!(
        "openssl_conf = init\n[init]\nproviders = providers\nalg_section = algorithms\n\
         [providers]\ndefault = usual\nlanelock = lanelock\n[usual]\nactivate = 1\n\
         [lanelock]\nmodule = {}\nactivate = 1\nevent_loop = {mode}\nthreads = off\n\
         [algorithms]\ndefault_properties = ?provider=lanelock\n",
        module.display()
    );
    std::fs::write(&configuration, text).expect("written");
    let listener = Listener::start().expect("a socket");
    let output = Command::new(program)
        .args(arguments.split(' '))
        .env("LD_PRELOAD", module)
        .env("OPENSSL_CONF", configuration)
        .env(SOCKET, listener.name())
        .output()
        .expect("started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{mode}, {arguments}: {}: {said}{errors}",
        output.status
    );
    let mut numbers = said.split(|c: char| !c.is_ascii_digit());
    let mut number = || -> u64 {
        let number = numbers.by_ref().find(|word| !word.is_empty());
        number.expect("four numbers").parse().expect("a number")
    };
    let mut outcome = Outcome {
        served: number(),
        lost: number(),
        left: number(),
        stack: number(),
        ..Outcome::default()
    };
    for page in listener.finish().expect("pages") {
        for (algorithm, stats) in page.read().expect("a page").by_algorithm() {
            match algorithm {
                name if name.ends_with("-sign") => outcome.signed += stats.in_lanes,
                name if name.contains("derive") => outcome.derived += stats.in_lanes,
                _ => {}
            }
        }
    }
    eprintln!("{mode}, {arguments}: {outcome:?}");
    outcome
}

fn server() -> Option<Folder> {
    let folder = Folder::new()?;
    folder.compile(
        SERVER,
        "server",
        &["-Wall", "-Wextra", "-Werror", "-lssl", "-lcrypto"],
    );
    Some(folder)
}

#[test]
fn every_kind_of_loop_serves_every_client_in_lanes() {
    let _alone = alone();
    let (true, Some(folder)) = (has_lanes(), server()) else {
        return;
    };
    for server in [
        "level handshake 3",
        "level read 3",
        "level write 2",
        "edge handshake 3",
        "edge accept 2",
        "edge read 2",
        "fork handshake 3",
        "pwait handshake 3",
        "pwait2 accept 3",
        "poll handshake 3",
        "ppoll read 3",
        "select handshake 3",
        "pselect write 3",
    ] {
        let outcome = serve(&folder, "on", &format!("{server} {CLIENTS} 0"));
        assert_eq!(
            (outcome.served, outcome.lost, outcome.left),
            (CLIENTS, 0, 0),
            "{server}"
        );
        // Of 32 clients at once some may come late, and the first look for company alone.
        assert!(outcome.signed > CLIENTS / 2, "{server}: {outcome:?}");
        if server.ends_with('3') {
            assert!(outcome.derived > CLIENTS / 2, "{server}: {outcome:?}");
        }
        assert!(
            (1..=MOST_OF_A_STACK).contains(&outcome.stack),
            "{server}: {outcome:?}"
        );
    }
}

/// As valkey's with I/O threads: what has begun comes to its end, and nothing begins any more.
#[test]
fn connections_that_other_threads_drive_take_no_part() {
    let _alone = alone();
    let (true, Some(folder)) = (has_lanes(), server()) else {
        return;
    };
    for server in ["handed handshake 3", "handed accept 2", "handed read 3"] {
        let outcome = serve(&folder, "on", &format!("{server} {CLIENTS} 0"));
        assert_eq!(
            (outcome.served, outcome.lost, outcome.left),
            (CLIENTS, 0, 0),
            "{server}"
        );
        // At most those that came before the first was handed over.
        assert!(outcome.signed <= CLIENTS / 3, "{server}: {outcome:?}");
    }
}

#[test]
fn clients_that_leave_midway_are_heard_of_and_harm_nobody() {
    let _alone = alone();
    let (true, Some(folder)) = (has_lanes(), server()) else {
        return;
    };
    for server in [
        "level handshake 3",
        "edge handshake 3",
        "edge handshake 2",
        "edge read 3",
        "poll accept 3",
        "select handshake 2",
    ] {
        let outcome = serve(&folder, "on", &format!("{server} {CLIENTS} 1"));
        // A connection that is reset early is accepted nowhere, or is lost.
        assert_eq!((outcome.served, outcome.left), (CLIENTS / 2, 0), "{server}");
        assert!(
            outcome.lost > 0 && outcome.lost <= CLIENTS / 2,
            "{server}: {outcome:?}"
        );
        assert!(outcome.signed > 0, "{server}: {outcome:?}");
    }
}

#[test]
fn switched_off_it_serves_the_same_clients_without_lanes() {
    let _alone = alone();
    let (true, Some(folder)) = (has_lanes(), server()) else {
        return;
    };
    let outcome = serve(&folder, "off", &format!("edge handshake 3 {CLIENTS} 1"));
    assert_eq!(
        (outcome.served, outcome.left),
        (CLIENTS / 2, 0),
        "{outcome:?}"
    );
    assert_eq!((outcome.signed, outcome.derived), (0, 0), "{outcome:?}");
}
