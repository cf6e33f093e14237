//! A server without an asynchronous mode, in each kind of event loop: its handshakes run in lanes where
//! the module is preloaded, and it serves the same clients. The modules below drive single connections step
//! by step.

mod faults;
mod participants;
mod turns;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use lanelock::telemetry::SOCKET;
use lanelock::telemetry::reader::Listener;

use crate::alone;
use crate::preload::Folder;
use lanelock_testkit::{has_lanes, lanes, provider_module};

const SERVER: &str = include_str!("event_loop/server.c");

/// What tests of single connections begin with.
const PAIRS: &str = include_str!("event_loop/pairs.c");

/// Clients that a server has at once.
const CLIENTS: u64 = 32;

/// Bytes that a handshake may take of the 32 KiB of a job's stack: a signal's frame with all registers
/// (AVX-512 and AMX) has some 11 KiB, and what a handler needs comes on top.
const MOST_OF_A_STACK: u64 = 16 * 1024;

/// The key of every server, in the folder of its program.
const KEY_FILE: &str = "key.pem";

/// A program of C, started with the module preloaded.
struct Program {
    folder: Folder,
    path: PathBuf,
}

/// What the provider is set to.
#[derive(Clone, Copy, Debug)]
struct Setting {
    mode: &'static str,
    /// In µs.
    deadline: u32,
    /// What `LANELOCK_TIER` says.
    tier: Option<&'static str>,
}

const ON: Setting = Setting {
    mode: "on",
    deadline: 0,
    tier: None,
};

/// What a program did.
#[derive(Debug, Default)]
struct Outcome {
    /// The numbers that it printed.
    numbers: Vec<u64>,
    /// Signatures and derivations that ran in lanes.
    signed: u64,
    derived: u64,
}

/// Whether full batches are of eight operations, as programs assume that count them; where they are of four, a line
/// says what is skipped.
fn batches_are_of_eight() -> bool {
    let are_smaller = lanes() == 4;
    if are_smaller {
        eprintln!("SKIPPED: what counts batches of eight; those of this machine are of four");
    }
    !are_smaller
}

/// Calls `test` with the program of this text, while no other test runs; where there are no lanes or no
/// compiler, a line says so instead.
fn with_program(text: &str, test: impl FnOnce(&Program)) {
    let _alone = alone();
    let (true, Some(folder)) = (has_lanes(), Folder::new()) else {
        return;
    };
    let options = [
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-function",
        "-lssl",
        "-lcrypto",
    ];
    let path = folder.compile(text, "program", &options);
    std::fs::write(folder.path(KEY_FILE), key()).expect("written");
    test(&Program { folder, path });
}

/// The text of [`KEY_FILE`]. One for all programs, which would take longer to make theirs than for all else.
fn key() -> &'static [u8] {
    static KEY: OnceLock<Vec<u8>> = OnceLock::new();
    KEY.get_or_init(|| {
        let made = Command::new("openssl")
            .args(["genpkey", "-algorithm", "RSA", "-pkeyopt"])
            .arg("rsa_keygen_bits:2048")
            .output()
            .expect("the openssl command");
        assert!(made.status.success(), "{made:?}");
        made.stdout
    })
}

/// As [`with_program`], for a program of tests with [`PAIRS`] in front.
fn with_pairs(text: &str, test: impl FnOnce(&Program)) {
    with_program(&[PAIRS, text].concat(), test);
}

/// Runs these tests of a program of pairs, each over TLS 1.2 and 1.3.
#[track_caller]
fn run_pairs(text: &str, tests: &[&str]) {
    with_pairs(text, |program| program.run_all(ON, tests));
}

