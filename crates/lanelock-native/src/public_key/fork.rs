//! Which process this is, for random numbers that a child must not share with its parent.

#![allow(unsafe_code)] // a word that the operating system wipes in a child

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use rustix::io;
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// A word of a page that children find wiped, however they are forked; null until it is needed.
static WORD: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// The next number; inherited, hence above those of all parents.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that differs between a process and its parents: one load. Where the operating system
/// wipes no pages (Linux before 4.14), the number of the process.
pub(super) fn generation() -> u64 {
    let Some(word) = word() else {
        return u64::from(std::process::id());
    };
    match word.load(Ordering::Relaxed) {
        0 => {
            let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
            let first = word.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed);
            first.map_or_else(|known| known, |_| fresh)
        }
        known => known,
    }
}

fn word() -> Option<&'static AtomicU64> {
    let mut word = WORD.load(Ordering::Acquire);
    if word.is_null() {
        let made = page().ok()?.cast();
        let first =
            WORD.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
        // Whoever comes second leaves its page to the process.
        word = first.map_or_else(|known| known, |_| made);
    }
    // SAFETY: the start of a page that is zeros or numbers, and is never unmapped.
    Some(unsafe { &*word })
}

/// A page, all zeros, as it is in children.
fn page() -> io::Result<*mut std::ffi::c_void> {
    let len = rustix::param::page_size();
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
    let start = unsafe {
        rustix::mm::mmap_anonymous(
            ptr::null_mut(),
            len,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )?
    };
    // SAFETY: the range is the mapping just made; nothing refers to it if it is unmapped.
    unsafe {
        if let Err(error) = rustix::mm::madvise(start, len, Advice::LinuxWipeOnFork) {
            rustix::mm::munmap(start, len)?;
            return Err(error);
        }
    }
    Ok(start)
}
