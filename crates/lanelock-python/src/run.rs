//! A column through its work: cut into units, which threads take in turn, each with its part of the
//! output.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lanelock::{QueuePair, SessionError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::buffer::Buffer;
use crate::burst::{Done, Form, Task};
use crate::column::Column;
use crate::engine::Queue;
use crate::failure::{Reason, session_error};
use crate::keys::Numbers;
use crate::offsets::{self, Ends, compact};
use crate::unit::Unit;
use crate::work::Work;

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
    /// The bytes of each value, where the output has no offsets.
    pub(crate) width: Option<usize>,
    /// Called on the calling thread now and then, with the rows that are done.
    pub(crate) poll: &'p mut dyn FnMut(usize) -> PyResult<()>,
}

/// The output of one array of the column.
pub(crate) struct Values {
    pub(crate) len: usize,
    /// `None` where every row has a slot of one width.
    pub(crate) offsets: Option<Buffer>,
    pub(crate) data: Buffer,
    /// The rows that failed, in their order.
    pub(crate) failures: Vec<(usize, Reason)>,
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
        let units = Unit::cut(inputs, chunk, first);
        let room = |unit: &Unit<'_>| match plan.width {
            Some(width) => width * unit.rows.len(),
            None => unit.room(work),
        };
        let rooms: Vec<_> = units.iter().map(room).collect();
        let total = rooms.iter().sum::<usize>();
        if plan.width.is_none() && !plan.large && i32::try_from(total).is_err() {
            return Err(PyValueError::new_err(format!(
                "the output of {total} bytes does not fit an array with 32-bit offsets: cast the \
                 column to a large type (large_binary, large_string), or pass it in smaller chunks"
            )));
        }
        first += chunk.len();
        outputs.push((units, rooms, total));
    }
    let end = match plan.width {
        Some(_) => 0,
        None => offsets::width(plan.large),
    };
    let mut buffers: Vec<_> = inputs
        .column
        .chunks
        .iter()
        .zip(&outputs)
        .map(|(chunk, (.., total))| {
            let mut offsets = Buffer::new(end * (chunk.len() + 1));
            offsets.bytes_mut()[..end].fill(0);
            (offsets, Buffer::new(*total))
        })
        .collect();

    let mut tasks = Vec::new();
    let mut counts = Vec::new();
    for ((offsets, data), (units, rooms, _)) in buffers.iter_mut().zip(outputs) {
        let (mut offsets, mut rest) = (&mut offsets.bytes_mut()[end..], data.bytes_mut());
        let mut base = 0;
        counts.push(rooms.clone());
        for (unit, room) in units.into_iter().zip(rooms) {
            let (bytes, data);
            (bytes, offsets) = offsets.split_at_mut(end * unit.rows.len());
            (data, rest) = rest.split_at_mut(room);
            let form = match plan.width {
                Some(width) => Form::Wide(width),
                None => Form::Ends(Ends {
                    bytes,
                    large: plan.large,
                    base,
                }),
            };
            base += room;
            tasks.push(Task { unit, data, form });
        }
    }
    let mut done = drive(work, tasks, plan)?.into_iter();

    let mut values = Vec::new();
    for ((chunk, (mut offsets, mut data)), rooms) in
        inputs.column.chunks.iter().zip(buffers).zip(counts)
    {
        let done: Vec<_> = done.by_ref().take(rooms.len()).collect();
        let used = done.iter().map(|done| done.used).zip(rooms);
        if plan.width.is_none() && used.clone().any(|(used, room)| used < room) {
            compact(&mut offsets, &mut data, used, plan.large);
        }
        values.push(Values {
            len: chunk.len(),
            offsets: plan.width.is_none().then_some(offsets),
            data,
            failures: done.into_iter().flat_map(|done| done.failures).collect(),
        });
    }
    Ok(values)
}

fn drive<W: Work>(work: &W, tasks: Vec<Task<'_, '_>>, plan: &mut Plan<'_>) -> PyResult<Vec<Done>> {
    let count = tasks.len();
    let threads = plan.threads.clamp(1, count.div_ceil(2).max(1));
    let finished: Vec<_> = tasks.iter().map(|_| Mutex::new(None)).collect();
    let (rows, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let waiting = Mutex::new(tasks.into_iter().enumerate());
    let next = || {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next()
    };
    let one = |queue: &mut QueuePair, state: &mut W::State, number: usize, task: Task<'_, '_>| {
        let len = task.unit.rows.len();
        let done = task.run(work, state, queue);
        *finished[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(done);
        rows.fetch_add(len, Ordering::Relaxed);
    };
    let worker = || -> Result<(), SessionError> {
        let mut queue = Queue::take()?;
        let mut state = work.state();
        while !stop.load(Ordering::Relaxed) {
            let Some((number, task)) = next() else { break };
            one(&mut queue, &mut state, number, task);
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
            while let Some((number, task)) = next() {
                one(&mut queue, &mut state, number, task);
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