impl Program {
    /// Runs it, which is to succeed.
    #[track_caller]
    fn run(&self, setting: Setting, arguments: &str) -> Outcome {
        let configuration = self.folder.path("openssl.cnf");
        let module = provider_module();
        let Setting {
            mode,
            deadline,
            tier,
        } = setting;
        let text = format!(
            "openssl_conf = init\n[init]\nproviders = providers\nalg_section = algorithms\n\
             [providers]\ndefault = usual\nlanelock = lanelock\n[usual]\nactivate = 1\n\
             [lanelock]\nmodule = {}\nactivate = 1\nevent_loop = {mode}\nthreads = off\n\
             deadline = {deadline}\n\
             [algorithms]\ndefault_properties = ?provider=lanelock\n",
            module.display()
        );
        std::fs::write(&configuration, text).expect("written");
        let listener = Listener::start().expect("a socket");
        let output = Command::new(&self.path)
            .args(arguments.split(' '))
            .env("LD_PRELOAD", module)
            .env("OPENSSL_CONF", configuration)
            .env("KEY", self.folder.path(KEY_FILE))
            .env(SOCKET, listener.name())
            .envs(tier.map(|tier| ("LANELOCK_TIER", tier)))
            .output()
            .expect("started");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{setting:?}, {arguments}: {}: {said}{errors}",
            output.status
        );
        let words = said.split(|c: char| !c.is_ascii_digit());
        let words = words.filter(|word| !word.is_empty());
        let mut outcome = Outcome {
            numbers: words.map(|it| it.parse().expect("a number")).collect(),
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
        eprintln!("{setting:?}, {arguments}: {outcome:?}");
        outcome
    }

    /// Runs each of these tests of its own over TLS 1.2 and 1.3.
    #[track_caller]
    fn run_all(&self, setting: Setting, tests: &[&str]) {
        for test in tests {
            for version in [2, 3] {
                self.run(setting, &format!("{test} {version}"));
            }
        }
    }
}

/// What a server did.
#[derive(Debug)]
struct Served {
    served: u64,
    lost: u64,
    left: u64,
    /// Bytes that a handshake took of its job's stack, at most; 0 without jobs.
    stack: u64,
    signed: u64,
    derived: u64,
}

/// Runs the server.
fn serve(server: &Program, mode: &'static str, arguments: &str) -> Served {
    let outcome = server.run(Setting { mode, ..ON }, arguments);
    let &[served, lost, left, stack] = &outcome.numbers[..] else {
        panic!("four numbers: {outcome:?}");
    };
    Served {
        served,
        lost,
        left,
        stack,
        signed: outcome.signed,
        derived: outcome.derived,
    }
}

#[test]
fn every_kind_of_loop_serves_every_client_in_lanes() {
    with_program(SERVER, |program| {
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
            let outcome = serve(program, "on", &format!("{server} {CLIENTS} 0"));
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
    });
}

/// As valkey's with I/O threads: what has begun comes to its end, and nothing begins any more.
#[test]
fn connections_that_other_threads_drive_take_no_part() {
    with_program(SERVER, |program| {
        for server in ["handed handshake 3", "handed accept 2", "handed read 3"] {
            let all = 3 * CLIENTS;
            let outcome = serve(program, "on", &format!("{server} {all} 0"));
            assert_eq!(
                (outcome.served, outcome.lost, outcome.left),
                (all, 0, 0),
                "{server}"
            );
            // At most those that came before the first was handed over.
            assert!(outcome.signed <= CLIENTS, "{server}: {outcome:?}");
        }
    });
}

#[test]
fn clients_that_leave_midway_are_heard_of_and_harm_nobody() {
    with_program(SERVER, |program| {
        for server in [
            "level handshake 3",
            "edge handshake 3",
            "edge handshake 2",
            "edge read 3",
            "poll accept 3",
            "select handshake 2",
        ] {
            let outcome = serve(program, "on", &format!("{server} {CLIENTS} 1"));
            // A connection that is reset early is accepted nowhere, or is lost.
            assert_eq!((outcome.served, outcome.left), (CLIENTS / 2, 0), "{server}");
            assert!(
                outcome.lost > 0 && outcome.lost <= CLIENTS / 2,
                "{server}: {outcome:?}"
            );
            assert!(outcome.signed > 0, "{server}: {outcome:?}");
        }
    });
}

#[test]
fn switched_off_it_serves_the_same_clients_without_lanes() {
    with_program(SERVER, |program| {
        let outcome = serve(program, "off", &format!("edge handshake 3 {CLIENTS} 1"));
        assert_eq!(
            (outcome.served, outcome.left),
            (CLIENTS / 2, 0),
            "{outcome:?}"
        );
        assert_eq!((outcome.signed, outcome.derived), (0, 0), "{outcome:?}");
    });
}
