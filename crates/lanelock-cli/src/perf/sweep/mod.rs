//! `lanelock perf sweep`: lanelock beside every peer in the cells that users meet.
//!
//! ```text
//! design → cells → contestants, checked against each other → turns → state file → summary, files
//! ```
//!
//! The programs of the peers live as long as the sweep; each cell prepares them anew.

mod design;
mod keys;
mod record;
mod state;
mod turns;

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use lanelock::algorithm::Spec;
use lanelock_native::Tier;

use super::bench::Bench;
use super::cells::describe;
use super::contestant::{Contestant, Entry};
use super::engine::EngineContestant;
use super::number::seconds;
use super::output::Target;
use super::peer::{Peer, PeerContestant, Terms};
use super::score::agree;
use super::shape::Shape;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::json::{self, Schema};
use crate::report::{html, sweep};
use crate::sweep::{BUILD, Library, Sweep, Time};
use crate::terminal::{print, save, say};
use design::Design;
use keys::Keys;
use state::{Header, State};

/// Arguments of `lanelock perf sweep`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every algorithm that the native engine and a peer have, with all its operations:
  burst of 32      16, 64, 256, 576, 1024, 1500, 8192 bytes and the mix 64:7,576:4,1504:1, each with
                   1, 32 and 1000 keys
  1 key            the same lengths in bursts of 1, 4, 8, 64 and 256
  separate output  the same lengths, 1 key, bursts of 32
Where a mode has blocks, the next whole one. Results go over the input; decryption with
authentication always has a separate output. Public keys: batches of 1, 8 and 64, 8 keys.

A cell takes 3 turns of each contestant, in turns; peers that are a quarter slower than the fastest
then stop. The others take 5, and 15 if lanelock and the fastest peer are within a tenth of each
other. The medians are compared. All take about ten minutes; --full, every combination, about an hour.

Examples:
  lanelock perf sweep --html sweep.html --json sweep.json
  lanelock perf sweep --resume
  lanelock perf sweep --tier avx2 --peer ipsec-mb,ipsec-mb-2
  lanelock perf sweep --algorithm aes-128-gcm,p256-sign --record benchmarks/amd-zen-4/2026-11-24.csv")]
pub struct Args {
    /// Algorithms and public-key operations [default: all that the native engine and a peer have].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    algorithm: Vec<String>,

    /// Every combination of lengths, keys, bursts and layouts.
    #[arg(long)]
    full: bool,

    /// Programs that do the same work without lanelock [default: those that are built].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    peer: Vec<SweepPeer>,

    /// The tier of the native engine, to which the peers are held as well: libipsec-mb by its choice
    /// of a manager, OpenSSL by the features of the CPU that it is shown [default: the widest].
    #[arg(long, value_name = "TIER", value_parser = tier)]
    tier: Option<Tier>,

    /// Seconds of a turn.
    #[arg(long, value_name = "S", default_value = "0.002", value_parser = seconds(0.0, 60.0))]
    turn: Duration,

    /// Where finished cells are kept until all are.
    #[arg(long, value_name = "FILE", default_value = "sweep.state")]
    state: PathBuf,

    /// Go on with the sweep that the state file is of.
    #[arg(long)]
    resume: bool,

    /// Write the results as JSON, an object for each cell; - writes them to standard output, instead
    /// of the summary.
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<Target>,

    /// Write a page with heat maps of the ratios.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,

    /// Write a line of CSV for each cell, after lines that say on what machine, with which build and
    /// libraries: the form of `benchmarks/`.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    record: Option<PathBuf>,
}

/// The peers that a sweep can have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum SweepPeer {
    /// libipsec-mb as installed.
    IpsecMb,
    /// libipsec-mb 2.0.
    #[value(name = "ipsec-mb-2")]
    IpsecMb2,
    /// OpenSSL as installed.
    Evp,
    /// OpenSSL 3.5.
    #[value(name = "evp-3.5")]
    Evp35,
    /// Public keys: libcrypto_mb.
    CryptoMb,
}

/// The contestant that the others are compared with.
pub const NATIVE: &str = "native";

