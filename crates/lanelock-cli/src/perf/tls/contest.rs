//! Servers with and without the provider, in turns on the same core.

use std::fmt::Display;
use std::time::Duration;

use super::super::contestant::Lap;
use super::super::latencies::Latencies;
use super::super::progress::Progress;
use super::super::rounds::Score;
use super::cores::Cores;
use super::credentials::{Credentials, KeyKind};
use super::haproxy::{Haproxy, Setup};
use super::lanes::Lanes;
use super::load::{self, Plan, Tally, Until};
use super::process;
use super::target::{Target, Version};
use crate::failure::Failure;
use crate::row::Row;

/// What is measured: a kind of key and a version, at several numbers of connections.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    pub(super) key: KeyKind,
    pub(super) version: Version,
    pub(super) connections: &'a [usize],
}

/// How long a turn is, and how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) seconds: Duration,
    pub(super) rounds: usize,
}

/// A server that takes part.
struct Contestant {
    name: String,
    key: KeyKind,
    server: Haproxy,
    target: Target,
}

/// What a contestant did with some number of connections.
struct Record {
    laps: Vec<Lap>,
    latencies: Latencies,
    handshakes: u64,
    /// Warm-up and end included, in contrast to `handshakes`.
    all_handshakes: u64,
    lanes: Lanes,
    server_cpu: Duration,
    client_cpu: Duration,
    elapsed: Duration,
}

/// Has the servers of `setups` do handshakes of `cell`, and checks that they did: each names
/// itself, the first one is the reference.
pub(super) fn measure(
    setups: &[(String, Setup)],
    cell: &Cell<'_>,
    pace: Pace,
    cores: &Cores,
    progress: &Progress,
) -> Result<Vec<Row>, Failure> {
    let broken = |error: &dyn Display| Failure::Failed(format!("{}: {error}", cell.key.name()));
    let credentials = Credentials::generate(cell.key).map_err(|error| broken(&error))?;
    let shown = credentials
        .certificate
        .to_der()
        .map_err(|error| broken(&error))?;
    let mut contestants = Vec::new();
    for (name, setup) in setups {
        let server = cores.as_server(|| Haproxy::start(setup, &credentials))?;
        contestants.push(Contestant {
            target: Target::new(server.address(), cell.version, shown.clone())
                .map_err(|error| broken(&error))?,
            name: name.clone(),
            key: cell.key,
            server,
        });
    }
    let mut rows = Vec::new();
    for &connections in cell.connections {
        progress.say(format!(
            "{}, TLS {}, {connections} connections",
            cell.key.name(),
            cell.version.name()
        ));
        let records = alternate(&contestants, connections, pace, progress).map_err(|failure| {
            failure.within(&format!("{}, TLS {}", cell.key.name(), cell.version.name()))
        })?;
        let rate = Score::of(&records[0].laps).rate;
        for (contestant, record) in contestants.iter().zip(&records) {
            let mut row = record.row();
            row.algorithm = cell.key.name().to_owned();
            row.operation = format!("tls-{}-handshake", cell.version.name());
            row.contestant.clone_from(&contestant.name);
            row.connections = Some(connections as u64);
            row.server_core = cores.server();
            if contestants.len() > 1 {
                row.ratio = Some(row.ops_per_s / rate);
                row.reference = Some(contestants[0].name.clone());
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

fn alternate(
    contestants: &[Contestant],
    connections: usize,
    pace: Pace,
    progress: &Progress,
) -> Result<Vec<Record>, Failure> {
    let span = pace.seconds / u32::try_from(pace.rounds).unwrap_or(u32::MAX);
    let plan = Plan {
        connections,
        until: Until::Elapsed {
            warm_up: span / 4,
            measured: span,
        },
        abort: 0.0,
    };
    let mut records: Vec<_> = contestants.iter().map(|_| Record::new()).collect();
    for round in 0..pace.rounds {
        for turn in 0..contestants.len() {
            let who = (round + turn) % contestants.len();
            contestants[who]
                .lap(plan, &mut records[who])
                .map_err(|failure| {
                    let Contestant { name, .. } = &contestants[who];
                    failure.within(&format!("{name}, {connections} connections"))
                })?;
            progress.step();
        }
    }
    Ok(records)
}

impl Contestant {
    fn lap(&self, plan: Plan, record: &mut Record) -> Result<(), Failure> {
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
        record.lanes += Lanes::of(pid, self.key.name()) - lanes;
        record.all_handshakes += tally.finished;
        let lap = tally.latencies.lap();
        record.handshakes += lap.ops;
        record.elapsed += lap.elapsed;
        if let [start, end] = marks[..] {
            record.server_cpu += end.0.saturating_sub(start.0);
            record.client_cpu += end.1.saturating_sub(start.1);
        }
        record.latencies.add(&tally.latencies);
        record.laps.push(lap);
        Ok(())
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

impl Record {
    fn new() -> Self {
        Self {
            laps: Vec::new(),
            latencies: Latencies::new(),
            handshakes: 0,
            all_handshakes: 0,
            lanes: Lanes::default(),
            server_cpu: Duration::ZERO,
            client_cpu: Duration::ZERO,
            elapsed: Duration::ZERO,
        }
    }

    fn row(&self) -> Row {
        let score = Score::of(&self.laps);
        let share = |cpu: Duration| 100.0 * cpu.as_secs_f64() / self.elapsed.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "2^52 handshakes take ages")]
        let handshakes = self.handshakes as f64;
        let mut row = Row {
            threads: 1,
            ops_per_s: score.rate,
            ns_per_op: 1e9 / score.rate,
            spread_percent: Some(score.spread_percent),
            lanes_filled: self.lanes.filled(),
            batched_percent: self.lanes.share_percent(self.all_handshakes),
            full_handshakes: Some(self.handshakes),
            server_cpu_ns_per_op: Some(1e9 * self.server_cpu.as_secs_f64() / handshakes),
            server_busy_percent: Some(share(self.server_cpu)),
            client_busy_percent: Some(share(self.client_cpu)),
            ..Row::default()
        };
        self.latencies.describe(&mut row);
        row
    }
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
