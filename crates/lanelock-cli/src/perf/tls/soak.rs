//! Many handshakes, a share of which clients abandon: the rest have to succeed, and the server has
//! to be afterwards what it was before.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::cores::Cores;
use super::credentials::{Credentials, KeyKind};
use super::load::{self, Plan, Tally, Until};
use super::process::Footprint;
use super::server::{self, Counters, Kind, Setup};
use super::target::{Group, Target, Version};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::terminal::print;

/// What is asked of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Soak {
    pub(super) version: Version,
    pub(super) connections: usize,
    pub(super) handshakes: u64,
    pub(super) abort: f64,
    pub(super) slow: f64,
}

/// All servers, in the form of the JSON output.
#[derive(Debug, Serialize)]
pub(super) struct Report<'o> {
    pub(super) outcomes: &'o [Outcome],
}

/// What came of it: counts of the client, and of the server before and after.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    contestant: String,
    key: Option<&'static str>,
    tls: &'static str,
    connections: usize,
    finished: u64,
    /// Those among them whose clients took their time.
    slow: u64,
    abandoned: u64,
    failed: u64,
    seconds: f64,
    #[serde(flatten)]
    server: Option<Server>,
}

/// The server before and after.
#[derive(Clone, Copy, Debug, Serialize)]
struct Server {
    descriptors: [usize; 2],
    /// Of a server that counts them.
    jobs: Option<[u64; 2]>,
    resident_bytes: [u64; 2],
}

/// What the allocator may keep in a wave beyond what it held before, in bytes. A third of 100,000 fibre
/// stacks would be a thousand times as much.
const SLACK: u64 = 2 << 20;

/// Most waves until memory has to stop growing: some allocators take longer to come to rest, above all
/// those of many threads. What is lost is lost in every wave.
const WAVES: usize = 5;

/// Runs the handshakes: first a tenth, until which memory may grow, then all of them, again until it
/// has stopped.
///
/// # Errors
/// [`Failure::Failed`] names what leaked or failed.
pub(super) fn run(
    name: &str,
    setup: &Setup,
    key: KeyKind,
    soak: Soak,
    cores: &Cores,
) -> Result<Outcome, Failure> {
    let credentials = Credentials::generate(key).map_err(|error| key.failure(&error))?;
    let server = cores.as_server(|| server::Server::start(setup, &credentials))?;
    let target = Target::new(
        server.address(),
        soak.version,
        Group::X25519,
        credentials.shown()?,
    );
    let target = target.map_err(|error| key.failure(&error))?;
    let target = target.speaking(setup.kind.protocol());
    soak.load(&target, soak.handshakes.div_ceil(10), None)?;
    let mut before = settle(&server, None)?;
    let mut waves = 0;
    let (tally, seconds, after) = loop {
        let (tally, seconds) = soak.load(&target, soak.handshakes, None)?;
        let after = settle(&server, Some(before))?;
        waves += 1;
        let has_grown = after.0.resident > before.0.resident + SLACK;
        if !has_grown || waves == WAVES || tally.failed > 0 {
            break (tally, seconds, after);
        }
        before.0.resident = after.0.resident;
    };
    let outcome = Outcome {
        key: Some(key.name()),
        server: Some(Server {
            descriptors: [before.0.descriptors, after.0.descriptors],
            jobs: before
                .1
                .zip(after.1)
                .map(|(before, after)| [before.jobs, after.jobs]),
            resident_bytes: [before.0.resident, after.0.resident],
        }),
        ..soak.outcome(name.to_owned(), &tally, seconds)
    };
    outcome.checked(&tally)
}

/// Puts load on a server that runs already, until all is done or `interrupt` has come, and leaves to the
/// server's owner what it holds afterwards.
///
/// # Errors
/// [`Failure::Failed`] if a handshake failed.
pub(super) fn connect(
    address: SocketAddr,
    kind: Kind,
    certificate: Vec<u8>,
    soak: Soak,
    interrupt: &Interrupt,
) -> Result<Outcome, Failure> {
    let target =
        Target::new(address, soak.version, Group::X25519, certificate).map_err(Failure::of)?;
    let target = target.speaking(kind.protocol());
    let (tally, seconds) = soak.load(&target, soak.handshakes, Some(interrupt))?;
    let outcome = soak.outcome(address.to_string(), &tally, seconds);
    outcome.checked(&tally)
}

impl Soak {
    /// What became of so many connections, or of fewer if `unless` came, in how many seconds.
    fn load(
        &self,
        target: &Target,
        count: u64,
        unless: Option<&Interrupt>,
    ) -> Result<(Tally, f64), Failure> {
        let plan = Plan {
            connections: self.connections,
            until: Until::Count(count),
            unless,
            abort: self.abort,
            slow: self.slow,
        };
        let start = Instant::now();
        let tally = load::run(target, plan, &mut || Ok(()))?;
        Ok((tally, start.elapsed().as_secs_f64()))
    }

    fn outcome(&self, contestant: String, tally: &Tally, seconds: f64) -> Outcome {
        Outcome {
            contestant,
            key: None,
            tls: self.version.name(),
            connections: self.connections,
            finished: tally.finished,
            slow: tally.slow,
            abandoned: tally.left,
            failed: tally.failed,
            seconds,
            server: None,
        }
    }
}

