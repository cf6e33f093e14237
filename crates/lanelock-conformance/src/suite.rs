//! What came of a file of known answers.

use std::collections::BTreeMap;
use std::fmt::Debug;

use lanelock_core::SessionError;

use crate::known::Runs;
use crate::message::Mismatch;

/// What came of one file.
#[derive(Clone, Debug, Default)]
pub struct FileOutcome {
    /// The file's name.
    pub name: String,
    /// The algorithm that it is about, as the file calls it.
    pub algorithm: String,
    /// Tests in it.
    pub tests: usize,
    /// Tests that gave the result they should, in every layout.
    pub right: usize,
    /// Tests of messages that are wrong and were refused, in every layout.
    pub refused: usize,
    /// Operations run, in all layouts.
    pub operations: u64,
    /// Operations with a flipped bit, all of which were refused.
    pub tampered: u64,
    /// Tests not run, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// Tests that went wrong.
    pub failures: Vec<Failure>,
}

/// A test that went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which: a line of the file or a number of its own.
    pub test: String,
    /// What the file says about it.
    pub comment: String,
    /// What went wrong.
    pub mismatch: Mismatch,
}

/// What should become of a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Right,
    Refused,
}

impl FileOutcome {
    pub(crate) fn new(name: &str, algorithm: &str, tests: usize) -> Self {
        Self {
            name: name.to_owned(),
            algorithm: algorithm.to_owned(),
            tests,
            ..Self::default()
        }
    }

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
        println!(
            "{:20} {:5} tests: {:4} right, {:4} refused, {:3} skipped; {} operations, {} tampered",
            self.name,
            self.tests,
            self.right,
            self.refused,
            self.skips(),
            self.operations,
            self.tampered,
        );
        let accounted = self.right + self.refused + self.skips();
        assert_right(&self.name, &self.failures, accounted, self.tests);
    }

    pub(crate) fn skip(&mut self, reason: &str) {
        *self.skipped.entry(reason.to_owned()).or_default() += 1;
    }

    /// Counts a test that ran, or could not.
    pub(crate) fn count(
        &mut self,
        verdict: Verdict,
        test: &str,
        comment: &str,
        ran: Result<Result<Runs, Mismatch>, SessionError>,
    ) {
        match (ran, verdict) {
            (Ok(Ok(runs)), _) => {
                self.operations += runs.right;
                self.tampered += runs.tampered;
                match verdict {
                    Verdict::Right => self.right += 1,
                    Verdict::Refused => self.refused += 1,
                }
            }
            (Ok(Err(mismatch)), _) => self.failures.push(Failure {
                test: test.to_owned(),
                comment: comment.to_owned(),
                mismatch,
            }),
            // What makes a test wrong may be a length that no session accepts.
            (Err(SessionError::Length { .. }), Verdict::Refused) => self.refused += 1,
            (Err(error), _) => self.skip(&error.to_string()),
        }
    }
}

/// Panics with the failures of a file, or if its tests are not all accounted for.
pub(crate) fn assert_right(name: &str, failures: &[impl Debug], accounted: usize, tests: usize) {
    assert!(failures.is_empty(), "{name}: {failures:#?}");
    assert_eq!(accounted, tests, "{name}: every test is accounted for");
}
