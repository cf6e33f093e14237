//! An operation as plain numbers, read from arbitrary bytes.

use std::ops::Range;

use lanelock_core::transform::Direction;

use crate::bytes::{Bytes, cut};
use crate::menu::MENU;
use crate::message::{Message, Output, Part, Setup};

/// One operation and all memory that it can reach.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) setup: Setup,
    pub(super) message: Message<Vec<Piece>, Piece>,
    /// Both lists, and the parts, lie in one allocation and may overlap.
    pub(super) is_raw: bool,
    /// One piece is given as a slice, not as a list of one.
    pub(super) contiguous: bool,
    /// Allocations of the exact size, so that a sanitizer sees one byte too many.
    pub(super) memory: Vec<Box<[u8]>>,
    /// A separate tag is given as room for the one to compute, not as the one to compare.
    pub(super) tag_is_writable: bool,
    /// Verify the right tag, wherever it lies.
    pub(super) good_tag: bool,
}

/// What the output of an operation is.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Access {
    InPlace,
    Separate,
    ReadOnly,
    Raw,
}

/// Bytes of one allocation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    pub(super) allocation: usize,
    pub(super) at: usize,
    pub(super) len: usize,
}

impl Case {
    pub(super) fn read(data: &[u8]) -> Self {
        let mut bytes = Bytes::new(data);
        let bytes = &mut bytes;
        let forward = bytes.pick(&MENU);
        let access = *bytes.pick(&[
            Access::InPlace,
            Access::Separate,
            Access::Raw,
            Access::ReadOnly,
            Access::Raw,
        ]);
        let mut case = Self {
            setup: forward.with_direction(match forward.is_one_way() || bytes.flag() {
                true => Direction::Forward,
                false => Direction::Reverse,
            }),
            message: Message::default(),
            is_raw: access == Access::Raw,
            contiguous: bytes.flag(),
            memory: Vec::new(),
            tag_is_writable: false,
            good_tag: !bytes.once_in(4),
        };
        let segments = if case.contiguous { 1 } else { 5 };
        if access == Access::Raw {
            case.read_raw_lists(bytes);
        } else {
            case.message.input = case.pieces(bytes, segments);
        }
        match access {
            Access::InPlace | Access::Raw => {}
            Access::ReadOnly => case.message.output = Output::ReadOnly,
            Access::Separate => {
                case.message.output = Output::Separate(case.pieces(bytes, segments));
            }
        }
        case.read_layout(bytes);
        case
    }

    fn allocate(&mut self, bytes: &mut Bytes<'_>, len: usize) -> Piece {
        self.memory.push(bytes.fill(len).into());
        Piece {
            allocation: self.memory.len() - 1,
            at: 0,
            len,
        }
    }

    /// Segments with an allocation each.
    fn pieces(&mut self, bytes: &mut Bytes<'_>, most: usize) -> Vec<Piece> {
        let lengths = match most {
            1 => vec![bytes.up_to(150)],
            _ => bytes.lengths(most, 60),
        };
        lengths
            .into_iter()
            .map(|len| self.allocate(bytes, len))
            .collect()
    }

    fn read_raw_lists(&mut self, bytes: &mut Bytes<'_>) {
        let size = bytes.up_to(255);
        let arena = self.allocate(bytes, size);
        let input = arena_list(bytes, arena);
        let output = match bytes.byte() % 5 {
            0 => input.clone(),
            1 => {
                let by = bytes.up_to(20);
                let shift = |&piece: &Piece| Piece {
                    at: (piece.at + by).min(size - piece.len),
                    ..piece
                };
                input.iter().map(shift).collect()
            }
            2 => arena_list(bytes, arena),
            3 => self.pieces(bytes, 5),
            // The end of the input aliased exactly, as a TLS record's trailer is.
            _ => {
                let apart = bytes.up_to(input.len());
                let mut output = input.clone();
                for piece in &mut output[..apart] {
                    *piece = self.allocate(bytes, piece.len);
                }
                output
            }
        };
        self.message.input = input;
        self.message.output = Output::Separate(output);
    }

