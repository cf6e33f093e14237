//! A column through its work: cut into units of some thousand rows, which threads take in turn; each
//! unit in bursts, straight into its part of the output.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lanelock::{QueuePair, SessionError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::buffer::Buffer;
use crate::column::{Chunk, Column};
use crate::engine::Queue;
use crate::failure::{Reason, session_error};
use crate::keys::Numbers;
use crate::work::{BURST, Burst, Rows, Size, Work};

/// Most rows and, as far as that is known, bytes of a unit.
const UNIT_ROWS: usize = 4096;
const UNIT_BYTES: usize = 1 << 20;

/// How often the calling thread looks for signals and reports progress.
const POLL: Duration = Duration::from_millis(50);

/// A column with what belongs to its rows.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) column: &'a Column,
    pub(crate) aad: Aad<'a>,
    pub(crate) keys: Option<&'a Column>,
    pub(crate) nonces: Option<&'a Column>,
    pub(crate) numbers: &'a Numbers,
}

/// Additional data: the same for all rows, or each row's own.
#[derive(Clone, Copy)]
pub(crate) enum Aad<'a> {
    Same(&'a [u8]),
    Rows(&'a Column),
}

/// How a column runs.
pub(crate) struct Plan<'p> {
    pub(crate) threads: usize,
    /// Whether offsets of the output have 64 bits.
    pub(crate) large: bool,
    /// Called on the calling thread now and then, with the rows that are done.
    pub(crate) poll: &'p mut dyn FnMut(usize) -> PyResult<()>,
}

/// The output of one array of the column: values of any length.
pub(crate) struct Values {
    pub(crate) len: usize,
    pub(crate) offsets: Buffer,
    pub(crate) data: Buffer,
    /// The rows that failed, in their order.
    pub(crate) failures: Vec<(usize, Reason)>,
}

/// Rows of one array of the column, and of one array of everything that belongs to them.
struct Unit<'a, 'o> {
    chunk: &'a Chunk,
    /// Of the chunk.
    rows: Range<usize>,
    aad: Result<Side<'a>, &'a [u8]>,
    keys: Option<Side<'a>>,
    nonces: Option<Side<'a>>,
    /// Where its output starts in the chunk's.
    base: usize,
    data: &'o mut [u8],
    offsets: &'o mut [u8],
}

/// An array, and the row of it that belongs to a unit's first.
#[derive(Clone, Copy)]
struct Side<'a> {
    chunk: &'a Chunk,
    first: usize,
}

