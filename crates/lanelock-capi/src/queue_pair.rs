//! Queue pairs: a thread's handle to the engines.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::slice;

use lanelock::stats::StatsReader;
use lanelock::{Op, QueuePair};

use crate::alike::Alike;
use crate::boundary::{boundary, counted, made};
use crate::device::lanelock_device;
use crate::error::{Failure, LANELOCK_ERROR_LENGTH, lanelock_error};
use crate::handle::{Handle, OneThread, lend, lend_hot, take_idle};
use crate::op::{LANELOCK_INVALID_ARGS, LANELOCK_NOT_PROCESSED, LANELOCK_SUCCESS, lanelock_op};
use crate::pointer::check_array;
use crate::view::{Spare, view};

/// Operations read at a time: as many as the core groups at a time.
const SLICE: usize = 256;

/// The most operations that a queue pair may hold enqueued.
const MAX_DEPTH: usize = 1 << 24;

/// One thread's handle to the engines: it owns what changes while operations run.
#[derive(Debug)]
pub struct lanelock_queue_pair {
    inner: OneThread<Inner>,
    /// Of the queue inside, for any thread.
    pub(crate) stats: StatsReader,
}

impl Handle for lanelock_queue_pair {
    const NAME: &'static str = "queue pair";
}

/// What one thread at a time uses.
#[derive(Debug)]
struct Inner {
    queue: QueuePair,
    burst: Burst,
    /// Operations enqueued and not dequeued, the finished ones in front.
    waiting: VecDeque<*mut lanelock_op>,
    finished: usize,
    depth: usize,
}

/// Memory for operations in the core's form.
#[derive(Debug)]
struct Burst {
    ops: Box<[MaybeUninit<Op<'static>>]>,
    spare: Box<[Spare]>,
    /// What the last operations were like.
    like: Alike,
}

/// Makes a queue pair, for one thread at a time, that holds up to `depth` enqueued operations; use
/// 0 in a program that enqueues none. Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile; `queue_pair` and `error` are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_queue_pair_new(
    device: *const lanelock_device,
    depth: usize,
    queue_pair: *mut *mut lanelock_queue_pair,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(queue_pair, error, || {
            let device = &lend(device)?.device;
            if depth > MAX_DEPTH {
                let text = format!("depth {depth}: at most {MAX_DEPTH} are allowed");
                return Err(Failure::new(LANELOCK_ERROR_LENGTH, text));
            }
            let queue = device.queue_pair(1);
            Ok(lanelock_queue_pair {
                stats: queue.stats_reader(),
                inner: OneThread::new(Inner {
                    queue,
                    burst: Burst::new(),
                    waiting: VecDeque::with_capacity(depth),
                    finished: 0,
                    depth,
                }),
            })
        })
    }
}

/// Frees a queue pair and wipes its contexts; NULL is allowed. Enqueued operations are not run.
/// Threads: any, and none may use the handle meanwhile.
///
/// # Safety
/// No thread is inside a function with this handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_queue_pair_free(queue_pair: *mut lanelock_queue_pair) -> i32 {
    // SAFETY: the caller's promise.
    boundary(|| unsafe { take_idle(queue_pair, |it| &it.inner) }.map(drop))
}

/// Runs a burst to completion: every operation of the array whose status is LANELOCK_NOT_PROCESSED
/// has another one afterwards; others are left alone. Returns how many of them succeeded, or a
/// negative error: then no operation was touched, except after LANELOCK_ERROR_DEFECT. Threads: one
/// at a time for a queue pair.
///
/// # Safety
/// `queue_pair` is NULL or live, and no other thread uses it; `ops` is valid for reads and writes of
/// `count` operations, each of which has a session that is NULL or live; the input is valid for reads
/// and the output for writes of its length, or of its segments' lengths, as are IV, additional data
/// and tag; and nobody else reads or writes any of it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_process(
    queue_pair: *mut lanelock_queue_pair,
    ops: *mut lanelock_op,
    count: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        check_array(ops, count, "operations")?;
        let mut inner = lend_hot(queue_pair)?.inner.enter()?;
        let Inner { queue, burst, .. } = &mut *inner;
        Ok(burst.run(queue, count, move |index| ops.add(index)))
    })
}

