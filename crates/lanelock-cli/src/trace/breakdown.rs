//! The figures of a trace.

use std::collections::BTreeMap;

use serde::Serialize;

use super::buckets;
use super::output::{Stat, Totals};
use crate::figures::float;

/// Where handshakes spent their time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Breakdown {
    /// What was traced.
    pub program: String,
    pub seconds: f64,
    /// Files with probes in them, but for libcrypto.
    pub libraries: Vec<String>,
    pub handshakes: Handshakes,
    /// Public-key operations in libcrypto's functions; empty if they were not timed there.
    pub crypto: Vec<Operation>,
    /// Batches in the provider.
    pub batches: Option<Batches>,
    /// Time in crypto over time in the calls that drive handshakes.
    pub crypto_share: Option<f64>,
    /// Events that were not printed because they came too fast. Totals miss nothing.
    pub events_lost: u64,
    /// What limits these figures.
    pub notes: Vec<String>,
}

/// Handshakes, each of one connection.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Handshakes {
    pub completed: u64,
    pub failed: u64,
    /// Connections freed before their handshake was complete.
    pub cut_off: u64,
    /// Calls that did not complete a handshake, by what it waited for.
    pub returned_for_later: BTreeMap<String, u64>,
    /// From the first call to the end of the last.
    pub time: Option<Times>,
    /// Inside the calls that drive it.
    pub inside_calls: Option<Times>,
    /// Paused for operations, of those handshakes that were.
    pub paused: Option<Times>,
}

/// A distribution of times, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Times {
    pub count: u64,
    pub average_us: f64,
    /// At most a 32nd too high, as is `p99_us`.
    pub p50_us: u64,
    pub p99_us: u64,
    pub total_us: u64,
    /// Counts by the highest value that they stand for.
    pub distribution_us: Vec<(u64, u64)>,
}

/// One kind of operation.
#[derive(Clone, Debug, Serialize)]
pub struct Operation {
    pub name: String,
    pub count: u64,
    pub average_us: f64,
    pub total_us: f64,
}

/// Batches of all algorithms.
#[derive(Clone, Debug, Serialize)]
pub struct Batches {
    /// Operations that have come back.
    pub done: u64,
    pub failed: u64,
    /// Given up before they ran, as their connection was.
    pub cancelled: u64,
    pub algorithms: Vec<Algorithm>,
    /// From an operation's submission to its result.
    pub wait: Option<Times>,
}

/// Batches of one algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct Algorithm {
    pub name: String,
    pub submitted: u64,
    pub batches: u64,
    /// Number of batches by the lanes that were filled.
    pub lanes: BTreeMap<u64, u64>,
    pub lanes_average: f64,
    pub average_us: f64,
    pub total_us: f64,
}

impl Handshakes {
    /// Whether none was even begun.
    pub fn is_empty(&self) -> bool {
        let ended = self.completed + self.failed + self.cut_off;
        ended == 0 && self.returned_for_later.is_empty()
    }
}

impl Algorithm {
    /// Operations that its batches held.
    pub fn operations(&self) -> u64 {
        self.lanes.iter().map(|(lanes, count)| lanes * count).sum()
    }
}

impl Breakdown {
    /// The figures in what the scripts counted.
    pub(super) fn of(totals: &Totals) -> Self {
        let handshakes = handshakes(totals);
        let crypto: Vec<_> = totals
            .stats("@crypto_ns")
            .into_iter()
            .map(|(name, stat)| Operation {
                name,
                count: stat.count,
                average_us: average(stat) / 1000.0,
                total_us: float(stat.total) / 1000.0,
            })
            .collect();
        let batches = batches(totals);
        let spent: f64 = match &batches {
            Some(batches) => batches.algorithms.iter().map(|a| a.total_us).sum(),
            None => crypto.iter().map(|operation| operation.total_us).sum(),
        };
        let inside = handshakes.inside_calls.as_ref();
        let crypto_share = inside
            .filter(|inside| spent > 0.0 && inside.total_us > 0)
            .map(|inside| spent / float(inside.total_us));
        Self {
            handshakes,
            crypto,
            batches,
            crypto_share,
            ..Self::default()
        }
    }
}

fn handshakes(totals: &Totals) -> Handshakes {
    let counts = totals.counts("@handshakes");
    let count = |key: &str| counts.get(key).copied().unwrap_or(0);
    let stats = totals.stats("@handshake_stat");
    let times = |key: &str, map: &str| {
        let stat = stats.get(key).copied()?;
        times(stat, &totals.buckets(map))
    };
    let returned = totals.counts("@returned").into_iter();
    Handshakes {
        completed: count("completed"),
        failed: count("failed"),
        cut_off: count("cut off"),
        returned_for_later: returned
            .map(|(why, count)| (why.trim_start_matches("later: ").to_owned(), count))
            .collect(),
        time: times("time", "@handshake_time"),
        inside_calls: times("inside calls", "@handshake_inside"),
        paused: times("paused", "@handshake_paused"),
    }
}