#[derive(Default)]
struct Done {
    /// Rows of the chunk.
    failures: Vec<(usize, Reason)>,
    used: usize,
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

/// Runs `work` over a column. Called without the GIL.
pub(crate) fn run<W: Work>(
    work: &W,
    inputs: &Inputs<'_>,
    plan: &mut Plan<'_>,
) -> PyResult<Vec<Values>> {
    let mut outputs = Vec::new();
    let mut first = 0;
    for chunk in &inputs.column.chunks {
        let cuts = cut(inputs, chunk, first);
        let rooms: Vec<_> = cuts.iter().map(|unit| room(work, inputs, unit)).collect();
        let total = rooms.iter().sum::<usize>();
        if !plan.large && i32::try_from(total).is_err() {
            return Err(PyValueError::new_err(format!(
                "the output of {total} bytes does not fit an array with 32-bit offsets: cast the \
                 column to a large type (large_binary, large_string), or pass it in smaller chunks"
            )));
        }
        first += chunk.len();
        outputs.push((cuts, rooms, total));
    }
    let width = if plan.large { 8 } else { 4 };
    let mut buffers: Vec<_> = inputs
        .column
        .chunks
        .iter()
        .zip(&outputs)
        .map(|(chunk, (.., total))| {
            let mut offsets = Buffer::new(width * (chunk.len() + 1));
            offsets.bytes_mut()[..width].fill(0);
            (offsets, Buffer::new(*total))
        })
        .collect();

    let mut units = Vec::new();
    let mut counts = Vec::new();
    for ((offsets, data), (cuts, rooms, _)) in buffers.iter_mut().zip(outputs) {
        let (mut offsets, mut data) = (&mut offsets.bytes_mut()[width..], data.bytes_mut());
        let mut base = 0;
        counts.push(rooms.clone());
        for (mut unit, room) in cuts.into_iter().zip(rooms) {
            (unit.offsets, offsets) = offsets.split_at_mut(width * unit.rows.len());
            (unit.data, data) = data.split_at_mut(room);
            unit.base = base;
            base += room;
            units.push(unit);
        }
    }
    let mut done = drive(work, inputs, units, plan)?.into_iter();

    let mut values = Vec::new();
    for ((chunk, (mut offsets, mut data)), rooms) in
        inputs.column.chunks.iter().zip(buffers).zip(counts)
    {
        let done: Vec<_> = done.by_ref().take(rooms.len()).collect();
        if done
            .iter()
            .zip(&rooms)
            .any(|(done, room)| done.used < *room)
        {
            compact(&mut offsets, &mut data, &done, &rooms, width);
        }
        values.push(Values {
            len: chunk.len(),
            offsets,
            data,
            failures: done.into_iter().flat_map(|done| done.failures).collect(),
        });
    }
    Ok(values)
}

/// The units of a chunk whose first row is `first` of the column; without their output.
fn cut<'a>(inputs: &Inputs<'a>, chunk: &'a Chunk, first: usize) -> Vec<Unit<'a, 'static>> {
    let bytes = chunk.total(&(0..chunk.len())).unwrap_or(0);
    let each = bytes / chunk.len().max(1);
    let most = (UNIT_BYTES / each.max(1)).clamp(1, UNIT_ROWS);
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
            chunk,
            rows: start..start + len,
            aad,
            keys,
            nonces,
            base: 0,
            data: &mut [],
            offsets: &mut [],
        });
        start += len;
    }
    units
}

/// The bytes that a unit's output takes at most.
fn room<W: Work>(work: &W, inputs: &Inputs<'_>, unit: &Unit<'_, '_>) -> usize {
    let rows = unit.rows.len();
    match work.size() {
        Size::Constant(size) if !unit.chunk.has_nulls() => return size * rows,
        Size::Grows(growth) => {
            if let Some(total) = unit.chunk.total(&unit.rows) {
                return total + growth * rows;
            }
        }
        _ => {}
    }
    let mut sum = 0;
    for (at, row) in unit.rows.clone().enumerate() {
        if unit.chunk.is_null(row) {
            continue;
        }
        let value = unit.chunk.value(row);
        let key = value.and_then(|value| key(work, inputs, unit, at, value).ok());
        if let (Some(value), Some(key)) = (value, key) {
            sum += work.room(value.len(), key).unwrap_or(0);
        }
    }
    sum
}

#[inline]
fn key<W: Work>(
    work: &W,
    inputs: &Inputs<'_>,
    unit: &Unit<'_, '_>,
    at: usize,
    value: &[u8],
) -> Result<usize, Reason> {
    if let Some(side) = &unit.keys {
        let row = side.first + at;
        if side.chunk.is_null(row) {
            return Err(Reason::NullKey);
        }
        let number = side.chunk.integer(row).ok_or(Reason::Malformed)?;
        return inputs.numbers.find(number).ok_or(Reason::Key(number));
    }
    work.key_of(value).unwrap_or(Ok(0))
}

