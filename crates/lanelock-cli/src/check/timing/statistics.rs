//! Welch's t-test, online, over all measurements and over those below a percentile.

/// Measurements that a test needs before its t means anything: dudect's number.
pub(super) const ENOUGH: u64 = 10_000;
/// Measurements that fix the percentiles, and are then thrown away: caches and predictors are
/// cold in them.
const WARM_UP: usize = 1_000;
/// Tests of cropped measurements: long ones are interrupts more often than work, and hide small
/// differences.
const CROPS: usize = 100;

/// The tests of one cell.
#[derive(Debug)]
pub(super) struct Analysis {
    warm_up: Vec<u64>,
    /// Rising; empty until the warm-up is over.
    limits: Vec<u64>,
    all: Welch,
    /// Measurements below the limit of the same index.
    cropped: Vec<Welch>,
    /// Squared distances from the mean of the class: a difference in spread.
    spread: Welch,
}

/// Welch's t-test for two classes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Welch([Moments; 2]);

/// Mean and sum of squared distances from it (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Analysis {
    pub(super) fn new() -> Self {
        Self {
            warm_up: Vec::with_capacity(WARM_UP),
            limits: Vec::new(),
            all: Welch::default(),
            cropped: vec![Welch::default(); CROPS],
            spread: Welch::default(),
        }
    }

    /// Takes in a measurement of the class with fixed secrets, or of the other.
    #[expect(
        clippy::cast_precision_loss,
        reason = "ticks of a burst are far below 2^53"
    )]
    pub(super) fn take(&mut self, fixed: bool, ticks: u64) {
        if self.limits.is_empty() {
            self.warm_up.push(ticks);
            if self.warm_up.len() == WARM_UP {
                self.warm_up.sort_unstable();
                self.limits = (0..CROPS).map(|i| percentile(&self.warm_up, i)).collect();
            }
            return;
        }
        let value = ticks as f64;
        self.all.add(fixed, value);
        let first = self.limits.partition_point(|limit| *limit <= ticks);
        for test in &mut self.cropped[first..] {
            test.add(fixed, value);
        }
        // Once the mean is about right.
        if self.all.count() > ENOUGH {
            let distance = value - self.all.mean(fixed);
            self.spread.add(fixed, distance * distance);
        }
    }

    /// Measurements taken in, the warm-up left out.
    pub(super) fn measurements(&self) -> u64 {
        self.all.count()
    }

    /// The largest |t| of all tests with enough measurements; nothing if none has.
    pub(super) fn max_t(&self) -> Option<f64> {
        [self.all, self.spread]
            .iter()
            .chain(&self.cropped)
            .filter(|test| test.count() >= ENOUGH)
            .map(|test| test.t().abs())
            .reduce(f64::max)
    }
}

impl Welch {
    pub(super) fn add(&mut self, fixed: bool, value: f64) {
        self.0[usize::from(fixed)].add(value);
    }

    /// The statistic: difference of the means over its standard error; zero while a class has less
    /// than two measurements.
    pub(super) fn t(&self) -> f64 {
        let [random, fixed] = self.0;
        if random.count < 2 || fixed.count < 2 {
            return 0.0;
        }
        let difference = random.mean - fixed.mean;
        let error = random.variance_of_mean() + fixed.variance_of_mean();
        if difference == 0.0 {
            0.0
        } else {
            difference / error.sqrt() // infinite if neither class varies
        }
    }

    fn count(&self) -> u64 {
        self.0[0].count + self.0[1].count
    }

