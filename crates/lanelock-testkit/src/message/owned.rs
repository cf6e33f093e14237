//! Messages through `QueuePair::enqueue` and `dequeue`, on memory that the jobs own.

use std::ops::Range;

use lanelock_core::op::OpError;
use lanelock_core::{InvalidReason, Job, JobBuffer, QueuePair, Session};

use super::memory::{canary, cut};
use super::{Message, Observed, Output, Part, Setup};

/// Known bytes on either side of a job's buffer.
const MARGIN: usize = 32;

/// A buffer with known bytes on either side.
#[derive(Debug)]
pub struct Padded {
    bytes: Vec<u8>,
    inner: Range<usize>,
}

/// Whether a job can express `message`: jobs always have an output, and make room for a computed
/// tag by themselves.
#[must_use]
pub fn fits(setup: &Setup, message: &Message) -> bool {
    let tag_is_the_jobs = setup.is_forward()
        && matches!(
            message.refusal,
            Some(
                InvalidReason::TagMissing | InvalidReason::TagLength | InvalidReason::TagUnexpected
            )
        );
    message.output != Output::ReadOnly && !tag_is_the_jobs
}

/// Enqueues the messages, dequeuing up to `limit` results whenever the queue is full.
///
/// # Panics
/// If the queue neither takes jobs nor gives any.
pub fn enqueue_and_dequeue(
    queue: &mut QueuePair<Padded>,
    burst: &[(&Session, &Message)],
    limit: usize,
) -> Vec<Observed> {
    let mut waiting: Vec<Job<Padded>> = (0_u64..)
        .zip(burst)
        .map(|(i, (session, message))| build(session, message).user_data(i))
        .collect();
    let mut done = Vec::new();
    while done.len() < burst.len() {
        let taken = queue.enqueue(&mut waiting);
        let given = queue.dequeue(&mut done, limit.max(1));
        assert!(
            taken + given > 0,
            "the queue neither takes jobs nor gives any"
        );
    }
    (0_u64..)
        .zip(done)
        .zip(burst)
        .map(|((i, job), (_, message))| observe(i, job, message))
        .collect()
}

fn build(session: &Session, message: &Message) -> Job<Padded> {
    let placement = &message.placement;
    let input = buffer(&message.input, &placement.input_cuts);
    let mut job = match &message.output {
        Output::Separate(output) => {
            Job::separate(session, input, buffer(output, &placement.output_cuts))
        }
        _ => Job::in_place(session, input),
    };
    job = match &message.iv {
        Part::None => job,
        Part::Inline(range) => job.iv_at(range.start),
        Part::Separate(iv) => job.iv(iv),
    };
    job = match &message.aad {
        Part::None => job,
        Part::Inline(range) => job.aad_range(range.clone()),
        Part::Separate(aad) => job.aad(aad),
    };
    job = match &message.tag {
        Part::None => job,
        Part::Inline(range) => job.tag_at(range.start),
        Part::Separate(tag) => job.expected_tag(tag),
    };
    if let Some(range) = &message.cipher {
        job = job.cipher_range(range.clone());
    }
    if let Some(range) = &message.auth {
        job = job.auth_range(range.clone());
    }
    if let Some(offset) = message.output_at {
        job = job.output_at(offset);
    }
    job
}

fn observe(index: u64, job: Job<Padded>, message: &Message) -> Observed {
    let mut strays = Vec::new();
    if job.data() != index {
        strays.push(format!(
            "job {} came back in the place of job {index}",
            job.data()
        ));
    }
    let status = job.status();
    let reason = job.error().map(OpError::reason);
    // A refused job has made room for its tag, which a refused message has not.
    let tag = match &message.tag {
        Part::Separate(tag) if reason.is_some() => tag.clone(),
        Part::Separate(_) => job.tag().to_vec(),
        _ => Vec::new(),
    };
    let (input, output) = job.into_buffers();
    let input = contents(input, "input", &mut strays);
    let output = output.map_or_else(Vec::new, |output| contents(output, "output", &mut strays));
    Observed {
        status,
        reason,
        input,
        output,
        iv: message.iv.separate().to_vec(),
        aad: message.aad.separate().to_vec(),
        tag,
        strays,
    }
}

fn buffer(data: &[u8], cuts: &[usize]) -> JobBuffer<Padded> {
    if cuts.is_empty() {
        return JobBuffer::One(Padded::new(data));
    }
    JobBuffer::Segments(cut(data, cuts).map(Padded::new).collect())
}

/// The bytes of a buffer that came back, segments joined.
fn contents(buffer: JobBuffer<Padded>, name: &str, strays: &mut Vec<String>) -> Vec<u8> {
    let segments = match buffer {
        JobBuffer::One(one) => vec![one],
        JobBuffer::Segments(list) => list,
    };
    for (i, segment) in segments.iter().enumerate() {
        if segment.is_damaged() {
            strays.push(format!("wrote outside of {name} segment {i}"));
        }
    }
    segments
        .iter()
        .flat_map(|s| s.as_ref().iter().copied())
        .collect()
}

impl Padded {
    fn new(data: &[u8]) -> Self {
        let inner = MARGIN..MARGIN + data.len();
        let mut bytes: Vec<u8> = (0..data.len() + 2 * MARGIN).map(canary).collect();
        bytes[inner.clone()].copy_from_slice(data);
        Self { bytes, inner }
    }

    fn is_damaged(&self) -> bool {
        let outside = (0..self.inner.start).chain(self.inner.end..self.bytes.len());
        outside.into_iter().any(|i| self.bytes[i] != canary(i))
    }
}

impl AsRef<[u8]> for Padded {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.inner.clone()]
    }
}

impl AsMut<[u8]> for Padded {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.inner.clone()]
    }
}
