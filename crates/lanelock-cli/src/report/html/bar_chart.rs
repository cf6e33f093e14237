//! A chart with horizontal bars.

use std::fmt::Write;

use super::scale::{Scale, Spread};
use super::text::{escape, number};

/// Groups of bars, one below the other, with the values written at their ends.
#[derive(Clone, Debug)]
pub(super) struct BarChart {
    pub(super) title: String,
    pub(super) unit: &'static str,
    pub(super) groups: Vec<Group>,
    /// What the parts of a bar, or the bars of a group, mean: name and colour.
    pub(super) legend: Vec<(String, usize)>,
}

/// Bars of one thing.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    /// Each bar as its parts from left to right: colour and value.
    pub(super) bars: Vec<Vec<(usize, f64)>>,
}

const WIDTH: f64 = 560.0;
const RIGHT: f64 = 64.0;
const BAR: f64 = 13.0;
const GAP: f64 = 9.0;
const TOP: f64 = 4.0;
const BOTTOM: f64 = 24.0;
/// Width of a character of a group's name, about.
const CHARACTER: f64 = 7.2;

impl BarChart {
    pub(super) fn render(&self) -> String {
        let longest = self.groups.iter().map(|g| g.name.chars().count()).max();
        #[expect(clippy::cast_precision_loss, reason = "a name's length")]
        let left = (longest.unwrap_or(0) as f64 * CHARACTER + 14.0).clamp(60.0, 230.0);
        let height: f64 = self.groups.iter().map(Group::height).sum::<f64>() + TOP + BOTTOM;
        let totals = self
            .groups
            .iter()
            .flat_map(|g| g.bars.iter().map(|bar| total(bar)));
        let x = Scale::covering(totals, Spread::Linear, (left, WIDTH - RIGHT));
        let mut svg = format!(
            "<figure><figcaption>{}</figcaption>\n{}<svg viewBox=\"0 0 {WIDTH} {height}\" \
             role=\"img\" aria-label=\"{}\">\n",
            escape(&self.title),
            self.legend(),
            escape(&self.title),
        );
        let bottom = height - BOTTOM;
        for &tick in x.ticks() {
            let at = x.at(tick);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                height - 8.0,
                number(tick),
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"name\" x=\"{WIDTH}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            height - 8.0,
            escape(self.unit),
        );
        let mut top = TOP;
        for group in &self.groups {
            self.group(group, left, top, &x, &mut svg);
            top += group.height();
        }
        svg.push_str("</svg></figure>\n");
        svg
    }

    fn legend(&self) -> String {
        if self.legend.is_empty() {
            return String::new();
        }
        let items = self
            .legend
            .iter()
            .fold(String::new(), |mut html, (name, colour)| {
                let _ = write!(html, "<li><i class=\"c{colour}\"></i>{}</li>", escape(name));
                html
            });
        format!("<ul class=\"legend\">{items}</ul>\n")
    }

    fn group(&self, group: &Group, left: f64, top: f64, x: &Scale, svg: &mut String) {
        let middle = top + (group.height() - GAP) / 2.0 + GAP / 2.0;
        let _ = writeln!(
            svg,
            "<text class=\"label\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            middle + 4.0,
            escape(&group.name),
        );
        let mut y = top + GAP / 2.0;
        for bar in &group.bars {
            let mut sum = 0.0;
            for &(colour, value) in bar {
                let (from, to) = (x.at(sum), x.at(sum + value));
                let (start, width) = (from.min(to), (to - from).abs());
                let _ = writeln!(
                    svg,
                    "<rect class=\"c{colour}\" x=\"{start:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
                     height=\"{BAR}\" rx=\"2\"><title>{}: {} {}</title></rect>",
                    escape(&group.name),
                    number(value),
                    escape(self.unit),
                );
                sum += value;
            }
            let _ = writeln!(
                svg,
                "<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x.at(sum.max(0.0)) + 6.0,
                y + BAR - 2.5,
                number(total(bar)),
            );
            y += BAR + 2.0;
        }
    }
}

impl Group {
    fn height(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few bars")]
        let bars = self.bars.len() as f64;
        bars * (BAR + 2.0) + GAP
    }
}

fn total(bar: &[(usize, f64)]) -> f64 {
    bar.iter().map(|(_, value)| value).sum()
}
