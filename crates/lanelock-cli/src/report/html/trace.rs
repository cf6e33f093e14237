//! The page of `lanelock trace`.

use maud::html;

use super::bar_chart::{Bar, BarChart, Group};
use super::line_chart::{Axis, LineChart, Series, Spread};
use super::{Section, list, page, waterfall};
use crate::figures::{float, number};
use crate::trace::{Breakdown, Event, Times};

/// The page as markup.
pub fn render(breakdown: &Breakdown, events: &[Event]) -> String {
    let handshakes = &breakdown.handshakes;
    let returned: u64 = handshakes.returned_for_later.values().sum();
    let facts = [
        ("seconds", format!("{:.1}", breakdown.seconds)),
        ("handshakes completed", handshakes.completed.to_string()),
        ("failed", handshakes.failed.to_string()),
        ("cut off", handshakes.cut_off.to_string()),
        ("returned for later", returned.to_string()),
    ];
    let header = html! {
        h1 { "lanelock: trace" }
        p { code { (breakdown.program) } }
        (list(&facts))
        @for note in &breakdown.notes { p { "Note: " (note) } }
    };
    let sections = vec![
        time(breakdown),
        latency(breakdown),
        crypto(breakdown),
        lanes(breakdown),
        Section {
            title: "Single handshakes",
            explanation: "Each from its first call, as far as events were kept.",
            charts: waterfall::render(events).into_iter().collect(),
        },
    ];
    let title = format!("lanelock trace of {}", breakdown.program);
    page(&title, &header, sections, &html! {})
}

/// An average handshake in parts.
fn time(breakdown: &Breakdown) -> Section {
    let handshakes = &breakdown.handshakes;
    let chart = handshakes.time.as_ref().map(|time| {
        let each = |times: Option<&Times>| match times {
            Some(times) => float(times.total_us) / float(time.count),
            None => 0.0,
        };
        let inside = each(handshakes.inside_calls.as_ref());
        let paused = each(handshakes.paused.as_ref());
        let crypto = inside * breakdown.crypto_share.unwrap_or(0.0).min(1.0);
        let parts = [
            ("crypto", crypto),
            ("the rest of its calls", inside - crypto),
            ("paused for an operation", paused),
            ("waiting for the peer", time.average_us - inside - paused),
        ];
        let parts = parts.into_iter().enumerate();
        let parts: Vec<_> = parts.filter(|(_, (_, us))| *us > 0.0).collect();
        let bar: Vec<_> = parts.iter().map(|(i, (_, us))| (*i, *us)).collect();
        let legend = parts.iter().map(|(i, (name, _))| ((*name).to_owned(), *i));
        BarChart {
            title: "An average handshake".to_owned(),
            unit: "µs",
            groups: vec![group("handshake".to_owned(), "µs", &bar)],
            legend: legend.collect(),
        }
        .render()
    });
    Section {
        title: "Where the time goes",
        explanation: "A handshake counts once, from its first call to the end of its last, however \
                      often it was returned for later in between.",
        charts: chart.into_iter().collect(),
    }
}

const MICROSECONDS: Axis = Axis {
    title: "µs, or less",
    spread: Spread::Logarithmic(10),
    label: number,
};

const SHARE: Axis = Axis {
    title: "% of all",
    spread: Spread::Linear,
    label: number,
};

fn latency(breakdown: &Breakdown) -> Section {
    let handshakes = &breakdown.handshakes;
    let wait = breakdown.batches.as_ref().and_then(|b| b.wait.as_ref());
    let curves = |named: &[(&str, Option<&Times>)]| -> Vec<Series> {
        let named = named.iter().enumerate();
        named
            .filter_map(|(colour, (name, times))| {
                Some(Series {
                    name: (*name).to_owned(),
                    colour,
                    points: cumulative((*times)?),
                })
            })
            .filter(|series| series.points.len() > 1)
            .collect()
    };
    let charts = [
        (
            "Handshakes",
            curves(&[
                ("first call to last", handshakes.time.as_ref()),
                ("inside calls", handshakes.inside_calls.as_ref()),
                ("paused", handshakes.paused.as_ref()),
            ]),
        ),
        ("Operations", curves(&[("submission to result", wait)])),
    ];
    let charts = charts.into_iter().filter(|(_, series)| !series.is_empty());
    Section {
        title: "Latency",
        explanation: "The share that took at most this long.",
        charts: charts
            .map(|(title, series)| LineChart::new(title, [MICROSECONDS, SHARE], series).render())
            .collect(),
    }
}

