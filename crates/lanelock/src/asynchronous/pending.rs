//! The future of one job.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use lanelock_core::public_key::{KeyJob, Ticket};

use super::{Bytes, KeyService, Slot};

/// A job on its way: enqueued by the first poll, cancelled by a drop.
pub(super) struct Pending {
    service: KeyService,
    state: State,
}

enum State {
    /// Not handed over yet: never polled, or there was no room.
    Mine(Box<KeyJob<Bytes>>),
    Enqueued(Ticket),
    Over,
}

impl Pending {
    pub(super) fn new(service: KeyService, job: KeyJob<Bytes>) -> Self {
        Self {
            service,
            state: State::Mine(Box::new(job)),
        }
    }
}

impl Future for Pending {
    type Output = KeyJob<Bytes>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let service = self.service.clone();
        let mut inner = service.lock();
        let mut wakers = Vec::new();
        let ticket = match std::mem::replace(&mut self.state, State::Over) {
            State::Enqueued(ticket) => ticket,
            State::Over => panic!("polled after it was ready"),
            State::Mine(job) => {
                let now = Instant::now();
                let ticket = match inner.queue.enqueue(*job, now) {
                    Ok(ticket) => ticket,
                    Err(job) => {
                        inner.no_room.push(context.waker().clone());
                        self.state = State::Mine(Box::new(job));
                        return Poll::Pending;
                    }
                };
                let waker = Slot::Waiting(context.waker().clone());
                inner.slots.insert(ticket, waker);
                wakers = inner.poll(now);
                wakers.extend(inner.driver.take());
                ticket
            }
        };
        let result = match inner.slots.remove(&ticket) {
            Some(Slot::Done(job)) => Some(job),
            Some(Slot::Waiting(_)) => {
                let waker = Slot::Waiting(context.waker().clone());
                inner.slots.insert(ticket, waker);
                self.state = State::Enqueued(ticket);
                None
            }
            None => unreachable!("a future's slot stays until it is fetched"),
        };
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        result.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let State::Enqueued(ticket) = self.state else {
            return;
        };
        let mut inner = self.service.lock();
        let slot = inner.slots.remove(&ticket);
        // There is room for another; and those who still wait may now be all there are, which
        // whoever submits or drives finds out.
        let job = inner.queue.cancel(ticket);
        let wakers = std::mem::take(&mut inner.no_room);
        drop(inner);
        drop((slot, job));
        wakers.into_iter().for_each(Waker::wake);
    }
}