fn drive<W: Work>(
    work: &W,
    inputs: &Inputs<'_>,
    units: Vec<Unit<'_, '_>>,
    plan: &mut Plan<'_>,
) -> PyResult<Vec<Done>> {
    let count = units.len();
    let threads = plan.threads.clamp(1, count.div_ceil(2).max(1));
    let finished: Vec<_> = units.iter().map(|_| Mutex::new(None)).collect();
    let (rows, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let waiting = Mutex::new(units.into_iter().enumerate());
    let next = || {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next()
    };
    let large = plan.large;
    let one = |queue: &mut QueuePair, state: &mut W::State, number: usize, unit: Unit<'_, '_>| {
        let len = unit.rows.len();
        let done = run_unit(work, inputs, large, unit, state, queue);
        *finished[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(done);
        rows.fetch_add(len, Ordering::Relaxed);
    };
    let worker = || -> Result<(), SessionError> {
        let mut queue = Queue::take()?;
        let mut state = work.state();
        while !stop.load(Ordering::Relaxed) {
            let Some((number, unit)) = next() else { break };
            one(&mut queue, &mut state, number, unit);
        }
        Ok(())
    };
    let mut failed = Ok(());
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        failed = (|| {
            let mut queue = Queue::take().map_err(|error| session_error(&error))?;
            let mut state = work.state();
            let mut polled = Instant::now();
            while let Some((number, unit)) = next() {
                one(&mut queue, &mut state, number, unit);
                if polled.elapsed() >= POLL {
                    (plan.poll)(rows.load(Ordering::Relaxed))?;
                    polled = Instant::now();
                }
            }
            Ok(())
        })();
        if failed.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        for other in others {
            match other.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => failed = Err(session_error(&error)),
                Err(_) => failed = Err(PyRuntimeError::new_err("a thread of lanelock panicked")),
            }
        }
    });
    failed?;
    (plan.poll)(rows.load(Ordering::Relaxed))?;
    let finished = finished.into_iter().map(|done| {
        done.into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .ok_or_else(|| PyRuntimeError::new_err("rows were left out"))
    });
    finished.collect()
}

fn run_unit<W: Work>(
    work: &W,
    inputs: &Inputs<'_>,
    large: bool,
    mut unit: Unit<'_, '_>,
    state: &mut W::State,
    queue: &mut QueuePair,
) -> Done {
    let mut done = Done::default();
    let nulls = unit.chunk.has_nulls();
    let len = unit.rows.len();
    let data = std::mem::take(&mut unit.data);
    let mut ends = Ends {
        bytes: std::mem::take(&mut unit.offsets),
        large,
        base: unit.base,
    };
    let mut next = 0;
    while next < len {
        let start = next;
        let begin = done.used;
        let mut end = begin;
        let mut rows: Rows<usize> = Rows::new();
        let mut lens: Rows<usize> = Rows::new();
        let results = {
            let mut burst = Burst::default();
            let mut rest = &mut data[begin..];
            while next < len && rows.len() < BURST {
                let (at, number) = (next, unit.rows.start + next);
                next += 1;
                if !(nulls && unit.chunk.is_null(number)) {
                    match row(work, inputs, &unit, at) {
                        // It fits, unless the producer changed the array while it was read.
                        Ok(row) if row.room <= rest.len() => {
                            let (slot, left) = rest.split_at_mut(row.room);
                            rest = left;
                            end += row.room;
                            rows.push(at);
                            lens.push(row.room);
                            burst.values.push(row.value);
                            burst.keys.push(row.key);
                            burst.aads.push(row.aad);
                            if unit.nonces.is_some() {
                                burst.nonces.push(row.nonce);
                            }
                            burst.slots.push(slot);
                        }
                        Ok(_) => done.failures.push((number, Reason::Malformed)),
                        Err(reason) => done.failures.push((number, reason)),
                    }
                }
                ends.set(at, end);
            }
            if rows.is_empty() {
                continue;
            }
            work.run(state, queue, &mut burst);
            debug_assert!(W::EXACT || burst.results.len() == rows.len());
            for ((slot, result), at) in burst.slots.iter_mut().zip(&burst.results).zip(&rows) {
                if let Err(reason) = result {
                    slot.fill(0); // what the buffer's last user left
                    done.failures.push((unit.rows.start + at, reason.clone()));
                }
            }
            burst.results
        };
        if W::EXACT {
            done.used = end;
            continue;
        }
        let (mut from, mut to, mut ran) = (begin, begin, 0);
        for at in start..next {
            if rows.get(ran) == Some(&at) {
                let len = *results[ran].as_ref().unwrap_or(&0);
                data.copy_within(from..from + len, to);
                from += lens[ran];
                to += len;
                ran += 1;
            }
            ends.set(at, to);
        }
        done.used = to;
    }
    done.failures.sort_by_key(|(row, _)| *row);
    done
}

