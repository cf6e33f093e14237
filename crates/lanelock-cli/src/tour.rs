//! `lanelock tour`: the short tour that `make run` ends with.

use std::io::Write;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::report::json::{self, Schema};
use crate::report::table::{self, align};
use crate::report::{columns, html};
use crate::row::{Report, Row, Throughput};
use crate::terminal::{print, save};
use crate::{check, perf};

/// Arguments of `lanelock tour`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Takes about three minutes on two cores. `lanelock check` and `lanelock perf` do the same with more
options. TLS handshakes need the provider's module, and are measured for each of HAProxy, nginx,
lighttpd, Redis and Apache httpd that is installed.

Examples:
  lanelock tour
  lanelock tour --html today.html --json today.json")]
pub struct Args {
    /// Write a page with charts to this file.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    html: PathBuf,

    /// Also write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] if a result is wrong or an operation failed.
pub fn run(args: &Args) -> Result<(), Failure> {
    print("checking every engine against known answers and an independent implementation\n")?;
    print(check::brief()?)?;
    let perf::Tour { report, skipped } = perf::tour(|what| {
        // There may be no reader.
        let _ = writeln!(std::io::stderr(), "measuring {what}");
    })?;
    print(format_args!(
        "\n{}\n{}\n\n{}\n",
        table::machine(&report.machine),
        throughput(&report),
        many_keys(&report)
    ))?;
    print(handshakes(&report))?;
    for what in skipped {
        print(format_args!("\nskipped: {what}\n"))?;
    }
    save(&args.html, &html::render(&report))?;
    if let Some(path) = &args.json {
        save(path, &json::render(Schema::Perf, &report))?;
    }
    print(format_args!(
        "\ncharts and all figures: {}\n",
        args.html.display()
    ))
}

/// One line for each algorithm and engine: one thread, bursts of 32, short and long messages.
fn throughput(report: &Report) -> String {
    let rows = rows(report).filter(|row| row.common.threads == 1);
    let rows = rows.filter(|row| row.common.sessions == 1 && row.messages.imix.is_none());
    let lines = named(rows).into_iter().filter_map(|(name, rows)| {
        let of_size = |size| rows.iter().find(|row| row.common.size == size);
        let (short, long) = (of_size(64)?, of_size(8 << 10)?);
        let gain = short
            .uplift_percent
            .map(|percent| format!("{percent:+.0} %"));
        let figures = [
            format!("{:.0}", short.common.ns_per_op),
            format!("{:.2}", short.common.gbit_per_s),
            format!("{:.2}", long.common.gbit_per_s),
            gain.unwrap_or_default(),
        ];
        Some(name.into_iter().chain(figures).collect())
    });
    let titles = [
        "algorithm",
        "operation",
        "contestant",
        "ns/op at 64 B",
        "Gbit/s at 64 B",
        "at 8 KiB",
        "engine's gain at 64 B",
    ];
    format!(
        "one thread, one session, bursts of 32, in place\n{}",
        align(&titles, |at| at < 3, lines)
    )
}

/// One line for each algorithm and contestant with many keys: equal lengths and the mix.
fn many_keys(report: &Report) -> String {
    let rows: Vec<_> = rows(report)
        .filter(|row| row.common.sessions > 1 && row.common.threads == 1)
        .collect();
    let lines = named(rows.iter().copied()).into_iter().map(|(name, rows)| {
        let speed = |wanted: &dyn Fn(&Throughput) -> bool| {
            let found = rows.iter().find(|row| wanted(row));
            found.map_or(String::new(), |row| format!("{:.2}", row.common.gbit_per_s))
        };
        let of_size =
            |size| move |row: &Throughput| row.common.size == size && row.messages.imix.is_none();
        let figures = [
            speed(&of_size(64)),
            speed(&of_size(1 << 10)),
            speed(&|row| row.messages.imix.is_some()),
        ];
        name.into_iter().chain(figures).collect()
    });
    let titles = [
        "algorithm",
        "operation",
        "contestant",
        "Gbit/s at 64 B",
        "at 1 KiB",
        "at the mix",
    ];
    let mix = rows.iter().find_map(|row| row.messages.imix.as_deref());
    format!(
        "one thread, {} sessions in turn, bursts of 32, in place; mix {}\n{}",
        rows.first().map_or(0, |row| row.common.sessions),
        mix.unwrap_or("not measured"),
        align(&titles, |at| at < 3, lines)
    )
}

fn rows(report: &Report) -> impl Iterator<Item = &Throughput> {
    report.results.iter().filter_map(|row| match row {
        Row::Throughput(row) => Some(row),
        _ => None,
    })
}

/// The rows of each algorithm, operation and contestant.
fn named<'r>(
    rows: impl Iterator<Item = &'r Throughput>,
) -> Vec<([String; 3], Vec<&'r Throughput>)> {
    let mut groups: Vec<([String; 3], Vec<&Throughput>)> = Vec::new();
    for row in rows {
        let common = &row.common;
        let name = [&common.algorithm, &common.operation, &common.contestant].map(String::clone);
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, group)) => group.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    groups
}

/// Handshakes of a server, if there were any.
fn handshakes(report: &Report) -> String {
    let rows = report.results.iter().filter_map(|row| match row {
        Row::Handshakes(row) => Some(row.clone()),
        _ => None,
    });
    match &rows.collect::<Vec<_>>()[..] {
        [] => String::new(),
        rows => table::section(rows, columns::TLS),
    }
}
