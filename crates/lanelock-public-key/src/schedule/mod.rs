//! What waits for its lanes to fill, by algorithm and size, and which batch runs next.

use std::collections::VecDeque;
use std::time::Instant;

use super::flush::{FlushPolicy, Waiting};

/// Identifies something submitted to a queue; a queue never gives out the same one twice.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// use std::time::Instant;
///
/// use lanelock::public_key::KeyJob;
///
/// let mut queue = device.key_queue(16, FlushPolicy::default());
/// let job = KeyJob::sign(&session, b"a message".to_vec(), vec![0; 64]);
/// let ticket = queue.enqueue(job, Instant::now()).expect("a queue of 16");
/// assert!(queue.cancel(ticket).is_some());
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ticket(pub(super) u64);

impl Ticket {
    /// How many tickets the queue had given out before.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Items of several groups, each group in the order of submission.
///
/// Groups that are due take turns: the one served least recently runs first. An item that is due,
/// and that fewer than a batch of its own group precede, waits for the batch that runs and for one
/// of each other group, however much they are given.
#[derive(Debug)]
pub(super) struct Schedule<G, T> {
    groups: Vec<Group<G, T>>,
    waiting: usize,
    next: u64,
    turn: u64,
}

#[derive(Debug)]
struct Group<G, T> {
    id: G,
    lanes: usize,
    /// The turn in which it was served last; 0 if never.
    served: u64,
    /// Tickets ascend.
    entries: VecDeque<Entry<T>>,
}

/// An item that waits, or that is due.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub(super) ticket: Ticket,
    pub(super) since: Instant,
    pub(super) item: T,
}

/// Everything submitted before a moment is due, whatever the policy says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cutoff(u64);

impl<G: Copy + Eq, T> Schedule<G, T> {
    pub(super) const fn new() -> Self {
        Self {
            groups: Vec::new(),
            waiting: 0,
            next: 0,
            turn: 0,
        }
    }

    /// A ticket for something that does not wait.
    pub(super) fn ticket(&mut self) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        ticket
    }

    /// Adds an item to `group`, whose batches are of `lanes`.
    pub(super) fn push(&mut self, group: G, lanes: usize, item: T, now: Instant) -> Ticket {
        let ticket = self.ticket();
        let entry = Entry {
            ticket,
            since: now,
            item,
        };
        self.waiting += 1;
        match self.groups.iter_mut().find(|known| known.id == group) {
            Some(known) => known.entries.push_back(entry),
            None => self.groups.push(Group {
                id: group,
                lanes: lanes.max(1),
                served: 0,
                entries: [entry].into(),
            }),
        }
        ticket
    }

    /// Takes an item back, if it still waits.
    pub(super) fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        self.groups.iter_mut().find_map(|group| {
            let entries = &mut group.entries;
            let at = entries.binary_search_by_key(&ticket, |entry| entry.ticket);
            let entry = entries.remove(at.ok()?)?;
            self.waiting -= 1;
            Some(entry.item)
        })
    }

    /// An item that waits, and how many of its group do.
    pub(super) fn find(&self, ticket: Ticket) -> Option<(&T, usize)> {
        self.groups.iter().find_map(|group| {
            let entries = &group.entries;
            let at = entries.binary_search_by_key(&ticket, |entry| entry.ticket);
            Some((&entries.get(at.ok()?)?.item, entries.len()))
        })
    }

    /// Items that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// A cutoff after everything that waits now.
    pub(super) fn cutoff(&self) -> Cutoff {
        Cutoff(self.next)
    }

    /// Moves the next batch that is due to the end of `batch`; false if none is. It takes as much
    /// as fills the lanes; where no other group is due, `part` of its first item and that count.
    pub(super) fn take_due(
        &mut self,
        policy: &FlushPolicy,
        now: Instant,
        cutoff: Option<Cutoff>,
        part: impl FnOnce(&T, usize) -> usize,
        batch: &mut Vec<Entry<T>>,
    ) -> bool {
        let due = self.groups.iter_mut().filter_map(|group| {
            let oldest = group.entries.front()?.ticket;
            let cut = cutoff.is_some_and(|Cutoff(end)| oldest.0 < end);
            let due = cut || policy.is_due(&group.waiting()?, now);
            due.then_some(((group.served, oldest), group))
        });
        let mut others = 0;
        let next = due.reduce(|first, second| {
            others += 1;
            if second.0 < first.0 { second } else { first }
        });
        let Some((_, group)) = next else {
            return false;
        };
        let mut count = group.lanes.min(group.entries.len());
        if others == 0
            && let Some(first) = group.entries.front()
        {
            count = part(&first.item, count).clamp(1, count);
        }
        batch.extend(group.entries.drain(..count));
        self.waiting -= count;
        self.turn += 1;
        group.served = self.turn;
        true
    }

    /// When the first deadline passes; `None` if nothing waits, or for a deadline that never
    /// passes.
    pub(super) fn due_at(&self, policy: &FlushPolicy) -> Option<Instant> {
        let waiting = self.groups.iter().filter_map(Group::waiting);
        waiting.filter_map(|waiting| policy.due_at(&waiting)).min()
    }
}

impl<G, T> Group<G, T> {
    fn waiting(&self) -> Option<Waiting> {
        Some(Waiting {
            count: self.entries.len(),
            lanes: self.lanes,
            oldest: self.entries.front()?.since,
        })
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod simulation;
