//! From a scenario that goes wrong to the smallest one that still does.

use super::generate::fit_body;
use super::scenario::{Found, Path, Scenario};
use super::shape::{Cut, IvPattern, OutputShape, Point, Shape, TagPlace};
use crate::Subject;
use crate::message::{Edge, Setup};

/// Most scenarios tried.
const TRIES: usize = 4000;

/// Makes `scenario` smaller as long as it goes wrong. Nothing is found if it does not go wrong
/// again, which is worth telling too: then what happened depends on more than the scenario.
pub(super) fn shrink(subject: &Subject, scenario: Scenario) -> (Scenario, Option<Found>) {
    let Err(found) = scenario.run(subject) else {
        return (scenario, None);
    };
    let mut shrinker = Shrinker {
        subject,
        best: scenario,
        found,
        tries: TRIES,
    };
    loop {
        let before = shrinker.tries;
        let smaller = shrinker.drop_bursts()
            | shrinker.drop_ops()
            | shrinker.simplify_path()
            | shrinker.simplify_shapes();
        if !smaller || before == shrinker.tries || shrinker.tries == 0 {
            break;
        }
    }
    shrinker.drop_unused_setups();
    (shrinker.best, Some(shrinker.found))
}

struct Shrinker<'s> {
    subject: &'s Subject,
    best: Scenario,
    found: Found,
    tries: usize,
}

impl Shrinker<'_> {
    /// Keeps `candidate` if it goes wrong.
    fn try_out(&mut self, candidate: Scenario) -> bool {
        if self.tries == 0 {
            return false;
        }
        self.tries -= 1;
        match candidate.run(self.subject) {
            Ok(_) => false,
            Err(found) => {
                (self.best, self.found) = (candidate, found);
                true
            }
        }
    }

    fn drop_bursts(&mut self) -> bool {
        let mut smaller = false;
        let mut index = 0;
        while self.best.bursts.len() > 1 && index < self.best.bursts.len() {
            let mut candidate = self.best.clone();
            candidate.bursts.remove(index);
            if self.try_out(candidate) {
                smaller = true;
            } else {
                index += 1;
            }
        }
        smaller
    }

    /// Drops ever smaller runs of operations from each burst.
    fn drop_ops(&mut self) -> bool {
        let mut smaller = false;
        for burst in 0..self.best.bursts.len() {
            let mut chunk = self.best.bursts[burst].ops.len();
            while chunk > 0 {
                let mut start = 0;
                while start < self.best.bursts[burst].ops.len() {
                    let mut candidate = self.best.clone();
                    let ops = &mut candidate.bursts[burst].ops;
                    ops.drain(start..(start + chunk).min(ops.len()));
                    if !ops.is_empty() && self.try_out(candidate) {
                        smaller = true;
                    } else {
                        start += chunk;
                    }
                }
                chunk /= 2;
            }
        }
        smaller
    }

    fn simplify_path(&mut self) -> bool {
        let mut candidate = self.best.clone();
        candidate.queues = 1;
        for burst in &mut candidate.bursts {
            (burst.queue, burst.path) = (0, Path::Process);
        }
        let is_simple = self.best.queues == 1
            && self
                .best
                .bursts
                .iter()
                .all(|burst| burst.path == Path::Process);
        !is_simple && self.try_out(candidate)
    }

    fn simplify_shapes(&mut self) -> bool {
        let mut smaller = false;
        for burst in 0..self.best.bursts.len() {
            let mut op = 0;
            while op < self.best.bursts.get(burst).map_or(0, |b| b.ops.len()) {
                while self.simplify_shape(burst, op) {
                    smaller = true;
                }
                op += 1;
            }
        }
        smaller
    }

    /// One step for one operation.
    fn simplify_shape(&mut self, burst: usize, op: usize) -> bool {
        let (setup, shape) = &self.best.bursts[burst].ops[op];
        let setup = &self.best.setups[*setup];
        let candidates: Vec<Shape> = simpler(setup, shape)
            .into_iter()
            .filter(|candidate| candidate != shape)
            .collect();
        candidates.into_iter().any(|shape| {
            let mut candidate = self.best.clone();
            candidate.bursts[burst].ops[op].1 = shape;
            self.try_out(candidate)
        })
    }

    fn drop_unused_setups(&mut self) {
        let scenario = &mut self.best;
        let mut kept = Vec::new();
        for burst in &mut scenario.bursts {
            for (index, _) in &mut burst.ops {
                let position = kept.iter().position(|k| k == index).unwrap_or_else(|| {
                    kept.push(*index);
                    kept.len() - 1
                });
                *index = position;
            }
        }
        scenario.setups = kept.iter().map(|&i| scenario.setups[i].clone()).collect();
    }
}