/// As `lanelock_process`, for an array of pointers to distinct operations. A pointer that is NULL,
/// or not aligned to 8 bytes, is skipped.
///
/// # Safety
/// As for `lanelock_process`; `ops` is valid for reads of `count` pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_process_v(
    queue_pair: *mut lanelock_queue_pair,
    ops: *const *mut lanelock_op,
    count: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        check_array(ops, count, "operations")?;
        let mut inner = lend_hot(queue_pair)?.inner.enter()?;
        let Inner { queue, burst, .. } = &mut *inner;
        Ok(burst.run(queue, count, move |index| *ops.add(index)))
    })
}

/// Takes as many operations from the front of the array as there is room for, and returns how many,
/// or a negative error. Those not taken are untouched: dequeue some, then try again. Those taken
/// belong to the queue pair, with everything that they point to, until they are dequeued. Threads:
/// one at a time for a queue pair.
///
/// # Safety
/// As for `lanelock_process_v`, until the operations are dequeued or the queue pair is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_enqueue(
    queue_pair: *mut lanelock_queue_pair,
    ops: *const *mut lanelock_op,
    count: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        check_array(ops, count, "operations")?;
        let mut inner = lend_hot(queue_pair)?.inner.enter()?;
        let room = (inner.depth - inner.waiting.len()).min(count);
        for index in 0..room {
            check_array(*ops.add(index), 1, "operation")?;
        }
        inner.waiting.extend((0..room).map(|index| *ops.add(index)));
        Ok(room)
    })
}

/// Writes up to `limit` finished operations to the array, in the order in which they were enqueued,
/// and returns how many, or a negative error. Waiting operations run first, together. Threads: one
/// at a time for a queue pair.
///
/// # Safety
/// `queue_pair` is NULL or live, and no other thread uses it; `ops` is valid for writes of `limit`
/// pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_dequeue(
    queue_pair: *mut lanelock_queue_pair,
    ops: *mut *mut lanelock_op,
    limit: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        check_array(ops, limit, "operations")?;
        let mut inner = lend_hot(queue_pair)?.inner.enter()?;
        let count = limit.min(inner.waiting.len());
        if count > inner.finished {
            inner.run_waiting();
        }
        inner.finished -= count;
        for (index, op) in inner.waiting.drain(..count).enumerate() {
            ops.add(index).write(op);
        }
        Ok(count)
    })
}

/// Operations enqueued and not yet dequeued, or a negative error. Threads: one at a time for a queue
/// pair.
///
/// # Safety
/// `queue_pair` is NULL or live, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_in_flight(queue_pair: *mut lanelock_queue_pair) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe { Ok(lend_hot(queue_pair)?.inner.enter()?.waiting.len()) })
}

impl Inner {
    /// # Safety
    /// The operations enqueued are as `lanelock_enqueue` demands.
    unsafe fn run_waiting(&mut self) {
        let already = self.finished;
        // If an engine panics, operations that have no status yet are handed back without one.
        self.finished = self.waiting.len();
        let waiting = &self.waiting.make_contiguous()[already..];
        let each = |index: usize| waiting[index];
        // SAFETY: the caller's promise.
        unsafe { self.burst.run(&mut self.queue, waiting.len(), each) };
    }
}

impl Burst {
    fn new() -> Self {
        Self {
            ops: (0..SLICE).map(|_| MaybeUninit::uninit()).collect(),
            spare: (0..SLICE).map(|_| Spare::uninit()).collect(),
            like: Alike::none(),
        }
    }

    /// Runs `count` operations and returns how many succeeded. Those that there is no form for split
    /// the burst; no correct program has any.
    ///
    /// # Safety
    /// `at` gives each operation once, and is null, or an operation as for `lanelock_process`.
    #[inline]
    unsafe fn run(
        &mut self,
        queue: &mut QueuePair,
        count: usize,
        at: impl Fn(usize) -> *mut lanelock_op + Copy,
    ) -> usize {
        if count == 1
            // SAFETY: the caller's promise.
            && let Some(succeeded) = unsafe { self.run_one(queue, at(0)) }
        {
            return succeeded;
        }
        let (mut done, mut succeeded) = (0, 0);
        while done < count {
            let limit = (count - done).min(SLICE);
            let to = move |index| at(done + index);
            // SAFETY: the caller's promise.
            let read = unsafe { self.read(limit, to) };
            if read > 0 {
                let first = self.ops.as_mut_ptr().cast::<Op<'static>>();
                // SAFETY: the first `read` have been written.
                let ops = unsafe { slice::from_raw_parts_mut(first, read) };
                let mut results = Results {
                    ops,
                    to,
                    succeeded: 0,
                };
                results.succeeded = queue.process(results.ops).succeeded;
                succeeded += results.succeeded;
            }
            done += read + usize::from(read < limit);
        }
        succeeded
    }

