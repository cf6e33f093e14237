//! Log-linear histograms of durations.
//!
//! Each power of two is divided into 16 buckets; below 16 ns a bucket is a nanosecond. A value is
//! therefore known within 1/16 of itself, and 496 buckets reach from 0 to 17 seconds; what is
//! longer counts in the last.

/// Buckets of a power of two, as a power of two.
const SUB_BITS: u32 = 4;
/// Values from 2 to this power on count in the last bucket.
const TOP_BITS: u32 = 34;

/// Number of buckets.
pub(crate) const BUCKETS: usize = ((TOP_BITS - SUB_BITS + 1) << SUB_BITS) as usize;

/// The bucket of `value`.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "four bits stay")]
pub(crate) const fn bucket(value: u64) -> usize {
    if value >> TOP_BITS != 0 {
        return BUCKETS - 1;
    }
    if value >> SUB_BITS == 0 {
        return value as usize & ((1 << SUB_BITS) - 1);
    }
    let exponent = value.ilog2() - SUB_BITS;
    let within = (value >> exponent) as usize & ((1 << SUB_BITS) - 1);
    (((exponent + 1) << SUB_BITS) as usize) + within
}

/// The greatest value of a bucket.
pub(crate) const fn upper(bucket: usize) -> u64 {
    let (row, within) = (bucket >> SUB_BITS, (bucket & ((1 << SUB_BITS) - 1)) as u64);
    if row == 0 {
        return within;
    }
    let exponent = row - 1;
    (((1 << SUB_BITS) + within + 1) << exponent) - 1
}

/// Durations in nanoseconds, as they were read.
///
/// ```
/// # use lanelock_telemetry as telemetry;
/// use telemetry::Histogram;
///
/// let mut all = Histogram::new();
/// all.merge(&Histogram::new());
/// assert_eq!((all.count(), all.quantile(0.99)), (0, 0)); // values, nanoseconds
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    /// Sum of the values.
    pub(crate) sum: u64,
    pub(crate) max: u64,
}

