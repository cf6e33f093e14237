//! Operations that arrive at random, one by one, whether or not the ones before are done: the
//! latency is counted from the moment at which an operation should have been submitted.

use std::time::{Duration, Instant};

use lanelock::Device;
use lanelock::public_key::FlushPolicy;

use super::super::latencies::Latencies;
use super::work::KeyWork;
use crate::failure::Failure;
use crate::row::Row;

/// When what has arrived is run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Policy {
    /// Each operation at once, by itself.
    Single,
    /// Full batches, and partial ones at the default deadline.
    Deadline,
    /// Everything that has arrived, as soon as nothing else has: while a batch runs the next one
    /// gathers.
    Adaptive,
}

impl Policy {
    pub(super) const ALL: [Self; 3] = [Self::Single, Self::Deadline, Self::Adaptive];

    const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Deadline => "deadline",
            Self::Adaptive => "adaptive",
        }
    }
}

/// Offers `rate` operations per second for `span`; `None` if the engine does not offer the work.
pub(super) fn measure(
    device: &Device,
    engine: &str,
    work: &KeyWork,
    policy: Policy,
    rate: usize,
    span: Duration,
) -> Result<Option<Row>, Failure> {
    let Some(sessions) = work.sessions(device, engine)? else {
        return Ok(None);
    };
    let mut queue = device.key_queue(1 << 20, FlushPolicy::default());
    let mut latencies = Latencies::new();
    let mut arrivals = Arrivals::new(rate);
    let mut done = Vec::new();
    let start = Instant::now();
    let (mut next, mut submitted, mut finished) = (arrivals.gap(), 0_usize, 0_usize);
    while next < span || finished < submitted {
        let now = Instant::now();
        while next < span && start + next <= now {
            let at = submitted % sessions.len();
            let since = u64::try_from(next.as_nanos()).unwrap_or(u64::MAX);
            let job = work.items[at].job(&sessions[at]).user_data(since);
            if queue.enqueue(job, start + next).is_err() {
                return Err(Failure::Failed(
                    "a million operations are waiting".to_owned(),
                ));
            }
            submitted += 1;
            next += arrivals.gap();
            if policy == Policy::Single {
                queue.flush();
            }
        }
        match policy {
            Policy::Single => {}
            Policy::Deadline => drop(queue.poll(now, None)),
            // Everybody who could submit has.
            Policy::Adaptive => drop(queue.poll(now, Some(queue.waiting()))),
        }
        finished += queue.dequeue(&mut done, usize::MAX);
        let elapsed = start.elapsed();
        for job in done.drain(..) {
            if job.status() != lanelock::Status::Success {
                let why = job.error().map_or(String::new(), |error| error.to_string());
                return Err(Failure::Failed(format!("{engine}, {}: {why}", work.name)));
            }
            let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
            latencies.record(nanoseconds - job.data(), 1);
        }
        // What is offered beyond the engine's means would never end.
        if elapsed > 3 * span {
            break;
        }
    }
    latencies.took(start.elapsed());
    let lap = latencies.lap();
    let stats = queue.stats();
    let mut row = Row {
        ops_per_s: lap.rate(),
        ns_per_op: 1e9 / lap.rate(),
        burst: 1,
        offered_ops_per_s: Some(rate as u64),
        policy: Some(policy.name().to_owned()),
        lanes_filled: (stats.batches > 0).then(|| stats.mean_fill()),
        ..work.row(engine)
    };
    latencies.describe(&mut row);
    Ok(Some(row))
}

/// Gaps between arrivals of a Poisson process, the same ones in each run.
struct Arrivals {
    state: u64,
    mean: f64,
}

impl Arrivals {
    #[expect(clippy::cast_precision_loss, reason = "at most ten million")]
    fn new(rate: usize) -> Self {
        Self {
            state: 0x9e37_79b9_7f4a_7c15,
            mean: 1.0 / rate as f64,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    fn gap(&mut self) -> Duration {
        // xorshift64 (Marsaglia 2003)
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let uniform = ((self.state >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        Duration::from_secs_f64(-uniform.ln() * self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_the_mean_that_the_rate_asks_for() {
        let mut arrivals = Arrivals::new(1000);
        let total: Duration = (0..10_000).map(|_| arrivals.gap()).sum();
        let mean = total.as_secs_f64() / 10_000.0;
        assert!((0.97e-3..1.03e-3).contains(&mean), "{mean}");
    }
}
