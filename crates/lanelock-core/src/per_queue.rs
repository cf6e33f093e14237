//! State that belongs to a (session, queue pair) pair: one thread reaches it, without a lock.
//!
//! A session owns a [`PerQueue`]; a queue pair owns a [`QueueToken`] with a number that no other
//! live token has. Borrowing the token exclusively is the proof that nobody else uses the slot of
//! that number, so access costs a load and no atomic read-modify-write. Slots are emptied when
//! the session is dropped and when the queue pair is, whichever comes first, and their memory wiped.

#![allow(unsafe_code)] // the slots' interior mutability, guarded by the tokens

use std::cell::UnsafeCell;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::session::SessionMemory;
use crate::wiped::Wiped;

/// Numbers that are free below the highest ever used, and the next fresh one.
static NUMBERS: Mutex<(BTreeSet<u32>, u32)> = Mutex::new((BTreeSet::new(), 0));

/// A queue pair's key to its slots.
///
/// Invariant: `number` is that of no other live token of the process.
pub struct QueueToken {
    number: u32,
    /// Tables in which this token's slot is filled.
    filled: Vec<Weak<dyn Clear>>,
    /// Length of `filled` at which dead entries are dropped.
    prune_at: usize,
}

/// One `T` for each queue pair that asked for it.
///
/// In addition to what [`PerQueue::memory`] counts, a table has one pointer-sized slot for each
/// number in the chunks that it has reached: fewer than two slots (16 bytes) for each queue pair
/// that the process had at its peak. That is the only memory that grows with queue pairs that do
/// not use the session; it is freed with the session.
pub struct PerQueue<T> {
    slots: Arc<Slots<T>>,
}

/// Slot 0 lies here, slots 2^k to 2^(k+1) - 1 in chunk k, allocated when first reached: with one
/// queue pair there is nothing but the first slot.
struct Slots<T> {
    first: Slot<T>,
    chunks: [OnceLock<Box<[Slot<T>]>>; 32],
}

/// On cache lines of its own, as two neighbours belong to two threads.
#[repr(align(128))]
struct Own<T>(T);

struct Slot<T>(UnsafeCell<Option<Box<Wiped<Own<T>>>>>);

// SAFETY: a slot's content is touched only by whoever borrows the token of its number exclusively,
// which one thread does at a time; it moves between threads with the token, hence `T: Send`.
unsafe impl<T: Send> Sync for Slot<T> {}

/// A table that can empty the slot of a token that goes away.
trait Clear: Send + Sync {
    fn clear(&self, token: &mut QueueToken);
}

impl QueueToken {
    /// A token whose number no other one has.
    ///
    /// # Panics
    /// If there are 2^32 already.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "each one is a resource of the process"
    )]
    pub fn new() -> Self {
        let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
        let number = numbers.0.pop_first().unwrap_or_else(|| {
            let fresh = numbers.1;
            numbers.1 = fresh
                .checked_add(1)
                .expect("fewer than 2^32 queue pairs at a time");
            fresh
        });
        Self {
            number,
            filled: Vec::new(),
            prune_at: 64,
        }
    }

    /// Remembers a table whose slot was filled, and forgets those whose session is gone once they
    /// may be half of all.
    fn remember(&mut self, table: Weak<dyn Clear>) {
        if self.filled.len() >= self.prune_at {
            self.filled.retain(|table| table.strong_count() > 0);
            self.prune_at = 64.max(2 * self.filled.len());
        }
        self.filled.push(table);
    }
}

impl Drop for QueueToken {
    fn drop(&mut self) {
        for table in std::mem::take(&mut self.filled) {
            if let Some(table) = table.upgrade() {
                table.clear(self);
            }
        }
        NUMBERS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .insert(self.number);
    }
}

impl<T: Send + 'static> PerQueue<T> {
    /// A table without contexts; it allocates its slot table alone.
    #[must_use]
    pub fn new() -> Self {
        let slots = Slots {
            first: Slot::empty(),
            chunks: [const { OnceLock::new() }; 32],
        };
        Self {
            slots: Arc::new(slots),
        }
    }

    /// Bytes of a table, and of the `T` of a queue pair with its place in the table.
    #[must_use]
    pub const fn memory() -> SessionMemory {
        SessionMemory {
            session: size_of::<Slots<T>>(),
            per_queue_pair: size_of::<Own<T>>()
                + size_of::<Slot<T>>()
                + size_of::<Weak<dyn Clear>>(),
        }
    }

    /// The `T` of `queue`, made by `make` on first use.
    ///
    /// # Errors
    /// What `make` returned; the slot stays empty then.
    #[inline]
    pub fn get_or_try_make<'s, E>(
        &'s self,
        queue: &'s mut QueueToken,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&'s mut T, E> {
        let slot = self.slots.slot(queue.number).0.get();
        // SAFETY: `queue` is borrowed exclusively for 's and is the only token of this number, so
        // nothing else reads or writes the slot for 's; `self` keeps it allocated.
        let content = unsafe { &mut *slot };
        if let Some(kept) = content {
            return Ok(&mut kept.0);
        }
        let made = content.insert(Box::new(Wiped::new(Own(make()?))));
        let table: Weak<Slots<T>> = Arc::downgrade(&self.slots);
        queue.remember(table);
        Ok(&mut made.0)
    }
}

impl<T: Send + 'static> Default for PerQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Slots<T> {
    #[inline]
    fn slot(&self, number: u32) -> &Slot<T> {
        if number == 0 {
            return &self.first;
        }
        let chunk = number.ilog2();
        let slots = self.chunks[chunk as usize]
            .get_or_init(|| (0..1_u32 << chunk).map(|_| Slot::empty()).collect());
        &slots[(number - (1 << chunk)) as usize]
    }
}

impl<T> Slot<T> {
    const fn empty() -> Self {
        Self(UnsafeCell::new(None))
    }
}

impl<T: Send> Clear for Slots<T> {
    fn clear(&self, token: &mut QueueToken) {
        let slot = self.slot(token.number).0.get();
        // SAFETY: as in `get_or_try_make`: the token is borrowed exclusively.
        drop(unsafe { &mut *slot }.take());
    }
}

impl fmt::Debug for QueueToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueToken")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for PerQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerQueue").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