/// What a row has besides its result.
struct Row<'a> {
    value: &'a [u8],
    key: usize,
    aad: &'a [u8],
    nonce: &'a [u8],
    /// The length of its slot.
    room: usize,
}

/// The row of a unit that is `at` rows from its first.
#[inline]
fn row<'a, W: Work>(
    work: &W,
    inputs: &Inputs<'_>,
    unit: &Unit<'a, '_>,
    at: usize,
) -> Result<Row<'a>, Reason> {
    let Some(value) = unit.chunk.value(unit.rows.start + at) else {
        return Err(Reason::Malformed);
    };
    let key = key(work, inputs, unit, at, value)?;
    let Some(room) = work.room(value.len(), key) else {
        return Err(work.refusal(value.len(), key));
    };
    let aad = match &unit.aad {
        Err(same) => same,
        Ok(side) => side.value(at, Reason::NullAad)?,
    };
    let nonce: &[u8] = match &unit.nonces {
        None => &[],
        Some(side) => side.value(at, Reason::NullNonce)?,
    };
    if unit.nonces.is_some() && nonce.len() != work.nonce_len() {
        return Err(Reason::Nonce(nonce.len(), work.nonce_len()));
    }
    Ok(Row {
        value,
        key,
        aad,
        nonce,
        room,
    })
}

/// The ends of values, as Arrow's offsets.
struct Ends<'o> {
    bytes: &'o mut [u8],
    large: bool,
    base: usize,
}

impl Ends<'_> {
    #[inline]
    fn set(&mut self, at: usize, end: usize) {
        write_end(self.bytes, self.large, at, self.base + end);
    }
}

#[inline]
fn write_end(bytes: &mut [u8], large: bool, at: usize, end: usize) {
    let end = (end as u64).to_le_bytes();
    if large {
        bytes.as_chunks_mut::<8>().0[at] = end;
    } else {
        bytes.as_chunks_mut::<4>().0[at].copy_from_slice(&end[..4]);
    }
}

fn end_at(bytes: &[u8], large: bool, at: usize) -> usize {
    let mut end = [0; 8];
    if large {
        end = bytes.as_chunks::<8>().0[at];
    } else {
        end[..4].copy_from_slice(&bytes.as_chunks::<4>().0[at]);
    }
    usize::try_from(u64::from_le_bytes(end)).unwrap_or(usize::MAX)
}

/// Closes the gaps between units that did not fill their room.
fn compact(offsets: &mut Buffer, data: &mut Buffer, done: &[Done], rooms: &[usize], width: usize) {
    let large = width == 8;
    let count = offsets.bytes().len() / width - 1;
    let (mut from, mut to, mut row) = (0, 0, 0);
    for (done, room) in done.iter().zip(rooms) {
        data.bytes_mut().copy_within(from..from + done.used, to);
        // The offsets of this unit are those up to its own last end.
        while row < count && end_at(&offsets.bytes()[width..], large, row) <= from + done.used {
            let end = end_at(&offsets.bytes()[width..], large, row) - from + to;
            write_end(&mut offsets.bytes_mut()[width..], large, row, end);
            row += 1;
        }
        from += room;
        to += done.used;
    }
    data.truncate(to);
}
