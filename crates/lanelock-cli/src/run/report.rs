//! What the program's queues did, after its end.

use std::collections::BTreeMap;
use std::time::Duration;

use lanelock::telemetry::Inactive;
use lanelock::telemetry::reader::{Listener, Stats};

use super::lanes;
use super::program::Program;
use crate::stats;
use crate::terminal::say;

/// How a server is told to enter asynchronous mode.
const REMEDY: &str = "HAProxy has `ssl-mode-async` in the section global, Apache Traffic Server \
                      `proxy.config.ssl.async.handshake.enabled INT 1`, `openssl speed` \
                      `-async_jobs 16`; `lanelock run --dry-run -- COMMAND` says how other servers \
                      run";

/// Prints one table for the program and all that it has started, to standard error: standard
/// output is the program's.
pub(super) fn print(listener: Listener, program: &Program) {
    let name = program.path.display();
    let pages = match listener.finish() {
        Ok(pages) => pages,
        Err(error) => return say(&format!("--stats: {error}")),
    };
    let mut sums: BTreeMap<String, Stats> = BTreeMap::new();
    let mut longest = Duration::ZERO;
    let (mut is_loaded, mut is_synchronous) = (false, false);
    let mut reasons: Vec<Inactive> = Vec::new();
    for page in &pages {
        let snapshot = match page.read() {
            Ok(snapshot) => snapshot,
            Err(error) => {
                say(&format!("--stats: process {}: {error}", page.pid()));
                continue;
            }
        };
        is_loaded |= snapshot.is_module;
        is_synchronous |= snapshot.outside_jobs;
        let new = snapshot.inactive.filter(|reason| !reasons.contains(reason));
        reasons.extend(new);
        longest = longest.max(snapshot.started.elapsed().unwrap_or_default());
        for (algorithm, stats) in snapshot.by_algorithm() {
            sums.entry(algorithm).or_default().merge(&stats);
        }
    }
    if !sums.is_empty() {
        let processes = match pages.len() {
            1 => "one process".to_owned(),
            many => format!("{many} processes"),
        };
        let table = stats::algorithms(&sums, longest);
        eprint!("\n{name}, {processes}\n\n{table}");
    }
    for reason in &reasons {
        say(&format!(
            "{name} has loaded the provider, which runs nothing in lanes: {reason}"
        ));
    }
    if !sums.is_empty() || !reasons.is_empty() {
        return;
    }
    if is_synchronous {
        say(&format!(
            "{name} never entered asynchronous mode: its private-key operations ran one at a \
             time, at OpenSSL's own speed. {REMEDY}"
        ));
    } else if is_loaded {
        say(&format!(
            "{name} has loaded the provider, but used no private key that it runs in lanes ({})",
            lanes::keys().unwrap_or("none on this CPU")
        ));
    } else {
        say(&format!(
            "{name} has not loaded the provider: it does not use OpenSSL, contains its own copy of \
             it, or does not read the configuration (OPENSSL_CONF), which a program with more \
             privileges than its user (setuid, file capabilities) ignores"
        ));
    }
}
