//! Servers with and without the provider, in turns on the same core.

use std::path::PathBuf;
use std::time::Duration;

use super::super::contest::Pace;
use super::super::contestant::Lap;
use super::super::latencies::Latencies;
use super::super::measure::{self, Absent, Turns};
use super::super::rounds::Score;
use super::cores::Cores;
use super::credentials::{Credentials, KeyKind};
use super::haproxy::{Haproxy, Setup};
use super::lanes::Lanes;
use super::load::{self, Plan, Tally, Until};
use super::process;
use super::target::{Target, Version};
use crate::failure::Failure;
use crate::row::{Common, Comparison, Handshakes};

/// What is measured: a kind of key, a version, and a number of handshakes in flight.
pub(super) struct Cell {
    pub(super) key: KeyKind,
    pub(super) credentials: Credentials,
    pub(super) version: Version,
    pub(super) connections: usize,
}

/// HAProxy, alone and with the provider if there is one; the first is the reference.
pub(super) struct Servers<'a> {
    pub(super) program: PathBuf,
    pub(super) module: Option<PathBuf>,
    /// The module's parameter, in µs; `None` is its own default.
    pub(super) deadline: Option<u64>,
    pub(super) cores: &'a Cores,
}

/// A server that takes part.
pub(super) struct Contestant {
    name: &'static str,
    key: KeyKind,
    connections: usize,
    server: Haproxy,
    target: Target,
}

/// What a server did in one turn.
pub(super) struct Turn {
    lap: Lap,
    latencies: Latencies,
    /// Warm-up and end included, in contrast to the lap.
    all_handshakes: u64,
    lanes: Lanes,
    server_cpu: Duration,
    client_cpu: Duration,
}

/// Every key, version and number of connections, in this order.
///
/// # Errors
/// [`Failure::Failed`] if no key can be made.
pub(super) fn cells(
    keys: &[KeyKind],
    versions: &[Version],
    connections: &[usize],
) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for &key in keys {
        let credentials = Credentials::generate(key).map_err(|error| key.failure(&error))?;
        for &version in versions {
            for &connections in connections {
                let credentials = credentials.clone();
                cells.push(Cell {
                    key,
                    credentials,
                    version,
                    connections,
                });
            }
        }
    }
    Ok(cells)
}

/// Has the servers do handshakes, on the clients' core, and checks that they did.
///
/// # Errors
/// [`Failure::Failed`] if a server cannot be started or a handshake failed.
pub(super) fn measure(
    servers: &Servers<'_>,
    cells: &[Cell],
    pace: Pace,
) -> Result<Vec<Handshakes>, Failure> {
    let describe = |cell: &Cell| {
        let (key, version) = (cell.key.name(), cell.version.name());
        format!("{key}, TLS {version}, {} connections", cell.connections)
    };
    let enter = |cell: &Cell, _: &mut Absent<'_>| servers.start(cell);
    let rows = |cell: &Cell, contestants: &[Contestant], turns: Vec<Vec<Turn>>| {
        Ok(rows(servers, cell, contestants, &turns))
    };
    let measure = || measure::measure(cells, pace, describe, enter, rows);
    servers.cores.as_client(measure)
}

fn rows(
    servers: &Servers<'_>,
    cell: &Cell,
    contestants: &[Contestant],
    turns: &[Vec<Turn>],
) -> Vec<Handshakes> {
    let rates: Vec<_> = turns.iter().map(|turns| score(turns).rate).collect();
    let row = |(contestant, turns): (&Contestant, &Vec<Turn>)| {
        let row = row(turns);
        Handshakes {
            common: Common {
                algorithm: cell.key.name().to_owned(),
                operation: format!("tls-{}-handshake", cell.version.name()),
                contestant: contestant.name.to_owned(),
                ..row.common
            },
            connections: cell.connections as u64,
            server_core: servers.cores.server(),
            comparison: (rates.len() > 1).then(|| Comparison {
                ratio: row.common.ops_per_s / rates[0],
                reference: contestants[0].name.to_owned(),
            }),
            ..row
        }
    };
    contestants.iter().zip(turns).map(row).collect()
}

fn score(turns: &[Turn]) -> Score {
    Score::of(turns.iter().map(|turn| &turn.lap))
}

