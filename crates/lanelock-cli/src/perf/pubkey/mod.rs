//! `lanelock perf pubkey`: public-key operations per second, and how long they take when they
//! arrive by themselves.

mod arrivals;
mod contestant;
mod load;
mod who;
mod work;

use std::rc::Rc;

use clap::Args as ClapArgs;
use lanelock::Device;

use super::bench::Bench;
use super::contest::Pace;
use super::contestant::Contestant;
use super::number::number;
use super::output::Output;
use super::progress::Progress;
use super::{publish, rounds};
use crate::failure::Failure;
use crate::report::columns;
use crate::row::Row;
use contestant::KeyContestant;
use load::Offer;
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

    /// Measure each contestant once more without its counters: what counting costs.
    #[arg(long, conflicts_with_all = ["rate", "load"])]
    uncounted: bool,

    /// Instead: latency of operations that arrive at random, this many per second.
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = number(1, 10_000_000))]
    rate: Vec<usize>,

    /// The same, in percent of what full batches do.
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
        let rows = throughput(args, &bench, &cells)?;
        return publish(&bench, rows, columns::PUBKEY, &args.output);
    }
    let progress = Progress::of(cells.len() * offers.len() * load::rounds(args.pace));
    let mut rows = Vec::new();
    for (work, contestants) in &cells {
        let (device, pace) = (&bench.device, args.pace);
        rows.extend(load::measure(
            device,
            contestants,
            work,
            &offers,
            pace,
            &progress,
        )?);
    }
    publish(&bench, rows, columns::PUBKEY_LATENCY, &args.output)
}

/// From how many operations called `algorithm` on lanes are faster than one at a time, measured.
///
/// # Errors
/// [`Failure::Failed`] if one fails.
pub fn break_even(device: &Device, algorithm: &str) -> Result<Option<usize>, Failure> {
    let work = Rc::new(KeyWork::new(device, algorithm, 1)?);
    let Some(sessions) = work.sessions(device, &Who::DEVICE)? else {
        return Ok(None);
    };
    let session = &sessions[0];
    for count in 1..session.lanes() {
        if let Some(mut contestant) = KeyContestant::open(device, &Who::DEVICE, &work, count)? {
            // One to make contexts, and twice what the queue wants to see of either side.
            for _ in 0..9 {
                contestant.run(|_, _| {})?;
            }
        }
    }
    Ok(session.break_even())
}

fn throughput(
    args: &Args,
    bench: &Bench,
    cells: &[(Rc<KeyWork>, Vec<Who>)],
) -> Result<Vec<Row>, Failure> {
    let kinds = 1 + usize::from(args.uncounted);
    let steps: usize = cells.iter().map(|(_, who)| who.len() * kinds).sum();
    let progress = Progress::of(steps * args.batch.len() * args.pace.rounds);
    let mut rows = Vec::new();
    for (work, who) in cells {
        for &batch in &args.batch {
            let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
            let mut reference = None;
            for who in who {
                match KeyContestant::open(&bench.device, who, work, batch)? {
                    Some(ready) => {
                        if who.is_reference() {
                            reference = Some(contestants.len());
                        }
                        contestants.push(Box::new(ready));
                        if args.uncounted {
                            let more = KeyContestant::open(&bench.device, who, work, batch)?;
                            let more = more.map(KeyContestant::uncounted);
                            contestants.extend(more.map(|it| Box::new(it) as _));
                        }
                    }
                    None => {
                        progress.skip(kinds * args.pace.rounds);
                        let name = who.name();
                        progress.note(&format!("{}: {name} does not offer it", work.name));
                    }
                }
            }
            progress.say(format!("{}, {batch} at a time", work.name));
            rounds::agree(&mut contestants)?;
            let scores = rounds::alternate(&mut contestants, args.pace, &progress)?;
            // Without counters there is what counting is compared with.
            let last = contestants.len().checked_sub(1);
            let reference = reference.filter(|_| !args.uncounted).or(last);
            for (contestant, score) in contestants.iter().zip(&scores) {
                let other = reference.filter(|_| contestants.len() > 1);
                rows.push(Row {
                    spread_percent: Some(score.spread_percent),
                    ratio: other.map(|other| score.rate / scores[other].rate),
                    reference: other.map(|other| contestants[other].name().to_owned()),
                    ops_per_s: score.rate,
                    ns_per_op: 1e9 / score.rate,
                    batch: Some(batch as u64),
                    burst: batch as u64,
                    ..work.row(contestant.name())
                });
            }
        }
    }
    Ok(rows)
}
