//! How long operations took: a histogram with three significant digits.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::contestant::Lap;
use crate::row::Percentiles;

/// Latencies of operations, in nanoseconds, and the time in which they were collected.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    elapsed: Duration,
}

impl Latencies {
    /// None yet.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST, 3);
        Self {
            histogram: histogram.expect("bounds that the histogram takes"),
            elapsed: Duration::ZERO,
        }
    }

    /// A burst of `ops` operations had its last result after `nanoseconds`. Its statuses become
    /// known together, so that is how long each of them took.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64, ops: u64) {
        self.histogram.saturating_record_n(nanoseconds, ops);
    }

    /// Collecting has taken `elapsed`.
    pub fn took(&mut self, elapsed: Duration) {
        self.elapsed = elapsed;
    }

    /// Whether none was recorded.
    pub fn is_empty(&self) -> bool {
        self.histogram.is_empty()
    }

    /// Takes in those of a thread that worked at the same time.
    pub fn add(&mut self, other: &Self) {
        self.elapsed = self.elapsed.max(other.elapsed);
        // Both have the same bounds, so each value of one fits the other.
        let _fits = self.histogram.add(&other.histogram);
    }

    /// Operations and time.
    pub fn lap(&self) -> Lap {
        Lap {
            ops: self.histogram.len(),
            elapsed: self.elapsed,
        }
    }

    /// Percentiles and curve.
    pub fn percentiles(&self) -> Percentiles {
        let at = |percentile| self.histogram.value_at_percentile(percentile);
        Percentiles {
            p50_ns: at(50.0),
            p90_ns: at(90.0),
            p99_ns: at(99.0),
            p99_9_ns: at(99.9),
            max_ns: self.histogram.max(),
            latency_curve: CURVE
                .map(|percentile| (percentile, at(percentile)))
                .to_vec(),
        }
    }
}

/// What is slower counts as this, in nanoseconds.
const LONGEST: u64 = 10_000_000_000;

/// Percentiles of the curve: closer where it rises.
const CURVE: [f64; 16] = [
    0.0, 10.0, 25.0, 50.0, 75.0, 80.0, 85.0, 90.0, 95.0, 97.0, 99.0, 99.5, 99.9, 99.99, 99.999,
    100.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_count_operations_not_bursts() {
        let mut latencies = Latencies::new();
        latencies.record(100, 90);
        latencies.record(1000, 9);
        latencies.record(5000, 1);
        let row = latencies.percentiles();
        assert_eq!((row.p50_ns, row.p90_ns), (100, 100));
        assert!(row.p99_ns.abs_diff(1000) <= 1);
        assert!(row.max_ns.abs_diff(5000) <= 4);
    }
}
