//! Servers in turns: one with and without the provider on the same core, or those that run
//! already.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::super::contest::Pace;
use super::super::contestant::Lap;
use super::super::latencies::Latencies;
use super::super::measure::{self, Absent, Turns};
use super::super::score::Score;
use super::cores::Cores;
use super::credentials::{Credentials, KeyKind};

use super::lanes::Lanes;
use super::load::{self, Plan, Tally, Until};
use super::process;
use super::server::{Kind, Server, Setup};
use super::target::{Group, Target, Version};
use crate::failure::Failure;
use crate::figures::float;
use crate::row::{Common, Comparison, Handshakes};

/// What is measured: a kind of key, what goes with it, a version, a group, and a number of handshakes
/// in flight.
pub(super) struct Cell<K> {
    name: String,
    key: K,
    version: Version,
    group: Group,
    connections: usize,
}

/// A server, alone and with the provider if there is one; the first is the reference.
pub(super) struct Servers<'a> {
    pub(super) kind: Kind,
    pub(super) program: PathBuf,
    pub(super) module: Option<PathBuf>,
    /// The module's parameter, in µs; `None` is its own default.
    pub(super) deadline: Option<u64>,
    /// nginx's `multi_accept`.
    pub(super) multi_accept: bool,
    pub(super) cores: &'a Cores,
}

/// A server that runs already.
pub(super) struct Running {
    pub(super) address: SocketAddr,
    /// Its process, if its processor time is to be known.
    pub(super) pid: Option<u32>,
}

/// A server that takes part.
pub(super) struct Contestant {
    name: String,
    /// What the names of its operations in lanes begin with.
    key: String,
    connections: usize,
    target: Target,
    /// One of our own, which counts its handshakes.
    server: Option<Server>,
    pid: Option<u32>,
}

/// What a server did in one turn.
pub(super) struct Turn {
    lap: Lap,
    latencies: Latencies,
    /// Warm-up and end included, in contrast to the lap.
    all_handshakes: u64,
    lanes: Lanes,
    server_cpu: Option<Duration>,
    client_cpu: Duration,
}

/// A key of each kind, by its name.
///
/// # Errors
/// [`Failure::Failed`] if one cannot be made.
pub(super) fn keys(kinds: &[KeyKind]) -> Result<Vec<(String, Credentials)>, Failure> {
    let key = |&kind: &KeyKind| {
        let made = Credentials::generate(kind).map_err(|error| kind.failure(&error))?;
        Ok((kind.name().to_owned(), made))
    };
    kinds.iter().map(key).collect()
}

/// Every key, version, group and number of connections, in this order.
pub(super) fn cells<K: Clone>(
    keys: &[(String, K)],
    versions: &[Version],
    groups: &[Group],
    connections: &[usize],
) -> Vec<Cell<K>> {
    let mut cells = Vec::new();
    for (name, key) in keys {
        for &version in versions {
            for &group in groups {
                cells.extend(connections.iter().map(|&connections| Cell {
                    name: name.clone(),
                    key: key.clone(),
                    version,
                    group,
                    connections,
                }));
            }
        }
    }
    cells
}

/// Has the servers that `enter` a cell do handshakes, with clients on their own core, and checks that
/// they did. The first one is the reference.
///
/// # Errors
/// [`Failure::Failed`] if a server cannot be started or a handshake failed.
pub(super) fn measure<K: Sync>(
    cores: &Cores,
    cells: &[Cell<K>],
    pace: Pace,
    enter: impl Fn(&Cell<K>) -> Result<Vec<Contestant>, Failure> + Sync,
) -> Result<Vec<Handshakes>, Failure> {
    let describe = |cell: &Cell<K>| {
        let Cell {
            name,
            version,
            group,
            connections,
            ..
        } = cell;
        let (version, group) = (version.name(), group.name());
        format!("{name}, TLS {version}, {group}, {connections} connections")
    };
    let enter = |cell: &Cell<K>, _: &mut Absent<'_>| enter(cell);
    let rows = |cell: &Cell<K>, contestants: &[Contestant], turns: Vec<Vec<Turn>>| {
        let rates: Vec<_> = turns.iter().map(|turns| score(turns).rate).collect();
        let row = |(contestant, turns): (&Contestant, &Vec<Turn>)| {
            let row = row(turns);
            Handshakes {
                common: Common {
                    algorithm: cell.name.clone(),
                    operation: cell.operation(),
                    contestant: contestant.name.clone(),
                    ..row.common
                },
                connections: cell.connections as u64,
                server_core: cores.server().filter(|_| contestant.server.is_some()),
                comparison: (rates.len() > 1).then(|| Comparison {
                    ratio: row.common.ops_per_s / rates[0],
                    reference: contestants[0].name.clone(),
                }),
                ..row
            }
        };
        Ok(contestants.iter().zip(&turns).map(row).collect())
    };
    cores.as_client(|| measure::measure(cells, pace, describe, enter, rows))
}

