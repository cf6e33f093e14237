//! `lanelock perf pubkey`: public-key operations per second, and how long they take when they
//! arrive by themselves.

mod arrivals;
mod contestant;
mod crypto_mb;
mod load;
mod race;
mod who;
pub(crate) mod work;

use std::rc::Rc;

use clap::Args as ClapArgs;

use super::bench::Bench;
use super::contest::Pace;
use super::contestant::{Contestant, Lap};
use super::measure::{Absent, measure};
use super::number::number;
use super::output::Output;
use super::publish;
use super::score::{Score, agree};
use crate::failure::Failure;
use crate::report::columns;
use crate::row::{Common, Comparison, KeyBatch};
use contestant::KeyContestant;
pub(super) use crypto_mb::CryptoMb;
use load::Offer;
pub(super) use race::{KeyRace, Protection};
use who::{Contestants, Who};
use work::KeyWork;

/// Arguments of `lanelock perf pubkey`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  lanelock perf pubkey
  lanelock perf pubkey --algorithm rsa-2048-sign,x25519-derive,p256-sign --batch 1,8,64
  lanelock perf pubkey --algorithm rsa-2048-sign --blinding on,off --batch 8 --json -
  lanelock perf pubkey --algorithm p256-sign --engine device,openssl --batch 1
  lanelock perf pubkey --algorithm rsa-2048-sign,p256-sign --load 20,50,80 --html load.html
  lanelock perf pubkey --algorithm p256-sign --rate 5000,20000
  lanelock perf pubkey --engine native --uncounted --batch 1,8

Under load the policy is `single` (OpenSSL's: one at a time), `deadline` (full batches, and
partial ones after 200 µs) or `adaptive` (what has arrived, as soon as nothing runs). Each figure
is the median of rounds of at least 0.1 s.")]
pub struct Args {
    /// Operations, as kind of key, padding and operation.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        default_value = "rsa-2048-sign,rsa-2048-verify,x25519-derive,p256-sign,p256-verify,\
                         p256-derive,ed25519-sign,ed25519-verify"
    )]
    algorithm: Vec<String>,

    /// Operations handed over at a time.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "1,8,64",
          value_parser = number(1, 4096))]
    batch: Vec<usize>,

    /// Keys in use, taken in turn.
    #[arg(long, value_name = "N", default_value = "8", value_parser = number(1, 1024))]
    keys: usize,

    /// Measure each contestant again without its counters, to show what counting costs.
    #[arg(long, conflicts_with_all = ["rate", "load"])]
    uncounted: bool,

    /// Measure latency instead, of operations that arrive at random, this many per second.
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = number(1, 10_000_000))]
    rate: Vec<usize>,

    /// As --rate, in percent of the throughput of full batches.
    #[arg(long, value_delimiter = ',', value_name = "%,…", value_parser = number(1, 1000))]
    load: Vec<usize>,

    #[command(flatten)]
    contestants: Contestants,
    #[command(flatten)]
    pace: Pace,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`], and [`Failure::Failed`] if an operation failed or results differ.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.output.check()?;
    let bench = Bench::open()?;
    let work = args
        .algorithm
        .iter()
        .map(|name| KeyWork::new(&bench.device, name, args.keys).map(Rc::new));
    let work = work.collect::<Result<Vec<_>, _>>()?;
    let mut cells = Vec::new();
    for work in work {
        let contestants = args.contestants.of(&bench, &work)?;
        cells.push((work, contestants));
    }
    let rates = args.rate.iter().map(|&rate| Offer::Rate(rate));
    let loads = args.load.iter().map(|&percent| Offer::Load(percent));
    let offers: Vec<_> = rates.chain(loads).collect();
    if offers.is_empty() {
        let batches = |(work, who): &(Rc<KeyWork>, Vec<Who>)| {
            let (work, who) = (work.clone(), who.clone());
            let cell = move |&size| (work.clone(), who.clone(), size);
            args.batch.iter().map(cell).collect::<Vec<_>>()
        };
        let cells: Vec<_> = cells.iter().flat_map(batches).collect();
        let name = |(work, _, batch): &Batches| format!("{}, {batch} at a time", work.name);
        let enter = |cell: &Batches, absent: &mut Absent<'_>| enter(args, &bench, cell, absent);
        let rows = |cell: &Batches, contestants: &[KeyContestant], laps: Vec<Vec<Lap>>| {
            Ok(rows(args, cell, contestants, &laps))
        };
        let rows = measure(&cells, args.pace, name, enter, rows)?;
        return publish(&bench, rows, columns::PUBKEY, &args.output);
    }
    let rows = load::measure(&bench.device, cells, &offers, args.pace)?;
    publish(&bench, rows, columns::PUBKEY_LATENCY, &args.output)
}

/// Operations of one kind, who runs them, and how many at a time.
type Batches = (Rc<KeyWork>, Vec<Who>, usize);

fn enter(
    args: &Args,
    bench: &Bench,
    (work, who, batch): &Batches,
    absent: &mut Absent<'_>,
) -> Result<Vec<KeyContestant>, Failure> {
    let mut contestants = Vec::new();
    for who in who {
        let open = || KeyContestant::open(&bench.device, who, work, *batch);
        match open()? {
            Some(ready) => contestants.push(ready),
            None => absent(&who.name(), &format!("it does not offer {}", work.name)),
        }
        if args.uncounted {
            contestants.extend(open()?.map(KeyContestant::uncounted));
        }
    }
    agree(&mut contestants)?;
    Ok(contestants)
}

fn rows(
    args: &Args,
    (work, _, batch): &Batches,
    contestants: &[KeyContestant],
    laps: &[Vec<Lap>],
) -> Vec<KeyBatch> {
    let scores: Vec<_> = laps.iter().map(Score::of).collect();
    // Without counters there is what counting is compared with.
    let named = contestants.iter().position(KeyContestant::is_reference);
    let last = contestants.len().checked_sub(1);
    let reference = named.filter(|_| !args.uncounted).or(last);
    let reference = reference.filter(|_| contestants.len() > 1);
    let batch = *batch as u64;
    let row = |(contestant, score): (&KeyContestant, &Score)| KeyBatch {
        common: Common {
            burst: batch,
            ..work.common(contestant.name(), score.rate)
        },
        batch,
        comparison: reference.map(|other| Comparison {
            ratio: score.rate / scores[other].rate,
            reference: contestants[other].name().to_owned(),
        }),
        spread_percent: score.spread_percent,
    };
    contestants.iter().zip(&scores).map(row).collect()
}
