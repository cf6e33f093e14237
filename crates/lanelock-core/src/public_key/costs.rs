//! What batches cost, on lanes by how many are filled, and one at a time: measured on work that
//! was asked for, and remembered by the process.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use smallvec::SmallVec;

use super::algorithm::KeySpec;
use super::session::Side;
use crate::shared::Shared;

/// Measurements of a cost before it is believed. The least of them counts: interruptions and cold
/// caches only ever add.
const SAMPLES: u32 = 4;

/// What operations of one algorithm and size cost on a pair of engines.
#[derive(Debug)]
pub(crate) struct Costs {
    /// Of a batch on lanes, by the number that it fills, from 1 to all.
    lanes: Box<[Cost]>,
    /// Of an operation by itself; `None` if no engine runs it so.
    single: Option<Cost>,
}

/// What runs next of a number of operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Step {
    pub(crate) side: Side,
    /// At least 1.
    pub(crate) count: usize,
}

#[derive(Debug)]
struct Cost {
    /// Least duration seen, in nanoseconds.
    least: AtomicU64,
    samples: AtomicU32,
}

/// Nanoseconds for each number of operations, from 1.
pub(super) type Totals = SmallVec<[u64; 8]>;

/// The engine that runs batches with its lanes, the one for single operations, and what is run.
type Subject = ((&'static str, usize), Option<&'static str>, KeySpec);

static KNOWN: LazyLock<Shared<Subject, Costs>> = LazyLock::new(Shared::default);

impl Costs {
    /// The process's costs of `spec` on the engine `primary` of `lanes`, and on the engine that
    /// runs what is too little for it.
    pub(super) fn of(
        primary: (&'static str, usize),
        single: Option<&'static str>,
        spec: KeySpec,
    ) -> Arc<Self> {
        let (_, lanes) = primary;
        let make = || Self::new(lanes, single.is_some());
        KNOWN.get_or_make((primary, single, spec), make)
    }

    pub(super) fn new(lanes: usize, single: bool) -> Self {
        Self {
            lanes: (0..lanes).map(|_| Cost::default()).collect(),
            single: single.then(Cost::default),
        }
    }

    /// The first step of the fastest way to run `count` operations, at least 1. What has not been
    /// measured is what runs: its cost is learnt from work that was asked for.
    pub(super) fn first_step(&self, count: usize) -> Step {
        let on = |side, count| Step { side, count };
        if count >= self.lanes.len() {
            return on(Side::Lanes, self.lanes.len());
        }
        if self.wants(Side::Single, 1) {
            return on(Side::Single, count);
        }
        let Some(totals) = self.totals(count) else {
            return on(Side::Lanes, count);
        };
        // Lanes before single ones; the order changes nothing in their sum.
        let rest = |taken: usize| match count - taken {
            0 => 0,
            left => totals[left - 1],
        };
        let in_lanes = |&taken: &usize| self.lanes_cost(taken) + rest(taken) == totals[count - 1];
        match (1..=count).rev().find(in_lanes) {
            Some(taken) => on(Side::Lanes, taken),
            None => on(Side::Single, count),
        }
    }

    /// What each number of operations from 1 to `count`, no more than there are lanes, costs the
    /// fastest way; `None` before what that needs has been measured.
    pub(super) fn totals(&self, count: usize) -> Option<Totals> {
        if self.wants(Side::Single, 1) || self.wants(Side::Lanes, count) {
            return None;
        }
        let single = self.single.as_ref().map_or(u64::MAX, Cost::least);
        let mut totals = Totals::new();
        for count in 1..=count {
            let before = |taken: usize| match count - taken {
                0 => 0,
                left => totals[left - 1],
            };
            let ways = (1..=count).map(|taken| self.lanes_cost(taken) + before(taken));
            let least = ways.min().unwrap_or(u64::MAX);
            totals.push(least.min(single.saturating_add(before(1))));
        }
        Some(totals)
    }

    /// Whether batches of `count` on `side` are still to be measured.
    pub(super) fn wants(&self, side: Side, count: usize) -> bool {
        self.cost(side, count).is_some_and(|cost| !cost.is_known())
    }

    /// A batch of `count` operations on `side` took `elapsed`.
    pub(super) fn record(&self, side: Side, count: usize, elapsed: Duration) {
        let Some(cost) = self.cost(side, count) else {
            return;
        };
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let nanoseconds = match side {
            Side::Lanes => nanoseconds,
            Side::Single => nanoseconds / count.max(1) as u64,
        };
        // Far from overflow when a few are added.
        let nanoseconds = nanoseconds.clamp(1, u64::from(u32::MAX) << 16);
        cost.least.fetch_min(nanoseconds, Ordering::Relaxed);
        cost.samples.fetch_add(1, Ordering::Relaxed);
    }

    /// Fewest operations that are faster on lanes than one at a time.
    pub(super) fn break_even(&self) -> Option<usize> {
        let single = self.single.as_ref().filter(|single| single.is_known())?;
        if !self.lanes.iter().any(Cost::is_known) {
            return None;
        }
        let single = single.least();
        let faster = |&count: &usize| self.lanes_cost(count) <= single.saturating_mul(count as u64);
        let all = self.lanes.len();
        Some((1..=all).find(faster).unwrap_or(all))
    }

    /// Least duration of a batch that fills `count` lanes. More operations never cost less, so
    /// what more have cost is a bound, whether or not `count` itself was measured.
    fn lanes_cost(&self, count: usize) -> u64 {
        let from = self.lanes[count - 1..].iter();
        let known = from.filter(|cost| cost.is_known()).map(Cost::least);
        known.min().unwrap_or(UNKNOWN)
    }

    fn cost(&self, side: Side, count: usize) -> Option<&Cost> {
        match side {
            Side::Lanes => self.lanes.get(count.wrapping_sub(1)),
            Side::Single => self.single.as_ref(),
        }
    }
}

/// Of what has not been measured; more than anything that has, and sums of it do not overflow.
const UNKNOWN: u64 = 1 << 56;

impl Cost {
    fn is_known(&self) -> bool {
        self.samples.load(Ordering::Relaxed) >= SAMPLES
    }

    fn least(&self) -> u64 {
        self.least.load(Ordering::Relaxed)
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self {
            least: AtomicU64::new(UNKNOWN),
            samples: AtomicU32::new(0),
        }
    }
}

#[cfg(test)]
impl Costs {
    /// Costs in microseconds, as measured.
    pub(super) fn known(single: Option<u64>, lanes: &[u64]) -> Self {
        let costs = Self::new(lanes.len(), single.is_some());
        let sides = (1..).zip(lanes.iter().map(|&cost| (Side::Lanes, cost)));
        let single = single.map(|cost| (1, (Side::Single, cost)));
        for (count, (side, cost)) in sides.chain(single) {
            for _ in 0..SAMPLES {
                costs.record(side, count, Duration::from_micros(cost));
            }
        }
        costs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RSA: [u64; 8] = [270, 270, 270, 270, 520, 520, 520, 520];

    fn learn(costs: &Costs, side: Side, count: usize, microseconds: [u64; SAMPLES as usize]) {
        for time in microseconds {
            assert!(costs.wants(side, count));
            costs.record(side, count, Duration::from_micros(time));
        }
        assert!(!costs.wants(side, count));
    }

    /// The steps in which `count` operations run.
    fn steps(costs: &Costs, count: usize) -> Vec<(Side, usize)> {
        let mut left = count;
        let mut steps = Vec::new();
        while left > 0 {
            let Step { side, count } = costs.first_step(left);
            steps.push((side, count));
            left -= count;
        }
        steps
    }

    #[test]
    fn each_side_is_learnt_from_work_and_then_the_cheaper_one_runs() {
        let costs = Costs::new(8, true);
        assert_eq!(steps(&costs, 7), [(Side::Single, 7)]);
        // Two operations a measurement; one of them was interrupted.
        learn(&costs, Side::Single, 2, [1100, 90_000, 1000, 1040]);
        assert_eq!(costs.break_even(), None);
        assert_eq!(
            steps(&costs, 3),
            [(Side::Lanes, 3)],
            "unknown is what is learnt"
        );
        learn(&costs, Side::Lanes, 7, [2100, 2050, 2080, 9000]);
        // 2,050 µs a batch at most against 500 µs each: four are as yet cheaper alone.
        assert_eq!(costs.break_even(), Some(5));
        assert_eq!(steps(&costs, 7), [(Side::Lanes, 7)]);
        learn(&costs, Side::Lanes, 3, [1300, 1250, 1230, 1220]);
        assert_eq!(steps(&costs, 3), [(Side::Lanes, 3)]);
        assert_eq!(costs.break_even(), Some(3));
        learn(&costs, Side::Lanes, 2, [1200, 1200, 1210, 1220]);
        assert_eq!(steps(&costs, 2), [(Side::Single, 2)]);
    }

    #[test]
    fn leftovers_are_split_where_that_is_faster() {
        use Side::{Lanes, Single};
        let costs = Costs::known(Some(210), &RSA);
        assert_eq!(steps(&costs, 1), [(Single, 1)]);
        assert_eq!(steps(&costs, 2), [(Lanes, 2)]);
        assert_eq!(steps(&costs, 5), [(Lanes, 4), (Single, 1)]);
        assert_eq!(
            steps(&costs, 6),
            [(Lanes, 6)],
            "520 µs rather than 270 twice"
        );
        assert_eq!(steps(&costs, 19), [(Lanes, 8), (Lanes, 8), (Lanes, 3)]);
        let alone = Costs::known(None, &RSA);
        assert_eq!(steps(&alone, 5), [(Lanes, 5)]);
        assert_eq!(alone.break_even(), None, "there is no choice");
        let totals = costs.totals(8).expect("known").into_vec();
        let microseconds: Vec<_> = totals.iter().map(|total| total / 1000).collect();
        assert_eq!(microseconds, [210, 270, 270, 270, 480, 520, 520, 520]);
    }

    #[test]
    fn an_interrupted_measurement_of_fewer_is_bounded_by_that_of_more() {
        let costs = Costs::known(Some(50), &[20, 900, 20, 20]);
        assert_eq!(steps(&costs, 2), [(Side::Lanes, 2)]);
    }

    #[test]
    fn the_process_remembers() {
        use crate::public_key::algorithm::{KeyKind, Operation, Scheme};
        let spec = KeySpec {
            operation: Operation::Derive,
            kind: KeyKind::X448,
            scheme: Scheme::Plain,
        };
        let lanes = ("a test's lanes", 8);
        let first = Costs::of(lanes, Some("a test's single"), spec);
        learn(&first, Side::Single, 1, [5; 4]);
        let again = Costs::of(lanes, Some("a test's single"), spec);
        assert!(!again.wants(Side::Single, 1));
        for other in [
            Costs::of(lanes, Some("another"), spec),
            Costs::of((lanes.0, 4), Some("a test's single"), spec),
        ] {
            assert!(other.wants(Side::Single, 1));
        }
    }

    #[test]
    fn ever_new_salt_lengths_do_not_pile_up() {
        use crate::Hash;
        use crate::public_key::algorithm::{KeyKind, Operation, Pss, Scheme, SignatureScheme};
        use crate::shared::KEPT;
        for salt_len in 0..100_000 {
            let pss = Pss {
                salt_len,
                ..Pss::of(Hash::Sha256)
            };
            let spec = KeySpec {
                operation: Operation::Verify,
                kind: KeyKind::Rsa(2048),
                scheme: Scheme::Signature(SignatureScheme::RsaPss(pss)),
            };
            Costs::of(("a test's lanes", 8), None, spec);
            assert!(KNOWN.len() <= KEPT, "{salt_len}");
        }
    }
}
