//! `lanelock run --dry-run`: what a program would gain, and how.

use std::ffi::OsStr;
use std::path::Path;

use super::program::{PRIVILEGED, Program};
use super::user_config::UserConfig;
use super::{Options, When, lanes, module, policy, user_config};
use crate::failure::Failure;
use crate::terminal::print;

/// How a known server comes to batches, by its program's name.
const SERVERS: [(&str, Way); 28] = [
    (
        "haproxy",
        Way::Own("`ssl-mode-async` in the section global"),
    ),
    (
        "traffic_server",
        Way::Own("proxy.config.ssl.async.handshake.enabled INT 1 in records.config"),
    ),
    ("nginx", Way::Given),
    ("lighttpd", Way::Given),
    ("redis-server", Way::Given),
    ("redis-check-rdb", Way::Given),
    ("valkey-server", Way::Given),
    ("unbound", Way::Given),
    ("mosquitto", Way::Given),
    ("hitch", Way::Given),
    ("apache2", Way::Threads),
    ("httpd", Way::Threads),
    ("mariadbd", Way::Threads),
    ("mysqld", Way::Threads),
    (
        "dovecot",
        Way::None(
            "its processes hand TLS over in memory (BIO_new_bio_pair) and not by a socket, and have \
             one connection each unless `service_count` says otherwise; let a proxy in front of it \
             terminate TLS, as in `lanelock run -- hitch`",
        ),
    ),
    (
        "memcached",
        Way::None(
            "it begins a connection's handshake in one thread and continues it in another; let a \
             proxy in front of it terminate TLS, as in `lanelock run -- hitch`",
        ),
    ),
    (
        "postgres",
        Way::None("it has a process for each connection"),
    ),
    ("stunnel", Way::None(STUNNEL)),
    ("stunnel4", Way::None(STUNNEL)),
    ("python", Way::Language),
    ("ruby", Way::Language),
    ("perl", Way::Language),
    ("node", Way::None(NODE)),
    ("nodejs", Way::None(NODE)),
    ("java", Way::None(JAVA)),
    ("sh", Way::None(SHELL)),
    ("dash", Way::None(SHELL)),
    ("bash", Way::None(SHELL)),
];

const STUNNEL: &str = "\
    it asks OpenSSL for any provider but FIPS's (`provider!=fips`), which takes the place of the \
    configuration's preference for lanelock; let another proxy terminate TLS, as in `lanelock run -- \
    hitch`";
const NODE: &str = "\
    Node.js hands TLS over in memory and not by a socket, and most builds contain a copy of \
    OpenSSL; let a server in front of it terminate TLS, as in `lanelock run -- nginx`";
const JAVA: &str = "\
    Java has a TLS of its own (JSSE); let a server in front of it terminate TLS, as in \
    `lanelock run -- nginx`";
const SHELL: &str = "\
    it is a shell or a script of one, which starts other programs: name the program that serves";

/// What to do where TLS is not the system's OpenSSL.
const INSTEAD: &str = "\
    use a build that is linked with libssl.so.3, or let a server in front of it terminate TLS, as in \
    `lanelock run -- nginx`";

