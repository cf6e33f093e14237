//! Turns of a cell: few where the outcome is clear, more where it is close.

use std::time::Duration;

use super::super::contestant::{Contestant, Lap};
use super::super::score::Score;
use crate::failure::Failure;
use crate::sweep::Time;

/// Turns of everyone, of those that are still in the running, and of a close race.
const ALL: usize = 3;
const RUNNING: usize = 5;
const CLOSE: usize = 15;
/// A peer below this share of the fastest one's rate stops.
const FAR: f64 = 0.8;
/// By how much a ratio that is close differs from 1.
const NEAR: f64 = 0.1;

/// What each contestant needs for an operation; the first is the native engine.
///
/// # Errors
/// [`Failure::Failed`] if an operation failed.
pub fn take(contestants: &mut [impl Contestant], span: Duration) -> Result<Vec<Time>, Failure> {
    for contestant in contestants.iter_mut() {
        contestant.lap(span)?;
    }
    let mut laps = vec![Vec::new(); contestants.len()];
    let mut running: Vec<_> = (0..contestants.len()).collect();
    for until in [ALL, RUNNING, CLOSE] {
        rounds(contestants, &running, until, span, &mut laps)?;
        let rates: Vec<_> = laps.iter().map(|laps| Score::of(laps).rate).collect();
        let best = rates.iter().skip(1).copied().fold(0.0, f64::max);
        running.retain(|&who| who == 0 || rates[who] >= FAR * best);
        if until == RUNNING && (rates[0] / best - 1.0).abs() > NEAR {
            break;
        }
    }
    let time = |(contestant, laps): (&_, &Vec<Lap>)| time(contestant, laps);
    Ok(contestants.iter().zip(&laps).map(time).collect())
}

/// Turns of those who are `running` until each has had `until`. Who starts changes.
fn rounds(
    contestants: &mut [impl Contestant],
    running: &[usize],
    until: usize,
    span: Duration,
    laps: &mut [Vec<Lap>],
) -> Result<(), Failure> {
    for round in laps[0].len()..until {
        for turn in 0..running.len() {
            let who = running[(round + turn) % running.len()];
            laps[who].push(contestants[who].lap(span)?);
        }
    }
    Ok(())
}

fn time(contestant: &impl Contestant, laps: &[Lap]) -> Time {
    let score = Score::of(laps);
    Time {
        contestant: contestant.name().to_owned(),
        ns_per_op: 1e9 / score.rate,
        spread_percent: score.spread_percent,
        route: contestant.route().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does so many operations in a second, and counts its turns.
    struct Steady(&'static str, u64, usize);

    impl Contestant for Steady {
        fn name(&self) -> &str {
            self.0
        }

        fn digest(&mut self) -> Result<Option<u64>, Failure> {
            Ok(None)
        }

        fn lap(&mut self, _: Duration) -> Result<Lap, Failure> {
            self.2 += 1;
            Ok(Lap {
                ops: self.1,
                elapsed: Duration::from_secs(1),
            })
        }
    }

    /// Turns of each, the first one, which does not count, left out.
    fn turns(rates: &[u64]) -> Vec<usize> {
        let mut all: Vec<_> = rates.iter().map(|&rate| Steady("x", rate, 0)).collect();
        let times = take(&mut all, Duration::ZERO).expect("no failure");
        let expected = rates.iter().map(|&rate| 1e9 / rate as f64);
        assert!(times.iter().map(|time| time.ns_per_op).eq(expected));
        all.iter().map(|one| one.2 - 1).collect()
    }

    #[test]
    fn only_close_races_are_long() {
        assert_eq!(turns(&[200, 100]), [5, 5]);
        assert_eq!(turns(&[105, 100]), [15, 15]);
        assert_eq!(turns(&[50, 100]), [5, 5]);
    }

    #[test]
    fn a_slow_peer_stops_and_native_goes_on() {
        assert_eq!(turns(&[100, 100, 90, 79]), [15, 15, 15, 3]);
        assert_eq!(turns(&[10, 100, 79]), [5, 5, 3]);
    }
}
