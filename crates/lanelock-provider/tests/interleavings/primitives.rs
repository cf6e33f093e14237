//! What the line is built of, with every access watched and every order of them tried.

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::Arc;
pub(crate) use loom::sync::atomic::{AtomicPtr, Ordering};

use loom::sync::atomic::AtomicU32;
use loom::sync::{Condvar, Mutex};

/// How long a thread sleeps.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    /// Until it is woken: one that nobody wakes is a deadlock, which the model reports.
    Endless,
    /// Not at all.
    Over,
}

/// A word that a thread can sleep on. As in the kernel, the word is compared and the thread put to
/// sleep in one step.
pub(crate) struct Futex {
    word: AtomicU32,
    kernel: Mutex<()>,
    sleeper: Condvar,
}

impl Futex {
    pub(crate) fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            kernel: Mutex::new(()),
            sleeper: Condvar::new(),
        }
    }

    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.word.load(order)
    }

    pub(crate) fn swap(&self, value: u32) -> u32 {
        self.word.swap(value, Ordering::AcqRel)
    }

    pub(crate) fn replace(&self, old: u32, new: u32) -> Result<(), u32> {
        let placed = self
            .word
            .compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
        placed.map(|_| ())
    }

    pub(crate) fn park(&self, value: u32, patience: &mut Patience) -> bool {
        if matches!(patience, Patience::Over) {
            return false;
        }
        let kernel = self.kernel.lock().unwrap();
        if self.word.load(Ordering::Relaxed) == value {
            drop(self.sleeper.wait(kernel).unwrap());
        }
        true
    }

    pub(crate) fn wake(&self) {
        let kernel = self.kernel.lock().unwrap();
        self.sleeper.notify_one();
        drop(kernel);
    }
}
