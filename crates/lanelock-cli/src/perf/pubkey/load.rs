//! Operations that arrive by themselves: latency is counted from the moment at which an operation
//! should have been submitted, so one that could not be, because a batch was running, counts.

use std::rc::Rc;
use std::time::{Duration, Instant};

use lanelock::Device;
use lanelock::public_key::{FlushPolicy, KeyQueue, KeySession};

use super::super::contest::Pace;
use super::super::latencies::Latencies;
use super::super::progress::Progress;
use super::arrivals::Arrivals;
use super::who::Who;
use super::work::KeyWork;
use crate::failure::Failure;
use crate::row::Row;

/// How much arrives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offer {
    /// Operations per second.
    Rate(usize),
    /// Percent of what full batches do.
    Load(usize),
}

/// When what has arrived is run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Policy {
    /// Each operation by itself, in the order of arrival.
    Single,
    /// Full batches, and partial ones at the default deadline: who else may submit is unknown.
    Deadline,
    /// As soon as nothing runs: everybody who could submit has, and while a batch runs the next
    /// one gathers.
    Adaptive,
}

impl Policy {
    const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Deadline => "deadline",
            Self::Adaptive => "adaptive",
        }
    }
}

/// A contestant under one load.
struct Server {
    device: Device,
    name: String,
    policy: Policy,
    work: Rc<KeyWork>,
    sessions: Vec<KeySession>,
    queue: KeyQueue,
    arrivals: Arrivals,
    /// Rounds so far.
    rounds: Vec<Row>,
}

/// What full batches do.
#[derive(Clone, Copy)]
struct Capacity {
    ops_per_s: f64,
    batch: Duration,
}

/// Shorter rounds hold too few operations for a percentile.
const ROUND: Duration = Duration::from_millis(100);

/// Rounds that the seconds of `pace` have room for.
pub(super) fn rounds(pace: Pace) -> usize {
    let room = pace.seconds.as_millis() / ROUND.as_millis();
    usize::try_from(room).map_or(pace.rounds, |room| room.clamp(1, pace.rounds))
}

/// One row for each contestant and policy, in turns; each figure the median of the rounds.
///
/// # Errors
/// [`Failure::Failed`] if an operation failed.
pub(super) fn measure(
    device: &Device,
    contestants: &[Who],
    work: &Rc<KeyWork>,
    offers: &[Offer],
    pace: Pace,
    progress: &Progress,
) -> Result<Vec<Row>, Failure> {
    let count = rounds(pace);
    let span = pace.seconds / u32::try_from(count).unwrap_or(u32::MAX);
    let mut ready = Vec::new();
    for who in contestants {
        match work.sessions(device, who)? {
            Some(sessions) => ready.push((who.name(), sessions)),
            None => progress.note(&format!("{}: {} does not offer it", work.name, who.name())),
        }
    }
    let capacity = capacity(device, work, &ready, span)?;
    let mut rows = Vec::new();
    for &offer in offers {
        let rate = rate(offer, work, capacity)?;
        progress.say(format!("{}, {rate}/s", work.name));
        let mut servers: Vec<_> = ready
            .iter()
            .flat_map(|(name, sessions)| servers(device, name, work, sessions, rate))
            .collect();
        for server in &mut servers {
            let _warms_up = server.lap(span)?;
        }
        for round in 0..count {
            let turns = servers.len();
            for turn in 0..turns {
                let server = &mut servers[(round + turn) % turns];
                let row = server.lap(span)?;
                server.rounds.push(row);
            }
            progress.step();
        }
        rows.extend(servers.iter().map(|server| Row {
            offered_ops_per_s: Some(rate),
            load_percent: match offer {
                Offer::Rate(_) => None,
                Offer::Load(percent) => Some(percent as u64),
            },
            batch_ns: capacity.map(|capacity| nanoseconds(capacity.batch)),
            policy: Some(server.policy.name().to_owned()),
            burst: 1,
            ..medians(&server.rounds, work.row(&server.name))
        }));
    }
    Ok(rows)
}