impl Histogram {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::of(vec![0; BUCKETS], 0, 0)
    }

    /// From the counts of all buckets; the sum and the greatest of the values are as the writer
    /// says.
    pub(crate) fn of(counts: Vec<u64>, sum: u64, max: u64) -> Self {
        debug_assert_eq!(counts.len(), BUCKETS);
        let total = counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        Self {
            counts,
            total,
            sum,
            max,
        }
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The greatest value.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Sum of the values.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The least value that at least `quantile` (0 to 1) of all values do not exceed, up to 1/16
    /// too great; 0 if there is none.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank is rounded up to a whole number; beyond 2^53 values it may be one off"
    )]
    pub fn quantile(&self, quantile: f64) -> u64 {
        let rank = (quantile.clamp(0.0, 1.0) * self.total as f64).ceil() as u64;
        // As a float a great total may be rounded up: no rank is beyond the last value's.
        self.at_rank(rank.min(self.total).max(1))
    }

    fn at_rank(&self, rank: u64) -> u64 {
        let mut seen = 0_u64;
        let found = self.counts.iter().position(|count| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        match found {
            None => 0,
            // A page is read while it is written: the greatest value may not have got there yet.
            Some(bucket) if self.max == 0 => upper(bucket),
            Some(last) if last == BUCKETS - 1 => self.max,
            Some(bucket) => upper(bucket).min(self.max),
        }
    }

    /// Upper bounds of the buckets that hold values, and how many values are at or below each.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut seen = 0_u64;
        let counts = self.counts.iter().enumerate();
        counts.filter(|(_, count)| **count > 0).map(move |(at, n)| {
            seen = seen.saturating_add(*n);
            (upper(at), seen)
        })
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.total = self.total.saturating_add(other.total);
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// What was added since `earlier` was read. The greatest value of the difference is not known;
    /// it is bounded by that of all values.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = self.counts.iter().zip(&earlier.counts);
        let counts = counts.map(|(now, then)| now.saturating_sub(*then));
        Self::of(
            counts.collect(),
            self.sum.saturating_sub(earlier.sum),
            self.max,
        )
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram(values: &[u64]) -> Histogram {
        let mut counts = vec![0; BUCKETS];
        values.iter().for_each(|value| counts[bucket(*value)] += 1);
        let max = values.iter().copied().max().unwrap_or(0);
        Histogram::of(counts, values.iter().sum(), max)
    }

    #[test]
    fn buckets_follow_each_other_without_gap_or_overlap() {
        let mut next = 0;
        for at in 0..BUCKETS {
            assert_eq!(bucket(next), at, "{next}");
            assert_eq!(bucket(upper(at)), at);
            assert!(upper(at) - next <= next / 16, "bucket {at} is too wide");
            next = upper(at) + 1;
        }
        assert_eq!(next, 1 << TOP_BITS);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(Histogram::new().quantile(0.5), 0);
    }

    #[test]
    fn a_difference_holds_what_came_between() {
        let (before, after) = (histogram(&[5, 100]), histogram(&[5, 100, 100, 7]));
        let between = after.since(&before);
        assert_eq!((between.count(), between.sum()), (2, 107));
        assert_eq!((between.quantile(0.5), between.quantile(1.0)), (7, 100));
    }

    /// A histogram with these counts, zeros elsewhere, and any greatest value.
    fn corrupted(counts: &[(usize, u64)], max: u64) -> Histogram {
        let mut all = vec![0; BUCKETS];
        counts.iter().for_each(|(at, count)| all[*at] = *count);
        Histogram::of(all, 0, max)
    }

    #[test]
    fn the_last_bucket_has_a_bound_before_the_greatest_value_is_known() {
        let unfinished = corrupted(&[(3, 1), (BUCKETS - 1, 1)], 0);
        let last = (1 << TOP_BITS) - 1;
        assert_eq!(
            (unfinished.quantile(0.5), unfinished.quantile(1.0)),
            (3, last)
        );
        // As floats these counts sum up to one more than they do.
        let many = corrupted(&[(3, (1 << 54) - 1)], 3);
        assert_eq!(many.quantile(1.0), 3);
    }

    proptest! {
        #[test]
        fn quantiles_grow_whatever_was_read(
            counts in proptest::collection::vec(
                (prop_oneof![0..BUCKETS, Just(BUCKETS - 1)], prop_oneof![0_u64..9, any::<u64>()]), 0..6),
            max in prop_oneof![Just(0_u64), 0_u64..1 << 36, any::<u64>()],
            quantiles in proptest::array::uniform2(0.0..=1.0_f64),
        ) {
            let histogram = corrupted(&counts, max);
            let [a, b] = quantiles;
            let steps = [0.0, a.min(b), a.max(b), 1.0].map(|q| histogram.quantile(q));
            prop_assert!(steps.is_sorted(), "{steps:?}");
        }

        #[test]
        fn quantiles_are_the_exact_ones_or_up_to_a_sixteenth_more(
            mut values in proptest::collection::vec(
                prop_oneof![0_u64..40, 0_u64..100_000, 0_u64..1 << TOP_BITS], 1..300),
            quantile in 0.0..=1.0_f64,
        ) {
            let found = histogram(&values).quantile(quantile);
            values.sort_unstable();
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let rank = (quantile * values.len() as f64).ceil() as usize;
            let exact = values[rank.max(1) - 1];
            prop_assert!(found >= exact && found <= exact + exact / 16, "{found} for {exact}");
        }

        #[test]
        fn merging_is_counting_together(a in proptest::collection::vec(0_u64..1 << 30, 0..50),
                                        b in proptest::collection::vec(0_u64..1 << 30, 0..50)) {
            let mut merged = histogram(&a);
            merged.merge(&histogram(&b));
            prop_assert_eq!(merged, histogram(&[a, b].concat()));
        }
    }
}
