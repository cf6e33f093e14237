//! `lanelock check --timing`: does an operation's time depend on its secrets?
//!
//! The method is dudect's (Reparaz, Balasch, Verbauwhede: Dude, is my code constant time?, 2017):
//! bursts with fixed secrets and bursts with random ones, in random order, are timed; Welch's
//! t-test asks whether the two distributions differ. It sees the compiled code on this CPU,
//! microarchitecture included, and it can find leaks but not prove that there is none; the
//! secret-taint check (`make taint`) proves more about fewer instruction sets.

mod canary;
mod keys;
mod statistics;
mod subject;
mod table;

use std::time::{Duration, Instant};

use lanelock::Device;
use lanelock::algorithm::Spec;
use lanelock::public_key::KeySpec;
use lanelock_conformance::{Progress, Subject as Engines};
use lanelock_native::{Native, Tier};
use serde::Serialize;

use crate::failure::Failure;
use crate::machine::Machine;
use crate::perf::number::seconds;
use crate::perf::output::Target;
use crate::progress::Progress as Bar;
use crate::report::json::{self, Schema};
use crate::terminal::print;
use canary::Canary;
use keys::{Difference, KeySubject};
use statistics::Analysis;
use subject::{Kind, Subject};

/// Options that belong to `--timing`.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Timing")]
pub(super) struct Timing {
    /// Look for timing that depends on keys or messages, in every native algorithm on each tier,
    /// private keys included, instead of the other checks.
    ///
    /// Bursts with fixed secrets are timed among bursts with random ones; Welch's t-test tells
    /// whether their times differ (dudect's method). If |t| is above 10, the measurement is
    /// repeated twice, and there is a leak if |t| stays above 10. A deliberate leak is looked for
    /// first: if it is not found, the machine is too noisy to tell and the run fails.
    #[arg(long, conflicts_with_all = ["quick", "exhaustive", "engine", "vectors"])]
    pub(super) timing: bool,

    /// Seconds for each algorithm, operation and tier; private keys may need more.
    #[arg(long, value_name = "SECONDS", default_value = "1", requires = "timing",
          value_parser = seconds(0.0, 86_400.0))]
    seconds: Duration,

    /// Tiers to time [default: all that this machine has].
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "timing")]
    tier: Vec<String>,

    /// Write the results as JSON; - writes them to standard output, instead of the table.
    #[arg(long, value_name = "FILE|-", requires = "timing")]
    json: Option<Target>,
}

/// Above this |t| there is a leak, if it is found again: dudect's own limit. By chance alone it is
/// reached once in more than 10^20 tests; what reaches it otherwise is noise of a virtual machine
/// that happened to favour one class, which does not come back.
const LIMIT: f64 = 10.0;
/// A suspicious cell is measured so many times in all.
const RUNS: usize = 3;
/// Chains that are timed unless others are named: both orders, and each kind of cipher and MAC.
const CHAINS: [&str; 4] = [
    "aes-128-cbc+hmac-sha1",
    "aes-256-ctr+hmac-sha512",
    "aes-128-cbc+aes-128-cmac",
    "hmac-sha256+aes-256-cbc",
];

/// All that was found, in the form of the other commands' JSON.
#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    command: String,
    seed: u64,
    limit: f64,
    results: Vec<Row>,
}

/// One algorithm, operation and tier.
#[derive(Debug, Serialize)]
struct Row {
    algorithm: String,
    operation: &'static str,
    tier: &'static str,
    /// Timed bursts of the run that decided.
    measurements: u64,
    /// The largest |t| of that run's tests.
    max_t: f64,
    /// How often it was measured.
    runs: usize,
    verdict: Verdict,
}

/// What a cell's statistics say.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    /// |t| stayed below the limit.
    NoLeakFound,
    /// |t| was above the limit in every run.
    Leak,
    /// Too few measurements to tell.
    TooFew,
}

