//! `lanelock tour`: the short tour that `make run` ends with.

use std::fmt::Write as _;
use std::io;
use std::io::Write as _;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::report::json::{self, Schema};
use crate::report::{columns, html, table};
use crate::row::{Report, Row};
use crate::{check, perf};

/// Arguments of `lanelock tour`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
About three minutes on two cores. `lanelock check` and `lanelock perf` do the same with more
to choose from. TLS handshakes need HAProxy and the provider's module, and are skipped without.

Examples:
  lanelock tour
  lanelock tour --html today.html --json today.json")]
pub struct Args {
    /// Page with charts to write.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    html: PathBuf,

    /// Write the results as JSON too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] if a result is wrong or an operation failed.
pub fn run(args: &Args) -> Result<(), Failure> {
    print("checking every engine against known answers and an independent implementation\n")?;
    print(&check::brief()?)?;
    let perf::Tour { report, skipped } = perf::tour(|what| {
        let _nowhere_to_say_it = writeln!(io::stderr(), "measuring {what}");
    })?;
    print(&format!(
        "\n{}\n{}\n\n{}\n",
        table::machine(&report.machine),
        throughput(&report),
        many_keys(&report)
    ))?;
    print(&handshakes(&report))?;
    for what in skipped {
        print(&format!("\nskipped: {what}\n"))?;
    }
    html::write(&report, &args.html)?;
    if let Some(path) = &args.json {
        std::fs::write(path, json::render(Schema::Perf, &report)).map_err(|error| {
            Failure::Output {
                to: path.display().to_string(),
                error,
            }
        })?;
    }
    print(&format!(
        "\ncharts and all figures: {}\n",
        args.html.display()
    ))
}

fn print(text: &str) -> Result<(), Failure> {
    io::stdout()
        .lock()
        .write_all(text.as_bytes())
        .map_err(Failure::stdout)
}

/// One line for each algorithm and engine: one thread, bursts of 32, short and long messages.
fn throughput(report: &Report) -> String {
    let row = |first: &Row, size: u64| {
        report.results.iter().find(|row| {
            let is_throughput = row.cycles_per_op.is_none() && row.p50_ns.is_none();
            is_throughput
                && (&row.algorithm, &row.operation) == (&first.algorithm, &first.operation)
                && (&row.contestant, row.threads, row.size) == (&first.contestant, 1, size)
                && row.sessions == 1
                && row.imix.is_none()
        })
    };
    let mut lines: Vec<Vec<String>> = Vec::new();
    for first in report.results.iter().filter(|row| row.threads == 1) {
        let name = vec![
            first.algorithm.clone(),
            first.operation.clone(),
            first.contestant.clone(),
        ];
        if lines.iter().any(|line| line[..3] == name) {
            continue;
        }
        let (Some(short), Some(long)) = (row(first, 64), row(first, 8 << 10)) else {
            continue;
        };
        let gain = match short.uplift_percent {
            Some(percent) => format!("{percent:+.0} %"),
            None => String::new(),
        };
        let figures = [
            format!("{:.0}", short.ns_per_op),
            format!("{:.2}", short.gbit_per_s),
            format!("{:.2}", long.gbit_per_s),
            gain,
        ];
        lines.push(name.into_iter().chain(figures).collect());
    }
    let titles = [
        "algorithm",
        "operation",
        "contestant",
        "ns/op at 64 B",
        "Gbit/s at 64 B",
        "at 8 KiB",
        "engine's gain at 64 B",
    ];
    let mut text = String::new();
    let _ = writeln!(text, "one thread, one session, bursts of 32, in place");
    text.push_str(&align(&titles, lines));
    text
}

/// One line for each algorithm and contestant with many keys: equal lengths and the mix.
fn many_keys(report: &Report) -> String {
    let rows: Vec<&Row> = report
        .results
        .iter()
        .filter(|row| row.sessions > 1 && row.threads == 1)
        .collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for first in &rows {
        let name = |row: &Row| {
            let Row {
                algorithm,
                operation,
                contestant,
                ..
            } = row;
            vec![algorithm.clone(), operation.clone(), contestant.clone()]
        };
        let names = name(first);
        if lines.iter().any(|line| line[..3] == names) {
            continue;
        }
        let speed = |wanted: &dyn Fn(&Row) -> bool| {
            let found = rows.iter().find(|row| name(row) == names && wanted(row));
            found.map_or(String::new(), |row| format!("{:.2}", row.gbit_per_s))
        };
        let of_size = |size| move |row: &Row| row.size == size && row.imix.is_none();
        let figures = [
            speed(&of_size(64)),
            speed(&of_size(1 << 10)),
            speed(&|row| row.imix.is_some()),
        ];
        lines.push(names.into_iter().chain(figures).collect());
    }
    let titles = [
        "algorithm",
        "operation",
        "contestant",
        "Gbit/s at 64 B",
        "at 1 KiB",
        "at the mix",
    ];
    let mix = rows.iter().find_map(|row| row.imix.as_deref());
    let mut text = String::new();
    let _ = writeln!(
        text,
        "one thread, {} sessions in turn, bursts of 32, in place; mix {}",
        rows.first().map_or(0, |row| row.sessions),
        mix.unwrap_or("not measured")
    );
    text.push_str(&align(&titles, lines));
    text
}

/// Handshakes of a server, if there were any.
fn handshakes(report: &Report) -> String {
    let rows = report
        .results
        .iter()
        .filter(|row| row.connections.is_some());
    let rows: Vec<Row> = rows.cloned().collect();
    match rows.is_empty() {
        true => String::new(),
        false => table::section(&rows, columns::TLS),
    }
}

/// Columns, the first three of them words.
fn align(titles: &[&str], lines: Vec<Vec<String>>) -> String {
    use comfy_table::{CellAlignment, Table, presets};
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(titles);
    table.add_rows(lines);
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}
