//! A breakdown as tables for people.

use std::fmt::Write as _;

use super::breakdown::{Breakdown, Handshakes, Times};
use crate::report::table::align;

/// All of it, ending in a newline.
pub(super) fn render(breakdown: &Breakdown) -> String {
    let mut text = format!("\n{}, {:.1} s\n", breakdown.program, breakdown.seconds);
    for library in &breakdown.libraries {
        line(&mut text, library);
    }
    let h = &breakdown.handshakes;
    line(
        &mut text,
        &format!(
            "\nhandshakes: {} completed, {} failed, {} cut off",
            h.completed, h.failed, h.cut_off
        ),
    );
    line(&mut text, &returned(h));
    let rows: Vec<_> = [
        ("first call to last", &h.time),
        ("inside calls", &h.inside_calls),
        ("paused", &h.paused),
    ]
    .into_iter()
    .filter_map(|(name, times)| Some(times_row(name, times.as_ref()?)))
    .collect();
    table(
        &mut text,
        &["µs", "count", "average", "p50", "p99", "total"],
        rows,
    );
    crypto(breakdown, &mut text);
    batches(breakdown, &mut text);
    if breakdown.events_lost > 0 {
        line(
            &mut text,
            &format!(
                "\nnote: {} events came too fast and are missing above, but not in the totals",
                breakdown.events_lost
            ),
        );
    }
    for note in &breakdown.notes {
        line(&mut text, &format!("note: {note}"));
    }
    text
}

fn returned(h: &Handshakes) -> String {
    let total: u64 = h.returned_for_later.values().sum();
    let each: Vec<_> = h
        .returned_for_later
        .iter()
        .map(|(why, count)| format!("{count} {why}"))
        .collect();
    match total {
        0 => "returned for later: never".to_owned(),
        _ => format!("returned for later: {total} times ({})", each.join(", ")),
    }
}

fn crypto(breakdown: &Breakdown, text: &mut String) {
    if breakdown.crypto.is_empty() {
        return;
    }
    let inside = breakdown.handshakes.inside_calls.as_ref();
    let share = |us: f64| match inside {
        #[expect(clippy::cast_precision_loss, reason = "microseconds below 2^52")]
        Some(inside) if inside.total_us > 0 => {
            format!("{:.1} %", us / inside.total_us as f64 * 100.0)
        }
        _ => String::new(),
    };
    let mut rows: Vec<_> = breakdown
        .crypto
        .iter()
        .map(|operation| {
            vec![
                operation.name.clone(),
                operation.count.to_string(),
                format!("{:.1}", operation.average_us),
                format!("{:.0}", operation.total_us),
                share(operation.total_us),
            ]
        })
        .collect();
    let total: f64 = breakdown.crypto.iter().map(|o| o.total_us).sum();
    let count: u64 = breakdown.crypto.iter().map(|o| o.count).sum();
    rows.push(vec![
        "all".to_owned(),
        count.to_string(),
        String::new(),
        format!("{total:.0}"),
        share(total),
    ]);
    line(text, "\ncrypto, as a share of the time inside calls");
    table(text, &["µs", "count", "average", "total", "share"], rows);
}

fn batches(breakdown: &Breakdown, text: &mut String) {
    let Some(batches) = &breakdown.batches else {
        return;
    };
    let mut heading = format!(
        "\nbatches: {} operations done, {} failed, {} cancelled",
        batches.done, batches.failed, batches.cancelled
    );
    if let Some(share) = breakdown.crypto_share {
        // Writing to a string succeeds.
        let _ = write!(heading, ", {:.1} % of the time inside calls", share * 100.0);
    }
    line(text, &heading);
    let rows: Vec<_> = batches
        .algorithms
        .iter()
        .map(|algorithm| {
            vec![
                algorithm.name.clone(),
                algorithm.submitted.to_string(),
                algorithm.batches.to_string(),
                format!("{:.2}", algorithm.lanes_average),
                format!("{:.1}", algorithm.average_us),
                format!("{:.0}", algorithm.total_us),
            ]
        })
        .collect();
    let titles = ["µs", "submitted", "batches", "lanes", "average", "total"];
    table(text, &titles, rows);
    if let Some(wait) = &batches.wait {
        line(text, "\noperations, from submission to result");
        let titles = ["µs", "count", "average", "p50", "p99", "total"];
        table(text, &titles, vec![times_row("wait", wait)]);
    }
}

fn times_row(name: &str, times: &Times) -> Vec<String> {
    vec![
        name.to_owned(),
        times.count.to_string(),
        format!("{:.0}", times.average_us),
        times.p50_us.to_string(),
        times.p99_us.to_string(),
        times.total_us.to_string(),
    ]
}

/// Columns, the first of them names.
fn table(text: &mut String, titles: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    line(text, &align(titles, |at| at == 0, rows));
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
