//! `lanelock check`: is an engine right?
//!
//! Known answers of the standards, Wycheproof's tests, and random messages compared with an
//! independent implementation; see the `lanelock-conformance` crate.

mod tables;
mod timing;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lanelock::algorithm::Spec;
use lanelock::engine::Engine;
use lanelock::{Algorithm, Device};
use lanelock_conformance::differential::{Options, Outcome};
use lanelock_conformance::public_key::{KeyFileOutcome, Random};
use lanelock_conformance::suite::FileOutcome;
use lanelock_conformance::{Level, Subject, differential, public_key, vectors, wycheproof};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal::print;

/// Arguments of `lanelock check`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Exit codes: 0 all results are correct, 1 a result is wrong (the smallest failing case is printed),
2 the command line asks for something that does not exist.

Examples:
  lanelock check
  lanelock check --quick --algorithm aes-256-gcm,hmac-sha256
  lanelock check --exhaustive --engine openssl --seed 42
  lanelock check --vectors my_aes_gcm_test.json
  lanelock check --timing
  lanelock check --timing --algorithm ml-kem-768-decapsulate,p256-sign
  lanelock check --timing --algorithm aes-128-gcm --tier avx2 --seconds 10 --json timing.json")]
pub struct Args {
    /// Take seconds, not a minute: every algorithm, every layout, few messages.
    #[arg(long, conflicts_with = "exhaustive")]
    quick: bool,

    /// Take minutes: every length up to 257 bytes, every IV and tag length, long messages.
    #[arg(long)]
    exhaustive: bool,

    /// Engines to check [default: every engine of this machine].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    engine: Vec<String>,

    /// Algorithms to check, chains as `cipher+mac` or `mac+cipher` [default: all]. Known answers
    /// are selected by family and run for every key length. With --timing, operations of private
    /// keys too, as `ml-kem-768-decapsulate`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    algorithm: Vec<String>,

    /// Seed of the random messages: the same number repeats them exactly [default: random].
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Run only the tests of this file, in Wycheproof's JSON format. Can be given several times.
    #[arg(long, value_name = "FILE.json")]
    vectors: Vec<PathBuf>,

    #[command(flatten)]
    timing: timing::Timing,
}

/// What was checked of one engine.
#[derive(Debug, Default)]
struct Findings {
    standards: Vec<FileOutcome>,
    wycheproof: Vec<FileOutcome>,
    /// Wycheproof's tests of public keys; none in a quick check or one of named algorithms.
    public_keys: Vec<KeyFileOutcome>,
    /// Random operations with public keys against OpenSSL; none where those are not.
    random_keys: Vec<KeyFileOutcome>,
    random: Outcome,
    elapsed: Duration,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] at a wrong result, [`Failure::Usage`] for names that do not exist.
pub fn run(args: &Args) -> Result<(), Failure> {
    let device = lanelock::open().map_err(Failure::of)?;
    if args.timing.timing {
        return timing::run(
            &args.timing,
            &device,
            &args.algorithm,
            args.seed.unwrap_or_else(random_seed),
        );
    }
    let specs = args.specs()?;
    for subject in args.subjects(&device)? {
        let wrong = check(args, &subject, &specs)?;
        if wrong > 0 {
            let engine = subject.engine();
            return Err(Failure::Failed(format!(
                "engine {engine} computed wrong results, see above"
            )));
        }
    }
    Ok(())
}

impl Args {
    fn level(&self) -> Level {
        match (self.quick, self.exhaustive) {
            (true, _) => Level::Quick,
            (_, true) => Level::Exhaustive,
            _ => Level::Default,
        }
    }

    /// The algorithms asked for; none for all.
    fn specs(&self) -> Result<Vec<Spec>, Failure> {
        let parse = |name: &String| {
            name.parse()
                .map_err(|error| Failure::Usage(format!("--algorithm: {error}")))
        };
        self.algorithm.iter().map(parse).collect()
    }

    fn subjects(&self, device: &Device) -> Result<Vec<Subject>, Failure> {
        if self.engine.is_empty() {
            return Ok(Subject::all(device));
        }
        let find = |name: &String| {
            Subject::new(device, name).ok_or_else(|| {
                let known: Vec<_> = device.engines().map(Engine::name).collect();
                let known = known.join(", ");
                Failure::Usage(format!(
                    "--engine {name}: no such engine; there are: {known}"
                ))
            })
        };
        self.engine.iter().map(find).collect()
    }
}

