//! A chart with lines.

use std::fmt::Write;

use super::scale::{Scale, Spread};
use super::text::escape;

/// Lines over a common axis.
#[derive(Clone, Debug)]
pub(super) struct LineChart {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    /// A thin line for comparison, named at its end.
    pub(super) guide: Option<Series>,
}

#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) title: &'static str,
    pub(super) spread: Spread,
    pub(super) label: fn(f64) -> String,
}

#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) name: String,
    /// Number of its colour: the same contestant has the same one in every chart.
    pub(super) colour: usize,
    pub(super) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;

impl LineChart {
    /// The chart as SVG, with its title and legend as HTML around it.
    pub(super) fn render(&self) -> String {
        let mut svg = format!(
            "<figure><figcaption>{}</figcaption>\n{}<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             role=\"img\" aria-label=\"{}\">\n",
            escape(&self.title),
            self.legend(),
            escape(&self.title),
        );
        let all = || {
            self.series
                .iter()
                .chain(&self.guide)
                .flat_map(|s| &s.points)
        };
        let xs = || all().map(|point| point.0);
        let (low, high) = xs().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let mut x = Scale::covering(xs(), self.x.spread, (LEFT, WIDTH - RIGHT));
        if low < high {
            x = x.tight(low, high);
        }
        let y = Scale::covering(
            all().map(|point| point.1),
            self.y.spread,
            (HEIGHT - BOTTOM, TOP),
        );
        self.axes(&x, &y, &mut svg);
        if let Some(guide) = &self.guide {
            let _ = writeln!(
                svg,
                "<polyline class=\"guide\" points=\"{}\"><title>{}</title></polyline>",
                path(guide, &x, &y),
                escape(&guide.name)
            );
        }
        for series in &self.series {
            self.line(series, &x, &y, &mut svg);
        }
        svg.push_str("</svg></figure>\n");
        svg
    }

    fn legend(&self) -> String {
        let mut html = "<ul class=\"legend\">".to_owned();
        for series in &self.series {
            let _ = write!(
                html,
                "<li><i class=\"c{}\"></i>{}</li>",
                series.colour,
                escape(&series.name)
            );
        }
        if let Some(guide) = &self.guide {
            let _ = write!(
                html,
                "<li><i class=\"dashed\"></i>{}</li>",
                escape(&guide.name)
            );
        }
        html + "</ul>\n"
    }

    fn axes(&self, x: &Scale, y: &Scale, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for &tick in y.ticks() {
            let at = y.at(tick);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                (self.y.label)(tick),
            );
        }
        for &tick in x.ticks() {
            let at = x.at(tick);
            let _ = writeln!(
                svg,
                "<line class=\"mark\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom}\" y2=\"{}\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 5.0,
                bottom + 19.0,
                (self.x.label)(tick),
            );
        }
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>\
             <text class=\"name\" x=\"{right}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <text class=\"name\" transform=\"translate(13 {TOP}) rotate(-90)\" \
             text-anchor=\"end\">{}</text>",
            HEIGHT - 6.0,
            escape(self.x.title),
            escape(self.y.title),
        );
    }

    fn line(&self, series: &Series, x: &Scale, y: &Scale, svg: &mut String) {
        let colour = series.colour;
        let _ = writeln!(
            svg,
            "<polyline class=\"line c{colour}\" points=\"{}\"/>",
            path(series, x, y)
        );
        if series.points.len() > 40 {
            return; // a curve, not measurements one by one
        }
        for &(px, py) in &series.points {
            let _ = writeln!(
                svg,
                "<circle class=\"c{colour}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.4\">\
                 <title>{}: {} {} at {} {}</title></circle>",
                x.at(px),
                y.at(py),
                escape(&series.name),
                (self.y.label)(py),
                escape(self.y.title),
                (self.x.label)(px),
                escape(self.x.title),
            );
        }
    }
}

fn path(series: &Series, x: &Scale, y: &Scale) -> String {
    series.points.iter().fold(String::new(), |mut path, point| {
        let _ = write!(path, "{:.1},{:.1} ", x.at(point.0), y.at(point.1));
        path
    })
}
