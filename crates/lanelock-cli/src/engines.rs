//! `lanelock engines`: what this machine has, what each engine offers, which one is chosen.

mod family;
mod public_keys;

use std::fmt::Write as _;

use lanelock::algorithm::{Algorithm, Spec};
use lanelock::engine::{Capability, Features};
use lanelock::session::Choice;
use lanelock::sizes::Sizes;
use lanelock::transform::Direction;
use lanelock::{Device, SessionError, Transform};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::report::json::{self, Schema};
use crate::report::table::align;
use crate::terminal::print;
use family::family;
use public_keys::KeyRow;

/// Arguments of `lanelock engines`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A session that names no engine runs on the first engine that offers its algorithm. What the native
engine offers depends on the CPU's tier.

Examples:
  lanelock engines
  LANELOCK_TIER=aesni lanelock engines")]
pub struct Args {
    /// Print JSON: the machine, each engine with its algorithms, and for each named algorithm
    /// the engine that is chosen.
    #[arg(long)]
    json: bool,
}

/// Everything there is to say, in the form of the JSON output.
#[derive(Debug, Serialize)]
struct Inventory {
    machine: Machine,
    cpu_features: Vec<&'static str>,
    engines: Vec<EngineRow>,
    choices: Vec<ChoiceRow>,
    public_keys: Vec<KeyRow>,
}

#[derive(Debug, Serialize)]
struct EngineRow {
    name: &'static str,
    version: String,
    algorithms: Vec<Value>,
}

#[derive(Debug, Serialize)]
struct ChoiceRow {
    algorithm: String,
    engine: &'static str,
    why: String,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] if no engine can be opened, [`Failure::Output`] if nothing can be printed.
pub fn run(args: &Args) -> Result<(), Failure> {
    let device = lanelock::open().map_err(Failure::of)?;
    let inventory = Inventory::of(&device);
    let text = if args.json {
        json::render(Schema::Engines, &inventory)
    } else {
        inventory.render(&device)
    };
    print(text)
}

impl Inventory {
    fn of(device: &Device) -> Self {
        let engines = device.engines().map(|engine| EngineRow {
            name: engine.name(),
            version: engine.version(),
            algorithms: engine.capabilities().iter().map(algorithm).collect(),
        });
        let choices = Spec::singles().into_iter();
        Self {
            machine: Machine::detect(device),
            cpu_features: cpu_features(),
            engines: engines.collect(),
            choices: choices
                .filter_map(|spec| ChoiceRow::of(device, spec))
                .collect(),
            public_keys: public_keys::rows(device),
        }
    }

    fn render(&self, device: &Device) -> String {
        let machine = &self.machine;
        let mut text = format!(
            "{}, {} cores\nfeatures: {}\ntiers: {}\n",
            machine.cpu,
            machine.cores,
            self.cpu_features.join(", "),
            if machine.tiers.is_empty() {
                "none".to_owned()
            } else {
                machine.tiers.join(", ")
            },
        );
        for engine in device.engines() {
            let _ = write!(
                text,
                "\nengine {}: {}\n{}\n",
                engine.name(),
                engine.version(),
                algorithms(engine.capabilities()),
            );
        }
        text.push_str(
            "\nLengths are in bytes. chains: can be half of a cipher+MAC chain; gathers: a payload \
             in several\nsegments is copied into one; allocates, rekeys: for each operation\n",
        );
        text.push_str("\nchosen for a session that names no engine\n");
        text.push_str(&self.choices());
        text.push_str("\npublic keys, for a session that names no engine\n");
        text.push_str(&public_keys::render(&self.public_keys));
        text
    }

    /// Algorithms by the engine that is chosen and the reason.
    fn choices(&self) -> String {
        let mut groups: Vec<(&ChoiceRow, Vec<&str>)> = Vec::new();
        for row in &self.choices {
            let same =
                |(first, _): &(&ChoiceRow, _)| (first.engine, &first.why) == (row.engine, &row.why);
            match groups.iter_mut().find(|group| same(group)) {
                Some((_, names)) => names.push(&row.algorithm),
                None => groups.push((row, vec![&row.algorithm])),
            }
        }
        let everything = groups.len() == 1;
        groups.iter().fold(String::new(), |mut text, (row, names)| {
            let names = if everything {
                "every algorithm".to_owned()
            } else {
                names.join(", ")
            };
            let _ = writeln!(text, "  {}, {}: {names}", row.engine, row.why);
            text
        })
    }
}