/// The policies that make a difference.
fn servers(
    device: &Device,
    name: &str,
    work: &Rc<KeyWork>,
    sessions: &[KeySession],
    rate: u64,
) -> impl Iterator<Item = Server> {
    let policies: &[_] = match sessions[0].lanes() {
        1 => &[Policy::Single],
        _ => &[Policy::Deadline, Policy::Adaptive],
    };
    policies.iter().map(move |&policy| Server {
        name: name.to_owned(),
        policy,
        work: work.clone(),
        sessions: sessions.to_vec(),
        queue: queue(device),
        device: device.clone(),
        arrivals: Arrivals::new(rate),
        rounds: Vec::new(),
    })
}

fn queue(device: &Device) -> KeyQueue {
    device.key_queue(1 << 20, FlushPolicy::default())
}

/// What the first contestant that has lanes does with full batches.
fn capacity(
    device: &Device,
    work: &Rc<KeyWork>,
    ready: &[(String, Vec<KeySession>)],
    span: Duration,
) -> Result<Option<Capacity>, Failure> {
    let Some((name, sessions)) = ready.iter().find(|(_, sessions)| sessions[0].lanes() > 1) else {
        return Ok(None);
    };
    let mut rates = Vec::new();
    let Some(mut server) = servers(device, name, work, sessions, 1).next() else {
        return Ok(None);
    };
    for _ in 0..7 {
        rates.push(server.full_batches(span / 2)?);
    }
    rates.sort_by(f64::total_cmp);
    let ops_per_s = rates[rates.len() / 2];
    #[expect(clippy::cast_precision_loss, reason = "a few lanes")]
    let batch = Duration::from_secs_f64(sessions[0].lanes() as f64 / ops_per_s);
    Ok(Some(Capacity { ops_per_s, batch }))
}

/// Operations per second.
fn rate(offer: Offer, work: &KeyWork, capacity: Option<Capacity>) -> Result<u64, Failure> {
    match (offer, capacity) {
        (Offer::Rate(rate), _) => Ok(rate as u64),
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "percents, and operations per second"
        )]
        (Offer::Load(percent), Some(capacity)) => {
            Ok((percent as f64 / 100.0 * capacity.ops_per_s).ceil() as u64)
        }
        (Offer::Load(_), None) => Err(Failure::Usage(format!(
            "--load: no contestant runs {} in lanes, so there is no batch; use --rate",
            work.name
        ))),
    }
}

impl Server {
    /// Operations per second if batches are always full.
    fn full_batches(&mut self, span: Duration) -> Result<f64, Failure> {
        let lanes = self.sessions[0].lanes();
        let mut latencies = Latencies::new();
        let mut done = Vec::new();
        let start = Instant::now();
        while start.elapsed() < span {
            for at in 0..lanes {
                self.submit(at, Duration::ZERO, start)?;
            }
            self.queue.poll_one(start, None);
            self.queue.dequeue(&mut done, usize::MAX);
            self.settle(&mut done, start.elapsed(), &mut latencies)?;
        }
        latencies.took(start.elapsed());
        Ok(latencies.lap().rate())
    }

    /// Offers operations for `span` and finishes them.
    fn lap(&mut self, span: Duration) -> Result<Row, Failure> {
        let mut latencies = Latencies::new();
        let mut done = Vec::new();
        let before = self.queue.stats();
        let (mut submitted, mut finished, mut overrun) = (0, 0, false);
        self.arrivals.restart();
        let start = Instant::now();
        while self.arrivals.next() < span || finished < submitted {
            let now = Instant::now();
            while self.arrivals.next() < span && start + self.arrivals.next() <= now {
                self.submit(submitted, self.arrivals.next(), start)?;
                submitted += 1;
                self.arrivals.advance();
            }
            let submitters = match self.policy {
                Policy::Deadline => None,
                Policy::Single | Policy::Adaptive => Some(self.queue.waiting()),
            };
            self.queue.poll_one(now, submitters);
            finished += self.queue.dequeue(&mut done, usize::MAX);
            let elapsed = start.elapsed();
            self.settle(&mut done, elapsed, &mut latencies)?;
            // What is offered beyond one's means would never end.
            overrun = elapsed > 3 * span;
            if overrun {
                break;
            }
        }
        latencies.took(start.elapsed());
        let lap = latencies.lap();
        let after = self.queue.stats();
        let batches = after.batches - before.batches;
        #[expect(clippy::cast_precision_loss, reason = "operations of seconds")]
        let filled = (after.in_lanes - before.in_lanes) as f64 / batches as f64;
        if overrun {
            self.queue = queue(&self.device);
        }
        let mut row = Row {
            ops_per_s: lap.rate(),
            lanes_filled: (batches > 0).then_some(filled),
            ..Row::default()
        };
        latencies.describe(&mut row);
        Ok(row)
    }

