//! The observer of one queue: counts in its blocks of the page, and fires the probes.

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lanelock_core::Status;
use lanelock_public_key::{BatchStart, Completion, KeyObserver, KeySpec, Ticket, Tickets};

use crate::layout::block;
use crate::page::{Block, Page};
use crate::probes::{self, Outcome};

/// An observer for one more queue: give it to `DeviceBuilder::key_observers`.
#[must_use]
pub fn observer() -> Option<Box<dyn KeyObserver>> {
    Some(Box::new(Observer::new()))
}

#[derive(Debug)]
struct Observer {
    /// Upper half of the numbers of its operations and batches.
    base: u64,
    batches: u64,
    page: Option<&'static Page>,
    /// Whether a page has been asked for: if there is none then, there never will be.
    asked: bool,
    algorithms: Vec<Algorithm>,
    /// Where the last one was found.
    last: usize,
    running: Option<Running>,
    /// When the last batch started, if it is counted: without a page no clock is read.
    started: Option<Instant>,
}

#[derive(Debug)]
struct Algorithm {
    spec: KeySpec,
    name: CString,
    block: Option<Block>,
}

/// The batch that an engine runs.
#[derive(Clone, Copy, Debug)]
struct Running {
    algorithm: usize,
    number: u64,
    filled: usize,
    lanes: usize,
}

/// Algorithms in a queue's list from which on those without a block of the page take each other's
/// place: the page bounds the others, and peers may choose ever new ones, by the salt lengths of
/// their signatures, say.
const MOST_NAMES: usize = 64;

/// Bits of the part of a number that counts within a queue.
const NUMBER_BITS: u32 = 40;

static QUEUES: AtomicU64 = AtomicU64::new(1);

impl Observer {
    fn new() -> Self {
        Self {
            base: QUEUES.fetch_add(1, Ordering::Relaxed) << NUMBER_BITS,
            batches: 0,
            page: None,
            asked: false,
            algorithms: Vec::new(),
            last: 0,
            running: None,
            started: None,
        }
    }

    /// The numbers that the probes give operations.
    fn numbers(&self, ops: Tickets) -> impl Iterator<Item = u64> {
        let base = self.base;
        ops.numbers().map(move |number| base | number)
    }

    /// The place of `spec` in the list, with a block of a page of this process where there is one.
    #[inline]
    fn algorithm(&mut self, spec: KeySpec) -> usize {
        if self.page.is_some_and(|page| !page.is_ours()) {
            self.forget_parent();
        }
        match self.algorithms.get(self.last) {
            Some(known) if known.spec == spec => self.last,
            _ => self.find(spec),
        }
    }

    #[cold]
    fn forget_parent(&mut self) {
        self.page = None;
        self.asked = false;
        self.algorithms.clear();
        self.running = None;
    }

    fn find(&mut self, spec: KeySpec) -> usize {
        let known = self.algorithms.iter().position(|known| known.spec == spec);
        self.last = known.unwrap_or_else(|| self.add(spec));
        self.last
    }

    #[cold]
    fn add(&mut self, spec: KeySpec) -> usize {
        if !self.asked {
            self.page = Page::current();
            self.asked = true;
        }
        let name = CString::new(spec.to_string()).unwrap_or_default();
        let block = self.page.and_then(|page| page.take(name.as_bytes()));
        let algorithm = Algorithm { spec, name, block };
        if algorithm.block.is_none() && self.algorithms.len() >= MOST_NAMES {
            let mut known = self.algorithms.iter();
            if let Some(at) = known.position(|known| known.block.is_none()) {
                self.algorithms[at] = algorithm;
                return at;
            }
        }
        self.algorithms.push(algorithm);
        self.algorithms.len() - 1
    }
}

impl KeyObserver for Observer {
    fn submitted(&mut self, ops: Tickets, spec: KeySpec) {
        let at = self.algorithm(spec);
        let algorithm = &self.algorithms[at];
        for op in self.numbers(ops) {
            probes::submit(op, &algorithm.name);
        }
        if let Some(block) = &algorithm.block {
            block.add(block::SUBMITTED, ops.count() as u64);
        }
    }

    fn batch_started(&mut self, batch: BatchStart) {
        let algorithm = self.algorithm(batch.spec);
        let number = self.base | self.batches;
        self.batches += 1;
        let Algorithm { name, block, .. } = &self.algorithms[algorithm];
        probes::batch_start(number, name, batch.filled as u64);
        let is_counted = block.is_some();
        self.running = Some(Running {
            algorithm,
            number,
            filled: batch.filled,
            lanes: batch.lanes,
        });
        self.started = is_counted.then(Instant::now);
    }

    fn batch_ended(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        let filled = running.filled.max(1) as u64;
        let elapsed = self
            .started
            .map_or(0, |started| nanoseconds(started.elapsed()));
        probes::batch_end(running.number, filled, elapsed);
        let Some(block) = &self.algorithms[running.algorithm].block else {
            return;
        };
        if running.lanes > 1 {
            block.add(block::BATCHES, 1);
            block.add(block::IN_LANES, filled);
            block.lanes(running.filled);
            block.compute(elapsed, 1);
        } else {
            block.add(block::SINGLES, filled);
            block.compute(elapsed / filled, filled);
        }
    }

    fn completed(&mut self, done: Completion) {
        let at = self.algorithm(done.spec);
        let wait = done
            .queued_at
            .zip(self.started)
            .map(|(since, started)| nanoseconds(started.saturating_duration_since(since)));
        let outcome = match done.status {
            Status::Success => Outcome::Success,
            _ => Outcome::Failure,
        };
        for op in self.numbers(done.ops) {
            probes::complete(op, wait.unwrap_or(0), outcome);
        }
        let count = done.ops.count() as u64;
        let Some(block) = &self.algorithms[at].block else {
            return;
        };
        block.add(block::COMPLETED, count);
        if done.status != Status::Success {
            block.add(block::FAILED, count);
        }
        if let Some(wait) = wait {
            block.wait(wait, count);
        }
    }

    fn cancelled(&mut self, op: Ticket, spec: KeySpec) {
        let at = self.algorithm(spec);
        probes::complete(self.base | op.number(), 0, Outcome::Cancelled);
        if let Some(block) = &self.algorithms[at].block {
            block.add(block::CANCELLED, 1);
        }
    }
}

/// A queue that goes leaves its counts.
impl Drop for Observer {
    fn drop(&mut self) {
        let Some(page) = self.page.filter(|page| page.is_ours()) else {
            return;
        };
        for algorithm in self.algorithms.drain(..) {
            if let Some(block) = algorithm.block {
                page.give_back(block);
            }
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanelock_core::Hash;
    use lanelock_public_key::{KeyKind, Operation, Pss, Scheme, SignatureScheme};

    #[test]
    fn ever_new_algorithms_without_a_block_do_not_pile_up() {
        let mut observer = Observer::new();
        // There is no page.
        observer.asked = true;
        for salt_len in 0..100_000 {
            let pss = Pss {
                salt_len,
                ..Pss::of(Hash::Sha256)
            };
            let spec = KeySpec {
                operation: Operation::Verify,
                kind: KeyKind::Rsa(2048),
                scheme: Scheme::Signature(SignatureScheme::RsaPss(pss)),
            };
            let at = observer.algorithm(spec);
            assert_eq!(observer.algorithms[at].spec, spec);
            assert_eq!(observer.algorithm(spec), at);
            assert!(observer.algorithms.len() <= MOST_NAMES, "{salt_len}");
        }
    }
}
