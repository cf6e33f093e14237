//! Scenarios that a fuzzer chooses.

use lanelock_core::algorithm::Spec;

use super::generate::{Reach, scenario};
use super::scenario::Tally;
use super::{Failure, shrink};
use crate::Subject;
use crate::rng::{Rng, fnv1a};

/// An engine and the algorithms that scenarios may be about.
#[derive(Clone, Debug)]
pub struct Chosen {
    subject: Subject,
    specs: Vec<Spec>,
}

/// Short enough for hundreds of scenarios a second, with room for every way a kernel is entered.
const REACH: Reach = Reach {
    body: 1100,
    aad: 300,
    burst: 64,
    bursts: 2,
};

impl Chosen {
    /// Scenarios of every algorithm that `subject` offers.
    #[must_use]
    pub fn new(subject: &Subject) -> Self {
        Self {
            specs: subject.algorithms(),
            subject: subject.clone(),
        }
    }

    /// Runs the scenario that the bytes of `choices` make up: algorithms, lengths, segments,
    /// places, faults and bursts. Keys and messages follow from a hash of them.
    ///
    /// # Errors
    /// The first mismatch with the reference, made as small as it can be.
    ///
    /// # Panics
    /// If the reference does, which would be a mistake in this crate.
    pub fn run(&self, choices: &[u8]) -> Result<Tally, Box<Failure>> {
        let mut rng = Rng::of_choices(choices);
        let scenario = scenario(&self.subject, &self.specs, &[], REACH, &mut rng);
        scenario.run(&self.subject).map_err(|_| {
            let (scenario, found) = shrink::shrink(&self.subject, scenario);
            let (unit, seed) = ("a chosen scenario", fnv1a(choices));
            Box::new(Failure::new(&self.subject, &scenario, found, unit, seed))
        })
    }
}