    /// Enqueues the operation that arrived `at` after `start`.
    fn submit(&mut self, number: usize, at: Duration, start: Instant) -> Result<(), Failure> {
        let key = number % self.sessions.len();
        let job = self.work.items[key].job(&self.sessions[key]);
        match self
            .queue
            .enqueue(job.user_data(nanoseconds(at)), start + at)
        {
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::Failed(format!(
                "{}: a million operations of {} are waiting; offer less",
                self.name, self.work.name
            ))),
        }
    }

    /// Takes down how long those took that are `done` at `elapsed`.
    fn settle(
        &self,
        done: &mut Vec<lanelock::public_key::KeyJob>,
        elapsed: Duration,
        latencies: &mut Latencies,
    ) -> Result<(), Failure> {
        let elapsed = nanoseconds(elapsed);
        for job in done.drain(..) {
            if job.status() != lanelock::Status::Success {
                let why = job.error().map_or(String::new(), ToString::to_string);
                let (who, name) = (&self.name, &self.work.name);
                return Err(Failure::Failed(format!("{who}, {name}: {why}")));
            }
            latencies.record(elapsed - job.data(), 1);
        }
        Ok(())
    }
}

/// Each figure the median of the rounds', the rest as in `row`.
fn medians(rounds: &[Row], row: Row) -> Row {
    let rate = median(rounds, |row| Some(row.ops_per_s)).unwrap_or_default();
    let points = rounds[0].latency_curve.iter().flatten().enumerate();
    let curve = points.filter_map(|(at, &(percent, _))| {
        let time = |row: &Row| Some(row.latency_curve.as_ref()?.get(at)?.1);
        Some((percent, median(rounds, time)?))
    });
    Row {
        ops_per_s: rate,
        ns_per_op: 1e9 / rate,
        lanes_filled: median(rounds, |row| row.lanes_filled),
        p50_ns: median(rounds, |row| row.p50_ns),
        p90_ns: median(rounds, |row| row.p90_ns),
        p99_ns: median(rounds, |row| row.p99_ns),
        p99_9_ns: median(rounds, |row| row.p99_9_ns),
        max_ns: median(rounds, |row| row.max_ns),
        latency_curve: Some(curve.collect()),
        ..row
    }
}

/// The middle one of what the rounds have, the lower of two.
fn median<T: Copy + PartialOrd>(rounds: &[Row], value: impl Fn(&Row) -> Option<T>) -> Option<T> {
    let mut values: Vec<T> = rounds.iter().filter_map(value).collect();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len().saturating_sub(1) / 2).copied()
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_median_of_the_rounds() {
        let rounds = [3, 900, 1].map(|p99| Row {
            ops_per_s: 100.0,
            p99_ns: Some(p99),
            latency_curve: Some(vec![(50.0, p99), (99.0, 2 * p99)]),
            ..Row::default()
        });
        let row = medians(&rounds, Row::default());
        assert_eq!((row.p99_ns, row.p50_ns), (Some(3), None));
        assert_eq!(row.latency_curve, Some(vec![(50.0, 3), (99.0, 6)]));
        assert_eq!(row.ns_per_op, 1e7);
    }

    #[test]
    fn rounds_are_long_enough_for_a_percentile() {
        let pace = |milliseconds, rounds| Pace {
            seconds: Duration::from_millis(milliseconds),
            rounds,
        };
        assert_eq!(rounds(pace(500, 25)), 5);
        assert_eq!(rounds(pace(10, 25)), 1);
        assert_eq!(rounds(pace(5000, 25)), 25);
    }
}
