//! `lanelock engines`: what this machine has, what each engine offers, which one is chosen.

use std::fmt::Write as _;
use std::io;
use std::io::Write as _;

use comfy_table::Table;
use lanelock::algorithm::{Algorithm, Spec};
use lanelock::engine::{Capability, Engine, Features};
use lanelock::sizes::Sizes;
use lanelock::transform::Direction;
use lanelock::{Device, Transform};
use serde::Serialize;

use crate::failure::Failure;
use crate::machine::Machine;

/// Arguments of `lanelock engines`.
#[derive(Debug, clap::Args)]
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
    engines: Vec<EngineRow>,
    choices: Vec<ChoiceRow>,
}

#[derive(Debug, Serialize)]
struct EngineRow {
    name: &'static str,
    version: String,
    algorithms: Vec<AlgorithmRow>,
}

/// One family on one engine. Lengths are in bytes.
#[derive(Debug, Serialize)]
struct AlgorithmRow {
    /// The names that belong to the family.
    names: Vec<String>,
    key: Vec<Range>,
    iv: Vec<Range>,
    tag: Vec<Range>,
    max_aad: usize,
    features: FeatureRow,
}

/// Lengths from `min` to `max` in steps of `step`.
#[derive(Debug, Serialize)]
struct Range {
    min: usize,
    max: usize,
    step: usize,
}

#[derive(Debug, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties, named in JSON"
)]
struct FeatureRow {
    chains: bool,
    gathers_segments: bool,
    allocates: bool,
    rekeys: bool,
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
    let device = lanelock::open().map_err(|error| Failure::Failed(error.to_string()))?;
    let inventory = Inventory::of(&device);
    let text = if args.json {
        let json = serde_json::to_string_pretty(&inventory);
        json.map_err(|error| Failure::Failed(error.to_string()))? + "\n"
    } else {
        inventory.render(&device)
    };
    io::stdout()
        .lock()
        .write_all(text.as_bytes())
        .map_err(Failure::stdout)
}

impl Inventory {
    fn of(device: &Device) -> Self {
        let openssl = device.engines().find(|engine| engine.name() == "openssl");
        let engines = device.engines().map(|engine| EngineRow {
            name: engine.name(),
            version: engine.version(),
            algorithms: engine.capabilities().iter().map(AlgorithmRow::of).collect(),
        });
        Self {
            machine: Machine::detect(&openssl.map(Engine::version).unwrap_or_default()),
            engines: engines.collect(),
            choices: Spec::singles()
                .iter()
                .filter_map(|spec| ChoiceRow::of(device, spec))
                .collect(),
        }
    }

    fn render(&self, device: &Device) -> String {
        let machine = &self.machine;
        let mut text = format!(
            "{}, {} cores, tiers: {}\n",
            machine.cpu,
            machine.cores,
            machine.tiers.join(", ")
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
            "\nlengths in bytes. chains: can be half of a cipher+MAC chain; gathers: a payload in \
             several\nsegments is copied into one; allocates, rekeys: for each operation\n",
        );
        text.push_str("\nchosen for a session that names no engine\n");
        text.push_str(&self.choices());
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

impl AlgorithmRow {
    fn of(capability: &Capability) -> Self {
        let Features {
            chains,
            gathers_segments,
            allocates,
            rekeys,
        } = capability.features;
        Self {
            names: names(capability.algorithm),
            key: ranges(capability.key),
            iv: ranges(capability.iv),
            tag: ranges(capability.tag),
            max_aad: capability.max_aad,
            features: FeatureRow {
                chains,
                gathers_segments,
                allocates,
                rekeys,
            },
        }
    }
}

impl ChoiceRow {
    /// What a session of `spec` says of its engine; nothing if there is none for it.
    fn of(device: &Device, spec: &Spec) -> Option<Self> {
        // Any key would do, but for XTS, whose halves must differ.
        let key: Vec<u8> = (0..=u8::MAX).take(spec.key_len).collect();
        let transform = Transform::new(spec.algorithm, Direction::Forward, &key, &[]);
        let session = device.session(transform).ok()?;
        Some(Self {
            algorithm: spec.to_string(),
            engine: session.engine(),
            why: session.choice().to_string(),
        })
    }
}

fn ranges(sizes: Sizes) -> Vec<Range> {
    let some = sizes.ranges().iter().filter(|range| range.max > 0);
    some.map(|range| Range {
        min: range.min,
        max: range.max,
        step: range.step,
    })
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
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["  algorithm", "key", "IV", "tag", "AAD", "features"]);
    for row in capabilities {
        let sizes = |sizes: Sizes| match sizes.max() {
            0 => "-".to_owned(),
            _ => sizes.to_string(),
        };
        table.add_row([
            format!("  {}", family(&names(row.algorithm))),
            sizes(row.key),
            sizes(row.iv),
            sizes(row.tag),
            match row.max_aad {
                0 => "-".to_owned(),
                max => format!("up to {max}"),
            },
            features(row.features),
        ]);
    }
    table.trim_fmt()
}

/// The names of a family as one: `aes-{128,192,256}-cbc`.
fn family(names: &[String]) -> String {
    let [first, .., last] = names else {
        return names.concat();
    };
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let reversed = |s: &str| s.chars().rev().collect::<String>();
    // Cut at hyphens, so that 192 and 128 do not share their 1.
    let front = first[..same(first, last)].rfind('-').map_or(0, |at| at + 1);
    let back = same(&reversed(first), &reversed(last));
    let back = first[first.len() - back..]
        .find('-')
        .map_or(0, |at| back - at);
    let middle = |name: &String| match name.len().checked_sub(back) {
        Some(end) if end > front => name[front..end].to_owned(),
        _ => return String::new(),
    };
    let middles: Vec<String> = names.iter().map(middle).collect();
    if middles.iter().any(String::is_empty) {
        return names.join(", ");
    }
    let (start, end) = (&first[..front], &first[first.len() - back..]);
    format!("{start}{{{}}}{end}", middles.join(","))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_family_fold_into_one() {
        let fold =
            |names: &[&str]| family(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            fold(&["aes-128-cbc", "aes-192-cbc", "aes-256-cbc"]),
            "aes-{128,192,256}-cbc"
        );
        assert_eq!(fold(&["aes-128-xts", "aes-256-xts"]), "aes-{128,256}-xts");
        assert_eq!(
            fold(&["3des-2key-cbc", "3des-cbc"]),
            "3des-2key-cbc, 3des-cbc"
        );
        assert_eq!(fold(&["chacha20"]), "chacha20");
    }
}
