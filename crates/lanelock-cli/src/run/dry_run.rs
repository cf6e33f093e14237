//! `lanelock run --dry-run`: what a program would gain, and how.

use std::ffi::OsStr;

use super::program::{PRIVILEGED, Program};
use super::user_config::UserConfig;
use super::{Options, When, lanes, module, policy, user_config};
use crate::failure::Failure;
use crate::terminal::print;

/// How a known server comes to batches, by its program's name.
const SERVERS: [(&str, Way); 16] = [
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
    (
        "dovecot",
        Way::None(
            "its processes hand TLS over in memory (BIO_new_bio_pair) and not by a socket, and have \
             one connection each unless `service_count` says otherwise",
        ),
    ),
    (
        "memcached",
        Way::None("it begins a connection's handshake in one thread and continues it in another"),
    ),
    (
        "postgres",
        Way::None("it has a process for each connection"),
    ),
];

/// How a server's operations come to run together.
#[derive(Clone, Copy)]
enum Way {
    /// It has an asynchronous mode, which this switches on.
    Own(&'static str),
    /// The module gives it one.
    Given,
    /// It has a thread for each handshake, and they wait for each other.
    Threads,
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

/// How the program comes to batches, or why it does not.
fn verdict(program: &Program, options: &Options) -> Result<String, String> {
    let Options {
        event_loop,
        threads,
        ..
    } = *options;
    let name = program.path.file_name().and_then(OsStr::to_str);
    let known = SERVERS.iter().find(|(known, _)| Some(*known) == name);
    let has_libssl = program.has_libssl || program.loads_libssl || known.is_some();
    if !has_libssl && !program.other_tls.is_empty() {
        return Err(format!(
            "it speaks TLS by {}",
            program.other_tls.join(" and ")
        ));
    }
    match known.map(|&(_, way)| way) {
        Some(Way::Own(setting)) => Ok(format!(
            "its own asynchronous mode; switch it on: {setting}"
        )),
        Some(Way::None(why)) => Err(why.to_owned()),
        Some(Way::Threads) if threads == Some(When::Off) => {
            Err("--threads off, and it has a thread for each handshake".to_owned())
        }
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
             loop of epoll, poll or select; `--stats` says what ran in lanes"
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
