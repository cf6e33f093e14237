//! When operations arrive: at random, whatever becomes of those before.

use std::time::Duration;

/// Moments of a Poisson process, the same ones in each run.
pub(super) struct Arrivals {
    random: fastrand::Rng,
    mean: f64,
    next: Duration,
}

impl Arrivals {
    /// `rate` per second on average.
    pub(super) fn new(rate: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "at most ten million")]
        let mean = 1.0 / rate as f64;
        let mut arrivals = Self {
            random: fastrand::Rng::with_seed(1),
            mean,
            next: Duration::ZERO,
        };
        arrivals.advance();
        arrivals
    }

    /// When the next is due.
    pub(super) fn next(&self) -> Duration {
        self.next
    }

    /// Goes on to the one after.
    pub(super) fn advance(&mut self) {
        let uniform = 1.0 - self.random.f64();
        self.next += Duration::from_secs_f64(-uniform.ln() * self.mean);
    }

    /// Starts again at 0, with other distances.
    pub(super) fn restart(&mut self) {
        self.next = Duration::ZERO;
        self.advance();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_the_mean_that_the_rate_asks_for() {
        let mut arrivals = Arrivals::new(1000);
        for _ in 0..10_000 {
            arrivals.advance();
        }
        let mean = arrivals.next().as_secs_f64() / 10_001.0;
        assert!((0.97e-3..1.03e-3).contains(&mean), "{mean}");
        arrivals.restart();
        assert!(arrivals.next() < Duration::from_millis(20));
    }
}
