//! What comes of the turns of a contestant, and whether all of them do the same.

use super::contestant::{Contestant, Lap};
use crate::failure::Failure;

/// What a contestant reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Operations per second: the median of the rounds.
    pub rate: f64,
    /// Half the distance between the rounds' quartiles, in percent of the median.
    pub spread_percent: f64,
}

/// Checks that all contestants get the same results.
///
/// # Errors
/// [`Failure::Failed`] names two that do not.
pub fn agree(contestants: &mut [impl Contestant]) -> Result<(), Failure> {
    let mut first: Option<(String, u64)> = None;
    for contestant in contestants {
        let digest = contestant.digest()?;
        let name = contestant.name();
        match (&first, digest) {
            (_, None) => {}
            (None, Some(digest)) => first = Some((name.to_owned(), digest)),
            (Some((other, theirs)), Some(digest)) if digest != *theirs => {
                return Err(Failure::Failed(format!(
                    "{name} and {other} get different results: checksums {digest:016x} and \
                     {theirs:016x}"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

impl Score {
    /// Of one contestant's laps, of which there is at least one.
    pub fn of<'l>(laps: impl IntoIterator<Item = &'l Lap>) -> Self {
        let mut rates: Vec<_> = laps.into_iter().map(Lap::rate).collect();
        rates.sort_by(f64::total_cmp);
        let rate = quantile(&rates, 2);
        Self {
            rate,
            spread_percent: 50.0 * (quantile(&rates, 3) - quantile(&rates, 1)) / rate,
        }
    }
}

/// The value at `quarter` quarters of sorted values, between two of them where it falls between.
fn quantile(sorted: &[f64], quarter: usize) -> f64 {
    let at = (sorted.len() - 1) * quarter;
    let (low, rest) = (at / 4, at % 4);
    let high = (low + 1).min(sorted.len() - 1);
    let weight = [0.0, 0.25, 0.5, 0.75][rest];
    sorted[low] + (sorted[high] - sorted[low]) * weight
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_median_ignores_a_disturbed_round() {
        let laps = [100, 90, 100, 5, 100].map(|ops| Lap {
            ops,
            elapsed: Duration::from_secs(1),
        });
        let score = Score::of(&laps);
        assert_eq!(score.rate, 100.0);
        assert_eq!(score.spread_percent, 5.0);
    }

    #[test]
    fn a_quantile_lies_between_two_values() {
        assert_eq!(quantile(&[1.0, 2.0], 2), 1.5);
        assert_eq!(quantile(&[7.0], 3), 7.0);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 1), 2.0);
    }
}
