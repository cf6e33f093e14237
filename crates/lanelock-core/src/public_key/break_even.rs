//! From how many operations on lanes beat one at a time: measured on the first operations that
//! run either way, and remembered by the process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::algorithm::KeySpec;
use super::session::Side;

/// Measurements of each side before one is believed. The least of them counts: interruptions and
/// cold caches only ever add.
const SAMPLES: u32 = 4;

/// What a batch costs on lanes, however many are filled, and what an operation costs by itself.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    lanes: Cost,
    single: Cost,
}

#[derive(Debug)]
struct Cost {
    /// Least duration seen, in nanoseconds.
    least: AtomicU64,
    samples: AtomicU32,
}

type Known = HashMap<(&'static str, &'static str, KeySpec), Arc<Costs>>;

impl Costs {
    /// The process's costs of `spec` on this pair of engines.
    pub(super) fn of(lanes: &'static str, single: &'static str, spec: KeySpec) -> Arc<Self> {
        static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
        let known = KNOWN.get_or_init(Mutex::default);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((lanes, single, spec)).or_default().clone()
    }

    /// Which side runs `count` operations, fewer than there are lanes. While a side is unknown it
    /// is that side: its cost is learnt from work that was asked for.
    pub(super) fn choose(&self, count: usize) -> Side {
        if !self.single.is_known() {
            return Side::Single;
        }
        match self.break_even() {
            Some(least) if count < least => Side::Single,
            _ => Side::Lanes,
        }
    }

    /// Whether `side` is still to be measured.
    pub(super) fn wants(&self, side: Side) -> bool {
        !self.side(side).is_known()
    }

    /// A batch on `side` of `count` operations took `elapsed`.
    pub(super) fn record(&self, side: Side, count: usize, elapsed: Duration) {
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let each = match side {
            Side::Lanes => nanoseconds,
            Side::Single => nanoseconds / count.max(1) as u64,
        };
        let cost = self.side(side);
        cost.least.fetch_min(each.max(1), Ordering::Relaxed);
        cost.samples.fetch_add(1, Ordering::Relaxed);
    }

    /// Fewest operations that are faster on lanes.
    pub(super) fn break_even(&self) -> Option<usize> {
        if !self.single.is_known() || !self.lanes.is_known() {
            return None;
        }
        let lanes = self.lanes.least.load(Ordering::Relaxed);
        let single = self.single.least.load(Ordering::Relaxed);
        Some(usize::try_from(lanes.div_ceil(single)).unwrap_or(usize::MAX))
    }

    fn side(&self, side: Side) -> &Cost {
        match side {
            Side::Lanes => &self.lanes,
            Side::Single => &self.single,
        }
    }
}

impl Cost {
    fn is_known(&self) -> bool {
        self.samples.load(Ordering::Relaxed) >= SAMPLES
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self {
            least: AtomicU64::new(u64::MAX),
            samples: AtomicU32::new(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(costs: &Costs, side: Side, count: usize, microseconds: [u64; SAMPLES as usize]) {
        for time in microseconds {
            assert!(costs.wants(side));
            costs.record(side, count, Duration::from_micros(time));
        }
        assert!(!costs.wants(side));
    }

    #[test]
    fn each_side_is_learnt_from_work_and_then_the_cheaper_one_runs() {
        let costs = Costs::default();
        assert_eq!(costs.choose(7), Side::Single);
        // Two operations a measurement; one of them was interrupted.
        learn(&costs, Side::Single, 2, [1100, 90_000, 1000, 1040]);
        assert_eq!(costs.break_even(), None);
        assert_eq!(costs.choose(1), Side::Lanes, "still unknown");
        learn(&costs, Side::Lanes, 3, [2100, 2050, 2080, 9000]);
        // 2,050 µs a batch against 500 µs each: four are as yet cheaper alone.
        assert_eq!(costs.break_even(), Some(5));
        let sides = [4, 5, 7].map(|count| costs.choose(count));
        assert_eq!(sides, [Side::Single, Side::Lanes, Side::Lanes]);
    }

    #[test]
    fn the_process_remembers() {
        use crate::public_key::algorithm::{KeyKind, Operation, Scheme};
        let spec = KeySpec {
            operation: Operation::Derive,
            kind: KeyKind::X448,
            scheme: Scheme::Plain,
        };
        let first = Costs::of("a test's lanes", "a test's single", spec);
        learn(&first, Side::Single, 1, [5; 4]);
        let again = Costs::of("a test's lanes", "a test's single", spec);
        assert!(!again.wants(Side::Single));
        assert!(Costs::of("a test's lanes", "another", spec).wants(Side::Single));
    }
}
