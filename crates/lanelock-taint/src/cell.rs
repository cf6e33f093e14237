//! One algorithm on one tier.

use std::fmt;

use lanelock_kernels::taint;

use crate::inputs::Inputs;
use crate::rows::Row;
use crate::tier::Tier;

/// What a cell found.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing depends on a secret, and all of the output does.
    Clean,
    /// The tier cannot run here.
    Skipped,
    /// Memcheck found branches or addresses that depend on secrets; the number of times.
    Leaks(usize),
    /// Bytes of the output that were not marked any more, and all: the check has lost sight.
    Unmarked(usize, usize),
    /// The output is not that of a run without marks, or of the tier before.
    Wrong,
}

/// Runs `row` on `tier`. `expected` is the output of the row's other tiers, or is set.
pub fn run(row: &Row, tier: Tier, expected: &mut Option<Vec<Vec<u8>>>) -> Outcome {
    let plain = (row.run)(tier, &mut Inputs::plain());
    let before = taint::findings();
    let mut outputs = (row.run)(tier, &mut Inputs::secret());
    let leaks = taint::findings() - before;
    let all: usize = outputs.iter().map(Vec::len).sum();
    let marked: usize = outputs
        .iter()
        .map(|output| taint::count_secret(output))
        .sum();
    for output in &mut outputs {
        taint::mark_public(output);
    }
    let first = expected.get_or_insert_with(|| plain.clone());
    if leaks > 0 {
        Outcome::Leaks(leaks)
    } else if marked < all || all == 0 {
        Outcome::Unmarked(all - marked, all)
    } else if outputs != plain || plain != *first {
        Outcome::Wrong
    } else {
        Outcome::Clean
    }
}

impl Outcome {
    /// A word for the table.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Skipped => "skipped",
            Self::Leaks(_) => "LEAKS",
            Self::Unmarked(..) => "UNMARKED",
            Self::Wrong => "WRONG",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean | Self::Skipped => f.write_str(self.word()),
            Self::Leaks(times) => write!(
                f,
                "{times} branches or addresses that depend on a secret, see Valgrind's traces"
            ),
            Self::Unmarked(lost, all) => write!(
                f,
                "{lost} of {all} bytes of the output do not depend on a secret for memcheck"
            ),
            Self::Wrong => f.write_str("the output is wrong"),
        }
    }
}
