//! The load: so many handshakes in flight at a time, from one thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;

use super::super::latencies::Latencies;
use super::cut::Courses;
use super::handshake::{Handshake, Step};
use super::target::Target;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// What is asked of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan<'i> {
    /// Handshakes in flight.
    pub(super) connections: usize,
    /// When no more are begun.
    pub(super) until: Until,
    /// When this comes, no more are begun either.
    pub(super) unless: Option<&'i Interrupt>,
    /// Share of connections that leave before their handshake is done, from 0 to 1.
    pub(super) abort: f64,
    /// Share of the others whose clients take their time, from 0 to 1.
    pub(super) slow: f64,
}

/// When no more handshakes are begun; those in flight are always waited for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// After so much time, of which the part after `warm_up` counts.
    Elapsed {
        warm_up: Duration,
        measured: Duration,
    },
    /// After so many connections.
    Count(u64),
}

/// What became of the connections.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Handshakes that completed, and were right.
    pub(super) finished: u64,
    /// Those among them whose clients took their time.
    pub(super) slow: u64,
    /// Connections that left on purpose.
    pub(super) left: u64,
    /// Handshakes that should have completed and did not, or not rightly.
    pub(super) failed: u64,
    /// Why the first of them did not.
    pub(super) first_failure: Option<String>,
    /// Of handshakes that completed while it counted, from connecting to the server's proof.
    pub(super) latencies: Latencies,
}

/// Puts `target` under load. `mark` is called when the measured time begins and when it ends.
///
/// # Errors
/// [`Failure::Failed`] if no connection can be made, or nothing happens for 10 s; the errors of
/// `mark`.
pub(super) fn run(
    target: &Target,
    plan: Plan<'_>,
    mark: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<Tally, Failure> {
    let mut load = Load::new(target, plan).map_err(broken)?;
    load.run(mark)?;
    Ok(load.tally)
}

/// Without any event for so long, a server hangs.
const PATIENCE: Duration = Duration::from_secs(10);

struct Load<'t> {
    target: &'t Target,
    plan: Plan<'t>,
    epoll: OwnedFd,
    slots: Vec<Option<Handshake>>,
    free: Vec<usize>,
    /// Slots whose handshake is under way.
    shaking: usize,
    begun: u64,
    courses: Courses,
    /// When which slot leaves or sends its next piece, with the connection's number: a slot may be
    /// another's by then.
    due: BinaryHeap<Reverse<(Instant, usize, u64)>>,
    numbers: Vec<u64>,
    counts: bool,
    tally: Tally,
}

impl<'t> Load<'t> {
    fn new(target: &'t Target, plan: Plan<'t>) -> io::Result<Self> {
        Ok(Self {
            target,
            plan,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            slots: Vec::new(),
            free: Vec::new(),
            shaking: 0,
            begun: 0,
            courses: Courses::new(plan.abort, plan.slow),
            due: BinaryHeap::new(),
            numbers: Vec::new(),
            counts: matches!(plan.until, Until::Count(_)),
            tally: Tally {
                finished: 0,
                slow: 0,
                left: 0,
                failed: 0,
                first_failure: None,
                latencies: Latencies::new(),
            },
        })
    }

