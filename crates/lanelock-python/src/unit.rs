//! Units: rows of a column that one thread takes at a time, with what belongs to them.

use std::ops::Range;

use crate::column::{Chunk, Column};
use crate::failure::Reason;
use crate::run::{Aad, Inputs};
use crate::work::{Size, Work};

/// Most rows and, as far as that is known, bytes of a unit: so few that the threads end together.
const MOST_ROWS: usize = 1024;
const MOST_BYTES: usize = 1 << 18;
/// A longer array has larger units and not more of them, so that they take no memory to speak of.
const UNITS: usize = 1 << 14;

/// Rows of one array of the column, and of one array of everything that belongs to them.
pub(crate) struct Unit<'a> {
    inputs: &'a Inputs<'a>,
    pub(crate) chunk: &'a Chunk,
    /// Of the chunk.
    pub(crate) rows: Range<usize>,
    aad: Result<Side<'a>, &'a [u8]>,
    keys: Option<Side<'a>>,
    nonces: Option<Side<'a>>,
}

/// What a row has besides its slot.
pub(crate) struct Given<'a> {
    pub(crate) value: &'a [u8],
    pub(crate) key: usize,
    pub(crate) aad: &'a [u8],
    pub(crate) nonce: Option<&'a [u8]>,
    /// The length of its slot.
    pub(crate) room: usize,
}

/// An array, and the row of it that belongs to a unit's first.
#[derive(Clone, Copy)]
struct Side<'a> {
    chunk: &'a Chunk,
    first: usize,
}

impl<'a> Unit<'a> {
    /// The units of a chunk whose first row is `first` of the column.
    pub(crate) fn cut(inputs: &'a Inputs<'a>, chunk: &'a Chunk, first: usize) -> Vec<Self> {
        let bytes = chunk.total(&(0..chunk.len())).unwrap_or(0);
        let each = bytes / chunk.len().max(1);
        let most = (MOST_BYTES / each.max(1)).clamp(1, MOST_ROWS);
        let most = most.max(chunk.len() / UNITS);
        let mut units = Vec::new();
        let mut start = 0;
        while start < chunk.len() {
            let mut len = most.min(chunk.len() - start);
            let mut side = |column: &'a Column| {
                let (side, left) = Side::find(column, first + start)?;
                len = len.min(left);
                Some(side)
            };
            let aad = match inputs.aad {
                Aad::Same(aad) => Err(aad),
                Aad::Rows(column) => side(column).ok_or(&[][..]),
            };
            let keys = inputs.keys.and_then(&mut side);
            let nonces = inputs.nonces.and_then(&mut side);
            units.push(Unit {
                inputs,
                chunk,
                rows: start..start + len,
                aad,
                keys,
                nonces,
            });
            start += len;
        }
        units
    }

    /// The bytes that the unit's output takes at most.
    pub(crate) fn room<W: Work>(&self, work: &W) -> usize {
        let rows = self.rows.len();
        match work.size() {
            Size::Constant(size) if !self.chunk.has_nulls() => return size * rows,
            Size::Grows(growth) => {
                if let Some(total) = self.chunk.total(&self.rows) {
                    return total + growth * rows;
                }
            }
            _ => {}
        }
        let room = |at| {
            let value = self.chunk.value(self.rows.start + at)?;
            work.room(value.len(), self.key(work, at, value).ok()?)
        };
        let given = (0..rows).filter(|at| !self.chunk.is_null(self.rows.start + at));
        given.filter_map(room).sum()
    }

    /// Additional data and the position of the key, if rows differ in nothing but their values.
    pub(crate) fn plain<W: Work>(&self, work: &W) -> Option<(&'a [u8], usize)> {
        match self.aad {
            Err(aad) if !self.chunk.has_nulls() && self.keys.is_none() && self.nonces.is_none() => {
                Some((aad, work.one_key()?))
            }
            _ => None,
        }
    }

    /// The row that is `at` rows from the unit's first, which is not null.
    #[inline]
    pub(crate) fn row<W: Work>(&self, work: &W, at: usize) -> Result<Given<'a>, Reason> {
        let Some(value) = self.chunk.value(self.rows.start + at) else {
            return Err(Reason::Malformed);
        };
        let key = self.key(work, at, value)?;
        let Some(room) = work.room(value.len(), key) else {
            return Err(work.refusal(value.len(), key));
        };
        let aad = match &self.aad {
            Err(same) => same,
            Ok(side) => side.value(at, Reason::NullAad)?,
        };
        let nonce = match &self.nonces {
            None => None,
            Some(side) => Some(side.value(at, Reason::NullNonce)?),
        };
        match nonce {
            Some(nonce) if nonce.len() != work.nonce_len() => {
                Err(Reason::Nonce(nonce.len(), work.nonce_len()))
            }
            _ => Ok(Given {
                value,
                key,
                aad,
                nonce,
                room,
            }),
        }
    }

    #[inline]
    fn key<W: Work>(&self, work: &W, at: usize, value: &[u8]) -> Result<usize, Reason> {
        if let Some(side) = &self.keys {
            let row = side.first + at;
            if side.chunk.is_null(row) {
                return Err(Reason::NullKey);
            }
            let number = side.chunk.integer(row).ok_or(Reason::Malformed)?;
            return self.inputs.numbers.find(number).ok_or(Reason::Key(number));
        }
        work.key_of(value).unwrap_or(Ok(0))
    }
}

impl<'a> Side<'a> {
    /// What belongs to the unit's row that is `at` rows from its first.
    #[inline]
    fn value(&self, at: usize, null: Reason) -> Result<&'a [u8], Reason> {
        if self.chunk.is_null(self.first + at) {
            return Err(null);
        }
        self.chunk.value(self.first + at).ok_or(Reason::Malformed)
    }

    /// The array that has a column's row, and how many rows it has from there on.
    fn find(column: &'a Column, mut row: usize) -> Option<(Self, usize)> {
        for chunk in &column.chunks {
            if row < chunk.len() {
                return Some((Side { chunk, first: row }, chunk.len() - row));
            }
            row -= chunk.len();
        }
        None
    }
}
