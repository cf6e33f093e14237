//! Mapped memory as words.

#![allow(unsafe_code)] // mmap, munmap and the words behind the pointer

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr;
use std::sync::atomic::AtomicU64;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// Words that are mapped for as long as this lives.
#[derive(Debug)]
pub(crate) struct Words {
    start: *mut AtomicU64,
    len: usize,
}

// SAFETY: the words are atomics, and nothing but `drop` unmaps them.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    /// A memory file of `len` words, all zero, which can neither grow nor shrink, and its mapping,
    /// shared with whoever opens the file: to read it, since none but this mapping can write to it.
    pub(crate) fn shared(name: &str, len: usize) -> io::Result<(Self, OwnedFd)> {
        let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&file, (len * 8) as u64)?;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
        let start = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                len * 8,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file.as_fd(),
                0,
            )?
        };
        let words = Self {
            start: start.cast(),
            len,
        };
        // Whoever may open the file may otherwise cut it, and stores would raise SIGBUS; or write to
        // it, which this mapping alone may from here on. Linux before 5.1 does not know the latter.
        let size = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, size | SealFlags::FUTURE_WRITE)
            .or_else(|_unknown| rustix::fs::fcntl_add_seals(&file, size))?;
        Ok((words, file))
    }

    /// Private words, all zero, that are zero in a forked child whatever they are here.
    pub(crate) fn wiped_on_fork(len: usize) -> io::Result<Self> {
        // SAFETY: as in `shared`.
        let start = unsafe {
            rustix::mm::mmap_anonymous(
                ptr::null_mut(),
                len * 8,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        let words = Self {
            start: start.cast(),
            len,
        };
        // SAFETY: the range is the mapping just made.
        unsafe { rustix::mm::madvise(start, len * 8, Advice::LinuxWipeOnFork)? };
        Ok(words)
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has `len` words, is aligned to a page, is initialised with zeros by
        // the kernel and lives as long as `self`; the file under a shared one cannot shrink.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and borrows of it have ended.
        let _nothing_to_do_about_it =
            unsafe { rustix::mm::munmap(self.start.cast(), self.len * 8) };
    }
}
