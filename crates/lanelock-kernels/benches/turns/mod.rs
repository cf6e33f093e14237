//! Two ways to do the same work, in turns.

use std::time::{Duration, Instant};

/// Turns of each side.
const TURNS: usize = 15;
/// Length of a turn.
const TURN: Duration = Duration::from_millis(15);

/// The heading of what [`compare`] prints.
pub fn heading(what: &str, theirs: &str) {
    println!("{what:36} {:>10} {theirs:>10} {:>7}", "lanelock/s", "ratio");
}

/// Prints operations per second of `ours` and of `theirs`, each with the number that a call does,
/// and their ratio: medians over the turns.
pub fn compare(name: &str, ours: (usize, impl FnMut()), theirs: (usize, impl FnMut())) {
    let ((our_count, mut ours), (their_count, mut theirs)) = (ours, theirs);
    ours();
    theirs();
    let mut turns: Vec<_> = (0..TURNS)
        .map(|_| (turn(our_count, &mut ours), turn(their_count, &mut theirs)))
        .collect();
    let mut median = |of: fn(&(f64, f64)) -> f64| {
        turns.sort_by(|a, b| of(a).total_cmp(&of(b)));
        of(&turns[TURNS / 2])
    };
    let (ours, theirs, ratio) = (median(|t| t.0), median(|t| t.1), median(|t| t.0 / t.1));
    println!("{name:36} {ours:10.0} {theirs:10.0} {ratio:7.2}");
}

/// Operations per second over one turn of a function that does `count`.
fn turn(count: usize, run: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut done = 0;
    while start.elapsed() < TURN {
        run();
        done += count;
    }
    done as f64 / start.elapsed().as_secs_f64()
}