    fn run(&mut self, mark: &mut dyn FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
        let mut counting_since = Instant::now();
        let start = counting_since;
        let mut done = false;
        if self.counts {
            mark()?;
        }
        let mut events = Vec::with_capacity(256);
        let mut last_event = start;
        loop {
            let now = Instant::now();
            // A measurement with failures is worth nothing; a count goes on to say how many.
            if self.tally.failed > 0 && matches!(self.plan.until, Until::Elapsed { .. }) {
                return Ok(());
            }
            match self.plan.until {
                Until::Elapsed { warm_up, measured } if !done => {
                    if !self.counts && now >= start + warm_up {
                        self.counts = true;
                        mark()?;
                        counting_since = Instant::now();
                    } else if self.counts
                        && now >= counting_since + measured
                        // Without any there is nothing to say; a server that hangs is noticed.
                        && !self.tally.latencies.is_empty()
                    {
                        (self.counts, done) = (false, true);
                        self.tally.latencies.took(counting_since.elapsed());
                        mark()?;
                    }
                }
                Until::Count(count) if !done => {
                    done = self.begun >= count || self.plan.unless.is_some_and(Interrupt::came);
                }
                _ => {}
            }
            while !done && self.shaking < self.plan.connections && !self.is_full() {
                self.begin().map_err(broken)?;
            }
            self.wake_due(now).map_err(broken)?;
            if done && self.slots.len() == self.free.len() {
                break;
            }
            events.clear();
            let timeout = self.timeout(now);
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&timeout),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(broken(error.into())),
            }
            if !events.is_empty() || !self.due.is_empty() {
                last_event = now;
            } else if now > last_event + PATIENCE {
                return Err(Failure::Failed(format!(
                    "the server has been silent for {} s with {} connections open",
                    PATIENCE.as_secs(),
                    self.slots.len() - self.free.len()
                )));
            }
            for event in &events {
                let slot = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
                self.advance(slot).map_err(broken)?;
            }
        }
        if let Until::Count(_) = self.plan.until {
            self.tally.latencies.took(counting_since.elapsed());
            mark()?;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        matches!(self.plan.until, Until::Count(count) if self.begun >= count)
    }

    /// Until something may be due.
    fn timeout(&self, now: Instant) -> Timespec {
        let longest = match (self.plan.until, self.counts) {
            (Until::Elapsed { .. }, _) => Duration::from_millis(5),
            _ => Duration::from_millis(100),
        };
        let due = self.due.peek().map_or(longest, |Reverse((at, ..))| {
            at.saturating_duration_since(now)
        });
        let due = due.min(longest);
        Timespec {
            tv_sec: 0,
            tv_nsec: due.subsec_nanos().into(),
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        let handshake = Handshake::start(self.target, self.courses.next())?;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.numbers.push(0);
            self.slots.len() - 1
        });
        epoll::add(
            &self.epoll,
            &handshake,
            EventData::new_u64(slot as u64),
            EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET,
        )?;
        self.begun += 1;
        self.numbers[slot] = self.begun;
        self.slots[slot] = Some(handshake);
        self.shaking += 1;
        Ok(())
    }

    /// An event may be that of a connection that had this slot before: it is one too many then,
    /// and does no harm.
    fn advance(&mut self, slot: usize) -> io::Result<()> {
        let Some(handshake) = self.slots.get_mut(slot).and_then(Option::as_mut) else {
            return Ok(());
        };
        match handshake.advance() {
            Step::Pending => {}
            Step::Shaken(took) => {
                self.shaking -= 1;
                self.tally.finished += 1;
                self.tally.slow += u64::from(handshake.is_slow());
                if self.counts {
                    let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
                    self.tally.latencies.record(nanoseconds, 1);
                }
                // The server may have closed in the meantime; the edge has passed.
                return self.advance(slot);
            }
            Step::Closed => drop(self.release(slot)),
            Step::Leave(time) if time.is_zero() => {
                self.tally.left += 1;
                return self.release(slot).map_or(Ok(()), Handshake::leave);
            }
            Step::Leave(time) | Step::Rest(time) => {
                let at = Instant::now() + time;
                self.due.push(Reverse((at, slot, self.numbers[slot])));
            }
            Step::Failed(why) => {
                if !handshake.is_shaking() {
                    self.tally.finished -= 1;
                    self.tally.slow -= u64::from(handshake.is_slow());
                }
                self.tally.failed += 1;
                self.tally.first_failure.get_or_insert(why);
                drop(self.release(slot));
            }
        }
        Ok(())
    }

    /// Connections whose time has come leave, or send their next piece.
    fn wake_due(&mut self, now: Instant) -> io::Result<()> {
        while let Some(&Reverse((at, slot, number))) = self.due.peek() {
            if at > now {
                break;
            }
            self.due.pop();
            if self.numbers[slot] != number {
                continue;
            }
            match &mut self.slots[slot] {
                Some(handshake) if handshake.is_slow() => {
                    handshake.resume();
                    self.advance(slot)?;
                }
                Some(_) => {
                    self.tally.left += 1;
                    self.release(slot).map_or(Ok(()), Handshake::leave)?;
                }
                None => {}
            }
        }
        Ok(())
    }

    fn release(&mut self, slot: usize) -> Option<Handshake> {
        let handshake = self.slots[slot].take()?;
        self.free.push(slot);
        if handshake.is_shaking() {
            self.shaking -= 1;
        }
        Some(handshake)
    }
}

fn broken(error: io::Error) -> Failure {
    Failure::Failed(format!("load generator: {error}"))
}
