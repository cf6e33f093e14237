//! A chart with lines, drawn by plotters.

use std::ops::Range;

use maud::{Markup, PreEscaped, html};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::figure;

/// Lines over a common axis.
pub(super) struct LineChart {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    /// A dashed line for comparison.
    pub(super) guide: Option<Series>,
}

#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub(super) title: &'static str,
    pub(super) spread: Spread,
    pub(super) label: fn(f64) -> String,
}

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spread {
    Linear,
    /// Equal distances for equal ratios; ticks at powers of this base.
    Logarithmic(u32),
}

pub(super) struct Series {
    pub(super) name: String,
    /// Number of its colour: the same contestant has the same one in every chart.
    pub(super) colour: usize,
    pub(super) points: Vec<(f64, f64)>,
}

/// Size in pixels. A page shows four of them as one: plotters places everything at whole pixels.
const SIZE: (u32, u32) = (1680, 1120);
const TEXT: u32 = 60;

/// Colours by number: the series' are 0 to 7. What plotters writes for them is replaced by a variable
/// of the style, which has one for light and one for dark.
#[expect(clippy::cast_possible_truncation, reason = "eleven colours")]
const fn colour(number: usize) -> RGBColor {
    RGBColor(0, 0, number as u8)
}
const SOFT: RGBColor = colour(8);
const LINE: RGBColor = colour(9);
const GUIDE: RGBColor = colour(10);

impl LineChart {
    /// A chart without a line for comparison.
    pub(super) fn new(title: impl Into<String>, [x, y]: [Axis; 2], series: Vec<Series>) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series,
            guide: None,
        }
    }

    /// The chart with its title and legend.
    pub(super) fn render(&self) -> Markup {
        let mut svg = String::new();
        self.draw(&mut svg)
            .expect("a string takes all that is drawn");
        let mut titles = self.titles();
        // Without the outer element, which has a size of its own.
        let (_, inside) = svg.split_once('>').expect("an element");
        let inside = inside.trim_end().trim_end_matches("</svg>");
        // Each point gets a tooltip, which plotters does not have.
        let mut parts = inside.split("<circle ");
        let mut inside = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (attributes, rest) = part.split_once("/>").unwrap_or((part, ""));
            let title = html! { title { (titles.next().unwrap_or_default()) } };
            inside += &format!("<circle {attributes}>{}</circle>{rest}", title.0);
        }
        for number in 0..=10 {
            let variable = match number {
                8 => "var(--soft)\"".to_owned(),
                9 => "var(--line)\"".to_owned(),
                10 => "var(--soft)\" stroke-dasharray=\"18 14\"".to_owned(),
                series => format!("var(--c{series})\""),
            };
            inside = inside.replace(&format!("#0000{number:02X}\""), &variable);
        }
        let chart = html! {
            svg viewBox={ "0 0 " (SIZE.0) " " (SIZE.1) } role="img" aria-label=(self.title) {
                (PreEscaped(inside))
            }
        };
        let of_series = self.series.iter().map(|series| (series, series.colour));
        let all = of_series.chain(self.guide.iter().map(|guide| (guide, DASHED)));
        let legend: Vec<_> = all
            .map(|(line, colour)| (line.name.clone(), colour))
            .collect();
        figure(&self.title, &legend, &chart)
    }

    fn draw(&self, svg: &mut String) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let lines = || self.series.iter().chain(&self.guide);
        let points = || lines().flat_map(|line| &line.points);
        let x = Scale::new(points().map(|point| point.0), self.x).tight();
        let y = Scale::new(points().map(|point| point.1), self.y);
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        let text = || TextStyle::from(("sans-serif", TEXT).into_font()).color(&SOFT);
        let mut chart = ChartBuilder::on(&area)
            .margin_top(40)
            .margin_right(140)
            .margin_bottom(16)
            .margin_left(30)
            .x_label_area_size(170)
            .y_label_area_size(240)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(LINE.stroke_width(4))
            .light_line_style(TRANSPARENT)
            .axis_style(SOFT.stroke_width(4))
            .set_all_tick_mark_size(18)
            .label_style(text())
            .axis_desc_style(text())
            .x_desc(self.x.title)
            .y_desc(self.y.title)
            .draw()?;
        if let Some(guide) = &self.guide {
            let points = guide.points.iter().copied();
            chart.draw_series(LineSeries::new(points, GUIDE.stroke_width(6)))?;
        }
        for series in &self.series {
            let colour = colour(series.colour);
            let points = || series.points.iter().copied();
            chart.draw_series(LineSeries::new(points(), colour.stroke_width(9)))?;
            if series.is_measured() {
                let circle = |point| Circle::new(point, 14, colour.filled());
                chart.draw_series(points().map(circle))?;
            }
        }
        area.present()
    }

    /// The tooltips of all points that are drawn, in their order.
    fn titles(&self) -> impl Iterator<Item = String> {
        let (x, y) = (self.x, self.y);
        let measured = self.series.iter().filter(|series| series.is_measured());
        measured.flat_map(move |Series { name, points, .. }| {
            points.iter().map(move |&(at, value)| {
                let (at, value) = ((x.label)(at), (y.label)(value));
                format!("{name}: {value} {} at {at} {}", y.title, x.title)
            })
        })
    }
}

