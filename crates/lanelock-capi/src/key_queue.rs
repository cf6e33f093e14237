//! Key queues: a thread's handle to the public-key engines, which gathers operations into batches.

use std::ffi::c_int;
use std::time::{Duration, Instant};

use lanelock::public_key::{FlushPolicy, KeyDevice};

use crate::boundary::{boundary, counted, made};
use crate::device::lanelock_device;
use crate::error::{Failure, LANELOCK_ERROR_LENGTH, lanelock_error};
use crate::handle::{Handle, OneThread, lend, take_idle};
use crate::key_op::lanelock_key_op;
use crate::key_waiting::{Inner, run};
use crate::pointer::{check_array, out};
use crate::sized::{self, Sized32};
use crate::timer::{Due, Timer};

/// The most operations that a queue may hold.
const MAX_DEPTH: usize = 1 << 20;

/// Operations of a burst that are looked at together.
const BURST: usize = 256;

/// Waiting operations do not run at once when as many wait as there are submitters.
pub const LANELOCK_KEY_QUEUE_PATIENT: u32 = 1;

/// One thread's handle to the public-key engines: it gathers operations into batches.
#[derive(Debug)]
pub struct lanelock_key_queue {
    inner: OneThread<Inner>,
}

impl Handle for lanelock_key_queue {
    const NAME: &'static str = "key queue";
}

/// How long a key queue waits for its batches to fill.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_key_queue_options {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// LANELOCK_KEY_QUEUE bits.
    pub flags: u32,
    /// Operations that it holds; 0 for 1024.
    pub depth: u64,
    /// Longest wait of an operation until it is due, in nanoseconds: 200,000 is usual; with 0, each
    /// poll runs everything.
    pub deadline: u64,
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_key_queue_options {
    const NAME: &'static str = "lanelock_key_queue_options";
    const FIRST: usize = 24;
}

/// Counters of a key queue.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_key_stats {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Batches run on lanes.
    pub batches: u64,
    /// Operations in them.
    pub in_lanes: u64,
    /// Operations run one at a time.
    pub single: u64,
    /// Operations refused before an engine saw them.
    pub refused: u64,
    /// Operations cancelled before they ran.
    pub cancelled: u64,
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_key_stats {
    const NAME: &'static str = "lanelock_key_stats";
    const FIRST: usize = 48;
}

const _: () = assert!(size_of::<lanelock_key_queue_options>() == 24);
const _: () = assert!(size_of::<lanelock_key_stats>() == 48);

/// Makes a key queue, for one thread at a time; NULL stands for the default options. Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile; `options` is NULL or valid for reads of the size that it
/// begins with; `queue` and `error` are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_queue_new(
    device: *const lanelock_device,
    options: *const lanelock_key_queue_options,
    queue: *mut *mut lanelock_key_queue,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(queue, error, || {
            let device = &lend(device)?.device;
            let (mut depth, mut policy) = (0, FlushPolicy::default());
            if !options.is_null() {
                let options = sized::read(options)?;
                if options.flags & !LANELOCK_KEY_QUEUE_PATIENT != 0 {
                    let text = format!("flags {:#x}: unknown", options.flags);
                    return Err(Failure::unknown(text));
                }
                policy.deadline = Duration::from_nanos(options.deadline);
                policy.when_alone = options.flags & LANELOCK_KEY_QUEUE_PATIENT == 0;
                depth = options.depth;
            }
            let depth = match usize::try_from(depth) {
                Ok(0) => 1024,
                Ok(depth @ ..=MAX_DEPTH) => depth,
                _ => {
                    let text = format!("depth {depth}: at most {MAX_DEPTH} are allowed");
                    return Err(Failure::new(LANELOCK_ERROR_LENGTH, text));
                }
            };
            Ok(lanelock_key_queue {
                inner: OneThread::new(Inner::new(device.key_queue_of(depth, policy))),
            })
        })
    }
}

/// Frees a key queue and closes its descriptor; NULL is allowed. Waiting operations are not run.
/// Threads: any, and none may use the handle meanwhile.
///
/// # Safety
/// No thread is inside a function with this handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_queue_free(queue: *mut lanelock_key_queue) -> i32 {
    // SAFETY: the caller's promise.
    boundary(|| unsafe { take_idle(queue, |it| &it.inner) }.map(drop))
}

/// Runs a burst to completion: every operation of the array whose status is LANELOCK_NOT_PROCESSED
/// has another one afterwards; others are left alone. Full batches run on lanes. Returns how many
/// succeeded, or a negative error: then no operation was touched, except after
/// LANELOCK_ERROR_DEFECT. Threads: one at a time for a queue.
///
/// # Safety
/// No other thread uses the queue; `ops` is valid for reads and writes of `count` operations, and what
/// each points to for its lengths; nobody else reads or writes any of it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_process(
    queue: *mut lanelock_key_queue,
    ops: *mut lanelock_key_op,
    count: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        check_array(ops, count, "operations")?;
        let mut inner = lend(queue)?.inner.enter()?;
        let mut succeeded = 0;
        for start in (0..count).step_by(BURST) {
            let len = BURST.min(count - start);
            let ops = std::slice::from_raw_parts_mut(ops.add(start), len);
            succeeded += run(&mut inner.queue, ops);
        }
        Ok(succeeded)
    })
}

