//! Arbitrary operations against an independent model: what is refused, and every byte afterwards.

mod case;
mod model;

use std::io::{IoSlice, IoSliceMut};

use lanelock_core::buffer::Segment;
use lanelock_core::{Buffer, Device, Op, Session, Status};

use crate::ToyEngine;
use crate::message::{Output, Part, TagMemory};
use case::{Case, Piece};

/// What the model and the core agreed on.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Verdict {
    /// Refused before any byte was touched.
    Refused,
    /// Processed; payload and tag are those of the reference.
    Processed,
    /// The tag did not match; the output is untouched or zeroed.
    AuthFailed,
}

/// Makes an operation of `data`, runs it on the toy engine, and compares the outcome and all
/// memory with the model.
///
/// # Panics
/// If they differ.
pub fn check_operation(data: &[u8]) -> Verdict {
    let mut case = Case::read(data);
    let plan = model::resolve(&case);
    if let Some(plan) = plan.as_ref().filter(|_| case.good_tag) {
        model::plant_tag(&mut case, plan);
    }
    let mut expected = case.memory.clone();
    let verdict = plan.map_or(Verdict::Refused, |plan| {
        model::apply(&mut expected, &case.setup, &plan)
    });

    let device = Device::builder().engine(ToyEngine::new("toy")).build();
    let transform = case.setup.transform();
    let session = device.session(transform).expect("the menu is valid");
    let mut queue = device.queue_pair(1);
    let (status, reason) = {
        let memory = Memory::of(&mut case);
        let mut lists = memory.lists(&case);
        let mut ops = [op(&session, &case, &memory, &mut lists)];
        let outcome = queue.process(&mut ops);
        assert_eq!(outcome.succeeded + outcome.failed, 1, "{case:?}");
        let again = queue.process(&mut ops);
        assert_eq!(
            again.succeeded + again.failed,
            0,
            "handed over twice, {case:?}"
        );
        (ops[0].status(), ops[0].error())
    };
    let found = match status {
        Status::InvalidArgs => Verdict::Refused,
        Status::Success => Verdict::Processed,
        Status::AuthFailed => Verdict::AuthFailed,
        other => panic!("{other:?} for {case:?}"),
    };
    assert_eq!(reason.is_some(), found == Verdict::Refused, "{case:?}");
    assert_eq!(found, verdict, "{reason:?} for {case:#?}");
    assert!(
        case.memory == expected,
        "memory differs for {case:#?}\nexpected {expected:?}"
    );
    found
}

/// The addresses of a case's memory; the case is not touched while operations use them.
struct Memory(Vec<*mut u8>);

/// The segment lists that an operation's buffer borrows.
struct Lists<'m> {
    raw: [Vec<Segment>; 2],
    read: Vec<IoSlice<'m>>,
    written: Vec<IoSliceMut<'m>>,
}

impl Memory {
    fn of(case: &mut Case) -> Self {
        Self(case.memory.iter_mut().map(|m| m.as_mut_ptr()).collect())
    }

    fn at(&self, piece: Piece) -> *mut u8 {
        self.0[piece.allocation].wrapping_add(piece.at)
    }

    #[allow(unsafe_code)]
    fn read(&self, piece: Piece) -> &[u8] {
        // SAFETY: pieces lie inside their allocations, which outlive the operation. The model
        // refuses, and the core must refuse, whatever would write them meanwhile.
        unsafe { std::slice::from_raw_parts(self.at(piece), piece.len) }
    }

    #[allow(unsafe_code, clippy::mut_from_ref)]
    fn write(&self, piece: Piece) -> &mut [u8] {
        // SAFETY: as for `read`; outside of raw cases no two pieces share an allocation.
        unsafe { std::slice::from_raw_parts_mut(self.at(piece), piece.len) }
    }

    fn lists(&self, case: &Case) -> Lists<'_> {
        let raw = |pieces: &[Piece]| {
            let segment = |&piece: &Piece| Segment {
                base: if piece.len == 0 {
                    std::ptr::null_mut()
                } else {
                    self.at(piece)
                },
                len: piece.len,
            };
            pieces.iter().map(segment).collect::<Vec<_>>()
        };
        let read = |pieces: &[Piece]| pieces.iter().map(|&p| IoSlice::new(self.read(p))).collect();
        let write = |pieces: &[Piece]| {
            pieces
                .iter()
                .map(|&p| IoSliceMut::new(self.write(p)))
                .collect()
        };
        let none = Lists {
            raw: [Vec::new(), Vec::new()],
            read: Vec::new(),
            written: Vec::new(),
        };
        let input = &case.message.input;
        match &case.message.output {
            Output::Separate(output) if case.is_raw => Lists {
                raw: [raw(input), raw(output)],
                ..none
            },
            Output::Separate(output) => Lists {
                read: read(input),
                written: write(output),
                ..none
            },
            Output::InPlace => Lists {
                written: write(input),
                ..none
            },
            Output::ReadOnly => Lists {
                read: read(input),
                ..none
            },
        }
    }
}

fn op<'a, 'm: 'a>(
    session: &'a Session,
    case: &Case,
    memory: &'m Memory,
    lists: &'a mut Lists<'m>,
) -> Op<'a> {
    let message = &case.message;
    let single = |pieces: &[Piece]| match *pieces {
        [piece] if case.contiguous => Some(piece),
        _ => None,
    };
    let input = single(&message.input);
    #[allow(unsafe_code)]
    let buffer = match &message.output {
        Output::Separate(_) if case.is_raw => {
            let [input, output] = &lists.raw;
            // SAFETY: the segments lie inside their allocations; what aliases must be refused.
            unsafe { Buffer::from_raw_segments(input, output) }
        }
        Output::Separate(output) => match (input, single(output)) {
            (Some(input), Some(output)) => {
                Buffer::separate(memory.read(input), memory.write(output))
            }
            _ => Buffer::separate(&lists.read[..], &mut lists.written[..]),
        },
        Output::InPlace => match input {
            Some(input) => Buffer::in_place(memory.write(input)),
            None => Buffer::in_place(&mut lists.written[..]),
        },
        Output::ReadOnly => match input {
            Some(input) => Buffer::read_only(memory.read(input)),
            None => Buffer::read_only(&lists.read[..]),
        },
    };
    let read = |part: &Part<Piece>| match *part {
        Part::Separate(piece) => memory.read(piece),
        _ => &[],
    };
    let tag = match message.tag {
        Part::Separate(piece) if case.tag_is_writable => TagMemory::Room(memory.write(piece)),
        _ => TagMemory::Expected(read(&message.tag)),
    };
    let op = Op::new(session, buffer);
    message.describe(op, read(&message.iv), read(&message.aad), tag)
}