/// How long a peer tries each of its routes, five times.
const TRIAL: Duration = Duration::from_micros(200);

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`], and [`Failure::Failed`] if an operation failed or results differ.
pub fn run(args: &Args) -> Result<(), Failure> {
    let bench = match args.tier {
        Some(tier) => Bench::with_tier(tier)?,
        None => Bench::open()?,
    };
    if !bench.engines().iter().any(|name| name == NATIVE) {
        let why = "the native engine has no tier for this CPU; there is nothing to compare";
        return Err(Failure::Failed(why.to_owned()));
    }
    let mut field = Field::start(args, &bench)?;
    let design = Design::new(&args.algorithm, args.full, |spec| field.offers(spec))?;
    let keys = field.keys.design(&args.algorithm, &design)?;
    let names: Vec<_> = design.cells.iter().map(describe).collect();
    let names: Vec<_> = names
        .into_iter()
        .chain(keys.iter().map(|cell| cell.name()))
        .collect();
    let header = Header {
        machine: bench.machine(),
        build: BUILD.to_owned(),
        tier: args.tier.map(|tier| tier.name().to_owned()),
        libraries: field.libraries.clone(),
    };
    let mut state = State::open(&args.state, args.resume, &header)?;
    let progress = Progress::of_cells(
        names.len(),
        names.iter().filter(|name| state.has(name)).count(),
    );
    let mut cells = Vec::new();
    for (at, name) in names.iter().enumerate() {
        progress.say(name.clone());
        let symmetric = design.cells.get(at);
        let times = match state.times(name) {
            Some(times) => times,
            None => {
                let times = match symmetric {
                    Some(shape) => field.measure(shape, args.turn),
                    None => field
                        .keys
                        .measure(&keys[at - design.cells.len()], args.turn),
                };
                let times = times.map_err(|failure| failure.within(name))?;
                state.finish(name, &times)?;
                progress.step();
                times
            }
        };
        cells.push(match symmetric {
            Some(shape) => design::cell(shape, times),
            None => keys[at - design.cells.len()].cell(times),
        });
    }
    drop(progress);
    let Header {
        machine,
        build,
        tier,
        libraries,
    } = header;
    let sweep = Sweep {
        machine,
        command: std::env::args().collect::<Vec<_>>().join(" "),
        build,
        tier,
        libraries,
        left_out: design.left_out,
        cells,
    };
    publish(args, &sweep)?;
    state.remove()
}

fn publish(args: &Args, sweep: &Sweep) -> Result<(), Failure> {
    if let Some(target) = &args.json {
        target.write(&json::render(Schema::PerfSweep, sweep))?;
    }
    if args.json != Some(Target::Stdout) {
        print(sweep::render(sweep))?;
    }
    if let Some(path) = &args.html {
        save(path, &html::sweep(sweep))?;
    }
    match &args.record {
        Some(path) => save(path, &record::render(sweep)),
        None => Ok(()),
    }
}

fn tier(text: &str) -> Result<Tier, String> {
    let names = Tier::ALL.map(Tier::name).join(", ");
    Tier::from_name(text).ok_or_else(|| format!("'{text}': no such tier; there are {names}"))
}

/// Everyone who takes part.
struct Field<'b> {
    bench: &'b Bench,
    peers: Vec<PeerContestant>,
    keys: Keys<'b>,
    libraries: Vec<Library>,
}

impl<'b> Field<'b> {
    /// Starts the programs of the peers: those that are named, or all that are built.
    fn start(args: &Args, bench: &'b Bench) -> Result<Self, Failure> {
        let terms = Terms {
            tier: args.tier,
            trial: Some(TRIAL),
        };
        let symmetric = [Peer::IpsecMb, Peer::IpsecMb2, Peer::Evp, Peer::Evp35];
        let mut peers = Vec::new();
        for (peer, named) in symmetric.into_iter().zip(SweepPeer::value_variants()) {
            let wanted = match args.peer.is_empty() {
                true => peer.program().is_ok(),
                false => args.peer.contains(named),
            };
            match args.tier.filter(|&tier| wanted && !peer.has(tier)) {
                Some(tier) => say(&format!(
                    "{} is left out: it has no {}",
                    peer.name(),
                    tier.name()
                )),
                None if wanted => peers.push(PeerContestant::start(peer, 1, terms)?),
                None => {}
            }
        }
        let mut libraries = Vec::new();
        for peer in &mut peers {
            let version = peer.library()?;
            libraries.push(Library {
                contestant: peer.name().to_owned(),
                version,
            });
        }
        let named = args.peer.contains(&SweepPeer::CryptoMb);
        let held = args.tier.filter(|&tier| tier != Tier::Avx512);
        if let Some(tier) = held.filter(|_| named) {
            say(&format!("crypto-mb is left out: it has no {}", tier.name()));
        }
        let wanted = (named || args.peer.is_empty()) && held.is_none();
        let keys = Keys::start(bench, wanted, named)?;
        libraries.extend(keys.libraries());
        if peers.is_empty() && keys.libraries().is_none() {
            return Err(Failure::Usage(
                "no peer is built; run `make peers`, and `make peers-newest` for newer libraries, or \
                 set LANELOCK_PEERS to their folder"
                    .to_owned(),
            ));
        }
        Ok(Self {
            bench,
            peers,
            keys,
            libraries,
        })
    }

    /// Whether the native engine has it, or `None` if no peer has.
    fn offers(&mut self, spec: Spec) -> Result<Option<bool>, Failure> {
        let shape = design::probe(spec);
        for peer in &mut self.peers {
            if peer.prepare(&shape)?.is_none() {
                let opened = EngineContestant::open(&self.bench.device, NATIVE, &shape)?;
                return Ok(Some(matches!(opened, Entry::Ready(_))));
            }
        }
        Ok(None)
    }

    /// What everyone who offers the cell needs for an operation, the native engine first.
    fn measure(&mut self, shape: &Shape, turn: Duration) -> Result<Vec<Time>, Failure> {
        let mut contestants: Vec<Box<dyn Contestant + '_>> = Vec::new();
        match EngineContestant::open(&self.bench.device, NATIVE, shape)? {
            Entry::Ready(native) => contestants.push(Box::new(native)),
            Entry::NotOffered(why) => return Err(Failure::Failed(why)),
        }
        for peer in &mut self.peers {
            if peer.prepare(shape)?.is_none() {
                contestants.push(Box::new(peer));
            }
        }
        agree(&mut contestants)?;
        turns::take(&mut contestants, turn)
    }
}
