//! The future of one job.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use lanelock_public_key::{KeyJob, Ticket};

use super::{Bytes, KeyService, Place, Slot};

/// A job on its way: enqueued by the first poll, cancelled by a drop.
pub(super) struct Pending {
    service: KeyService,
    state: State,
}

enum State {
    /// Not handed over yet: never polled, or there was no room, and this is its place in line.
    Mine(Box<KeyJob<Bytes>>, Option<Place>),
    Enqueued(Ticket),
    Over,
}

impl Pending {
    pub(super) fn new(service: KeyService, job: KeyJob<Bytes>) -> Self {
        Self {
            service,
            state: State::Mine(Box::new(job), None),
        }
    }
}

impl Future for Pending {
    type Output = KeyJob<Bytes>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { service, state } = &mut *self;
        let waker = context.waker().clone();
        let mut inner = service.lock();
        let mut wakers = Vec::new();
        // Wakers go where the lock is not held: one may be the last to keep a task alive whose
        // futures take it.
        let mut stale = None;
        let ticket = match std::mem::replace(state, State::Over) {
            State::Enqueued(ticket) => ticket,
            State::Over => panic!("polled after it was ready"),
            State::Mine(job, place) => {
                let now = Instant::now();
                match inner.queue.enqueue(*job, now) {
                    Ok(ticket) => {
                        stale = place.and_then(|place| inner.no_room.remove(&place));
                        inner.slots.insert(ticket, Slot::Waiting(waker.clone()));
                        wakers = inner.poll(now);
                        wakers.extend(inner.driver.take());
                        ticket
                    }
                    Err(job) => {
                        let place = place.unwrap_or_else(|| inner.next_place());
                        *state = State::Mine(Box::new(job), Some(place));
                        stale = inner.no_room.insert(place, waker);
                        drop(inner);
                        drop(stale);
                        return Poll::Pending;
                    }
                }
            }
        };
        let (result, replaced) = match inner.slots.remove(&ticket) {
            Some(Slot::Done(job)) => (Poll::Ready(job), waker),
            Some(Slot::Waiting(replaced)) => {
                inner.slots.insert(ticket, Slot::Waiting(waker));
                *state = State::Enqueued(ticket);
                (Poll::Pending, replaced)
            }
            None => unreachable!("a future's slot stays until it is fetched"),
        };
        drop(inner);
        drop((stale, replaced));
        wakers.into_iter().for_each(Waker::wake);
        result
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        match self.state {
            State::Enqueued(ticket) => {
                let mut inner = self.service.lock();
                let slot = inner.slots.remove(&ticket);
                // There is room for another; and those who still wait may now be all there are,
                // which whoever submits or drives finds out.
                let job = inner.queue.cancel(ticket);
                let wakers = inner.take_no_room();
                drop(inner);
                drop((slot, job));
                wakers.for_each(Waker::wake);
            }
            State::Mine(_, Some(place)) => {
                let mut inner = self.service.lock();
                let waker = inner.no_room.remove(&place);
                drop(inner);
                drop(waker);
            }
            State::Mine(_, None) | State::Over => {}
        }
    }
}