impl Servers<'_> {
    /// Name and set-up of each.
    pub(super) fn setups(
        &self,
        version: Version,
        connections: usize,
    ) -> Vec<(&'static str, Setup)> {
        let setup = |provider| Setup {
            program: self.program.clone(),
            provider,
            deadline: self.deadline,
            version,
            connections,
        };
        let mut setups = vec![("haproxy", setup(None))];
        if self.module.is_some() {
            setups.push(("haproxy+lanelock", setup(self.module.clone())));
        }
        setups
    }

    fn start(&self, cell: &Cell) -> Result<Vec<Contestant>, Failure> {
        let setups = self.setups(cell.version, cell.connections).into_iter();
        let start = |(name, setup): (&'static str, Setup)| {
            let server = self
                .cores
                .as_server(|| Haproxy::start(&setup, &cell.credentials))?;
            let target = Target::new(server.address(), cell.version, cell.credentials.shown()?);
            let (key, connections) = (cell.key, cell.connections);
            Ok(Contestant {
                name,
                key,
                connections,
                server,
                target: target.map_err(|error| key.failure(&error))?,
            })
        };
        setups.map(start).collect()
    }
}

impl Turns for Contestant {
    type Lap = Turn;

    fn turn(&mut self, span: Duration) -> Result<Turn, Failure> {
        self.lap(span).map_err(|failure| failure.within(self.name))
    }

    /// Each turn has a part of its own that does not count.
    fn warm_up(&mut self, _: Duration) -> Result<(), Failure> {
        Ok(())
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
            abort: 0.0,
        };
        let broken = |error| Failure::Failed(format!("the server's process: {error}"));
        let pid = self.server.pid();
        let mut marks = Vec::with_capacity(2);
        let before = self.server.counters()?;
        let lanes = Lanes::of(pid, self.key.name());
        let tally = load::run(&self.target, plan, &mut || {
            let server = process::cpu_time(pid).map_err(broken)?;
            marks.push((server, process::own_cpu_time().map_err(broken)?));
            Ok(())
        })?;
        let after = self.server.counters()?;
        accept(
            &tally,
            after.handshakes - before.handshakes,
            after.resumed - before.resumed,
        )?;
        let (server_cpu, client_cpu) = match marks[..] {
            [start, end] => (end.0.saturating_sub(start.0), end.1.saturating_sub(start.1)),
            _ => (Duration::ZERO, Duration::ZERO),
        };
        Ok(Turn {
            lap: tally.latencies.lap(),
            latencies: tally.latencies,
            all_handshakes: tally.finished,
            lanes: Lanes::of(pid, self.key.name()) - lanes,
            server_cpu,
            client_cpu,
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
    let full_handshakes = turns.iter().map(|turn| turn.lap.ops).sum();
    #[expect(clippy::cast_precision_loss, reason = "2^52 handshakes take ages")]
    let handshakes = full_handshakes as f64;
    Handshakes {
        common: Common {
            threads: 1,
            ops_per_s: score.rate,
            ns_per_op: 1e9 / score.rate,
            ..Common::default()
        },
        lanes_filled: lanes.filled(),
        full_handshakes,
        server_cpu_ns_per_op: 1e9 * sum(|turn| turn.server_cpu) / handshakes,
        server_busy_percent: 100.0 * sum(|turn| turn.server_cpu) / elapsed,
        client_busy_percent: 100.0 * sum(|turn| turn.client_cpu) / elapsed,
        batched_percent: lanes.share_percent(turns.iter().map(|turn| turn.all_handshakes).sum()),
        spread_percent: score.spread_percent,
        percentiles: latencies.percentiles(),
        ..Handshakes::default()
    }
}

/// Every handshake has to be right, and to have cost the server a private-key operation.
fn accept(tally: &Tally, full_and_resumed: u64, resumed: u64) -> Result<(), Failure> {
    let Tally {
        finished, failed, ..
    } = tally;
    if let Some(why) = &tally.first_failure {
        return Err(Failure::Failed(format!(
            "{failed} of {} handshakes failed, the first one so: {why}",
            finished + failed
        )));
    }
    let full = full_and_resumed - resumed;
    if full != *finished {
        return Err(Failure::Failed(format!(
            "{finished} handshakes, but the server counts {full} full ones and {resumed} resumed"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(finished: u64) -> Tally {
        Tally {
            finished,
            left: 0,
            failed: 0,
            first_failure: None,
            latencies: Latencies::new(),
        }
    }

    #[test]
    fn each_handshake_has_to_be_a_full_one_for_the_server_too() {
        assert!(accept(&tally(5), 5, 0).is_ok());
        for (all, resumed) in [(4, 0), (6, 0), (5, 1)] {
            let text = accept(&tally(5), all, resumed)
                .expect_err("not full")
                .to_string();
            assert!(text.contains("5 handshakes"), "{text}");
        }
    }

    #[test]
    fn a_failed_handshake_fails_the_measurement() {
        let mut tally = tally(5);
        (tally.failed, tally.first_failure) = (2, Some("an alert".to_owned()));
        let text = accept(&tally, 5, 0).expect_err("failed").to_string();
        assert!(text.contains("2 of 7") && text.contains("an alert"));
    }
}
