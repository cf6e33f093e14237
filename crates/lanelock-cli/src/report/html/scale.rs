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
        let ticks = match spread {
            Spread::Linear => linear_ticks(low.min(0.0), high),
            Spread::Logarithmic(base) => logarithmic_ticks(low, high, f64::from(base)),
        };
        Self {
            spread,
            low: *ticks.first().expect("two ticks at least"),
            high: *ticks.last().expect("two ticks at least"),
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

/// About five steps of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let width = (high - low).max(f64::MIN_POSITIVE);
    let rough = width / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let mut ticks = vec![(low / step).floor() * step];
    while ticks.len() < 2 || ticks.last().is_some_and(|last| *last < high - step / 1e6) {
        ticks.push(ticks[0] + step * f64::from(u32::try_from(ticks.len()).unwrap_or(u32::MAX)));
    }
    ticks
}

/// Powers of the base; where they are few, also 2 and 5 times those of ten.
fn logarithmic_ticks(low: f64, high: f64, base: f64) -> Vec<f64> {
    let first = (low.ln() / base.ln() + 1e-9).floor();
    let last = (high.ln() / base.ln() - 1e-9).ceil().max(first + 1.0);
    let mut ticks = Vec::new();
    let mut exponent = first;
    while exponent <= last {
        ticks.push(base.powf(exponent));
        exponent += 1.0;
    }
    let few = ticks.len() <= 3 && base >= 10.0;
    if few {
        let powers = ticks.clone();
        ticks.extend(powers.iter().flat_map(|p| [2.0 * p, 5.0 * p]));
        ticks.sort_by(f64::total_cmp);
        let enough = ticks
            .iter()
            .position(|t| *t >= high * 0.999)
            .unwrap_or(ticks.len() - 1);
        ticks.truncate(enough + 1);
        let start = ticks.iter().rposition(|t| *t <= low * 1.001).unwrap_or(0);
        ticks.drain(..start);
        if ticks.len() < 2 {
            ticks.push(ticks[0] * 10.0);
        }
    }
    let every = ticks.len().div_ceil(9);
    let end = ticks.len() - 1;
    let mut index = 0;
    ticks.retain(|_| {
        let keep = index % every == 0 || index == end;
        index += 1;
        keep
    });
    ticks
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