/// One family on one engine: the names that belong to it, and what lengths it takes, in bytes.
fn algorithm(capability: &Capability) -> Value {
    let Features {
        chains,
        gathers_segments,
        allocates,
        rekeys,
    } = capability.features;
    json!({
        "names": names(capability.algorithm),
        "key": ranges(capability.key),
        "iv": ranges(capability.iv),
        "tag": ranges(capability.tag),
        "max_aad": capability.max_aad,
        "features": {
            "chains": chains,
            "gathers_segments": gathers_segments,
            "allocates": allocates,
            "rekeys": rekeys,
        },
    })
}

impl ChoiceRow {
    /// What a session of `spec` says of its engine; nothing if there is none for it.
    fn of(device: &Device, spec: Spec) -> Option<Self> {
        // Any key would do, but for XTS, whose halves must differ.
        let [key, mac_key] =
            [spec.key_len, spec.mac_key_len].map(|len| (0..=u8::MAX).take(len).collect::<Vec<_>>());
        let transform = Transform::new(spec.algorithm, Direction::Forward, &key, &mac_key);
        let session = device.session(transform).ok()?;
        Some(Self {
            algorithm: spec.to_string(),
            engine: session.engine(),
            why: why(session.choice()),
        })
    }
}

/// The reason without the algorithm's name, so that algorithms with one reason share a line.
fn why(choice: &Choice) -> String {
    let Choice::FirstThatOffers { refused } = choice else {
        return choice.to_string();
    };
    let refused: Vec<_> = refused
        .iter()
        .map(|(engine, error)| match error {
            SessionError::Unsupported { why, .. } => format!("{engine}: {why}"),
            other => format!("{engine}: {other}"),
        })
        .collect();
    match refused.is_empty() {
        true => choice.to_string(),
        false => format!("first that offers it ({})", refused.join("; ")),
    }
}

/// Extensions of the CPU that matter to cryptography.
#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<&'static str> {
    macro_rules! detected {
        ($($name:tt),*) => {
            [$(($name, is_x86_feature_detected!($name))),*]
        };
    }
    let all = detected![
        "aes",
        "pclmulqdq",
        "sha",
        "ssse3",
        "avx",
        "avx2",
        "bmi2",
        "fma",
        "avxifma",
        "adx",
        "gfni",
        "vaes",
        "vpclmulqdq",
        "avx512f",
        "avx512bw",
        "avx512dq",
        "avx512vl",
        "avx512ifma",
        "avx512vbmi",
        "avx512vbmi2"
    ];
    all.into_iter()
        .filter_map(|(name, has)| has.then_some(name))
        .collect()
}

/// Extensions of the CPU that matter to cryptography.
#[cfg(target_arch = "aarch64")]
fn cpu_features() -> Vec<&'static str> {
    macro_rules! detected {
        ($($name:tt),*) => {
            [$(($name, std::arch::is_aarch64_feature_detected!($name))),*]
        };
    }
    let all = detected!["neon", "aes", "pmull", "sha2", "sha3", "sve", "sve2"];
    all.into_iter()
        .filter_map(|(name, has)| has.then_some(name))
        .collect()
}

/// None are known for this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn cpu_features() -> Vec<&'static str> {
    Vec::new()
}

/// Lengths from `min` to `max` in steps of `step`.
fn ranges(sizes: Sizes) -> Value {
    let some = sizes.ranges().iter().filter(|range| range.max > 0);
    some.map(|range| json!({ "min": range.min, "max": range.max, "step": range.step }))
        .collect()
}

/// The names of a family, one for each key length.
fn names(algorithm: Algorithm) -> Vec<String> {
    Spec::singles()
        .iter()
        .filter(|spec| spec.algorithm == algorithm)
        .map(ToString::to_string)
        .collect()
}

fn algorithms(capabilities: &[Capability]) -> String {
    let sizes = |sizes: Sizes| match sizes.max() {
        0 => "-".to_owned(),
        _ => sizes.to_string(),
    };
    let rows = capabilities.iter().map(|row| {
        let aad = match row.max_aad {
            0 => "-".to_owned(),
            max => format!("up to {max}"),
        };
        vec![
            format!("  {}", family(&names(row.algorithm))),
            sizes(row.key),
            sizes(row.iv),
            sizes(row.tag),
            aad,
            features(row.features),
        ]
    });
    let titles = ["  algorithm", "key", "IV", "tag", "AAD", "features"];
    align(&titles, |_| true, rows)
}

fn features(features: Features) -> String {
    let Features {
        chains,
        gathers_segments,
        allocates,
        rekeys,
    } = features;
    let named = [
        (chains, "chains"),
        (gathers_segments, "gathers"),
        (allocates, "allocates"),
        (rekeys, "rekeys"),
    ];
    let named: Vec<&str> = named
        .iter()
        .filter(|(has, _)| *has)
        .map(|(_, name)| *name)
        .collect();
    named.join(", ")
}