/// How a server's operations come to run together.
#[derive(Clone, Copy)]
enum Way {
    /// It has an asynchronous mode, which this switches on.
    Own(&'static str),
    /// The module gives it one.
    Given,
    /// It has a thread for each handshake, and they wait for each other.
    Threads,
    /// It runs a language, in whose program there may be threads.
    Language,
    /// Nothing does, for this reason.
    None(&'static str),
}

/// Prints it.
///
/// # Errors
/// [`Failure::Usage`] if the program cannot be started under the provider at all,
/// [`Failure::Exit`] with 1 if nothing of it would run in lanes.
pub(super) fn run(command: &OsStr, options: &Options) -> Result<(), Failure> {
    let program = Program::find(command)?;
    let path = program.path.display().to_string();
    let verdict = match objection(&program)? {
        Some(objection) => Err(objection),
        None => verdict(&program, options),
    };
    match verdict {
        Ok(how) => {
            let keys = lanes::keys().unwrap_or_default();
            print(format!("{path}: {how}\non this CPU for {keys}\n"))
        }
        Err(why) => {
            print(format!("{path}: runs as without lanelock: {why}\n"))?;
            Err(Failure::Exit(1))
        }
    }
}

/// Why the module would not be loaded, or would run nothing in lanes.
fn objection(program: &Program) -> Result<Option<String>, Failure> {
    if program.is_privileged {
        return Ok(Some(PRIVILEGED.to_owned()));
    }
    let user = user_config(program.libcrypto.as_deref());
    let found = UserConfig::read(user.as_deref())?;
    if let Some(objection) = policy::objection(&found, user.as_deref())? {
        return Ok(Some(objection));
    }
    module::find()?;
    Ok(lanes::keys().is_none().then(|| {
        "this CPU has no lanes for public keys, which need AVX-512 IFMA, or AVX2 with FMA \
         (`lanelock engines`)"
            .to_owned()
    }))
}

/// What is known of programs of this name.
fn known(path: &Path) -> Option<Way> {
    let name = path.file_name()?.to_str()?;
    // Interpreters have their version in their name.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let of = |name: &str| SERVERS.iter().find(|(known, _)| *known == name);
    of(name).or_else(|| of(plain)).map(|&(_, way)| way)
}

/// How the program comes to batches, or why it does not.
fn verdict(program: &Program, options: &Options) -> Result<String, String> {
    let Options {
        event_loop,
        threads,
        ..
    } = *options;
    let known = known(&program.path).or_else(|| known(&program.binary));
    let has_libssl = program.has_libssl || program.loads_libssl || known.is_some();
    if !has_libssl && !program.other_tls.is_empty() {
        return Err(format!(
            "it speaks TLS by {}: {INSTEAD}",
            program.other_tls.join(" and ")
        ));
    }
    if !has_libssl && program.libcrypto.is_none() && program.contains_openssl() {
        return Err(format!(
            "it contains a copy of OpenSSL, which does not load the module: {INSTEAD}"
        ));
    }
    match known {
        Some(Way::Own(setting)) => Ok(format!(
            "its own asynchronous mode; switch it on: {setting}"
        )),
        Some(Way::None(why)) => Err(why.to_owned()),
        Some(Way::Threads) if threads == Some(When::Off) => {
            Err("--threads off, and it has a thread for each handshake".to_owned())
        }
        Some(Way::Language) if threads == Some(When::Off) => Err(
            "--threads off, and event loops of its language hand TLS over in memory".to_owned(),
        ),
        Some(Way::Language) => Ok(format!(
            "operations that threads of its script have at the same time, if each handshake has a \
             thread (--threads {}); event loops of its language, as asyncio, hand TLS over in \
             memory and run as without lanelock: let a server in front of them terminate TLS; \
             `--stats` says what ran in lanes",
            threads.unwrap_or(When::Auto).name()
        )),
        Some(Way::Threads) => Ok(format!(
            "operations that its threads have at the same time, a thread for each handshake \
             (--threads {})",
            threads.unwrap_or(When::Auto).name()
        )),
        _ if event_loop == Some(When::Off) => {
            Err("--event-loop off, and it is not known to have an asynchronous mode".to_owned())
        }
        Some(Way::Given) => Ok(format!(
            "asynchronous handshakes from its event loop (--event-loop {})",
            event_loop.unwrap_or(When::Auto).name()
        )),
        None if program.is_preloaded(event_loop) => Ok(
            "asynchronous handshakes if it is a server that drives non-blocking sockets from a \
             loop of epoll, poll or select, or operations of threads if it has a thread for each \
             handshake; if it hands TLS over in memory (BIO_s_mem, BIO_new_bio_pair) or moves \
             connections between threads, which cannot be seen beforehand, it runs as without \
             lanelock; `--stats` says what ran in lanes"
                .to_owned(),
        ),
        None if program.libcrypto.is_some() => Err(
            "it is linked with libcrypto and not with libssl; if one of its plugins loads libssl, \
             use --event-loop on"
                .to_owned(),
        ),
        None => Err(
            "it is not linked with OpenSSL; if one of its plugins loads libssl, use --event-loop on"
                .to_owned(),
        ),
    }
}
