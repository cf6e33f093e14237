//! The sessions of a key. Threads find them without a lock, which a forked child would find held.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use lanelock::public_key::KeySession;

use super::Use;

/// A list that only grows. Two threads that open the same session at once may both put theirs on it.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    first: AtomicPtr<Node>,
}

#[derive(Debug)]
struct Node {
    usage: Use,
    /// `None` if there are no lanes for this use.
    session: Option<KeySession>,
    is_forgotten: AtomicBool,
    next: *mut Node,
}

// SAFETY: nodes are written before they are published, and freed by `drop` alone.
unsafe impl Send for Sessions {}
// SAFETY: as above; sessions are `Sync`.
unsafe impl Sync for Sessions {}

impl Sessions {
    /// What is known of this use.
    pub(super) fn find(&self, usage: Use) -> Option<Option<KeySession>> {
        let mut nodes = self.nodes();
        let found =
            nodes.find(|node| node.usage == usage && !node.is_forgotten.load(Ordering::Relaxed));
        found.map(|node| node.session.clone())
    }

    pub(super) fn push(&self, usage: Use, session: Option<KeySession>) {
        let node = Box::into_raw(Box::new(Node {
            usage,
            session,
            is_forgotten: AtomicBool::new(false),
            next: self.first.load(Ordering::Acquire),
        }));
        loop {
            // SAFETY: not published yet, so this thread's alone.
            let next = unsafe { (*node).next };
            match self
                .first
                .compare_exchange(next, node, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return,
                // SAFETY: as above.
                Err(other) => unsafe { (*node).next = other },
            }
        }
    }

    /// The key is no longer the one that they were opened for.
    pub(super) fn forget(&self) {
        for node in self.nodes() {
            node.is_forgotten.store(true, Ordering::Relaxed);
        }
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        // SAFETY: null or a published node, which lives as long as this.
        let node = |at: *mut Node| unsafe { at.as_ref() };
        let first = node(self.first.load(Ordering::Acquire));
        std::iter::successors(first, move |at| node(at.next))
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        let mut at = *self.first.get_mut();
        while !at.is_null() {
            // SAFETY: a published node, freed once; no borrow of it is left.
            at = unsafe { Box::from_raw(at) }.next;
        }
    }
}
