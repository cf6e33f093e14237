//! Messages through `QueuePair::process`, on borrowed memory.

use std::io::IoSliceMut;

use lanelock_core::buffer::Sink;
use lanelock_core::op::OpError;
use lanelock_core::{Buffer, Op, QueuePair, Session, Status};

use super::memory::{Arena, Carved};
use super::{Message, Observed, Output, Part};
use crate::message::owned::Padded;

/// Runs `burst` as one burst.
pub(crate) fn process(
    queue: &mut QueuePair<Padded>,
    burst: &[(&Session, &Message)],
) -> Vec<Observed> {
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
            let mut contents = arena.contents();
            if miscounted {
                contents
                    .strays
                    .push(format!("the burst's outcome is {outcome:?}"));
            }
            Observed {
                status,
                reason,
                input: contents.input,
                output: contents.output,
                iv: contents.iv,
                aad: contents.aad,
                tag: contents.tag,
                strays: contents.strays,
            }
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
    let mut op = Op::new(session, buffer);
    op = match &message.iv {
        Part::None => op,
        Part::Inline(range) => op.iv_at(range.start),
        Part::Separate(_) => op.iv(&*carved.iv),
    };
    op = match &message.aad {
        Part::None => op,
        Part::Inline(range) => op.aad_range(range.clone()),
        Part::Separate(_) => op.aad(&*carved.aad),
    };
    op = match &message.tag {
        Part::None => op,
        Part::Inline(range) => op.tag_at(range.start),
        Part::Separate(_) if is_reverse(session) => op.expected_tag(&*carved.tag),
        Part::Separate(_) => op.tag(&mut *carved.tag),
    };
    if let Some(range) = &message.cipher {
        op = op.cipher_range(range.clone());
    }
    if let Some(range) = &message.auth {
        op = op.auth_range(range.clone());
    }
    if let Some(offset) = message.output_at {
        op = op.output_at(offset);
    }
    op
}

fn is_reverse(session: &Session) -> bool {
    session.direction() == lanelock_core::transform::Direction::Reverse
}

/// One slice, or a list of segments.
fn sink<'c>(segments: &'c mut [IoSliceMut<'_>], whole: bool) -> Sink<'c> {
    if whole && segments.len() == 1 {
        return Sink::from(&mut *segments[0]);
    }
    Sink::from(segments)
}
