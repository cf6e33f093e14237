//! `lanelock perf verify`: whether what is measured is right.
//!
//! The work is that of a measurement, on a small pool. Every layout and every number of segments
//! has to give one checksum: the one that two hand-written loops, over OpenSSL and libipsec-mb,
//! agreed on when the table of known answers was made, and that a peer gives now.

use std::time::Duration;

use lanelock::algorithm::Spec;

use super::bench::Bench;
use super::cells;
use super::contest::{Contest, Engines};
use super::contestant::{Contestant, Entry};
use super::engine::EngineContestant;
use super::lengths::{Lengths, Mix};
use super::measure::{Absent, ONCE, Turns, measure};
use super::null_engine::NullEngine;
use super::operation::Operation;
use super::output::Output;
use super::peer::{Peer, PeerContestant};
use super::publish;
use super::shape::{Layout, Shape};
use super::work::{SIX, Work};
use crate::failure::Failure;
use crate::report::columns;
use crate::row::{Common, Verdict};

/// Arguments of `lanelock perf verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
This checks the benchmark's own work; for a thorough check of an engine, use `lanelock check`.

Examples:
  lanelock perf verify
  lanelock perf verify --algorithm aes-256-gcm,chacha20-poly1305 --peer evp,ipsec-mb")]
pub struct Args {
    /// Algorithms; each with all its operations.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = SIX)]
    algorithm: Vec<Spec>,
    #[command(flatten)]
    engines: Engines,
    /// Programs that do the same work without lanelock.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        help_heading = "Contestants"
    )]
    peer: Vec<Peer>,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] if a checksum is another, after all were looked at.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.output.check()?;
    let bench = Bench::open()?;
    let contest = Contest {
        engines: args.engines.clone(),
        peer: args.peer.clone(),
        reference: None,
    };
    contest.check(&bench)?;
    let operations = |&spec: &Spec| {
        let operations = Operation::of(spec.algorithm).iter();
        operations.map(move |&operation| (spec, operation))
    };
    let cells: Vec<_> = args.algorithm.iter().flat_map(operations).collect();
    let name = |(spec, operation): &(Spec, Operation)| format!("{spec} {operation}");
    let enter = |cell: &(Spec, Operation), _: &mut Absent<'_>| entrants(args, &bench, *cell);
    let rows = |_: &_, entrants: &[Entrant<'_>], laps: Vec<Vec<Option<Vec<String>>>>| {
        let verdicts = entrants.iter().zip(laps.into_iter().flatten());
        Ok(verdicts
            .filter_map(|(who, wrong)| Some(who.row(wrong?)))
            .collect())
    };
    let rows: Vec<Verdict> = measure(&cells, ONCE, name, enter, rows)?;
    let failures = rows.iter().flat_map(|row| {
        let name = &row.common.contestant;
        row.wrong.iter().map(move |why| format!("{name}: {why}"))
    });
    let failures: Vec<_> = failures.collect();
    publish(&bench, rows, columns::VERIFY, &args.output)?;
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::Failed(failures.join("\n"))),
    }
}

/// Whose work is looked at.
enum Who {
    Engine(String),
    Peer(Peer),
}

/// A contestant and the work that it is asked for.
struct Entrant<'b> {
    bench: &'b Bench,
    who: Who,
    spec: Spec,
    operation: Operation,
}

fn entrants<'b>(
    args: &Args,
    bench: &'b Bench,
    (spec, operation): (Spec, Operation),
) -> Result<Vec<Entrant<'b>>, Failure> {
    let names = args.engines.names(bench)?.into_iter();
    // The null engine has no results that could be right.
    let engines = names
        .filter(|name| name != NullEngine::NAME)
        .map(Who::Engine);
    let all = args.peer.iter().copied().map(Who::Peer).chain(engines);
    let entrant = |who| Entrant {
        bench,
        who,
        spec,
        operation,
    };
    Ok(all.map(entrant).collect())
}