/// Share in percent of what took at most so many microseconds.
fn cumulative(times: &Times) -> Vec<(f64, f64)> {
    let mut seen = 0;
    let buckets = times.distribution_us.iter();
    buckets
        .map(|(us, count)| {
            seen += count;
            (
                float((*us).max(1)),
                100.0 * float(seen) / float(times.count.max(1)),
            )
        })
        .collect()
}

fn crypto(breakdown: &Breakdown) -> Section {
    let functions = breakdown.crypto.iter().map(|o| (&o.name, o.total_us));
    let batches = breakdown.batches.iter().flat_map(|b| &b.algorithms);
    let batches = batches.map(|algorithm| (&algorithm.name, algorithm.total_us));
    let groups: Vec<_> = functions
        .chain(batches)
        .map(|(name, us)| group(name.clone(), "ms", &[(0, us / 1000.0)]))
        .collect();
    let chart = BarChart {
        title: "Time in public-key operations".to_owned(),
        unit: "ms",
        legend: Vec::new(),
        groups,
    };
    Section {
        title: "Crypto",
        explanation: "Total time spent in each operation during the trace.",
        charts: match chart.groups.is_empty() {
            true => Vec::new(),
            false => vec![chart.render()],
        },
    }
}

fn lanes(breakdown: &Breakdown) -> Section {
    let algorithms = breakdown.batches.iter().flat_map(|b| &b.algorithms);
    let charts = algorithms.filter(|a| !a.lanes.is_empty()).map(|algorithm| {
        BarChart {
            title: format!("{}: batches by lanes filled", algorithm.name),
            unit: "batches",
            legend: Vec::new(),
            groups: algorithm
                .lanes
                .iter()
                .map(|(lanes, count)| group(lanes.to_string(), "batches", &[(0, float(*count))]))
                .collect(),
        }
        .render()
    });
    Section {
        title: "Batches",
        explanation: "How many operations ran together.",
        charts: charts.collect(),
    }
}

fn group(name: String, unit: &str, parts: &[(usize, f64)]) -> Group {
    let bars = vec![Bar::stacked(&name, unit, parts)];
    Group { name, bars }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breakdown() -> Breakdown {
        let times = Times {
            count: 2,
            average_us: 1000.0,
            p50_us: 900,
            p99_us: 1100,
            total_us: 2000,
            distribution_us: vec![(900, 1), (1100, 1)],
        };
        let mut breakdown = Breakdown {
            program: "a <server>".to_owned(),
            crypto_share: Some(0.25),
            notes: vec!["less & more".to_owned()],
            ..Breakdown::default()
        };
        breakdown.handshakes.completed = 2;
        breakdown.handshakes.time = Some(times.clone());
        breakdown.handshakes.inside_calls = Some(Times {
            total_us: 800,
            average_us: 400.0,
            ..times
        });
        breakdown
    }

    #[test]
    fn the_parts_of_a_handshake_add_up() {
        let html = render(&breakdown(), &[]);
        for part in [
            "handshake: 100 µs",
            "handshake: 300 µs",
            "handshake: 600 µs",
        ] {
            assert!(html.contains(part), "{part}\n{html}");
        }
        assert!(!html.contains("paused for an operation"));
    }

    #[test]
    fn names_are_escaped_and_empty_sections_left_out() {
        let html = render(&breakdown(), &[]);
        assert!(html.contains("a &lt;server&gt;") && html.contains("less &amp; more"));
        assert!(!html.contains("<h2>Batches") && !html.contains("Single handshakes"));
    }
}