fn batches(totals: &Totals) -> Option<Batches> {
    let lanes = totals.counts("@batch_lanes");
    let submitted = totals.counts("@submitted");
    let operations = totals.counts("@operations");
    if lanes.is_empty() && submitted.is_empty() && operations.is_empty() {
        return None;
    }
    let times_ns = totals.stats("@batch_ns");
    let mut names: Vec<&String> = submitted.keys().chain(times_ns.keys()).collect();
    names.sort();
    names.dedup();
    let algorithm = |name: &String| {
        let own = lanes.iter().filter_map(|(key, count)| {
            let (algorithm, lanes) = key.rsplit_once(',')?;
            (algorithm == name).then_some((lanes.trim().parse().ok()?, *count))
        });
        let lanes: BTreeMap<u64, u64> = own.collect();
        let stat = times_ns.get(name).copied().unwrap_or_default();
        let mut algorithm = Algorithm {
            name: name.clone(),
            submitted: submitted.get(name).copied().unwrap_or(0),
            batches: stat.count,
            lanes,
            lanes_average: 0.0,
            average_us: average(stat) / 1000.0,
            total_us: float(stat.total) / 1000.0,
        };
        if stat.count > 0 {
            algorithm.lanes_average = float(algorithm.operations()) / float(stat.count);
        }
        algorithm
    };
    let wait = totals.stats("@wait_stat").get("wait").copied();
    Some(Batches {
        done: operations.get("done").copied().unwrap_or(0),
        failed: operations.get("failed").copied().unwrap_or(0),
        cancelled: operations.get("cancelled").copied().unwrap_or(0),
        algorithms: names.into_iter().map(algorithm).collect(),
        wait: wait.and_then(|stat| times(stat, &totals.buckets("@wait_us"))),
    })
}

fn times(stat: Stat, counts: &BTreeMap<u64, u64>) -> Option<Times> {
    Some(Times {
        count: stat.count,
        average_us: average(stat),
        p50_us: buckets::quantile(counts, 0.5)?,
        p99_us: buckets::quantile(counts, 0.99)?,
        total_us: stat.total,
        distribution_us: buckets::distribution(counts),
    })
}

fn average(stat: Stat) -> f64 {
    match stat.count {
        0 => 0.0,
        count => float(stat.total) / float(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::output::Message;

    fn of(texts: &[&str]) -> Breakdown {
        let mut totals = Totals::default();
        for line in texts.iter().flat_map(|text| text.lines()) {
            if let Some(Message::Maps(maps)) =
                Message::parse(line.as_bytes()).expect("bpftrace's output")
            {
                totals.add(maps);
            }
        }
        Breakdown::of(&totals)
    }

    #[test]
    fn a_synchronous_program() {
        let breakdown = of(&[
            include_str!("testdata/handshakes.json"),
            include_str!("testdata/crypto.json"),
        ]);
        let handshakes = &breakdown.handshakes;
        assert_eq!((handshakes.completed, handshakes.failed), (6, 2));
        assert_eq!(handshakes.returned_for_later["read"], 2);
        let time = handshakes.time.as_ref().expect("some were completed");
        assert_eq!((time.count, time.total_us), (6, 58_513));
        assert!(time.p50_us <= time.p99_us);
        assert!(handshakes.paused.is_none() && breakdown.batches.is_none());
        let signed = breakdown.crypto.iter().find(|o| o.name == "EVP_DigestSign");
        assert_eq!(signed.map(|o| o.count), Some(3));
        let spent: f64 = breakdown.crypto.iter().map(|o| o.total_us).sum();
        let share = breakdown.crypto_share.expect("both were timed");
        assert!((share - spent / 58_307.0).abs() < 1e-9);
    }

    #[test]
    fn batches_hold_what_was_submitted() {
        let breakdown = of(&[include_str!("testdata/batches.json")]);
        let batches = breakdown.batches.expect("there were some");
        assert_eq!(
            (batches.done, batches.failed, batches.cancelled),
            (37, 2, 2)
        );
        let [algorithm] = &batches.algorithms[..] else {
            panic!("one algorithm: {batches:?}");
        };
        assert_eq!(
            (&*algorithm.name, algorithm.submitted),
            ("ed25519-sign", 41)
        );
        assert_eq!(algorithm.lanes, BTreeMap::from([(1, 9), (2, 1), (4, 7)]));
        assert_eq!((algorithm.batches, algorithm.operations()), (17, 39));
        assert!((algorithm.lanes_average - 39.0 / 17.0).abs() < 1e-9);
        assert_eq!(batches.wait.map(|wait| wait.count), Some(41));
    }

    #[test]
    fn nothing_at_all_is_no_error() {
        let breakdown = of(&[]);
        assert!(breakdown.handshakes.is_empty() && breakdown.crypto_share.is_none());
    }
}
