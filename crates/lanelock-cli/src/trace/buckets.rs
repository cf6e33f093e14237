//! Quantiles from the buckets that the scripts fill.

use std::collections::BTreeMap;

/// Bits of a value that its bucket keeps.
const KEPT: u32 = 6;

/// The highest value of a bucket. A value below 64 has a bucket of its own; of another one the
/// highest six bits are kept, and `index` is the number of shifts times 64 plus what is left.
fn highest(index: u64) -> u64 {
    let (shift, kept) = (index >> KEPT, index & ((1 << KEPT) - 1));
    let shift = u32::try_from(shift).unwrap_or(u32::MAX);
    let above = (kept + 1).checked_shl(shift).unwrap_or(u64::MAX);
    above.saturating_sub(1)
}

/// The value that this share of all values does not exceed, at most a 32nd too high.
pub(super) fn quantile(buckets: &BTreeMap<u64, u64>, share: f64) -> Option<u64> {
    let total: u64 = buckets.values().sum();
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^52")]
    let wanted = (total as f64 * share).ceil();
    let mut seen = 0;
    let reached = buckets.iter().find(|(_, count)| {
        seen += **count;
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^52")]
        let enough = seen as f64 >= wanted;
        enough
    });
    reached.map(|(index, _)| highest(*index))
}

/// How many values lie in each bucket, by its highest value.
pub(super) fn distribution(buckets: &BTreeMap<u64, u64>) -> Vec<(u64, u64)> {
    buckets
        .iter()
        .map(|(index, count)| (highest(*index), *count))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the scripts do.
    fn bucket(value: u64) -> u64 {
        let (mut value, mut shift) = (value, 0);
        while value > 63 {
            value >>= 1;
            shift += 1;
        }
        shift * 64 + value
    }

    #[test]
    fn a_bucket_ends_at_most_a_32nd_above_its_values() {
        for value in (0..5000).chain([99_999, 1 << 30, (1 << 40) + 12_345]) {
            let end = highest(bucket(value));
            assert!(
                (value..=value + value / 32).contains(&end),
                "{value}: {end}"
            );
        }
    }

    #[test]
    fn quantiles_of_a_uniform_distribution() {
        let mut buckets = BTreeMap::new();
        for value in 1..=1000 {
            *buckets.entry(bucket(value)).or_default() += 1;
        }
        let quantiles = [0.5, 0.99, 1.0].map(|share| quantile(&buckets, share));
        assert_eq!(quantiles, [Some(503), Some(991), Some(1007)]);
        assert_eq!(quantile(&BTreeMap::new(), 0.5), None);
        let counted: u64 = distribution(&buckets).iter().map(|(_, n)| n).sum();
        assert_eq!(counted, 1000);
    }
}
