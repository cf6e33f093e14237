//! What the line is built of, with every access watched and every order of them tried.

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use std::alloc::Layout;
use std::cell::RefCell;
use std::mem::MaybeUninit;

use loom::alloc::Track;
use loom::sync::atomic::AtomicUsize;
use loom::sync::{Condvar, Mutex};

/// How long a thread sleeps.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    /// Until it is woken: one that nobody wakes is a deadlock, which the model reports.
    Endless,
    /// Not at all.
    Over,
}

/// Few, so that batches wake each other's threads.
pub(crate) const BELLS: usize = 2;

/// A word that threads sleep on. As in the kernel, the word is compared and the thread put to sleep in
/// one step.
pub(crate) struct Bell {
    word: AtomicU32,
    kernel: Mutex<()>,
    sleepers: Condvar,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            kernel: Mutex::new(()),
            sleepers: Condvar::new(),
        }
    }

    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.word.load(order)
    }

    pub(crate) fn park(&self, rung: u32, patience: &mut Patience) -> bool {
        if matches!(patience, Patience::Over) {
            return false;
        }
        let kernel = self.kernel.lock().unwrap();
        if self.word.load(Ordering::Relaxed) == rung {
            drop(self.sleepers.wait(kernel).unwrap());
        }
        true
    }

    pub(crate) fn ring(&self) {
        self.word.fetch_add(1, Ordering::Release);
        let kernel = self.kernel.lock().unwrap();
        self.sleepers.notify_all();
        drop(kernel);
    }
}

/// A shared value that loom counts as lost if nobody drops it. What is freed is the next to be
/// allocated: an address comes back in the same executions each time, as loom requires, and it comes back
/// as soon as it can.
pub(crate) struct Arc<T>(*mut Shared<T>);

#[repr(C)]
struct Shared<T> {
    value: MaybeUninit<T>,
    count: AtomicUsize,
    tracked: Option<Track<()>>,
}

unsafe impl<T: Send + Sync> Send for Arc<T> {}
unsafe impl<T: Send + Sync> Sync for Arc<T> {}

thread_local! {
    static FREE: RefCell<Vec<(Layout, *mut u8)>> = const { RefCell::new(Vec::new()) };
}

impl<T> Arc<T> {
    const LAYOUT: Layout = Layout::new::<Shared<T>>();

    pub(crate) fn new(value: T) -> Self {
        let shared: *mut Shared<T> = FREE.with_borrow_mut(|free| {
            let last = free.iter().rposition(|(layout, _)| *layout == Self::LAYOUT);
            match last {
                Some(last) => free.remove(last).1,
                None => unsafe { std::alloc::alloc(Self::LAYOUT) },
            }
            .cast()
        });
        unsafe {
            shared.write(Shared {
                value: MaybeUninit::new(value),
                count: AtomicUsize::new(1),
                tracked: Some(Track::new(())),
            });
        }
        Self(shared)
    }

    pub(crate) fn into_raw(this: Self) -> *const T {
        std::mem::ManuallyDrop::new(this).0.cast()
    }

    pub(crate) unsafe fn from_raw(raw: *const T) -> Self {
        Self(raw.cast_mut().cast())
    }
}

impl<T> std::ops::Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        unsafe { (*self.0).value.assume_init_ref() }
    }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        unsafe { &*self.0 }.count.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T> Drop for Arc<T> {
    fn drop(&mut self) {
        if unsafe { &*self.0 }.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            unsafe {
                (*self.0).value.assume_init_drop();
                self.0.drop_in_place();
            }
            FREE.with_borrow_mut(|free| free.push((Self::LAYOUT, self.0.cast())));
        }
    }
}
