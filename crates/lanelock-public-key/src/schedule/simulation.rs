//! A server under load: operations arrive at random, batches take the time that they were
//! measured to take, and nothing else passes. What the policy promises is looked at over minutes.

use std::time::Duration;

use super::*;

/// What batches of one algorithm take on eight lanes.
#[derive(Clone, Copy)]
struct Kernel {
    /// Microseconds by the number of operations, from 1.
    batches: [u64; 8],
    per_pass: usize,
}

/// Rounded from `perf pubkey` on a CPU with 512-bit multipliers: RSA-2048 runs four at a time there,
/// X25519 eight.
const RSA: Kernel = Kernel {
    batches: [270, 270, 270, 270, 520, 520, 520, 520],
    per_pass: 4,
};
const X25519: Kernel = Kernel {
    batches: [20; 8],
    per_pass: 8,
};
const DEADLINE: Duration = FlushPolicy::DEADLINE;

/// Operations of one algorithm that arrive at random.
struct Source {
    kernel: Kernel,
    /// Mean distance of two arrivals, in microseconds.
    mean: f64,
    next: Duration,
    random: fastrand::Rng,
}

/// When a server polls.
#[derive(Clone, Copy, PartialEq)]
enum Server {
    /// As soon as it is free, for everything that has arrived: nobody else can submit meanwhile.
    Eager,
    /// Not knowing who might submit.
    Waiting,
}

/// What became of the operations.
#[derive(Default)]
struct Seen {
    /// From arrival to result, for each source.
    latencies: [Vec<Duration>; 2],
    /// Longest time between being due and being run, of operations that were within the first
    /// batch of their group when they arrived.
    overdue: Duration,
}

impl Source {
    fn new(kernel: Kernel, per_second: f64, seed: u64) -> Self {
        let mut source = Self {
            kernel,
            mean: 1e6 / per_second,
            next: Duration::ZERO,
            random: fastrand::Rng::with_seed(seed),
        };
        source.next = source.gap();
        source
    }

    /// Distances of a Poisson process.
    fn gap(&mut self) -> Duration {
        let uniform = 1.0 - self.random.f64();
        Duration::from_secs_f64(-uniform.ln() * self.mean / 1e6)
    }

    /// How long a batch of `count` operations takes.
    fn batch(&self, count: usize) -> Duration {
        Duration::from_micros(self.kernel.batches[count - 1])
    }
}

/// Runs `sources` for `span` of simulated time on one thread.
fn simulate(mut sources: Vec<Source>, server: Server, span: Duration) -> Seen {
    let policy = FlushPolicy::with_deadline(DEADLINE);
    let start = Instant::now();
    let mut schedule = Schedule::new();
    let mut seen = Seen::default();
    let mut now = Duration::ZERO;
    while now < span {
        for (group, source) in sources.iter_mut().enumerate() {
            while source.next <= now {
                let ahead = schedule.groups.iter().find(|known| known.id == group);
                let first = ahead.is_none_or(|known| known.entries.len() < known.lanes);
                let arrival = (group, source.next, first);
                schedule.push(group, 8, arrival, start + source.next);
                let gap = source.gap();
                source.next += gap;
            }
        }
        let cutoff = (server == Server::Eager).then(|| schedule.cutoff());
        let part = |&(group, ..): &(usize, _, _), count| {
            FlushPolicy::batch(count, sources[group].kernel.per_pass)
        };
        let mut batch = Vec::new();
        if schedule.take_due(&policy, start + now, cutoff, part, &mut batch) {
            let done = now + sources[batch[0].item.0].batch(batch.len());
            for entry in batch {
                let (group, arrived, first) = entry.item;
                seen.latencies[group].push(done - arrived);
                if first {
                    let overdue = now.saturating_sub(arrived + DEADLINE);
                    seen.overdue = seen.overdue.max(overdue);
                }
            }
            now = done;
            continue;
        }
        let next = sources.iter().map(|source| source.next).min();
        let due = schedule.due_at(&policy).map(|due| due - start);
        now = next.into_iter().chain(due).min().expect("more arrives");
    }
    seen
}

fn percentile(latencies: &mut [Duration], percent: usize) -> Duration {
    latencies.sort_unstable();
    latencies[latencies.len() * percent / 100]
}

#[test]
fn at_four_fifths_of_capacity_few_wait_for_more_than_three_batches() {
    for (kernel, server) in [
        (RSA, Server::Eager),
        (RSA, Server::Waiting),
        (X25519, Server::Eager),
        (X25519, Server::Waiting),
    ] {
        let batch = Duration::from_micros(kernel.batches[7]);
        let rate = 0.8 * 8.0 / batch.as_secs_f64();
        let source = Source::new(kernel, rate, 0x9e37_79b9_7f4a_7c15);
        let mut seen = simulate(vec![source], server, batch * 100_000);
        let latencies = &mut seen.latencies[0];
        assert!(latencies.len() > 500_000, "{}", latencies.len());
        let p99 = percentile(latencies, 99);
        assert!(p99 <= 3 * batch, "{p99:?} of {batch:?}");
    }
}

#[test]
fn nothing_waits_beyond_its_deadline_but_for_one_batch_of_each_algorithm() {
    let long = Duration::from_micros(RSA.batches[7]);
    let short = Duration::from_micros(X25519.batches[7]);
    // Up to more than the thread can do: who is within a batch of the front still has the promise.
    for load in [0.2, 0.5, 0.8, 1.2] {
        for server in [Server::Eager, Server::Waiting] {
            let rate = load / 2.0 * 8.0;
            let sources = vec![
                Source::new(RSA, rate / long.as_secs_f64(), 1),
                Source::new(X25519, rate / short.as_secs_f64(), 2),
            ];
            let seen = simulate(sources, server, Duration::from_secs(10));
            assert!(seen.latencies.iter().all(|some| some.len() > 1000));
            let overdue = seen.overdue;
            assert!(overdue <= long + short, "{overdue:?} at {load}");
        }
    }
}

#[test]
fn a_lone_operation_runs_at_once_where_nobody_else_can_submit() {
    let source = Source::new(RSA, 100.0, 3);
    let mut seen = simulate(vec![source], Server::Eager, Duration::from_secs(20));
    let median = percentile(&mut seen.latencies[0], 50);
    assert_eq!(median, Duration::from_micros(RSA.batches[0]));
}
