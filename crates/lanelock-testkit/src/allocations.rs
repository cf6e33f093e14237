//! A global allocator that counts, for tests that nothing is allocated.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// To be a test's `#[global_allocator]`.
#[derive(Debug)]
pub struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Allocations of all threads so far.
///
/// # Panics
/// If [`Counting`] is not the global allocator.
#[must_use]
pub fn allocations() -> u64 {
    let count = ALLOCATIONS.load(Relaxed);
    assert!(count > 0, "allocations are not counted");
    count
}

/// Allocations and frees of this thread while `run` runs: other tests run beside this one.
///
/// # Panics
/// If [`Counting`] is not the global allocator.
pub fn calls(run: impl FnOnce()) -> usize {
    let _counted = allocations();
    let before = CALLS.get();
    run();
    CALLS.get() - before
}

// SAFETY: hands everything to the system's allocator; counting allocates nothing. Growing is
// allocating, copying and freeing, as `GlobalAlloc` has it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}