/// Servers of this kind that run already and show this certificate (DER).
///
/// # Errors
/// [`Failure::Failed`] if the client cannot be set up.
pub(super) fn join(
    servers: &[Running],
    kind: Kind,
    certificate: &[u8],
    cell: &Cell<()>,
) -> Result<Vec<Contestant>, Failure> {
    let join = |server: &Running| {
        let certificate = certificate.to_vec();
        let target = Target::new(server.address, cell.version, cell.group, certificate);
        Ok(Contestant {
            name: server.address.to_string(),
            key: cell.name.clone(),
            connections: cell.connections,
            target: target.map_err(Failure::of)?.speaking(kind.protocol()),
            server: None,
            pid: server.pid,
        })
    };
    servers.iter().map(join).collect()
}

impl<K> Cell<K> {
    /// X25519 goes without saying.
    fn operation(&self) -> String {
        match (self.version.name(), self.group) {
            (version, Group::X25519) => format!("tls-{version}-handshake"),
            (version, group) => {
                format!("tls-{version}-{}-handshake", group.name().to_lowercase())
            }
        }
    }
}

fn score(turns: &[Turn]) -> Score {
    Score::of(turns.iter().map(|turn| &turn.lap))
}

impl Servers<'_> {
    /// Name and set-up of each; without the one that does not have the group by itself.
    pub(super) fn setups(
        &self,
        version: Version,
        group: Group,
        connections: usize,
    ) -> Vec<(String, Setup)> {
        let setup = |provider| Setup {
            kind: self.kind,
            program: self.program.clone(),
            provider,
            deadline: self.deadline,
            multi_accept: self.multi_accept,
            version,
            group,
            connections,
        };
        let name = self.kind.name();
        // Servers are linked with the same OpenSSL.
        let is_known = group == Group::X25519 || openssl::version::number() >= 0x3050_0000;
        let mut setups = Vec::new();
        if is_known || self.module.is_none() {
            setups.push((name.to_owned(), setup(None)));
        }
        if self.module.is_some() {
            setups.push((format!("{name}+lanelock"), setup(self.module.clone())));
        }
        setups
    }

    /// Starts them for a cell.
    ///
    /// # Errors
    /// [`Failure::Failed`] if one does not start.
    pub(super) fn start(&self, cell: &Cell<Credentials>) -> Result<Vec<Contestant>, Failure> {
        let setups = self.setups(cell.version, cell.group, cell.connections);
        let start = |(name, setup): (String, Setup)| {
            let server = self.cores.as_server(|| Server::start(&setup, &cell.key))?;
            let shown = cell.key.shown()?;
            let target = Target::new(server.address(), cell.version, cell.group, shown);
            Ok(Contestant {
                name,
                key: cell.name.clone(),
                connections: cell.connections,
                target: target.map_err(Failure::of)?.speaking(self.kind.protocol()),
                pid: Some(server.pid()),
                server: Some(server),
            })
        };
        setups.into_iter().map(start).collect()
    }
}

impl Turns for Contestant {
    type Lap = Turn;
    /// Each turn has a part of its own that does not count.
    const WARM_UP: Duration = Duration::ZERO;

    fn turn(&mut self, span: Duration) -> Result<Turn, Failure> {
        self.lap(span).map_err(|failure| failure.within(&self.name))
    }
}

