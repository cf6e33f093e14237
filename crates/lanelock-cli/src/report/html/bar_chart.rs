//! A chart with horizontal bars, as boxes of the page: they take the width that there is, and their
//! text keeps its size.

use maud::{Markup, html};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::Ranged;

use super::figure;
use crate::figures::number;

/// Groups of bars, one below the other, with something written at their ends.
pub(super) struct BarChart {
    pub(super) title: String,
    pub(super) unit: &'static str,
    pub(super) groups: Vec<Group>,
    /// What the parts of a bar, or the bars of a group, mean: name and colour.
    pub(super) legend: Vec<(String, usize)>,
}

/// Bars of one thing.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) bars: Vec<Bar>,
}

/// Pieces in one line, and the text after the last.
pub(super) struct Bar {
    pub(super) pieces: Vec<Piece>,
    pub(super) said: String,
}

/// A part of a bar.
pub(super) struct Piece {
    pub(super) colour: usize,
    pub(super) from: f64,
    pub(super) to: f64,
    /// Whether it is a line, not a box.
    pub(super) thin: bool,
    /// Its tooltip.
    pub(super) title: String,
}

impl BarChart {
    /// The chart with its title and legend.
    pub(super) fn render(&self) -> Markup {
        let (low, high) = self.range();
        let at = |value: f64| 100.0 * (value - low) / (high - low);
        let axis: RangedCoordf64 = (low..high).into();
        let bars = html! {
            div.bars role="img" aria-label=(self.title) {
                @for group in &self.groups {
                    span.name { (group.name) }
                    div { @for bar in &group.bars { (bar.render(at)) } }
                }
                span.unit { (self.unit) }
                div.ticks {
                    @for tick in axis.key_points(6) {
                        span style=(format!("left:{:.2}%", at(tick))) { (number(tick)) }
                    }
                }
            }
        };
        figure(&self.title, &self.legend, &bars)
    }

    /// From the lowest value, or 0, to the highest.
    fn range(&self) -> (f64, f64) {
        let pieces = self.groups.iter().flat_map(|group| &group.bars);
        let ends = pieces
            .flat_map(|bar| &bar.pieces)
            .flat_map(|piece| [piece.from, piece.to]);
        let ends = ends.filter(|end| end.is_finite());
        let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), end| {
            (low.min(end), high.max(end))
        });
        (low, if high > low { high } else { low + 1.0 })
    }
}

impl Bar {
    /// These colours and values one after the other, their sum written at the end.
    pub(super) fn stacked(name: &str, unit: &str, parts: &[(usize, f64)]) -> Self {
        let mut sum = 0.0;
        let pieces = parts.iter().map(|&(colour, value)| {
            let from = sum;
            sum += value;
            Piece {
                colour,
                from,
                to: sum,
                thin: false,
                title: format!("{name}: {} {unit}", number(value)),
            }
        });
        Self {
            pieces: pieces.collect(),
            said: number(parts.iter().map(|(_, value)| value).sum()),
        }
    }

    fn render(&self, at: impl Fn(f64) -> f64) -> Markup {
        let end = self.pieces.iter().map(|piece| at(piece.from.max(piece.to)));
        let end = end.fold(0.0, f64::max);
        html! {
            div.bar {
                @for piece in &self.pieces {
                    @let (from, to) = (at(piece.from), at(piece.to));
                    i class={ "c" (piece.colour) @if piece.thin { " thin" } }
                        style=(format!("left:{:.2}%;width:{:.2}%", from.min(to), (to - from).abs()))
                        title=(piece.title) {}
                }
                span style=(format!("left:{end:.2}%")) { (self.said) }
            }
        }
    }
}
