//! What a level runs: for each algorithm, sweeps over its lengths and random scenarios.

use lanelock_core::algorithm::{Algorithm, Spec};

use super::Level;
use super::generate::{Reach, Sweep, scenario};
use super::scenario::Scenario;
use crate::Subject;
use crate::rng::{Rng, fnv1a};

/// Prescribed lengths in one scenario.
const SWEEPS: usize = 24;

/// The scenarios of one algorithm, or of all mixed.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Its row in the result.
    pub(super) name: String,
    specs: Vec<Spec>,
    sweeps: Vec<Sweep>,
    random: usize,
    reach: Reach,
    seed: u64,
}

/// One scenario of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) unit: usize,
    pub(super) number: usize,
}

/// The units of a level, for the algorithms that `wanted` accepts. What a unit does depends on
/// the seed and its own name alone, so fewer algorithms repeat the same scenarios.
pub(super) fn units(
    subject: &Subject,
    level: Level,
    seed: u64,
    wanted: &dyn Fn(&Spec) -> bool,
) -> Vec<Unit> {
    let specs: Vec<Spec> = subject.algorithms().into_iter().filter(wanted).collect();
    let mut units: Vec<Unit> = specs
        .iter()
        .map(|spec| {
            let chain = matches!(spec.algorithm, Algorithm::Chain(..));
            let (random, reach) = amount(level, chain);
            let sweeps = if chain && level != Level::Exhaustive {
                Vec::new()
            } else {
                sweeps(subject, spec, level)
            };
            Unit::new(spec.to_string(), vec![*spec], sweeps, random, reach, seed)
        })
        .collect();
    if specs.len() > 1 {
        let (random, reach) = amount(level, false);
        let mixed = "all algorithms mixed".to_owned();
        units.push(Unit::new(
            mixed,
            specs,
            Vec::new(),
            10 * random,
            reach,
            seed,
        ));
    }
    units
}

impl Unit {
    fn new(
        name: String,
        specs: Vec<Spec>,
        sweeps: Vec<Sweep>,
        random: usize,
        reach: Reach,
        seed: u64,
    ) -> Self {
        Self {
            seed: seed ^ fnv1a(name.as_bytes()),
            name,
            specs,
            sweeps,
            random,
            reach,
        }
    }

    /// Scenarios in it.
    pub(super) fn len(&self) -> usize {
        self.sweeps.len().div_ceil(SWEEPS) + self.random
    }

    pub(super) fn scenario(&self, subject: &Subject, number: usize) -> Scenario {
        let mut rng = Rng::new(self.seed);
        let mut rng = Rng::new(rng.next().wrapping_add(number as u64));
        let sweeps = self.sweeps.chunks(SWEEPS).nth(number).unwrap_or(&[]);
        scenario(subject, &self.specs, sweeps, self.reach, &mut rng)
    }
}

/// Random scenarios for an algorithm, and how far they reach.
fn amount(level: Level, chain: bool) -> (usize, Reach) {
    let reach = |body, aad| Reach {
        body,
        aad,
        burst: 64,
        bursts: 4,
    };
    match (level, chain) {
        (Level::Quick, false) => (16, reach(4096, 600)),
        (Level::Quick, true) => (1, reach(2048, 300)),
        (Level::Default, false) => (300, reach(16_384, 4096)),
        (Level::Default, true) => (20, reach(8192, 2048)),
        (Level::Exhaustive, false) => (600, reach(65_536, 66_000)),
        (Level::Exhaustive, true) => (24, reach(65_536, 20_000)),
    }
}

/// The lengths that a level goes through one by one.
fn sweeps(subject: &Subject, spec: &Spec, level: Level) -> Vec<Sweep> {
    let (bodies, aads): (Vec<usize>, Vec<usize>) = match level {
        Level::Quick => (
            (0..=33).chain([63, 64, 65, 127, 128, 129]).collect(),
            (0..=18).collect(),
        ),
        Level::Default => (
            (0..=130).chain([255, 256, 257, 4096]).collect(),
            (0..=34).chain([64, 65, 255, 256, 257]).collect(),
        ),
        Level::Exhaustive => (
            (0..=257)
                .chain([
                    511, 512, 513, 1023, 1024, 1025, 4096, 16_384, 65_535, 65_536,
                ])
                .collect(),
            (0..=64)
                .chain([127, 128, 129, 255, 256, 257, 1000, 4096])
                .chain([65_279, 65_280, 65_281, 65_535, 65_536])
                .collect(),
        ),
    };
    let (cipher, mac) = match spec.algorithm {
        Algorithm::Chain(_, c, m) => (Algorithm::Cipher(c), Algorithm::Mac(m)),
        single => (single, single),
    };
    let row = |algorithm| subject.capability(algorithm);
    let mut sweeps: Vec<Sweep> = bodies.into_iter().map(Sweep::Body).collect();
    if row(mac).is_some_and(|row| row.max_aad > 0) {
        sweeps.extend(aads.into_iter().map(Sweep::Aad));
    }
    let lengths = |sizes: lanelock_core::sizes::Sizes| -> Vec<usize> {
        let all: Vec<usize> = sizes.iter().filter(|&len| len > 0).collect();
        // An extendable output has too many lengths to try each.
        let few = if level == Level::Exhaustive {
            1100
        } else {
            140
        };
        let most = all.last().copied().filter(|_| all.len() > few);
        all.into_iter().take(few).chain(most).collect()
    };
    if let (Some(cipher), Some(mac)) = (row(cipher), row(mac)) {
        sweeps.extend(lengths(cipher.iv).into_iter().map(Sweep::Iv));
        sweeps.extend(lengths(mac.tag).into_iter().map(Sweep::Tag));
    }
    sweeps
}