impl Contestant {
    fn lap(&self, span: Duration) -> Result<Turn, Failure> {
        let plan = Plan {
            connections: self.connections,
            until: Until::Elapsed {
                warm_up: span / 4,
                measured: span,
            },
            unless: None,
            abort: 0.0,
            slow: 0.0,
        };
        let broken = |error| Failure::Failed(format!("the server's process: {error}"));
        let server_time = || self.pid.map(process::cpu_time).transpose().map_err(broken);
        let counters = || {
            let counters = self.server.as_ref().map(Server::counters).transpose();
            counters.map(Option::flatten)
        };
        let lanes = || {
            self.pid
                .map_or_else(Lanes::default, |pid| Lanes::of(pid, &self.key))
        };
        let mut marks = Vec::with_capacity(2);
        let (counted, in_lanes) = (counters()?, lanes());
        let tally = load::run(&self.target, plan, &mut || {
            marks.push((server_time()?, process::own_cpu_time().map_err(broken)?));
            Ok(())
        })?;
        let counted = counted.zip(counters()?);
        let counted = counted.map(|(before, after)| {
            let all = after.handshakes - before.handshakes;
            (all, after.resumed - before.resumed)
        });
        accept(&tally, counted)?;
        let (start, end) = match marks[..] {
            [start, end] => (start, end),
            _ => Default::default(),
        };
        Ok(Turn {
            lap: tally.latencies.lap(),
            latencies: tally.latencies,
            all_handshakes: tally.finished,
            lanes: lanes() - in_lanes,
            server_cpu: start
                .0
                .zip(end.0)
                .map(|(start, end)| end.saturating_sub(start)),
            client_cpu: end.1.saturating_sub(start.1),
        })
    }
}

/// All turns of a server.
fn row(turns: &[Turn]) -> Handshakes {
    let score = score(turns);
    let (mut latencies, mut lanes) = (Latencies::new(), Lanes::default());
    for turn in turns {
        latencies.add(&turn.latencies);
        lanes += turn.lanes;
    }
    let sum = |time: fn(&Turn) -> Duration| turns.iter().map(time).sum::<Duration>().as_secs_f64();
    let elapsed = sum(|turn| turn.lap.elapsed);
    let server: Option<Duration> = turns.iter().map(|turn| turn.server_cpu).sum();
    let server = server.map(|time| time.as_secs_f64());
    let full_handshakes = turns.iter().map(|turn| turn.lap.ops).sum();
    Handshakes {
        common: Common {
            threads: 1,
            ops_per_s: score.rate,
            ns_per_op: 1e9 / score.rate,
            ..Common::default()
        },
        lanes_filled: lanes.filled(),
        full_handshakes,
        server_cpu_ns_per_op: server.map(|time| 1e9 * time / float(full_handshakes)),
        server_busy_percent: server.map(|time| 100.0 * time / elapsed),
        client_busy_percent: 100.0 * sum(|turn| turn.client_cpu) / elapsed,
        batched_percent: lanes.share_percent(turns.iter().map(|turn| turn.all_handshakes).sum()),
        spread_percent: score.spread_percent,
        percentiles: latencies.percentiles(),
        ..Handshakes::default()
    }
}

/// Every handshake has to be right, and to have cost a server that counts a private-key operation;
/// `counted` are all its handshakes, and those that resumed a session.
fn accept(tally: &Tally, counted: Option<(u64, u64)>) -> Result<(), Failure> {
    let Tally {
        finished, failed, ..
    } = tally;
    if let Some(why) = &tally.first_failure {
        return Err(Failure::Failed(format!(
            "{failed} of {} handshakes failed, the first one with: {why}",
            finished + failed
        )));
    }
    match counted {
        Some((all, resumed)) if all - resumed != *finished => Err(Failure::Failed(format!(
            "{finished} handshakes, but the server counts {} full ones and {resumed} resumed",
            all - resumed
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(finished: u64) -> Tally {
        Tally {
            finished,
            slow: 0,
            left: 0,
            failed: 0,
            first_failure: None,
            latencies: Latencies::new(),
        }
    }

    #[test]
    fn each_handshake_has_to_be_a_full_one_for_the_server_too() {
        assert!(accept(&tally(5), Some((5, 0))).is_ok());
        for (all, resumed) in [(4, 0), (6, 0), (5, 1)] {
            let text = accept(&tally(5), Some((all, resumed)))
                .expect_err("not full")
                .to_string();
            assert!(text.contains("5 handshakes"), "{text}");
        }
    }

    #[test]
    fn a_failed_handshake_fails_the_measurement() {
        let mut tally = tally(5);
        (tally.failed, tally.first_failure) = (2, Some("an alert".to_owned()));
        let text = accept(&tally, Some((5, 0)))
            .expect_err("failed")
            .to_string();
        assert!(text.contains("2 of 7") && text.contains("an alert"));
    }
}