/// Something whose bursts can be timed.
trait Timed {
    /// Times a batch of bursts and hands each to `take`: whether its secrets were the fixed ones,
    /// and ticks.
    fn batch(&mut self, take: &mut dyn FnMut(bool, u64)) -> Result<(), Failure>;
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] for a leak, too few measurements, or a machine too noisy to tell;
/// [`Failure::Usage`] for names that do not exist.
pub(super) fn run(
    args: &Timing,
    device: &Device,
    names: &[String],
    seed: u64,
) -> Result<(), Failure> {
    let mut all = Vec::new();
    for tier in args.tiers()? {
        all.extend(cells(device, tier, names)?);
    }
    let cells = all;
    let is_missing = |name: &&String| cells.iter().all(|cell| cell.what.algorithm() != **name);
    if let Some(name) = names.iter().find(is_missing) {
        return Err(Failure::Usage(format!(
            "--algorithm {name}: no native kernel for it on these tiers, or none that takes a \
             caller's secret; `lanelock engines` lists what the native engine offers"
        )));
    }
    stay_on_one_core();
    let bar = Bar::of_parts();
    bar.begin("timing", cells.len() as u64 + 2);
    let canaries = canaries(args.seconds, seed, &bar)?;
    let mut results = Vec::new();
    for cell in &cells {
        results.push(cell.settle(args.seconds, seed)?);
        let done = format!("{} {}", cell.what.algorithm(), cell.tier.name());
        bar.advance(1, &done);
    }
    drop(bar);
    let report = Report {
        machine: Machine::detect(device),
        command: std::env::args().collect::<Vec<_>>().join(" "),
        seed,
        limit: LIMIT,
        results,
    };
    report.publish(&canaries, args.json.as_ref())?;
    report.outcome()
}

impl Timing {
    fn tiers(&self) -> Result<Vec<Tier>, Failure> {
        if self.tier.is_empty() {
            return Ok(Tier::available().collect());
        }
        let find = |name: &String| {
            let known = || {
                Tier::available()
                    .map(Tier::name)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            Tier::from_name(name)
                .filter(|tier| tier.is_available())
                .ok_or_else(|| {
                    let known = known();
                    let text = format!("--tier {name}: no such tier; this machine has: {known}");
                    Failure::Usage(text)
                })
        };
        self.tier.iter().map(find).collect()
    }
}

/// What is timed on a tier.
struct Cell {
    /// Makes keys and inputs.
    maker: Device,
    tier: Tier,
    what: What,
}

/// An operation.
enum What {
    Session(Spec, Kind),
    Key(KeySpec, Difference),
}

/// The cells of one tier: those of `names`, or all.
fn cells(maker: &Device, tier: Tier, names: &[String]) -> Result<Vec<Cell>, Failure> {
    let native = Native::with_tier(tier).map_err(Failure::of)?;
    let private = keys::cells(&native, names);
    let offered = Engines::all(&Device::builder().engine(native).build());
    let wanted = |spec: &Spec| match names {
        [] => !is_chain(spec) || CHAINS.contains(&spec.to_string().as_str()),
        _ => names.contains(&spec.to_string()),
    };
    let sessions = offered
        .iter()
        .flat_map(Engines::algorithms)
        .filter(wanted)
        .flat_map(|spec| {
            let kinds = Kind::of(spec.algorithm).iter();
            kinds.map(move |&kind| What::Session(spec, kind))
        });
    let private = private
        .into_iter()
        .map(|(spec, what)| What::Key(spec, what));
    let cell = |what| Cell {
        maker: maker.clone(),
        tier,
        what,
    };
    Ok(sessions.chain(private).map(cell).collect())
}

fn is_chain(spec: &Spec) -> bool {
    matches!(spec.algorithm, lanelock::Algorithm::Chain(..))
}

impl What {
    fn algorithm(&self) -> String {
        match self {
            Self::Session(spec, _) => spec.to_string(),
            Self::Key(spec, _) => spec.to_string(),
        }
    }

    fn operation(&self) -> &'static str {
        match self {
            Self::Session(_, kind) => kind.name(),
            Self::Key(_, difference) => difference.name(),
        }
    }

    /// Measurements below which time does not end.
    fn least(&self) -> u64 {
        match self {
            Self::Session(..) => 0,
            Self::Key(..) => keys::MEASUREMENTS,
        }
    }
}

impl Cell {
    fn open(&self, seed: u64) -> Result<Box<dyn Timed>, Failure> {
        Ok(match self.what {
            What::Session(spec, kind) => {
                let native = Native::with_tier(self.tier).map_err(Failure::of)?;
                let device = Device::builder().engine(native).build();
                Box::new(Subject::new(&device, spec, kind, seed)?)
            }
            What::Key(spec, difference) => {
                let what = (spec, difference);
                Box::new(KeySubject::new(&self.maker, self.tier, what, seed)?)
            }
        })
    }

    /// Measures until there is a verdict.
    fn settle(&self, span: Duration, seed: u64) -> Result<Row, Failure> {
        let (algorithm, operation) = (self.what.algorithm(), self.what.operation());
        let name = format!("{algorithm} {operation} on {}", self.tier.name());
        let effort = Effort {
            span,
            least: self.what.least(),
        };
        let (runs, analysis, verdict) =
            settle(|seed| self.open(seed), effort, seed).map_err(|e| e.within(&name))?;
        Ok(Row {
            algorithm,
            operation,
            tier: self.tier.name(),
            measurements: analysis.measurements(),
            max_t: analysis.max_t().unwrap_or(0.0),
            runs,
            verdict,
        })
    }
}