    /// Runs an operation that is like those before and returns whether it succeeded; `None` if it takes a
    /// closer look.
    ///
    /// # Safety
    /// As for [`Burst::run`].
    #[inline(always)]
    unsafe fn run_one(&mut self, queue: &mut QueuePair, op: *mut lanelock_op) -> Option<usize> {
        let place = self.ops.first_mut()?;
        // SAFETY: the caller's promise.
        if !unsafe { self.like.take_one(op, place) } {
            return None;
        }
        let mut results = Results {
            // SAFETY: just written.
            ops: slice::from_mut(unsafe { place.assume_init_mut() }),
            to: |_| op,
            succeeded: 0,
        };
        results.succeeded = queue.process(results.ops).succeeded;
        Some(results.succeeded)
    }

    /// Reads operations as far as there is a form for them, at most [`SLICE`]; returns how many.
    ///
    /// # Safety
    /// As for [`Burst::run`].
    #[inline]
    unsafe fn read(&mut self, limit: usize, at: impl Fn(usize) -> *mut lanelock_op) -> usize {
        let limit = limit.min(self.ops.len());
        let mut read = 0;
        loop {
            // SAFETY: the caller's promise.
            unsafe {
                read = self.like.take_over(&at, read, &mut self.ops[..limit]);
                if read == limit || !self.read_any(at(read), read) {
                    return read;
                }
            }
            read += 1;
        }
    }

    /// As [`view`], to the place `index`, but returns false for an operation that has a status already,
    /// or gets one as there is no form for it.
    ///
    /// # Safety
    /// As for [`Burst::run`].
    #[cold]
    #[inline(never)]
    unsafe fn read_any(&mut self, op: *mut lanelock_op, index: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            if op.is_null() || !op.is_aligned() || (*op).status != LANELOCK_NOT_PROCESSED {
                return false;
            }
            let (spare, place) = (&mut self.spare[index], &mut self.ops[index]);
            let read = view(op, &mut self.like, spare, place);
            if let Err(reason) = read {
                ((*op).status, (*op).reason) = (LANELOCK_INVALID_ARGS, reason);
            }
            read.is_ok()
        }
    }
}

/// Operations that have run, and where their results go, however the engine returns.
struct Results<'r, F: Fn(usize) -> *mut lanelock_op> {
    ops: &'r mut [Op<'static>],
    /// Invariant: an operation that is valid for writes, for each index of `ops`.
    to: F,
    /// How many did; 0 if the engine has not returned.
    succeeded: usize,
}

impl<F: Fn(usize) -> *mut lanelock_op> Results<'_, F> {
    #[inline(always)]
    fn write(&self, index: usize, status: u8, reason: u8) {
        let op = (self.to)(index);
        // SAFETY: the invariant.
        unsafe { ((*op).status, (*op).reason) = (status, reason) };
    }

    #[cold]
    #[inline(never)]
    fn write_each(&self) {
        for (index, op) in self.ops.iter().enumerate() {
            let reason = op.error().map_or(0, |error| error.reason() as u8);
            self.write(index, op.status() as u8, reason);
        }
    }
}

impl<F: Fn(usize) -> *mut lanelock_op> Drop for Results<'_, F> {
    #[inline]
    fn drop(&mut self) {
        if self.succeeded != self.ops.len() {
            return self.write_each();
        }
        for index in 0..self.ops.len() {
            self.write(index, LANELOCK_SUCCESS, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;
    use crate::device::{lanelock_device_free, lanelock_device_open};
    use crate::error::LANELOCK_ERROR_BUSY;

    #[test]
    fn a_queue_pair_in_use_is_not_freed() {
        let (mut device, mut made) = (null_mut(), null_mut());
        // SAFETY: locals, and handles of this test alone.
        unsafe {
            assert_eq!(lanelock_device_open(&raw mut device, null_mut()), 0);
            let status = lanelock_queue_pair_new(device, 0, &raw mut made, null_mut());
            assert_eq!(status, 0);
            let entered = lend(made).expect("live").inner.enter().expect("idle");
            assert_eq!(lanelock_queue_pair_free(made), LANELOCK_ERROR_BUSY);
            assert_eq!(lanelock_in_flight(made), LANELOCK_ERROR_BUSY as isize);
            drop(entered);
            assert_eq!(lanelock_queue_pair_free(made), 0);
            assert_eq!(lanelock_device_free(device), 0);
        }
    }
}