impl Series {
    /// Whether its points were measured one by one; others are a curve.
    fn is_measured(&self) -> bool {
        self.points.len() <= 40
    }
}

/// The class of the legend's dashed line.
const DASHED: usize = 10;

/// An axis from `low` to `high`.
struct Scale {
    axis: Axis,
    /// The lowest and the highest value.
    values: Range<f64>,
    low: f64,
    high: f64,
}

impl Scale {
    /// An axis that holds every value, and 0 if it is linear, ending at ticks.
    fn new(values: impl Iterator<Item = f64>, axis: Axis) -> Self {
        let linear = axis.spread == Spread::Linear;
        let values = values.filter(|value| value.is_finite() && (linear || *value > 0.0));
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let (least, most) = if least > most {
            (1.0, 10.0)
        } else {
            (least, most)
        };
        let (low, high) = match axis.spread {
            Spread::Linear => (least.min(0.0), up(most)),
            Spread::Logarithmic(2) => (least, most),
            Spread::Logarithmic(_) => (1.0 / up(1.0 / least), up(most)),
        };
        Self {
            axis,
            values: least..most,
            low,
            high: match high > low {
                true => high,
                false if low > 0.0 => 2.0 * low,
                false => low + 1.0,
            },
        }
    }

    /// The same axis without room beyond the values.
    fn tight(mut self) -> Self {
        if self.values.start < self.values.end {
            (self.low, self.high) = (self.values.start, self.values.end);
        }
        self
    }

    /// The place of a value in a linear order.
    fn place(&self, value: f64) -> f64 {
        match self.axis.spread {
            Spread::Linear => value,
            Spread::Logarithmic(_) => value.max(f64::MIN_POSITIVE).ln(),
        }
    }
}

/// The next of 1, 2 and 5 times a power of ten.
fn up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps
        .into_iter()
        .find(|step| *step >= value * 0.999)
        .unwrap_or(value)
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let line: RangedCoordf64 = (self.place(self.low)..self.place(self.high)).into();
        line.map(&self.place(*value), limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let Spread::Logarithmic(base) = self.axis.spread else {
            let line: RangedCoordf64 = (self.low..self.high).into();
            return line.key_points(hint.max_num_points().min(6));
        };
        let factors: &[f64] = match base {
            2 => &[1.0],
            _ if self.high / self.low < 1000.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let base = f64::from(base);
        let first = base.powf((self.low.ln() / base.ln()).floor());
        let powers = std::iter::successors(Some(first), |power| Some(power * base));
        let ticks: Vec<_> = powers
            .take_while(|power| *power <= self.high * 1.001)
            .flat_map(|power| factors.iter().map(move |factor| factor * power))
            .filter(|tick| (self.low * 0.999..=self.high * 1.001).contains(tick))
            .collect();
        let every = ticks.len().div_ceil(9).max(1);
        ticks.into_iter().step_by(every).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        (self.axis.label)(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(values: &[f64], spread: Spread) -> Scale {
        let axis = Axis {
            title: "",
            spread,
            label: |value| value.to_string(),
        };
        Scale::new(values.iter().copied(), axis)
    }

    #[test]
    fn a_linear_axis_starts_at_zero_and_ends_at_a_round_number() {
        let scale = scale(&[3.0, 47.0], Spread::Linear);
        assert_eq!(scale.key_points(9), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(scale.map(&25.0, (0, 100)), 50);
    }

    #[test]
    fn a_logarithmic_axis_spreads_ratios() {
        let scale = scale(&[16.0, 1024.0], Spread::Logarithmic(2));
        assert_eq!(
            scale.key_points(9),
            [16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0]
        );
        assert_eq!(scale.map(&128.0, (0, 60)), 30);
    }

    #[test]
    fn narrow_logarithmic_axes_get_steps_between_powers() {
        let scale = scale(&[1.5, 42.0], Spread::Logarithmic(10));
        assert_eq!(scale.key_points(9), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
    }

    #[test]
    fn an_axis_without_values_has_ticks() {
        for spread in [Spread::Linear, Spread::Logarithmic(10)] {
            assert!(scale(&[], spread).key_points(9).len() >= 2);
        }
    }
}
