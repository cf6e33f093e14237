//! From values to positions on an axis, and where its ticks are.

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spread {
    Linear,
    /// Equal distances for equal ratios; ticks at powers of this base.
    Logarithmic(u32),
}

/// An axis from `low` to `high`, drawn over `from..to` in pixels.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    spread: Spread,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Scale {
    /// An axis that holds every value, and 0 if it is linear, ending at ticks.
    pub(super) fn covering(
        values: impl Iterator<Item = f64>,
        spread: Spread,
        pixels: (f64, f64),
    ) -> Self {
        let values = values.filter(|v| v.is_finite() && (spread == Spread::Linear || *v > 0.0));
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
        let (low, high, ticks) = match spread {
            Spread::Linear => linear(low.min(0.0), high),
            Spread::Logarithmic(base) => logarithmic(low, high, f64::from(base)),
        };
        Self {
            spread,
            low,
            high,
            from: pixels.0,
            to: pixels.1,
            ticks,
        }
    }

    /// The same axis without room beyond the values.
    pub(super) fn tight(mut self, low: f64, high: f64) -> Self {
        (self.low, self.high) = (low, high);
        self.ticks.retain(|tick| (low..=high).contains(tick));
        self
    }

    pub(super) fn ticks(&self) -> &[f64] {
        &self.ticks
    }

    /// Where a value lies, in pixels.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Logarithmic(_) => {
                (value / self.low).ln() / (self.high / self.low).ln().max(f64::EPSILON)
            }
        };
        self.from + share * (self.to - self.from)
    }
}

/// About five steps of 1, 2 or 5 times a power of ten; the upper end is a tick, and so is the
/// lower one unless it is negative: then the lowest value is.
fn linear(low: f64, high: f64) -> (f64, f64, Vec<f64>) {
    let high = if high > low { high } else { low + 1.0 };
    let rough = (high - low) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let start = (low / step).floor();
    let steps = (high / step - 1e-6).ceil() - start;
    let ticks: Vec<f64> = std::iter::successors(Some(0.0), |i| Some(i + 1.0))
        .take_while(|i| *i <= steps)
        .map(|i| (start + i) * step)
        .collect();
    let low = low.min(0.0).max(start * step);
    let ticks = ticks.into_iter().filter(|tick| *tick >= low).collect();
    (low, (start + steps) * step, ticks)
}

/// Ticks at powers of the base, and where they are few, at 2 and 5 times those of ten; the ends
/// are just outside of the values.
fn logarithmic(low: f64, high: f64, base: f64) -> (f64, f64, Vec<f64>) {
    let first = (low.ln() / base.ln() + 1e-9).floor();
    let powers: Vec<f64> = std::iter::successors(Some(first), |e| Some(e + 1.0))
        .map(|exponent| base.powf(exponent))
        .take_while(|power| *power < high * base)
        .collect();
    let factors: &[f64] = if base >= 10.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let steps: Vec<f64> = powers
        .iter()
        .flat_map(|power| factors.iter().map(move |factor| factor * power))
        .collect();
    let from = steps
        .iter()
        .rposition(|step| *step <= low * 1.001)
        .unwrap_or(0);
    let to = steps
        .iter()
        .position(|step| *step >= high * 0.999)
        .unwrap_or(steps.len() - 1);
    let to = to.max(from + 1).min(steps.len() - 1);
    let (low, high) = (steps[from], steps[to]);
    let within = |tick: &f64| (low * 0.999..=high * 1.001).contains(tick);
    let mut ticks: Vec<f64> = powers.into_iter().filter(within).collect();
    if ticks.len() < 3 {
        ticks = steps[from..=to].to_vec();
    }
    let every = ticks.len().div_ceil(11);
    (low, high, ticks.into_iter().step_by(every).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_starts_at_zero_and_ends_at_a_round_number() {
        let scale = Scale::covering([3.0, 47.0].into_iter(), Spread::Linear, (0.0, 100.0));
        assert_eq!(scale.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert!((scale.at(25.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_logarithmic_axis_spreads_ratios() {
        let scale = Scale::covering(
            [16.0, 1024.0].into_iter(),
            Spread::Logarithmic(2),
            (0.0, 60.0),
        );
        assert_eq!(
            scale.ticks(),
            [16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0]
        );
        assert!((scale.at(128.0) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn narrow_logarithmic_axes_get_steps_between_powers() {
        let scale = Scale::covering([1.5, 42.0].into_iter(), Spread::Logarithmic(10), (0.0, 1.0));
        assert_eq!(scale.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
    }

    #[test]
    fn an_axis_without_values_has_ticks() {
        for spread in [Spread::Linear, Spread::Logarithmic(10)] {
            let scale = Scale::covering(std::iter::empty(), spread, (0.0, 1.0));
            assert!(scale.ticks().len() >= 2);
        }
    }
}
