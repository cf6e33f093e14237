//! The timed loop: what an application does with a queue pair, burst after burst.

use std::mem;
use std::time::{Duration, Instant};

use lanelock::{Buffer, Op, QueuePair, Session, Status};

use super::contestant::Lap;
use super::form;
use super::form::{ForForm, Form};
use super::latencies::Latencies;
use super::pool;
use super::pool::Message;
use super::shape::Shape;
use crate::failure::Failure;

/// A queue pair that walks over its messages.
#[derive(Debug)]
pub struct Driver<'p> {
    queue: QueuePair,
    messages: Vec<Message<'p>>,
    step: Step,
    burst: usize,
    next: usize,
    /// Empty: the memory of the last burst's operations.
    ops: Vec<Op<'static>>,
}

/// Takes some messages in bursts of as many: builds their operations, each in the place of one of the burst
/// before, hands them over and looks whether any has failed. The vector is empty before and after; its memory
/// is used again.
type Step =
    fn(&mut QueuePair, &mut [Message<'_>], usize, &mut Vec<Op<'static>>) -> Result<(), Failure>;

impl<'p> Driver<'p> {
    /// Starts at the first of `messages`, whose number is a multiple of the shape's burst.
    pub fn new(queue: QueuePair, messages: Vec<Message<'p>>, shape: &Shape) -> Self {
        Self {
            queue,
            messages,
            step: form::select::<StepOf>(shape),
            burst: shape.burst,
            next: 0,
            ops: Vec::with_capacity(shape.burst),
        }
    }

    /// Runs the next `count` bursts.
    ///
    /// # Errors
    /// [`Failure::Failed`] if an operation does not end with [`Status::Success`].
    pub fn bursts(&mut self, mut count: usize) -> Result<(), Failure> {
        while count > 0 {
            let messages = &mut self.messages[self.next..];
            let now = count.min(messages.len() / self.burst);
            let messages = &mut messages[..now * self.burst];
            self.next += messages.len();
            (self.step)(&mut self.queue, messages, self.burst, &mut self.ops)?;
            if self.next == self.messages.len() {
                self.next = 0;
            }
            count -= now;
        }
        Ok(())
    }

    /// Whole bursts until `span` has passed.
    ///
    /// # Errors
    /// As [`Driver::bursts`].
    pub fn run(&mut self, span: Duration) -> Result<Lap, Failure> {
        let start = Instant::now();
        let (mut bursts, mut per_look) = (0, 1);
        loop {
            self.bursts(per_look)?;
            bursts += per_look;
            let elapsed = start.elapsed();
            if elapsed >= span {
                let ops = (bursts * self.burst) as u64;
                return Ok(Lap { ops, elapsed });
            }
            per_look = bursts_to_next_look(bursts, elapsed);
        }
    }

    /// Whole bursts until `span` has passed, each timed from the first operation that is built to
    /// the outcome that is looked at.
    ///
    /// # Errors
    /// As [`Driver::bursts`].
    pub fn latencies(&mut self, span: Duration) -> Result<Latencies, Failure> {
        let clock = quanta::Clock::new();
        let mut latencies = Latencies::new();
        let start = Instant::now();
        while start.elapsed() < span {
            for _ in 0..BURSTS_BETWEEN_LOOKS {
                let before = clock.raw();
                self.bursts(1)?;
                let after = clock.raw();
                latencies.record(clock.delta_as_nanos(before, after), self.burst as u64);
            }
        }
        latencies.took(start.elapsed());
        Ok(latencies)
    }

    /// Once over all messages from their first content, and the checksum of what came out.
    ///
    /// # Errors
    /// As [`Driver::bursts`].
    pub fn digest(&mut self, shape: &Shape) -> Result<u64, Failure> {
        self.next = 0;
        loop {
            self.bursts(1)?;
            if self.next == 0 {
                return Ok(pool::digest(&self.messages, shape));
            }
        }
    }
}

struct StepOf;

impl ForForm for StepOf {
    type Made = Step;

    fn make<F: Form>() -> Step {
        step::<F>
    }
}

// What goes from burst to burst is in registers: a program that hands over one operation at a time
// would otherwise wait for its own bookkeeping to reach the cache.
fn step<F: Form>(
    queue: &mut QueuePair,
    messages: &mut [Message<'_>],
    burst: usize,
    memory: &mut Vec<Op<'static>>,
) -> Result<(), Failure> {
    if burst == 1 {
        for message in messages {
            run(queue, &mut [F::op(message)])?;
        }
        return Ok(());
    }
    let mut bursts = messages.chunks_exact_mut(burst);
    let Some(first) = bursts.next() else {
        return Ok(());
    };
    let mut ops = recycle(mem::take(memory));
    ops.extend(first.iter_mut().map(F::op));
    run(queue, &mut ops)?;
    for messages in bursts {
        for (op, message) in ops.iter_mut().zip(messages) {
            *op = F::op(message);
        }
        run(queue, &mut ops)?;
    }
    *memory = recycle(ops);
    Ok(())
}

#[inline(always)]
fn run(queue: &mut QueuePair, ops: &mut [Op<'_>]) -> Result<(), Failure> {
    if queue.process(ops).failed == 0 {
        return Ok(());
    }
    let bad = ops.iter().find(|op| op.status() != Status::Success);
    Err(failed(bad.expect("the queue pair has counted one")))
}

/// Runs one operation of `session`, forward and in place, with what the message has.
///
/// # Errors
/// [`Failure::Failed`] if it does not succeed.
pub fn once(
    queue: &mut QueuePair,
    session: &Session,
    message: &mut Message<'_>,
) -> Result<(), Failure> {
    let mut op = Op::new(session, Buffer::in_place(message.input.sink()));
    if !message.iv.is_empty() {
        op = op.iv(message.iv);
    }
    if !message.aad.is_empty() {
        op = op.aad(message.aad);
    }
    if !message.tag.is_empty() {
        op = op.tag(message.tag);
    }
    run(queue, &mut [op])
}

/// What became of an operation that should have succeeded.
#[cold]
fn failed(op: &Op<'_>) -> Failure {
    let why = op
        .error()
        .map(|error| format!(": {error}"))
        .unwrap_or_default();
    Failure::Failed(format!(
        "an operation ended with {}{why}",
        op.status().name()
    ))
}

/// The same memory for operations that borrow from elsewhere. Nothing is moved: an empty vector
/// collects into itself.
#[inline]
fn recycle<'to>(mut ops: Vec<Op<'_>>) -> Vec<Op<'to>> {
    ops.clear();
    ops.into_iter()
        .map(|_| unreachable!("no operation is left"))
        .collect()
}

/// When each burst is timed anyway.
const BURSTS_BETWEEN_LOOKS: usize = 16;

/// Bursts until the next look at the clock: some 20 µs, so that looking costs a thousandth.
fn bursts_to_next_look(bursts: usize, elapsed: Duration) -> usize {
    match usize::try_from(elapsed.as_nanos()) {
        Ok(0) => 2 * bursts,
        Ok(nanoseconds) => bursts.saturating_mul(20_000) / nanoseconds + 1,
        Err(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use lanelock::Device;
    use lanelock_testkit::Probe;

    use super::super::pool::Memory;
    use super::super::work::Work;
    use super::*;

    #[test]
    fn one_failed_operation_fails_the_run() {
        let flawed = Probe::batches(|_, batch| {
            batch.for_each(|mut op| op.complete(Status::Success));
            let last = batch.len() - 1;
            batch.get(last).complete(Status::EngineError);
        });
        let device = Device::builder().engine(flawed).build();
        let shape = Work::of(vec!["aes-128-cbc".parse().unwrap()])
            .cells()
            .unwrap()
            .remove(0);
        let sessions = [device.session(shape.transform(0)).unwrap()];
        let mut memory = Memory::new(&shape);
        let messages = memory.messages(&shape, &sessions);
        let mut driver = Driver::new(device.queue_pair(1), messages, &shape);
        let failure = driver.run(Duration::from_millis(1)).unwrap_err();
        assert_eq!(failure.to_string(), "an operation ended with engine-error");
    }

    #[test]
    fn the_clock_is_looked_at_every_20_microseconds() {
        assert_eq!(bursts_to_next_look(100, Duration::from_micros(20)), 101);
        assert_eq!(bursts_to_next_look(1, Duration::from_millis(5)), 1);
        assert_eq!(bursts_to_next_look(7, Duration::ZERO), 14);
    }
}