/// Shapes a step simpler than `shape`, the largest steps first.
fn simpler(setup: &Setup, shape: &Shape) -> Vec<Shape> {
    let mut all = Vec::new();
    let mut change = |edit: &dyn Fn(&mut Shape)| {
        let mut candidate = shape.clone();
        edit(&mut candidate);
        all.push(candidate);
    };
    change(&|s| s.fault = None);
    change(&|s| s.flip = None);
    change(&|s| s.output = OutputShape::InPlace);
    change(&|s| (s.input_cut, s.output_cut) = (Cut::Whole, Cut::Whole));
    change(&|s| s.input_cut = Cut::Whole);
    change(&|s| s.output_cut = Cut::Whole);
    change(&|s| s.edge = Edge::Canary);
    change(&|s| s.iv = IvPattern::Random);
    change(&|s| s.iv_inline = false);
    change(&|s| s.aad_inline = false);
    change(&|s| s.tag = TagPlace::Separate);
    change(&|s| s.aad = None);
    change(&|s| s.explicit = false);
    change(&|s| s.auth = (Point::Body, Point::BodyEnd));
    for cut in [Cut::Every(1), Cut::Every(16)] {
        change(&|s| {
            s.input_cut = if s.input_cut == Cut::Whole {
                Cut::Whole
            } else {
                cut
            };
        });
    }
    for smaller in [|_| 0, |n: usize| n / 2, |n: usize| n.saturating_sub(1)] {
        change(&|s| s.lead = smaller(s.lead));
        change(&|s| s.header = smaller(s.header));
        change(&|s| s.trailer = smaller(s.trailer));
        change(&|s| s.rest = smaller(s.rest));
        change(&|s| s.aad = s.aad.map(smaller));
        change(&|s| s.body = fit_body(setup, smaller(s.body)));
        change(&|s| {
            if let OutputShape::Separate { before, after } = s.output {
                s.output = OutputShape::Separate {
                    before: smaller(before),
                    after: smaller(after),
                };
            }
        });
    }
    change(&|s| s.body = fit_body(setup, s.body.saturating_sub(16)));
    change(&|s| s.seed = 0);
    all.retain(|candidate| candidate.weight() < shape.weight());
    all
}

impl Shape {
    /// How complicated it is; each step of the shrinker lowers it, so it ends.
    fn weight(&self) -> usize {
        let cut = |cut| match cut {
            Cut::Whole => 0,
            Cut::Every(1) => 20,
            Cut::Every(_) => 21,
            Cut::Upto(_) => 30,
        };
        let output = match self.output {
            OutputShape::InPlace => 0,
            OutputShape::ReadOnly => 50,
            OutputShape::Separate { before, after } => 50 + before + after,
        };
        self.lead
            + self.header
            + self.body
            + self.trailer
            + self.rest
            + self.aad.map_or(0, |len| len + 1)
            + 10 * usize::from(self.aad_inline)
            + 10 * usize::from(self.iv_inline)
            + 10 * usize::from(self.iv != IvPattern::Random)
            + 10 * usize::from(self.tag != TagPlace::Separate)
            + 10 * usize::from(self.auth != (Point::Body, Point::BodyEnd))
            + output
            + cut(self.input_cut)
            + cut(self.output_cut)
            + 10 * usize::from(self.edge != Edge::Canary)
            + 10 * usize::from(self.flip.is_some())
            + 10 * usize::from(self.fault.is_some())
            + usize::from(self.explicit)
            + usize::from(self.seed != 0)
    }
}