impl Turns for Entrant<'_> {
    /// What is wrong, in words; `None` if the work is not on offer.
    type Lap = Option<Vec<String>>;
    const WARM_UP: Duration = Duration::ZERO;

    fn turn(&mut self, _: Duration) -> Result<Self::Lap, Failure> {
        let mut expected = known(self.spec, self.operation);
        let mut wrong = Vec::new();
        for shape in shapes(self.spec, self.operation)? {
            let device = &self.bench.device;
            let digest = match &self.who {
                Who::Peer(_) if shape.segments > 1 => continue,
                Who::Peer(peer) => digest(PeerContestant::open(*peer, &shape)?),
                Who::Engine(name) => digest(EngineContestant::open(device, name, &shape)?),
            };
            match digest {
                Ok(Some(digest)) if digest == *expected.get_or_insert(digest) => {}
                Ok(Some(digest)) => wrong.push(format!(
                    "{}: checksum {digest:016x} instead of {:016x}",
                    cells::describe(&shape),
                    expected.unwrap_or_default()
                )),
                Ok(None) => return Ok(None),
                Err(failure) => wrong.push(format!("{}: {failure}", cells::describe(&shape))),
            }
        }
        Ok(Some(wrong))
    }
}

impl Entrant<'_> {
    fn row(&self, wrong: Vec<String>) -> Verdict {
        let common = Common {
            algorithm: self.spec.to_string(),
            operation: self.operation.to_string(),
            contestant: match &self.who {
                Who::Engine(name) => name.clone(),
                Who::Peer(peer) => peer.name().to_owned(),
            },
            burst: 5,
            sessions: 3,
            threads: 1,
            ..Common::default()
        };
        Verdict {
            common,
            passed: wrong.is_empty(),
            wrong,
        }
    }
}

/// The checksum of a contestant that takes part.
fn digest(entry: Entry<impl Contestant>) -> Result<Option<u64>, Failure> {
    match entry {
        Entry::Ready(mut contestant) => contestant.digest(),
        Entry::NotOffered(_) => Ok(None),
    }
}

/// The same messages in every layout.
fn shapes(spec: Spec, operation: Operation) -> Result<Vec<Shape>, Failure> {
    let mut shapes = Vec::new();
    for layout in [Layout::InPlace, Layout::Separate] {
        if layout == Layout::InPlace && Shape::consumes_input(spec, operation) {
            continue;
        }
        for segments in [1, 2, 7] {
            let work = Work {
                operation: vec![operation],
                sizes: Lengths(vec![16]),
                burst: vec![5],
                sessions: vec![3],
                pool: Some(30),
                layout: Some(layout),
                segments,
                ..Work::of(vec![spec])
            };
            shapes.extend(work.cells()?.into_iter().map(|cell| Shape {
                mix: Mix::Imix(LENGTHS.parse().expect("a mix")),
                ..cell
            }));
        }
        if !shapes[0].has_output() {
            break;
        }
    }
    Ok(shapes)
}

/// The known checksum, if the table has one.
fn known(spec: Spec, operation: Operation) -> Option<u64> {
    let name = format!("{spec} {operation} ");
    let line = KNOWN.lines().find_map(|line| line.strip_prefix(&name));
    line.and_then(|hex| u64::from_str_radix(hex, 16).ok())
}

/// Lengths that every mode takes, in the order of the known answers' messages.
const LENGTHS: &str = "16:1,64:1,256:1,1024:1,4096:1";

/// Algorithm, operation, checksum: 30 messages of these lengths, 3 sessions, 16 bytes of
/// additional data for AEADs.
const KNOWN: &str = include_str!("known_answers.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_answer_is_for_an_operation_that_there_is() {
        for line in KNOWN.lines() {
            let mut words = line.split(' ');
            let spec: Spec = words.next().unwrap().parse().unwrap();
            let operation = words.next().unwrap();
            let operations = Operation::of(spec.algorithm);
            let operation = operations
                .iter()
                .find(|known| known.name() == operation)
                .unwrap();
            assert!(known(spec, *operation).is_some(), "{line}");
        }
    }

    #[test]
    fn the_six_have_known_answers() {
        for name in SIX.split(',') {
            let spec: Spec = name.parse().unwrap();
            for &operation in Operation::of(spec.algorithm) {
                assert!(known(spec, operation).is_some(), "{spec} {operation}");
            }
        }
    }

    #[test]
    fn the_mix_keeps_the_order_of_its_lengths() {
        let mix = Mix::Imix(LENGTHS.parse().unwrap());
        assert_eq!(mix.pattern(), [16, 64, 256, 1024, 4096]);
    }
}