/// The quick check of every engine, in a line for each.
///
/// # Errors
/// [`Failure::Failed`] at a wrong result, with all that was found.
pub fn brief() -> Result<String, Failure> {
    let device = lanelock::open().map_err(Failure::of)?;
    let args = Args {
        quick: true,
        ..Args::default()
    };
    let mut text = String::new();
    for subject in Subject::all(&device) {
        let (engine, seed) = (subject.engine(), random_seed());
        let findings = find(&args, &subject, &[], seed)?;
        if findings.wrong() > 0 {
            let all = tables::render(&findings, seed);
            return Err(Failure::Failed(format!(
                "engine {engine} computed wrong results\n{all}"
            )));
        }
        let algorithms = subject.algorithms().len();
        text += &format!(
            "engine {engine}, {algorithms} algorithms and chains: {}",
            tables::verdict(&findings, seed)
        );
    }
    Ok(text)
}

/// Checks one engine and prints what was found; returns how much was wrong.
fn check(args: &Args, subject: &Subject, specs: &[Spec]) -> Result<usize, Failure> {
    let engine = subject.engine();
    if let Some(spec) = specs.iter().find(|spec| !subject.offers(spec.algorithm)) {
        return Err(Failure::Usage(format!(
            "--algorithm {spec}: engine {engine} does not offer it; `lanelock engines` lists what \
             it offers"
        )));
    }
    let seed = args.seed.unwrap_or_else(random_seed);
    if args.vectors.is_empty() {
        print(format_args!("engine {engine}, seed {seed}\n"))?;
    }
    let findings = find(args, subject, specs, seed)?;
    print(tables::render(&findings, seed))?;
    Ok(findings.wrong())
}

fn find(args: &Args, subject: &Subject, specs: &[Spec], seed: u64) -> Result<Findings, Failure> {
    let start = Instant::now();
    let bar = Progress::of_parts();
    let mut findings = Findings::default();
    if args.vectors.is_empty() {
        let family =
            |a: Algorithm| specs.is_empty() || specs.iter().any(|spec| spec.algorithm == a);
        findings.standards = vectors::run(subject, family, &bar);
        findings.wycheproof = wycheproof::run(subject, family, &bar);
        if specs.is_empty() && !args.quick {
            let (device, engine) = (subject.device(), subject.engine());
            findings.public_keys = public_key::wycheproof(device, engine, |_| true, &bar);
            if engine != REFERENCE {
                let bursts = if args.exhaustive { 100 } else { 10 };
                let random = Random {
                    engine,
                    reference: REFERENCE,
                    bursts,
                    seed,
                };
                findings.random_keys =
                    public_key::random(device, random, &bar).map_err(Failure::of)?;
            }
        }
        let options = Options {
            level: args.level(),
            seed,
            threads: std::thread::available_parallelism().map_or(1, Into::into),
        };
        let wanted = |spec: &Spec| specs.is_empty() || specs.contains(spec);
        findings.random = differential::run(subject, options, &wanted, &bar);
    }
    for path in &args.vectors {
        let outcome = wycheproof::run_path(subject, path, &bar)
            .map_err(|error| Failure::Usage(format!("--vectors {error}")))?;
        findings.wycheproof.push(outcome);
    }
    findings.elapsed = start.elapsed();
    Ok(findings)
}

impl Findings {
    fn wrong(&self) -> usize {
        let files = self.standards.iter().chain(&self.wycheproof);
        let tests: usize = files.map(|file| file.failures.len()).sum();
        let keys: usize = self.keys().map(|file| file.failures.len()).sum();
        tests + keys + usize::from(self.random.failure.is_some())
    }

    fn keys(&self) -> impl Iterator<Item = &KeyFileOutcome> {
        self.public_keys.iter().chain(&self.random_keys)
    }

    fn operations(&self) -> u64 {
        let files = self.standards.iter().chain(&self.wycheproof);
        let known: u64 = files.map(|file| file.operations + file.tampered).sum();
        let keys: u64 = self.keys().map(|file| file.operations).sum();
        known + keys + self.random.total().operations
    }
}

/// The engine that others are compared with, as it has every operation.
const REFERENCE: &str = "openssl";

/// A number that differs from run to run.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // Short enough to type.
    RandomState::new().hash_one(()) >> 32
}
