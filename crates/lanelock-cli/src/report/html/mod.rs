//! A self-contained page with charts: no script, no font, no image from elsewhere.

mod bar_chart;
mod charts;
mod line_chart;
mod scale;
mod table;
mod text;
mod trace;
mod waterfall;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::row::Report;
use text::escape;
pub use trace::render as trace;

const STYLE: &str = include_str!("style.css");

/// Writes the page to `path`.
///
/// # Errors
/// [`Failure::Output`] if it cannot be written.
pub fn write(report: &Report, path: &Path) -> Result<(), Failure> {
    fs::write(path, render(report)).map_err(|error| Failure::Output {
        to: path.display().to_string(),
        error,
    })
}

/// The page.
fn render(report: &Report) -> String {
    let mut header_html = String::new();
    header(report, &mut header_html);
    page(
        &format!("lanelock on {}", report.machine.cpu),
        &header_html,
        &charts::sections(&report.results),
        &table::render(&report.results),
    )
}

/// A page of its own: header and rest are markup.
fn page(title: &str, header: &str, sections: &[charts::Section], rest: &str) -> String {
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{header}",
        escape(title),
    );
    for section in sections {
        let _ = write!(
            html,
            "<section>\n<h2>{}</h2>\n<p>{}</p>\n<div class=\"charts\">\n{}</div>\n</section>\n",
            escape(section.title),
            escape(section.explanation),
            section.charts.concat(),
        );
    }
    html.push_str(rest);
    html.push_str("<footer>Written by lanelock ");
    html.push_str(env!("CARGO_PKG_VERSION"));
    html.push_str(".</footer>\n</main>\n</body>\n</html>\n");
    html
}

fn header(report: &Report, html: &mut String) {
    let machine = &report.machine;
    let _ = write!(
        html,
        "<header>\n<h1>lanelock: measurements</h1>\n<p>Repeat them with <code>{}</code></p>\n\
         <dl class=\"facts\">\n",
        escape(&report.command),
    );
    let cores = machine.cores.to_string();
    let tiers = machine.tiers.join(", ");
    for (name, value) in [
        ("CPU", &machine.cpu),
        ("cores", &cores),
        ("instruction sets", &tiers),
        ("OpenSSL", &machine.openssl),
        ("system", &machine.os),
        ("kernel", &machine.kernel),
    ] {
        if !value.is_empty() {
            let _ = writeln!(html, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value));
        }
    }
    html.push_str("</dl>\n</header>\n");
}

#[cfg(test)]
mod tests;