    fn mean(&self, fixed: bool) -> f64 {
        self.0[usize::from(fixed)].mean
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    fn variance_of_mean(&self) -> f64 {
        let count = self.count as f64;
        self.squares / (count - 1.0) / count
    }
}

/// The limit of crop `i`: as in dudect, more of them the nearer to the longest measurement, from
/// the 6.7th percentile to the 99.9th.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index within the slice"
)]
fn percentile(sorted: &[u64], i: usize) -> u64 {
    let share = 1.0 - 0.5_f64.powf(10.0 * (i + 1) as f64 / CROPS as f64);
    sorted[(share * (sorted.len() - 1) as f64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(random: &[f64], fixed: &[f64]) -> f64 {
        let mut test = Welch::default();
        random.iter().for_each(|value| test.add(false, *value));
        fixed.iter().for_each(|value| test.add(true, *value));
        test.t()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-5
    }

    #[test]
    fn known_values_of_t() {
        // (3 - 6) / sqrt(2.5 / 5 + 10 / 5)
        let value = t(&[1., 2., 3., 4., 5.], &[2., 4., 6., 8., 10.]);
        assert!(close(value, -1.89737), "{value}");
        // Hours of sleep that two drugs gained: Student 1908, Welch's t as R computes it.
        let value = t(
            &[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
            &[1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
        );
        assert!(close(value, -1.8608), "{value}");
        // Classes of different sizes: (5 - 2.5) / sqrt(1 / 3 + (5 / 3) / 4)
        let value = t(&[4., 5., 6.], &[1., 2., 3., 4.]);
        assert!(close(value, 2.88675), "{value}");
    }

    #[test]
    fn a_large_offset_does_not_cost_precision() {
        let shift = |values: [f64; 5]| values.map(|value| value + 1e9);
        let value = t(&shift([1., 2., 3., 4., 5.]), &shift([2., 4., 6., 8., 10.]));
        assert!(close(value, -1.89737), "{value}");
    }

    #[test]
    fn classes_without_spread() {
        assert_eq!(t(&[3., 3.], &[3., 3.]), 0.0);
        assert_eq!(t(&[3., 3.], &[2., 2.]), f64::INFINITY);
        assert_eq!(t(&[3.], &[2., 2.]), 0.0);
    }

    /// |t| of `count` measurements of 1000 to 1099 ticks, to which `add` adds by class and index.
    fn max_t(count: usize, add: impl Fn(bool, usize) -> u64) -> Option<f64> {
        let mut random = fastrand::Rng::with_seed(1);
        let mut analysis = Analysis::new();
        for i in 0..count + WARM_UP {
            let fixed = random.bool();
            analysis.take(fixed, random.u64(1000..1100) + add(fixed, i));
        }
        analysis.max_t()
    }

    #[test]
    fn classes_alike_stay_below_the_limit_and_a_shift_is_found() {
        let alike = max_t(50_000, |_, _| 0).expect("enough");
        assert!(alike < 5.0, "{alike}");
        let shifted = max_t(50_000, |fixed, _| 5 * u64::from(fixed)).expect("enough");
        assert!(shifted > 15.0, "{shifted}");
    }

    #[test]
    fn a_shift_is_found_behind_rare_long_measurements() {
        let interrupt = |i: usize| u64::from(i.is_multiple_of(50)) * (i as u64 * 7919 % 1_000_000);
        let hidden = |fixed, i| 5 * u64::from(fixed) + interrupt(i);
        let t = max_t(50_000, hidden).expect("enough");
        assert!(t > 10.0, "{t}");
        let alike = max_t(50_000, |_, i| interrupt(i)).expect("enough");
        assert!(alike < 5.0, "{alike}");
    }

    #[test]
    fn a_difference_in_spread_alone_is_found() {
        let wide = |fixed, i: usize| {
            100 * u64::from(fixed && i.is_multiple_of(2)) + 50 * u64::from(!fixed)
        };
        let t = max_t(50_000, wide).expect("enough");
        assert!(t > 10.0, "{t}");
    }

    #[test]
    fn too_few_measurements_tell_nothing() {
        let enough = usize::try_from(ENOUGH).expect("small");
        assert_eq!(max_t(enough - 1, |fixed, _| 50 * u64::from(fixed)), None);
        assert!(max_t(enough, |fixed, _| 50 * u64::from(fixed)).is_some());
    }

    #[test]
    fn percentiles_rise_to_the_longest() {
        let sorted: Vec<_> = (0..1000).collect();
        let limits: Vec<_> = (0..CROPS).map(|i| percentile(&sorted, i)).collect();
        assert!(limits.is_sorted());
        assert_eq!((limits[0], limits[CROPS - 1]), (66, 998));
    }
}
