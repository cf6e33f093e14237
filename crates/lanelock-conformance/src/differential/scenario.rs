//! A number of bursts on one set of sessions, run and judged.

use lanelock_core::{QueuePair, Session, Status};

use super::shape::Shape;
use crate::Subject;
use crate::message::{
    Edge, Message, Mismatch, Output, Padded, Setup, compare, enqueue_and_dequeue, expect, fits,
    process,
};
use crate::reference::REFERENCE;

/// Sessions and what is done with them: all that a mismatch depends on.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) setups: Vec<Setup>,
    /// Queue pairs, which the bursts use in turn.
    pub(super) queues: usize,
    /// Jobs that a queue pair holds.
    pub(super) depth: usize,
    pub(super) bursts: Vec<Burst>,
}

/// Operations handed over together.
#[derive(Clone, Debug)]
pub(super) struct Burst {
    pub(super) queue: usize,
    pub(super) path: Path,
    /// Each with its session.
    pub(super) ops: Vec<(usize, Shape)>,
}

/// How a burst is handed over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Path {
    Process,
    Jobs {
        /// Results asked for at a time.
        limit: usize,
    },
}

/// What was run.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Operations in all.
    pub operations: u64,
    /// Operations that had to succeed.
    pub succeeded: u64,
    /// Operations with a flipped bit, which had to fail verification and leave no plaintext.
    pub tampered: u64,
    /// Operations that had to be refused untouched.
    pub refused: u64,
    /// Operations on a segment list.
    pub segmented: u64,
    /// Operations with a separate output.
    pub separate: u64,
    /// Operations next to a page that cannot be touched.
    pub guarded: u64,
    /// Operations through `enqueue` and `dequeue`.
    pub queued: u64,
    /// Bytes of input.
    pub bytes: u64,
}

/// The first thing that went wrong in a scenario.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) burst: usize,
    pub(super) op: usize,
    pub(super) mismatch: Mismatch,
}

impl Scenario {
    /// Runs the bursts in order, with sessions and queue pairs of their own.
    pub(super) fn run(&self, subject: &Subject) -> Result<Tally, Found> {
        let mut tally = Tally::default();
        let sessions = self.sessions(subject)?;
        let mut queues: Vec<QueuePair<Padded>> = (0..self.queues.max(1))
            .map(|_| subject.device().queue_pair_of(self.depth))
            .collect();
        for (index, burst) in self.bursts.iter().enumerate() {
            let messages: Vec<(&Setup, &Session, Message)> = burst
                .ops
                .iter()
                .map(|(i, shape)| {
                    (
                        &self.setups[*i],
                        &sessions[*i],
                        shape.message(&self.setups[*i]),
                    )
                })
                .collect();
            let queue = &mut queues[burst.queue];
            burst
                .run(queue, &messages, &mut tally)
                .map_err(|(op, mismatch)| Found {
                    burst: index,
                    op,
                    mismatch,
                })?;
        }
        Ok(tally)
    }

    fn sessions(&self, subject: &Subject) -> Result<Vec<Session>, Found> {
        let make = |(index, setup): (usize, &Setup)| {
            subject.session(setup).map_err(|error| {
                let uses = |burst: &Burst| burst.ops.iter().position(|(i, _)| *i == index);
                let mut users = self.bursts.iter().enumerate();
                let (burst, op) = users
                    .find_map(|(b, burst)| Some((b, uses(burst)?)))
                    .unwrap_or((0, 0));
                Found {
                    burst,
                    op,
                    mismatch: Mismatch {
                        what: format!("the session was refused: {error}"),
                        expected: Vec::new(),
                        got: Vec::new(),
                    },
                }
            })
        };
        self.setups.iter().enumerate().map(make).collect()
    }
}

impl Burst {
    fn run(
        &self,
        queue: &mut QueuePair<Padded>,
        messages: &[(&Setup, &Session, Message)],
        tally: &mut Tally,
    ) -> Result<(), (usize, Mismatch)> {
        // What a job cannot express goes the other way.
        let (queued, direct): (Vec<usize>, Vec<usize>) = (0..messages.len()).partition(|&i| {
            let (setup, _, message) = &messages[i];
            self.path != Path::Process && fits(setup, message)
        });
        let pick = |indices: &[usize]| -> Vec<(&Session, &Message)> {
            indices
                .iter()
                .map(|&i| (messages[i].1, &messages[i].2))
                .collect()
        };
        let mut observed = process(queue, &pick(&direct));
        if let Path::Jobs { limit } = self.path {
            observed.extend(enqueue_and_dequeue(queue, &pick(&queued), limit));
            tally.queued += queued.len() as u64;
        }
        for (&i, observed) in direct.iter().chain(&queued).zip(&observed) {
            let (setup, _, message) = &messages[i];
            let expected = expect(setup, message, &REFERENCE);
            if let Some(mismatch) = compare(message, &expected, observed) {
                return Err((i, mismatch));
            }
            tally.count(message, expected.status());
        }
        Ok(())
    }
}

impl Tally {
    fn count(&mut self, message: &Message, status: Status) {
        let placement = &message.placement;
        self.operations += 1;
        self.bytes += message.input.len() as u64;
        match status {
            Status::Success => self.succeeded += 1,
            Status::AuthFailed => self.tampered += 1,
            _ => self.refused += 1,
        }
        let segments = placement.input_cuts.len().max(placement.output_cuts.len());
        self.segmented += u64::from(segments > 1);
        self.separate += u64::from(matches!(message.output, Output::Separate(_)));
        self.guarded += u64::from(placement.edge != Edge::Canary);
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.succeeded += other.succeeded;
        self.tampered += other.tampered;
        self.refused += other.refused;
        self.segmented += other.segmented;
        self.separate += other.separate;
        self.guarded += other.guarded;
        self.queued += other.queued;
        self.bytes += other.bytes;
    }
}
