//! Memory of this process alone.

use std::ptr::NonNull;

use zeroize::Zeroize;

/// Whole pages that every child process finds zero, however it is made (fork, clone(2), into any
/// namespace). They are left out of core dumps, and kept from swap if the limit on locked memory
/// allows it. Wiped when they go.
#[derive(Debug)]
pub(crate) struct Unshared {
    start: NonNull<u8>,
    /// Bytes, as asked for.
    len: usize,
}

// SAFETY: the mapping is the value's own.
unsafe impl Send for Unshared {}
// SAFETY: shared references only read.
unsafe impl Sync for Unshared {}

impl Unshared {
    /// `len` bytes, all zero, aligned to a page; `None` if the kernel refuses it. `len` is not zero.
    pub(crate) fn new(len: usize) -> Option<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let memory = Self {
            start: NonNull::new(start.cast())?,
            len,
        };
        // SAFETY: the mapping just made. The last two are what can be done, not what is needed.
        let is_wiped = unsafe {
            libc::madvise(start, len, libc::MADV_DONTDUMP);
            libc::mlock(start, len);
            libc::madvise(start, len, libc::MADV_WIPEONFORK) == 0
        };
        is_wiped.then_some(memory)
    }

    #[cfg(test)]
    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: `len` bytes are mapped and initialised, and change only through `&mut self`, or
        // to zero in a child, which is another address space.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Unshared {
    fn drop(&mut self) {
        self.as_mut_slice().zeroize();
        // SAFETY: mapped by `new`; no borrow is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use lanelock_testkit::in_child;

    use super::*;

    #[test]
    fn a_child_finds_nothing_and_the_parent_everything() {
        let mut memory = Unshared::new(5000).expect("memory");
        memory.as_mut_slice().fill(7);
        let is_wiped = in_child(|| memory.as_slice().iter().all(|&byte| byte == 0));
        assert!(is_wiped, "the child read the parent's bytes");
        assert!(memory.as_slice().iter().all(|&byte| byte == 7));
    }
}
