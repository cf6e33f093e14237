//! From cells to rows: everybody in a cell is prepared, checked against each other, and measured
//! in turns.

use super::bench::Bench;
use super::contest::{Contest, Pace};
use super::contestant::Contestant;
use super::lengths::Mix;
use super::progress::Progress;
use super::rounds;
use super::shape::Shape;
use crate::failure::Failure;
use crate::row::Row;

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
) -> Result<Vec<Row>, Failure> {
    for shape in cells {
        contest
            .peer
            .iter()
            .try_for_each(|peer| peer.accepts(shape))?;
    }
    contest.check(bench)?;
    let entrants = contest.peer.len() + contest.engines.names(bench)?.len();
    let progress = Progress::of(cells.len() * entrants * pace.rounds);
    let mut rows = Vec::new();
    let mut said = Vec::new();
    for shape in cells {
        progress.say(describe(shape));
        let left_out = |name: &str, why: &str| {
            progress.skip(pace.rounds);
            let note = format!("{name} is left out: {why}");
            if !why.is_empty() && !said.contains(&note) {
                progress.note(&note);
                said.push(note);
            }
        };
        let cell = contest
            .enter(bench, shape, left_out)
            .and_then(|contestants| compete(contestants, contest, shape, pace, &progress))
            .map_err(|failure| failure.within(&describe(shape)))?;
        rows.extend(cell);
    }
    if let Some(percent) = widest_spread(&rows).filter(|&percent| percent > QUIET_PERCENT) {
        progress.note(&format!(
            "rounds differ by up to ±{percent:.0} %: something else keeps this machine busy; \
             repeat on an idle one, or raise --seconds and --rounds"
        ));
    }
    Ok(rows)
}

/// Rounds on an idle machine differ by less.
const QUIET_PERCENT: f64 = 10.0;

fn widest_spread(rows: &[Row]) -> Option<f64> {
    let spreads = rows.iter().filter_map(|row| row.spread_percent);
    spreads.max_by(f64::total_cmp)
}

/// Measures one cell: its rows, with ratios.
///
/// # Errors
/// As [`measure`].
pub fn compete(
    mut contestants: Vec<Box<dyn Contestant>>,
    contest: &Contest,
    shape: &Shape,
    pace: Pace,
    progress: &Progress,
) -> Result<Vec<Row>, Failure> {
    rounds::agree(&mut contestants)?;
    let scores = rounds::alternate(&mut contestants, pace, progress)?;
    let names: Vec<_> = contestants
        .iter()
        .map(|contestant| contestant.name())
        .collect();
    let reference = contest.reference_among(&names);
    let Some(reference_score) = scores.get(reference) else {
        return Err(Failure::Failed("no contestant offers it".to_owned()));
    };
    let several = scores.len() > 1;
    let rows = contestants
        .iter()
        .zip(&scores)
        .map(|(contestant, score)| Row {
            route: contestant.route().map(str::to_owned),
            ratio: several.then(|| score.rate / reference_score.rate),
            reference: several.then(|| names[reference].to_owned()),
            spread_percent: Some(score.spread_percent),
            ..row(shape, contestant.name(), score.rate)
        });
    Ok(rows.collect())
}

/// The row of a contestant that does `rate` operations per second.
pub fn row(shape: &Shape, contestant: &str, rate: f64) -> Row {
    #[expect(clippy::cast_precision_loss, reason = "at most 1024 threads")]
    let threads = shape.threads as f64;
    Row {
        ops_per_s: rate,
        gbit_per_s: rate * shape.mix.mean() * 8.0 / 1e9,
        ns_per_op: threads * 1e9 / rate,
        ..untimed_row(shape, contestant)
    }
}

/// The row of a contestant whose speed is not the point.
pub fn untimed_row(shape: &Shape, contestant: &str) -> Row {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "lengths are below 2^21"
    )]
    let size = shape.mix.mean().round() as u64;
    Row {
        algorithm: shape.spec.to_string(),
        operation: shape.operation.to_string(),
        contestant: contestant.to_owned(),
        size,
        burst: shape.burst as u64,
        sessions: shape.sessions as u64,
        threads: shape.threads as u64,
        imix: match &shape.mix {
            Mix::Equal(_) => None,
            Mix::Imix(imix) => Some(imix.to_string()),
        },
        layout: shape.has_output().then(|| shape.layout.name().to_owned()),
        segments: Some(shape.segments as u64),
        pool: Some(shape.pool as u64),
        aad: (shape.aad > 0).then_some(shape.aad as u64),
        ..Row::default()
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
