//! Which process this is, for state that a child must not share with its parent.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::memory::Unshared;

/// The word that says it, which is zero in a new process; null before it is first asked for.
static MARK: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

/// The next number. A child inherits it, so that its own is greater than its parent's.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// A number, not zero, that differs between a process and its children, however they were made: the
/// kernel wipes the word, so that nothing depends on handlers, process numbers or namespaces. `None`
/// if the kernel refuses the memory for it.
pub(crate) fn generation() -> Option<u32> {
    let mark = mark()?;
    let known = mark.load(Ordering::Relaxed);
    if known != 0 {
        return Some(known);
    }
    let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
    let placed = mark.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed);
    Some(placed.err().unwrap_or(fresh))
}

fn mark() -> Option<&'static AtomicU32> {
    let known = MARK.load(Ordering::Acquire);
    let mark = if known.is_null() { place()? } else { known };
    // SAFETY: `place` put it there, for ever.
    Some(unsafe { &*mark })
}

#[cold]
fn place() -> Option<*mut AtomicU32> {
    let mut memory = Unshared::new(size_of::<AtomicU32>())?;
    let mark = memory.as_mut_slice().as_mut_ptr().cast();
    let null = std::ptr::null_mut();
    match MARK.compare_exchange(null, mark, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            std::mem::forget(memory);
            Some(mark)
        }
        Err(theirs) => Some(theirs),
    }
}
