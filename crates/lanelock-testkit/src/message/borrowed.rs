//! Messages through `QueuePair::process`, on borrowed memory.

use std::io::IoSliceMut;

use lanelock_core::buffer::Sink;
use lanelock_core::op::OpError;
use lanelock_core::transform::Direction;
use lanelock_core::{Buffer, Op, QueuePair, Session, Status};

use super::memory::{Arena, Carved};
use super::owned::Padded;
use super::{Message, Observed, Output, Part};

/// Runs `burst` as one burst.
pub fn process(queue: &mut QueuePair<Padded>, burst: &[(&Session, &Message)]) -> Vec<Observed> {
    let mut arenas: Vec<Arena> = burst.iter().map(|(_, m)| Arena::new(m)).collect();
    let mut carved: Vec<Carved<'_>> = arenas.iter_mut().map(Arena::carve).collect();
    let mut ops: Vec<Op<'_>> = carved
        .iter_mut()
        .zip(burst)
        .map(|(carved, (session, message))| build(session, message, carved))
        .collect();
    let outcome = queue.process(&mut ops);
    let results: Vec<_> = ops
        .iter()
        .map(|op| (op.status(), op.error().as_ref().map(OpError::reason)))
        .collect();
    let succeeded = results.iter().filter(|r| r.0 == Status::Success).count();
    let miscounted = (outcome.succeeded, outcome.failed) != (succeeded, results.len() - succeeded);
    drop(ops);
    drop(carved);
    arenas
        .iter()
        .zip(results)
        .map(|(arena, (status, reason))| {
            let mut observed = arena.observe(status, reason);
            if miscounted {
                let stray = format!("the burst's outcome is {outcome:?}");
                observed.strays.push(stray);
            }
            observed
        })
        .collect()
}

fn build<'c>(session: &'c Session, message: &Message, carved: &'c mut Carved<'_>) -> Op<'c> {
    let input = sink(&mut carved.input, message.placement.input_cuts.is_empty());
    let buffer = match message.output {
        Output::InPlace => Buffer::in_place(input),
        Output::ReadOnly => Buffer::read_only(input),
        Output::Separate(_) => {
            let whole = message.placement.output_cuts.is_empty();
            Buffer::separate(input, sink(&mut carved.output, whole))
        }
    };
    let tag = match session.direction() {
        Direction::Forward => TagMemory::Room(carved.tag),
        Direction::Reverse => TagMemory::Expected(carved.tag),
    };
    message.describe(Op::new(session, buffer), carved.iv, carved.aad, tag)
}

/// Memory of a tag outside of the buffers.
#[derive(Debug)]
pub enum TagMemory<'a> {
    /// For the tag that is computed.
    Room(&'a mut [u8]),
    /// Of the tag to compare with.
    Expected(&'a [u8]),
}

impl<B, P> Message<B, P> {
    /// Tells `op` everything but its buffer. A part outside of the buffers is in the memory given here; that of the
    /// other parts is not used.
    #[must_use]
    pub fn describe<'a>(
        &self,
        mut op: Op<'a>,
        iv: &'a [u8],
        aad: &'a [u8],
        tag: TagMemory<'a>,
    ) -> Op<'a> {
        op = match &self.iv {
            Part::None => op,
            Part::Inline(range) => op.iv_at(range.start),
            Part::Separate(_) => op.iv(iv),
        };
        op = match &self.aad {
            Part::None => op,
            Part::Inline(range) => op.aad_range(range.clone()),
            Part::Separate(_) => op.aad(aad),
        };
        op = match (&self.tag, tag) {
            (Part::None, _) => op,
            (Part::Inline(range), _) => op.tag_at(range.start),
            (Part::Separate(_), TagMemory::Room(room)) => op.tag(room),
            (Part::Separate(_), TagMemory::Expected(tag)) => op.expected_tag(tag),
        };
        if let Some(range) = &self.cipher {
            op = op.cipher_range(range.clone());
        }
        if let Some(range) = &self.auth {
            op = op.auth_range(range.clone());
        }
        if let Some(offset) = self.output_at {
            op = op.output_at(offset);
        }
        op
    }
}

/// One slice, or a list of segments.
fn sink<'c>(segments: &'c mut [IoSliceMut<'_>], whole: bool) -> Sink<'c> {
    if whole && segments.len() == 1 {
        return Sink::from(&mut *segments[0]);
    }
    Sink::from(segments)
}