    /// Ranges and parts: those of a packet with header, payload and tag, or anything.
    fn read_layout(&mut self, bytes: &mut Bytes<'_>) {
        let (input, output) = (len(&self.message.input), len(self.message.destination()));
        let (iv_len, tag_len) = (self.setup.iv_len, self.setup.tag_len);
        let block = self.setup.algorithm.row().block;
        if bytes.flag() {
            let header = bytes.up_to(24).min(input);
            let room = input.saturating_sub(header + tag_len);
            let end = header + room / block * block;
            self.message.cipher = Some(header..end);
            self.message.auth = Some(bytes.up_to(header)..end);
            let inline_iv = iv_len <= header && bytes.flag();
            self.message.iv = match iv_len {
                0 => Part::None,
                _ if inline_iv => Part::Inline(header - iv_len..header),
                _ => self.own(bytes, iv_len),
            };
            if self.setup.takes_aad() && bytes.flag() {
                self.message.aad = Part::Inline(0..header);
            }
            if tag_len > 0 {
                self.message.tag = Part::Inline(end..end + tag_len);
            }
            if matches!(self.message.output, Output::Separate(_)) {
                self.message.output_at = Some(header);
            }
            if self.setup.is_mac_first() && end - header >= tag_len && bytes.flag() {
                // As TLS does: the tag lies inside the payload.
                let at = header + bytes.up_to(end - header - tag_len);
                self.message.auth = Some(0..at);
                self.message.tag = Part::Inline(at..at + tag_len);
            }
        }
        for _ in 0..bytes.byte() % 4 {
            match bytes.byte() % 6 {
                0 => self.message.cipher = Some(range(bytes, input, block)),
                1 => self.message.auth = Some(range(bytes, input, 1)),
                2 => self.message.output_at = Some(bytes.odd_number(output)),
                3 => self.message.iv = self.part(bytes, iv_len, input),
                4 => {
                    let len = bytes.up_to(40);
                    self.message.aad = self.part(bytes, len, input);
                }
                _ => {
                    self.tag_is_writable = self.setup.is_forward() ^ bytes.once_in(8);
                    self.message.tag = self.part(bytes, tag_len, output.max(input));
                }
            }
        }
    }

    fn part(&mut self, bytes: &mut Bytes<'_>, len: usize, bound: usize) -> Part<Piece> {
        match bytes.byte() % 8 {
            0 => Part::None,
            1 => {
                let len = bytes.up_to(len + 8);
                self.own(bytes, len)
            }
            2..=4 => self.own(bytes, len),
            _ => Part::Inline(range(bytes, bound, 1)),
        }
    }

    /// A part outside the buffer; in raw cases often somewhere in the arena.
    fn own(&mut self, bytes: &mut Bytes<'_>, len: usize) -> Part<Piece> {
        let arena = self.memory.first().map_or(0, |arena| arena.len());
        let piece = if self.is_raw && len <= arena && bytes.flag() {
            Piece {
                allocation: 0,
                at: bytes.up_to(arena - len),
                len,
            }
        } else {
            self.allocate(bytes, len)
        };
        Part::Separate(piece)
    }
}

/// Bytes of a list.
pub(super) fn len(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.len).sum()
}

/// Segments of one allocation: consecutive, or anywhere.
fn arena_list(bytes: &mut Bytes<'_>, arena: Piece) -> Vec<Piece> {
    let piece = |range: Range<usize>| Piece {
        at: range.start,
        len: range.len(),
        ..arena
    };
    if bytes.flag() {
        let start = bytes.up_to(arena.len);
        let len = bytes.up_to(arena.len - start);
        let steps = bytes.lengths(5, 60);
        let shift = |range: Range<usize>| range.start + start..range.end + start;
        return cut(len, &steps).into_iter().map(shift).map(piece).collect();
    }
    (0..bytes.up_to(4))
        .map(|_| {
            let at = bytes.up_to(arena.len);
            piece(at..at + bytes.up_to(arena.len - at))
        })
        .collect()
}

/// A range that mostly lies within `bound` and has whole blocks.
#[allow(clippy::reversed_empty_ranges)]
fn range(bytes: &mut Bytes<'_>, bound: usize, block: usize) -> Range<usize> {
    if bytes.once_in(4) {
        return bytes.odd_number(bound)..bytes.odd_number(bound);
    }
    let start = bytes.up_to(bound);
    let len = bytes.up_to(bound - start);
    start..start + len / block * block
}
