//! A self-contained page with charts: no script, no font, no image from elsewhere.
//!
//! Lines are drawn by plotters, bars are boxes of the page itself; colours are variables of the
//! style, which has them for light and for dark.

mod bar_chart;
mod charts;
mod heat;
mod line_chart;
mod trace;
mod waterfall;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use crate::figures::number;
use crate::row::{self, Report, Row};
pub use heat::render as sweep;
pub use trace::render as trace;

const STYLE: &str = include_str!("style.css");

/// Charts of one kind under a heading.
struct Section {
    title: &'static str,
    explanation: &'static str,
    charts: Vec<Markup>,
}

/// The page of measurements.
pub fn render(report: &Report) -> String {
    let machine = &report.machine;
    let facts = [
        ("CPU", machine.cpu.clone()),
        ("cores", machine.cores.to_string()),
        ("instruction sets", machine.tiers.join(", ")),
        ("OpenSSL", machine.openssl.clone()),
        ("system", machine.os.clone()),
        ("kernel", machine.kernel.clone()),
    ];
    let header = html! {
        h1 { "lanelock: measurements" }
        p { "Repeat them with " code { (report.command) } }
        (list(&facts))
    };
    page(
        &format!("lanelock on {}", machine.cpu),
        &header,
        charts::sections(&report.results),
        &table(&report.results),
    )
}

/// A page of its own; sections without charts are left out.
fn page(title: &str, header: &Markup, sections: Vec<Section>, rest: &Markup) -> String {
    let sections = sections
        .into_iter()
        .filter(|section| !section.charts.is_empty());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Browsers would ask for an icon.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header { (header) }
                    @for section in sections {
                        section {
                            h2 { (section.title) }
                            p { (section.explanation) }
                            div.charts { @for chart in &section.charts { (chart) } }
                        }
                    }
                    (rest)
                    footer { "Written by lanelock " (env!("CARGO_PKG_VERSION")) "." }
                }
            }
        }
    };
    page.into_string()
}

/// Names and values, those that there are.
fn list(facts: &[(&str, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// A chart with its title, and what its colours mean: names, and the numbers of the colours.
fn figure(title: &str, legend: &[(String, usize)], chart: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            @if !legend.is_empty() {
                ul.legend {
                    @for (name, colour) in legend { li { i class={ "c" (colour) } {} (name) } }
                }
            }
            (chart)
        }
    }
}

/// Every figure, folded away under the charts, under the names that JSON uses.
fn table(rows: &[Row]) -> Markup {
    let rows: Vec<_> = rows.iter().map(Row::fields).collect();
    let names = row::names(&rows);
    html! {
        details {
            summary { "All figures" }
            div.scroll {
                table {
                    tr { @for name in &names { th { (name) } } }
                    @for row in &rows {
                        tr { @for &name in &names { (cell(row.get(name))) } }
                    }
                }
            }
        }
    }
}

/// Words to the left, figures to the right; nothing for 0, which was not measured.
fn cell(value: Option<&Value>) -> Markup {
    match value {
        Some(Value::String(words)) => html! { td.word { (words) } },
        Some(Value::Number(value)) if value.is_f64() => {
            let value = value.as_f64().filter(|value| *value != 0.0);
            html! { td { (value.map(number).unwrap_or_default()) } }
        }
        other => html! { td { (other.map(Value::to_string).unwrap_or_default()) } },
    }
}

#[cfg(test)]
mod browser;
#[cfg(test)]
mod tests;
