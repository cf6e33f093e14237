//! Cells of messages: who takes part, and rows of throughput.

use super::bench::Bench;
use super::contest::{Contest, Pace};
use super::contestant::{Contestant, Lap};
use super::lengths::Mix;
use super::measure::{self, Absent};
use super::score::{Score, agree};
use super::shape::Shape;
use crate::failure::Failure;
use crate::row::{Common, Comparison, Messages, Throughput};
use crate::terminal::say;

/// Measures every cell; the rows of a cell follow each other.
///
/// # Errors
/// [`Failure::Failed`] for an operation that fails, results that differ, or a cell without
/// contestants.
pub fn measure(
    cells: &[Shape],
    contest: &Contest,
    pace: Pace,
    bench: &Bench,
) -> Result<Vec<Throughput>, Failure> {
    for shape in cells {
        let mut peers = contest.peer.iter();
        peers.try_for_each(|peer| peer.accepts(shape))?;
    }
    contest.check(bench)?;
    let enter = |shape: &Shape, absent: &mut Absent<'_>| {
        let mut contestants = contest.enter(bench, shape, absent)?;
        agree(&mut contestants)?;
        Ok(contestants)
    };
    let rows = |shape: &Shape, contestants: &[Box<dyn Contestant>], laps: Vec<Vec<Lap>>| {
        let names: Vec<_> = contestants.iter().map(|one| one.name()).collect();
        match names.is_empty() {
            true => Err(Failure::Failed("no contestant offers it".to_owned())),
            false => Ok(rows(
                shape,
                contestants,
                &laps,
                contest.reference_among(&names),
            )),
        }
    };
    let rows = measure::measure(cells, pace, describe, enter, rows)?;
    let widest = rows
        .iter()
        .map(|row| row.spread_percent)
        .max_by(f64::total_cmp);
    if let Some(percent) = widest.filter(|&percent| percent > QUIET_PERCENT) {
        say(&format!(
            "rounds differ by up to ±{percent:.0} %: something else keeps this machine busy; \
             repeat on an idle one, or raise --seconds and --rounds"
        ));
    }
    Ok(rows)
}

/// Rounds on an idle machine differ by less.
const QUIET_PERCENT: f64 = 10.0;

/// The rows of a cell; several are compared with the one at `reference`.
pub fn rows(
    shape: &Shape,
    contestants: &[Box<dyn Contestant>],
    laps: &[Vec<Lap>],
    reference: usize,
) -> Vec<Throughput> {
    let scores: Vec<_> = laps.iter().map(Score::of).collect();
    let comparison = |score: &Score| Comparison {
        ratio: score.rate / scores[reference].rate,
        reference: contestants[reference].name().to_owned(),
    };
    let row = |(contestant, score): (&dyn Contestant, &Score)| Throughput {
        common: common(shape, contestant.name(), Some(score.rate)),
        messages: messages(shape),
        route: contestant.route().map(str::to_owned),
        comparison: (scores.len() > 1).then(|| comparison(score)),
        uplift_percent: None,
        spread_percent: score.spread_percent,
    };
    let contestants = contestants.iter().map(|contestant| &**contestant);
    contestants.zip(&scores).map(row).collect()
}

/// What the row of a contestant has that does `rate` operations per second, or whose speed is not
/// the point.
pub fn common(shape: &Shape, contestant: &str, rate: Option<f64>) -> Common {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "lengths are below 2^21, and at most 1024 threads"
    )]
    let (size, threads) = (shape.mix.mean().round() as u64, shape.threads as f64);
    Common {
        algorithm: shape.spec.to_string(),
        operation: shape.operation.to_string(),
        contestant: contestant.to_owned(),
        size,
        burst: shape.burst as u64,
        sessions: shape.sessions as u64,
        threads: shape.threads as u64,
        ops_per_s: rate.unwrap_or_default(),
        gbit_per_s: rate.map_or(0.0, |rate| rate * shape.mix.mean() * 8.0 / 1e9),
        ns_per_op: rate.map_or(0.0, |rate| threads * 1e9 / rate),
    }
}

/// What its messages are like.
pub fn messages(shape: &Shape) -> Messages {
    Messages {
        imix: match &shape.mix {
            Mix::Equal(_) => None,
            Mix::Imix(imix) => Some(imix.to_string()),
        },
        layout: shape.has_output().then(|| shape.layout.name().to_owned()),
        segments: shape.segments as u64,
        pool: shape.pool as u64,
        aad: (shape.aad > 0).then_some(shape.aad as u64),
    }
}

/// The cell in words.
pub fn describe(shape: &Shape) -> String {
    let plural = |n: usize, one: &str| match n {
        1 => String::new(),
        _ => format!(", {n} {one}s"),
    };
    let layout = if shape.has_output() {
        shape.layout.name()
    } else {
        "tags only"
    };
    format!(
        "{} {}, {} bytes, bursts of {}{}{}{}, {layout}",
        shape.spec,
        shape.operation,
        shape.mix,
        shape.burst,
        plural(shape.sessions, "session"),
        plural(shape.threads, "thread"),
        plural(shape.segments, "segment"),
    )
}
