//! The differential checker: random messages through an engine, each result compared with the
//! reference, every byte around it watched.
//!
//! After FreeBSD's `cryptocheck`, and beyond it: segments, offsets, unequal ranges, both outputs,
//! inline and separate parts, bursts of many sessions, both ways into a queue pair, messages that
//! must be refused, guard pages, and a smallest case at the end.

mod chosen;
mod describe;
mod edit;
mod fault;
mod generate;
mod plan;
mod scenario;
mod shape;
mod shrink;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use lanelock_core::algorithm::Spec;

pub use chosen::Chosen;
pub use describe::Failure;
pub use scenario::Tally;

use crate::{Progress, Subject};
use plan::{Step, Unit};

/// How much is run.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Level {
    /// Seconds: every algorithm in every layout at least once.
    Quick,
    /// About a minute.
    #[default]
    Default,
    /// Minutes: every length up to 257 bytes, every IV and tag length, long messages.
    Exhaustive,
}

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How much.
    pub level: Level,
    /// Of every random choice: the same seed repeats a run exactly.
    pub seed: u64,
    /// Threads to use.
    pub threads: usize,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// One row for each algorithm, and one for all of them mixed.
    pub rows: Vec<Row>,
    /// The first mismatch found, made as small as it can be.
    pub failure: Option<Box<Failure>>,
}

/// The count of one algorithm.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What was run.
    pub tally: Tally,
}

impl Outcome {
    /// The sum of all rows.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for row in &self.rows {
            total += row.tally;
        }
        total
    }
}

/// Runs the scenarios of `options` for each algorithm of `subject` that `wanted` accepts, until
/// one goes wrong.
///
/// # Panics
/// If the reference does, which would be a mistake in this crate.
pub fn run(
    subject: &Subject,
    options: Options,
    wanted: &dyn Fn(&Spec) -> bool,
    progress: &dyn Progress,
) -> Outcome {
    let units = plan::units(subject, options.level, options.seed, wanted);
    let steps: Vec<Step> = units
        .iter()
        .enumerate()
        .flat_map(|(unit, u)| (0..u.len()).map(move |number| Step { unit, number }))
        .collect();
    progress.begin("differential", steps.len() as u64);
    let tallies = Mutex::new(vec![Tally::default(); units.len()]);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let first_wrong = Mutex::new(None::<usize>);
    std::thread::scope(|scope| {
        for _ in 0..options.threads.max(1) {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    let index = next.fetch_add(1, Relaxed);
                    let Some(step) = steps.get(index) else { break };
                    let unit = &units[step.unit];
                    match unit.scenario(subject, step.number).run(subject) {
                        Ok(tally) => lock(&tallies)[step.unit] += tally,
                        Err(_) => {
                            stop.store(true, Relaxed);
                            let mut first = lock(&first_wrong);
                            *first = Some(first.map_or(index, |other| other.min(index)));
                        }
                    }
                    progress.advance(1, &unit.name);
                }
            });
        }
    });
    progress.end();
    let tallies = tallies.into_inner().expect("no thread has panicked");
    let first_wrong = first_wrong.into_inner().expect("no thread has panicked");
    let rows = units.iter().zip(tallies).map(|(unit, tally)| Row {
        name: unit.name.clone(),
        tally,
    });
    Outcome {
        rows: rows.collect(),
        failure: first_wrong.map(|index| {
            let Step { unit, number } = steps[index];
            Box::new(explain(subject, &units[unit], number, options.seed))
        }),
    }
}

/// Runs a scenario that went wrong once more, makes it small, and puts it in words.
fn explain(subject: &Subject, unit: &Unit, number: usize, seed: u64) -> Failure {
    let scenario = unit.scenario(subject, number);
    let (scenario, found) = shrink::shrink(subject, scenario);
    Failure::new(subject, &scenario, found, &unit.name, seed)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