/// When a measurement ends: when both are reached.
#[derive(Clone, Copy)]
struct Effort {
    span: Duration,
    least: u64,
}

impl Timed for Box<dyn Timed> {
    fn batch(&mut self, take: &mut dyn FnMut(bool, u64)) -> Result<(), Failure> {
        (**self).batch(take)
    }
}

/// Measures once, or until what looked like a leak is not found again; the number of runs, and the
/// last.
fn settle<T: Timed>(
    open: impl Fn(u64) -> Result<T, Failure>,
    effort: Effort,
    seed: u64,
) -> Result<(usize, Analysis, Verdict), Failure> {
    let mut runs = 0;
    loop {
        // Fresh secrets, fresh memory.
        let mut timed = open(seed.wrapping_add(runs as u64))?;
        let analysis = measure(&mut timed, effort)?;
        runs += 1;
        let verdict = match analysis.max_t() {
            None => Verdict::TooFew,
            Some(t) if t <= LIMIT => Verdict::NoLeakFound,
            Some(_) if runs < RUNS => continue,
            Some(_) => Verdict::Leak,
        };
        return Ok((runs, analysis, verdict));
    }
}

fn measure(timed: &mut impl Timed, effort: Effort) -> Result<Analysis, Failure> {
    let mut analysis = Analysis::new();
    let start = Instant::now();
    loop {
        timed.batch(&mut |fixed, ticks| analysis.take(fixed, ticks))?;
        if start.elapsed() >= effort.span && analysis.measurements() >= effort.least {
            return Ok(analysis);
        }
    }
}

/// A leak that has to be found, and the same work without it.
fn canaries(span: Duration, seed: u64, bar: &Bar) -> Result<String, Failure> {
    let mut text = String::new();
    let wanted = [(true, Verdict::Leak), (false, Verdict::NoLeakFound)];
    let effort = Effort { span, least: 0 };
    for (leaks, expected) in wanted {
        let canary = Canary::device(leaks);
        let open = |seed| Subject::new(&canary, Canary::spec(), Kind::Reject, seed);
        let (_, analysis, verdict) = settle(open, effort, seed)?;
        let what = Canary::what(leaks);
        let t = analysis.max_t().unwrap_or(0.0);
        let measurements = analysis.measurements();
        match verdict {
            Verdict::TooFew => return Err(Failure::Failed(too_few(measurements))),
            found if found != expected => {
                return Err(Failure::Failed(format!(
                    "this machine is too noisy to tell: {what}: {} (|t| {t:.1}, {measurements} \
                     measurements); try again on an idle machine, or raise --seconds",
                    if leaks {
                        "not found"
                    } else {
                        "taken for a leak"
                    },
                )));
            }
            _ => {}
        }
        let found = if leaks {
            "found"
        } else {
            "not taken for a leak"
        };
        text += &format!("canary: {what}: {found}, |t| {t:.1}\n");
        bar.advance(1, "canary");
    }
    Ok(text)
}

fn too_few(measurements: u64) -> String {
    format!(
        "{measurements} measurements are too few to tell, {} are needed: raise --seconds",
        statistics::ENOUGH
    )
}

impl Report {
    fn publish(&self, canaries: &str, json: Option<&Target>) -> Result<(), Failure> {
        if let Some(target) = json {
            target.write(&json::render(Schema::CheckTiming, self))?;
        }
        if json == Some(&Target::Stdout) {
            return Ok(());
        }
        let text = format!(
            "seed {}\n{canaries}\n{}",
            self.seed,
            table::render(&self.results)
        );
        print(text)
    }

    fn outcome(&self) -> Result<(), Failure> {
        let count = |verdict| {
            self.results
                .iter()
                .filter(|row| row.verdict == verdict)
                .count()
        };
        let all = self.results.len();
        match (count(Verdict::Leak), count(Verdict::TooFew)) {
            (0, 0) => Ok(()),
            (0, few) => Err(Failure::Failed(format!(
                "{few} of {all} cells have too few measurements to tell, {} are needed: use more \
                 --seconds",
                statistics::ENOUGH
            ))),
            (leaks, _) => Err(Failure::Failed(format!(
                "time depends on secrets in {leaks} of {all} cells, see above"
            ))),
        }
    }
}

/// A thread that moves takes its counter and its caches with it.
fn stay_on_one_core() {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    if let Some(core) = cores.last() {
        core_affinity::set_for_current(*core);
    }
}

#[cfg(test)]
mod tests;
