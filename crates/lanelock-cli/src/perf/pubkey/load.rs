//! Operations that arrive by themselves: latency is counted from the moment at which an operation
//! should have been submitted, so one that could not be, because a batch was running, counts.

use std::rc::Rc;
use std::time::{Duration, Instant};

use lanelock::Device;
use lanelock::public_key::{FlushPolicy, KeyDevice, KeyQueue, KeySession};

use super::super::contest::Pace;
use super::super::latencies::Latencies;
use super::super::measure::{self, Absent, Turns};
use super::arrivals::Arrivals;
use super::who::Who;
use super::work::KeyWork;
use crate::failure::Failure;
use crate::row::{Common, KeyLoad, Percentiles};
use crate::terminal::say;

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
}

/// What a server did in one round.
#[derive(Clone, Debug, Default)]
struct Round {
    ops_per_s: f64,
    lanes_filled: Option<f64>,
    percentiles: Percentiles,
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
fn rounds(pace: Pace) -> usize {
    let room = pace.seconds.as_millis() / ROUND.as_millis();
    usize::try_from(room).map_or(pace.rounds, |room| room.clamp(1, pace.rounds))
}

/// One row for each contestant and policy, in turns; each figure the median of the rounds.
///
/// # Errors
/// [`Failure::Failed`] if an operation failed, [`Failure::Usage`] for a load where there are no
/// lanes.
pub(super) fn measure(
    device: &Device,
    cells: Vec<(Rc<KeyWork>, Vec<Who>)>,
    offers: &[Offer],
    pace: Pace,
) -> Result<Vec<KeyLoad>, Failure> {
    let rounds = rounds(pace);
    let span = pace.seconds / u32::try_from(rounds).unwrap_or(u32::MAX);
    let mut loads = Vec::new();
    for (work, contestants) in cells {
        let mut ready = Vec::new();
        for who in contestants {
            match work.sessions(device, &who)? {
                Some(sessions) => ready.push((who.name(), sessions)),
                None => say(&format!("{}: {} does not offer it", work.name, who.name())),
            }
        }
        let (ready, capacity) = (
            Rc::new(ready.clone()),
            capacity(device, &work, &ready, span)?,
        );
        for &offer in offers {
            let rate = rate(offer, &work, capacity)?;
            let (work, ready) = (work.clone(), ready.clone());
            loads.push(Load {
                work,
                ready,
                offer,
                rate,
                capacity,
            });
        }
    }
    let name = |load: &Load| format!("{}, {}/s", load.work.name, load.rate);
    let enter = |load: &Load, _: &mut Absent<'_>| {
        let servers = load
            .ready
            .iter()
            .flat_map(|(name, sessions)| servers(device, name, &load.work, sessions, load.rate));
        Ok(servers.collect())
    };
    let rows = |load: &Load, servers: &[Server], rounds: Vec<Vec<Round>>| {
        let rows = servers.iter().zip(&rounds);
        Ok(rows
            .map(|(server, rounds)| load.row(server, rounds))
            .collect())
    };
    measure::measure(&loads, Pace { rounds, ..pace }, name, enter, rows)
}

/// Operations of one kind that arrive at one rate.
struct Load {
    work: Rc<KeyWork>,
    /// Who offers them, with sessions.
    ready: Rc<Vec<(String, Vec<KeySession>)>>,
    offer: Offer,
    rate: u64,
    capacity: Option<Capacity>,
}

impl Load {
    fn row(&self, server: &Server, rounds: &[Round]) -> KeyLoad {
        let rate = median(rounds, |round| Some(round.ops_per_s)).unwrap_or_default();
        KeyLoad {
            common: Common {
                burst: 1,
                ..self.work.common(&server.name, rate)
            },
            offered_ops_per_s: self.rate,
            load_percent: match self.offer {
                Offer::Rate(_) => None,
                Offer::Load(percent) => Some(percent as u64),
            },
            batch_ns: self.capacity.map(|capacity| nanoseconds(capacity.batch)),
            policy: server.policy.name().to_owned(),
            lanes_filled: median(rounds, |round| round.lanes_filled),
            percentiles: medians(rounds),
        }
    }
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

impl Turns for Server {
    type Lap = Round;
    /// A whole round: queues grow at first.
    const WARM_UP: Duration = Duration::MAX;

    /// Offers operations for `span` and finishes them.
    fn turn(&mut self, span: Duration) -> Result<Round, Failure> {
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
        Ok(Round {
            ops_per_s: lap.rate(),
            lanes_filled: (batches > 0).then_some(filled),
            percentiles: latencies.percentiles(),
        })
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
                "{}: a million operations of {} are waiting; use a lower rate",
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

/// Each figure the median of the rounds'.
fn medians(rounds: &[Round]) -> Percentiles {
    let at = |value: fn(&Percentiles) -> u64| {
        median(rounds, |round| Some(value(&round.percentiles))).unwrap_or_default()
    };
    let points = rounds[0].percentiles.latency_curve.iter().enumerate();
    let curve = points.filter_map(|(at, &(percent, _))| {
        let time = |round: &Round| Some(round.percentiles.latency_curve.get(at)?.1);
        Some((percent, median(rounds, time)?))
    });
    Percentiles {
        p50_ns: at(|of| of.p50_ns),
        p90_ns: at(|of| of.p90_ns),
        p99_ns: at(|of| of.p99_ns),
        p99_9_ns: at(|of| of.p99_9_ns),
        max_ns: at(|of| of.max_ns),
        latency_curve: curve.collect(),
    }
}

/// The middle one of what the rounds have, the lower of two.
fn median<T: Copy + PartialOrd>(
    rounds: &[Round],
    value: impl Fn(&Round) -> Option<T>,
) -> Option<T> {
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
        let rounds = [3, 900, 1].map(|p99_ns| Round {
            percentiles: Percentiles {
                p99_ns,
                latency_curve: vec![(50.0, p99_ns), (99.0, 2 * p99_ns)],
                ..Percentiles::default()
            },
            ..Round::default()
        });
        let all = medians(&rounds);
        assert_eq!(all.p99_ns, 3);
        assert_eq!(all.latency_curve, [(50.0, 3), (99.0, 6)]);
        assert_eq!(median(&rounds, |round| round.lanes_filled), None);
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
