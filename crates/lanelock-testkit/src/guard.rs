//! Memory between two pages that nobody may touch: reading or writing a byte outside it ends the
//! process on the spot.

#![allow(unsafe_code)] // maps, protects and unmaps pages

use std::ptr;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

/// Readable and writable pages with an untouchable page on either side.
///
/// Invariant: `base` is the start of a private mapping of `whole` bytes that this value owns, of
/// which all but the first and the last page are readable and writable.
#[derive(Debug)]
pub(crate) struct GuardedPages {
    base: *mut u8,
    whole: usize,
    page: usize,
}

// SAFETY: the mapping is owned, and reached only through borrows of the value.
unsafe impl Send for GuardedPages {}
// SAFETY: as above.
unsafe impl Sync for GuardedPages {}

impl GuardedPages {
    /// At least `len` bytes, rounded up to whole pages.
    pub(crate) fn new(len: usize) -> std::io::Result<Self> {
        let page = rustix::param::page_size();
        let whole = len.max(1).next_multiple_of(page) + 2 * page;
        let flags = MapFlags::PRIVATE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut(), whole, ProtFlags::empty(), flags)?
        };
        let pages = Self {
            base: base.cast(),
            whole,
            page,
        };
        // SAFETY: the range lies inside the new mapping, which nothing refers to yet.
        unsafe {
            rustix::mm::mprotect(
                pages.first().cast(),
                pages.len(),
                MprotectFlags::READ | MprotectFlags::WRITE,
            )?;
        }
        Ok(pages)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the invariant: readable, initialised to zero by the kernel, borrowed with self.
        unsafe { std::slice::from_raw_parts(self.first(), self.len()) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, writable, and borrowed exclusively with self.
        unsafe { std::slice::from_raw_parts_mut(self.first(), self.len()) }
    }

    fn first(&self) -> *mut u8 {
        self.base.wrapping_add(self.page)
    }

    fn len(&self) -> usize {
        self.whole - 2 * self.page
    }
}

impl Drop for GuardedPages {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned and no borrow of it is left. An error cannot occur for a
        // range that was mapped whole, and there is no one to tell.
        let _cannot_fail = unsafe { rustix::mm::munmap(self.base.cast(), self.whole) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_between_the_guards_can_be_written() {
        let mut pages = GuardedPages::new(5000).unwrap();
        assert!(pages.as_slice().len() >= 5000);
        pages.as_mut_slice().fill(7);
        assert!(pages.as_slice().iter().all(|&byte| byte == 7));
    }
}
