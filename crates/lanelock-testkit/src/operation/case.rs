//! An operation as plain numbers, read from arbitrary bytes.

use std::ops::Range;

use crate::bytes::{Bytes, cut};
use crate::menu::{Item, MENU};

/// One operation and all memory that it can reach.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) item: Item,
    pub(super) protect: bool,
    pub(super) access: Access,
    /// One piece is given as a slice, not as a list of one.
    pub(super) contiguous: bool,
    /// Allocations of the exact size, so that a sanitizer sees one byte too many.
    pub(super) memory: Vec<Box<[u8]>>,
    pub(super) input: Vec<Piece>,
    pub(super) output: Vec<Piece>,
    pub(super) iv: Part,
    pub(super) aad: Part,
    pub(super) tag: Part,
    pub(super) cipher: Option<Range<usize>>,
    pub(super) auth: Option<Range<usize>>,
    pub(super) output_at: Option<usize>,
    /// Verify the right tag, wherever it lies.
    pub(super) good_tag: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Access {
    InPlace,
    Separate,
    ReadOnly,
    /// Both lists, and the parts, lie in one allocation and may overlap.
    Raw,
}

/// Bytes of one allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) allocation: usize,
    pub(super) at: usize,
    pub(super) len: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Absent,
    Own {
        piece: Piece,
        writable: bool,
    },
    /// `end` is used by additional data alone.
    Inline {
        at: usize,
        end: usize,
    },
}

impl Case {
    pub(super) fn read(data: &[u8]) -> Self {
        let mut bytes = Bytes::new(data);
        let bytes = &mut bytes;
        let item = *bytes.pick(MENU);
        let access = *bytes.pick(&[
            Access::InPlace,
            Access::Separate,
            Access::Raw,
            Access::ReadOnly,
            Access::Raw,
        ]);
        let mut case = Self {
            item,
            protect: item.one_way || bytes.flag(),
            access,
            contiguous: bytes.flag(),
            memory: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
            iv: Part::Absent,
            aad: Part::Absent,
            tag: Part::Absent,
            cipher: None,
            auth: None,
            output_at: None,
            good_tag: !bytes.once_in(4),
        };
        if access == Access::Raw {
            case.read_raw_lists(bytes);
        } else {
            let segments = if case.contiguous { 1 } else { 5 };
            case.input = case.pieces(bytes, segments);
            case.output = match access {
                Access::Separate => case.pieces(bytes, segments),
                _ => case.input.clone(),
            };
        }
        case.read_layout(bytes);
        case
    }

    pub(super) fn input_len(&self) -> usize {
        self.input.iter().map(|piece| piece.len).sum()
    }

    pub(super) fn output_len(&self) -> usize {
        self.output.iter().map(|piece| piece.len).sum()
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
        self.input = arena_list(bytes, arena);
        self.output = match bytes.byte() % 5 {
            0 => self.input.clone(),
            1 => {
                let by = bytes.up_to(20);
                let shift = |&piece: &Piece| Piece {
                    at: (piece.at + by).min(size - piece.len),
                    ..piece
                };
                self.input.iter().map(shift).collect()
            }
            2 => arena_list(bytes, arena),
            3 => self.pieces(bytes, 5),
            // The end of the input aliased exactly, as a TLS record's trailer is.
            _ => {
                let apart = bytes.up_to(self.input.len());
                let mut output = self.input.clone();
                for piece in &mut output[..apart] {
                    *piece = self.allocate(bytes, piece.len);
                }
                output
            }
        };
    }

    /// Ranges and parts: those of a packet with header, payload and tag, or anything.
    fn read_layout(&mut self, bytes: &mut Bytes<'_>) {
        let (input, output) = (self.input_len(), self.output_len());
        let item = self.item;
        if bytes.flag() {
            let header = bytes.up_to(24).min(input);
            let room = input.saturating_sub(header + item.tag);
            let len = room / item.block * item.block;
            self.cipher = Some(header..header + len);
            self.auth = Some(bytes.up_to(header)..header + len);
            let inline_iv = item.iv <= header && bytes.flag();
            self.iv = match item.iv {
                0 => Part::Absent,
                iv if inline_iv => Part::Inline {
                    at: header - iv,
                    end: header,
                },
                iv => self.own(bytes, iv, false),
            };
            if item.aad && bytes.flag() {
                self.aad = Part::Inline { at: 0, end: header };
            }
            if item.tag > 0 {
                self.tag = Part::Inline {
                    at: header + len,
                    end: header + len + item.tag,
                };
            }
            if matches!(self.access, Access::Separate | Access::Raw) {
                self.output_at = Some(header);
            }
            if item.mac_first && len >= item.tag && bytes.flag() {
                // As TLS does: the tag lies inside the payload.
                let at = header + bytes.up_to(len - item.tag);
                self.auth = Some(0..at);
                self.tag = Part::Inline {
                    at,
                    end: at + item.tag,
                };
            }
        }
        for _ in 0..bytes.byte() % 4 {
            match bytes.byte() % 6 {
                0 => self.cipher = Some(range(bytes, input, item.block)),
                1 => self.auth = Some(range(bytes, input, 1)),
                2 => self.output_at = Some(bytes.odd_number(output)),
                3 => self.iv = self.part(bytes, item.iv, input, false),
                4 => {
                    let len = bytes.up_to(40);
                    self.aad = self.part(bytes, len, input, false);
                }
                _ => {
                    let (bound, writable) = (output.max(input), self.protect ^ bytes.once_in(8));
                    self.tag = self.part(bytes, item.tag, bound, writable);
                }
            }
        }
    }

    fn part(&mut self, bytes: &mut Bytes<'_>, len: usize, bound: usize, writable: bool) -> Part {
        match bytes.byte() % 8 {
            0 => Part::Absent,
            1 => {
                let len = bytes.up_to(len + 8);
                self.own(bytes, len, writable)
            }
            2..=4 => self.own(bytes, len, writable),
            _ => {
                let range = range(bytes, bound, 1);
                Part::Inline {
                    at: range.start,
                    end: range.end,
                }
            }
        }
    }

    /// A part outside the buffer; in raw cases often somewhere in the arena.
    fn own(&mut self, bytes: &mut Bytes<'_>, len: usize, writable: bool) -> Part {
        let arena = self.memory.first().map_or(0, |arena| arena.len());
        let piece = if self.access == Access::Raw && len <= arena && bytes.flag() {
            Piece {
                allocation: 0,
                at: bytes.up_to(arena - len),
                len,
            }
        } else {
            self.allocate(bytes, len)
        };
        Part::Own { piece, writable }
    }
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
