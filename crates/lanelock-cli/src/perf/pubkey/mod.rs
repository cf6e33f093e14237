//! `lanelock perf pubkey`: public-key operations per second, and how long they take when they
//! arrive by themselves.

mod arrivals;
mod contestant;
mod work;

use std::rc::Rc;

use clap::Args as ClapArgs;

use super::bench::Bench;
use super::contest::{Engines, Pace};
use super::contestant::Contestant;
use super::number::number;
use super::output::Output;
use super::progress::Progress;
use super::{publish, rounds};
use crate::failure::Failure;
use crate::report::{columns, table};
use crate::row::Row;
use arrivals::Policy;
use contestant::KeyContestant;
use work::KeyWork;

/// Arguments of `lanelock perf pubkey`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  lanelock perf pubkey
  lanelock perf pubkey --algorithm rsa-2048-sign,x25519-derive,p256-sign --batch 1,8,64
  lanelock perf pubkey --algorithm rsa-2048-sign --no-blinding --batch 8 --json -
  lanelock perf pubkey --algorithm p256-sign --rate 5000,20000
  lanelock perf pubkey --engine native --uncounted --batch 1,8")]
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

    /// RSA without blinding, where an engine can do without: what the protection costs.
    #[arg(long)]
    no_blinding: bool,

    /// Measure each engine once more without its counters: what counting costs.
    #[arg(long, conflicts_with = "rate")]
    uncounted: bool,

    /// Instead: latency of operations that arrive at random, this many per second.
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = number(1, 10_000_000))]
    rate: Vec<usize>,

    #[command(flatten)]
    engines: Engines,
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
    let engines = args.engines.names(&bench)?;
    let blinding = !args.no_blinding;
    let work: Result<Vec<_>, _> = args
        .algorithm
        .iter()
        .map(|name| KeyWork::new(&bench.device, name, args.keys, blinding).map(Rc::new))
        .collect();
    let work = work?;
    if args.rate.is_empty() {
        let rows = throughput(args, &bench, &engines, &work)?;
        let render = |report: &_| table::render(report, columns::PUBKEY);
        return publish(&bench, rows, render, &args.output);
    }
    let mut rows = Vec::new();
    for work in &work {
        for &rate in &args.rate {
            for engine in &engines {
                for policy in Policy::ALL {
                    rows.extend(arrivals::measure(
                        &bench.device,
                        engine,
                        work,
                        policy,
                        rate,
                        args.pace.seconds,
                    )?);
                }
            }
        }
    }
    let render = |report: &_| table::render(report, columns::PUBKEY_LATENCY);
    publish(&bench, rows, render, &args.output)
}

fn throughput(
    args: &Args,
    bench: &Bench,
    engines: &[String],
    work: &[Rc<KeyWork>],
) -> Result<Vec<Row>, Failure> {
    let cells = work.len() * args.batch.len();
    let kinds = 1 + usize::from(args.uncounted);
    let progress = Progress::of(cells * engines.len() * kinds * args.pace.rounds);
    let mut rows = Vec::new();
    for work in work {
        for &batch in &args.batch {
            let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
            for engine in engines {
                match KeyContestant::open(&bench.device, engine, work, batch)? {
                    Some(ready) => {
                        contestants.push(Box::new(ready));
                        if args.uncounted {
                            let more = KeyContestant::open(&bench.device, engine, work, batch)?;
                            let more = more.map(KeyContestant::uncounted);
                            contestants.extend(more.map(|it| Box::new(it) as _));
                        }
                    }
                    None => {
                        progress.skip(kinds * args.pace.rounds);
                        progress.note(&format!("{}: engine {engine} does not offer it", work.name));
                    }
                }
            }
            progress.say(format!("{}, {batch} at a time", work.name));
            rounds::agree(&mut contestants)?;
            let scores = rounds::alternate(&mut contestants, args.pace, &progress)?;
            // The engine that runs one at a time is the last of the device.
            let reference = contestants.len().saturating_sub(1);
            for (contestant, score) in contestants.iter().zip(&scores) {
                let others = contestants.len() > 1;
                rows.push(Row {
                    spread_percent: Some(score.spread_percent),
                    ratio: others.then(|| score.rate / scores[reference].rate),
                    reference: others.then(|| contestants[reference].name().to_owned()),
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