/// Takes as many operations from the front of the array as there is room for, and returns how many,
/// or a negative error. Those not taken are untouched. Those taken belong to the queue, with
/// everything that they point to, until they are dequeued or cancelled; one that is refused is
/// finished at once. Threads: one at a time for a queue.
///
/// # Safety
/// As for `lanelock_key_process`, until the operations are dequeued or cancelled or the queue is freed;
/// `ops` is valid for reads of `count` pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_enqueue(
    queue: *mut lanelock_key_queue,
    ops: *const *mut lanelock_key_op,
    count: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        check_array(ops, count, "operations")?;
        let mut inner = lend(queue)?.inner.enter()?;
        let count = inner.room().min(count);
        for index in 0..count {
            check_array(*ops.add(index), 1, "operation")?;
        }
        let now = Instant::now();
        let mut taken = 0;
        while taken < count && inner.enqueue(*ops.add(taken), now) {
            taken += 1;
        }
        inner.set_timer()?;
        if taken == 0 && count > 0 {
            return Err(Failure::unknown("operation: already in this queue"));
        }
        Ok(taken)
    })
}

/// Runs what is due, and returns how many operations finished, or a negative error. `submitters` is
/// the number of tasks that could have an operation waiting here, 0 if unknown: when as many
/// operations wait, all of them run at once. Threads: one at a time for a queue.
///
/// # Safety
/// No other thread uses the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_poll(
    queue: *mut lanelock_key_queue,
    submitters: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        let mut inner = lend(queue)?.inner.enter()?;
        let submitters = (submitters > 0).then_some(submitters);
        inner.may_be_full = false;
        let ran = inner.queue.poll(Instant::now(), submitters);
        inner.set_timer()?;
        Ok(ran)
    })
}

/// Runs everything that waits, and returns how many operations finished, or a negative error.
/// Threads: one at a time for a queue.
///
/// # Safety
/// No other thread uses the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_flush(queue: *mut lanelock_key_queue) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        let mut inner = lend(queue)?.inner.enter()?;
        inner.may_be_full = false;
        let ran = inner.queue.flush();
        inner.set_timer()?;
        Ok(ran)
    })
}

/// Writes up to `limit` finished operations to the array, in the order in which they finished, and
/// returns how many, or a negative error. It runs nothing. Threads: one at a time for a queue.
///
/// # Safety
/// No other thread uses the queue; `ops` is valid for writes of `limit` pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_dequeue(
    queue: *mut lanelock_key_queue,
    ops: *mut *mut lanelock_key_op,
    limit: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        check_array(ops, limit, "operations")?;
        let mut inner = lend(queue)?.inner.enter()?;
        let mut count = 0;
        while count < limit
            && let Some(op) = inner.dequeue()
        {
            ops.add(count).write(op);
            count += 1;
        }
        inner.set_timer()?;
        Ok(count)
    })
}

/// Takes back an operation that has not run: nothing was read or written. Fails with
/// LANELOCK_ERROR_UNKNOWN if it was not enqueued, or has finished and is still to be dequeued.
/// Threads: one at a time for a queue.
///
/// # Safety
/// No other thread uses the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_cancel(
    queue: *mut lanelock_key_queue,
    op: *mut lanelock_key_op,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let mut inner = lend(queue)?.inner.enter()?;
        let ticket = inner.tickets.get(&(op as usize)).copied();
        let job = ticket.and_then(|ticket| inner.queue.cancel(ticket));
        if job.is_none() {
            return Err(Failure::unknown("operation: not waiting in this queue"));
        }
        inner.tickets.remove(&(op as usize));
        inner.set_timer()
    })
}

/// Time until `lanelock_key_poll` has something to do, in nanoseconds: 0 if it has, UINT64_MAX if
/// nothing waits, or what waits is never due. Threads: one at a time for a queue.
///
/// # Safety
/// No other thread uses the queue; `nanoseconds` is NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_due(
    queue: *mut lanelock_key_queue,
    nanoseconds: *mut u64,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let place = out(nanoseconds, "nanoseconds")?;
        let inner = lend(queue)?.inner.enter()?;
        place.write(match inner.due() {
            Due::Never => u64::MAX,
            Due::Now => 0,
            Due::At(at) => {
                let wait = at.saturating_duration_since(Instant::now()).as_nanos();
                u64::try_from(wait).unwrap_or(u64::MAX)
            }
        });
        Ok(())
    })
}

/// A descriptor that is readable while there is something to poll or to dequeue: for select(2),
/// poll(2) and epoll(7), level-triggered. It belongs to the queue; do not read or close it. Threads:
/// one at a time for a queue.
///
/// # Safety
/// No other thread uses the queue; `descriptor` is NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_descriptor(
    queue: *mut lanelock_key_queue,
    descriptor: *mut c_int,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let place = out(descriptor, "descriptor")?;
        let mut inner = lend(queue)?.inner.enter()?;
        let found = match &inner.timer {
            Some(timer) => timer.descriptor(),
            None => inner.timer.insert(Timer::new()?).descriptor(),
        };
        inner.set_timer()?;
        place.write(found);
        Ok(())
    })
}

/// Operations enqueued and neither dequeued nor cancelled, or a negative error. Threads: one at a time
/// for a queue.
///
/// # Safety
/// No other thread uses the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_in_flight(queue: *mut lanelock_key_queue) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe { Ok(lend(queue)?.inner.enter()?.in_flight()) })
}

/// Writes a key queue's counters. Set `stats->size` before the call. Threads: one at a time for a
/// queue.
///
/// # Safety
/// No other thread uses the queue; `stats` is NULL or valid for reads and writes of the size that it
/// begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_queue_stats(
    queue: *mut lanelock_key_queue,
    stats: *mut lanelock_key_stats,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let found = lend(queue)?.inner.enter()?.queue.stats();
        let value = lanelock_key_stats {
            size: 0,
            reserved: 0,
            batches: found.batches,
            in_lanes: found.in_lanes,
            single: found.single,
            refused: found.refused,
            cancelled: found.cancelled,
        };
        sized::write(&value, stats)
    })
}