/// What a server holds and counts.
type State = (Footprint, Option<Counters>);

/// Waits until the server has noticed that everybody has gone; with `before`, until it holds no
/// more than then.
fn settle(server: &server::Server, before: Option<State>) -> Result<State, Failure> {
    let broken = |error| Failure::Failed(format!("the server's process: {error}"));
    let start = Instant::now();
    loop {
        let counters = server.counters()?;
        let footprint = Footprint::of(server.pid()).map_err(broken)?;
        // The only connection is the one that asks; one that does not count gets a moment.
        let quiet = match counters {
            Some(counters) => counters.connections <= 1,
            None => start.elapsed() > Duration::from_millis(500),
        };
        let small = before.is_none_or(|(then, counted)| {
            let fewer = counters
                .zip(counted)
                .is_none_or(|(now, then)| now.jobs <= then.jobs);
            footprint.descriptors <= then.descriptors && fewer
        });
        if (quiet && small) || start.elapsed() > Duration::from_secs(5) {
            return Ok((footprint, counters));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

impl Outcome {
    fn checked(self, tally: &Tally) -> Result<Self, Failure> {
        let mut wrong = Vec::new();
        if let Some(why) = &tally.first_failure {
            wrong.push(format!(
                "{} handshakes failed, the first one with: {why}",
                tally.failed
            ));
        }
        let mut grown = |what: &str, [before, after]: [u64; 2], slack: u64| {
            if after > before + slack {
                wrong.push(format!("{what}: {before} before, {after} after"));
            }
        };
        if let Some(server) = &self.server {
            let descriptors = server.descriptors.map(|n| n as u64);
            grown("open descriptors", descriptors, 0);
            grown("jobs", server.jobs.unwrap_or_default(), 0);
            grown("resident bytes", server.resident_bytes, SLACK);
        }
        match wrong.is_empty() {
            true => Ok(self),
            false => Err(Failure::Failed(format!(
                "{}, {} finished, {} abandoned: {}",
                self.contestant,
                self.finished,
                self.abandoned,
                wrong.join("; ")
            ))),
        }
    }

    /// Writes it for people.
    pub(super) fn print(&self) -> Result<(), Failure> {
        let Self {
            contestant,
            tls,
            connections,
            finished,
            abandoned,
            failed,
            seconds,
            ..
        } = self;
        let mut text = format!(
            "{contestant}, {}TLS {tls}, {connections} connections: {finished} handshakes \
             finished{}, {abandoned} abandoned, {failed} failed in {seconds:.1} s\n",
            self.key.map_or_else(String::new, |key| format!("{key}, ")),
            match self.slow {
                0 => String::new(),
                slow => format!(" ({slow} of them slowly)"),
            }
        );
        if let Some(server) = &self.server {
            let [resident, later] = server.resident_bytes.map(|bytes| bytes / 1024);
            let [descriptors, then] = server.descriptors;
            let jobs = server
                .jobs
                .map(|[before, after]| format!("; jobs {before}, {after}"));
            text += &format!(
                "descriptors {descriptors} before, {then} after{}; resident {resident} KiB, \
                 {later} KiB\n",
                jobs.unwrap_or_default()
            );
        }
        print(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::latencies::Latencies;
    use super::*;

    fn outcome() -> Outcome {
        Outcome {
            contestant: "haproxy".to_owned(),
            key: Some("p256"),
            tls: "1.3",
            connections: 2,
            finished: 2,
            slow: 0,
            abandoned: 1,
            failed: 0,
            seconds: 1.0,
            server: Some(Server {
                descriptors: [9, 9],
                jobs: Some([2, 2]),
                resident_bytes: [10 << 20, 11 << 20],
            }),
        }
    }

    fn tally(first_failure: Option<&str>) -> Tally {
        Tally {
            finished: 2,
            slow: 0,
            left: 1,
            failed: u64::from(first_failure.is_some()),
            first_failure: first_failure.map(str::to_owned),
            latencies: Latencies::new(),
        }
    }

    #[test]
    fn whatever_stays_behind_is_named() {
        type Leak = fn(&mut Server);
        assert!(outcome().checked(&tally(None)).is_ok());
        let leaks: [(Leak, &str); 3] = [
            (|o| o.descriptors[1] += 1, "open descriptors: 9 before, 10"),
            (|o| o.jobs = Some([2, 3]), "jobs: 2 before, 3"),
            (|o| o.resident_bytes[1] += 2 << 20, "resident bytes"),
        ];
        for (leak, words) in leaks {
            let mut outcome = outcome();
            leak(outcome.server.as_mut().expect("a server"));
            let text = outcome.checked(&tally(None)).expect_err("a leak");
            assert!(text.to_string().contains(words), "{text}");
        }
    }

    #[test]
    fn a_failed_handshake_is_named() {
        let text = outcome().checked(&tally(Some("an alert"))).expect_err("it");
        assert!(text.to_string().contains("an alert"));
    }
}
