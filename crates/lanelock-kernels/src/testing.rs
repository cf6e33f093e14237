//! What the tests of every kernel family share: random bytes and buffers that end at a guard page.

#![allow(unsafe_code)] // maps pages

use std::vec::Vec;

/// Bytes of one page.
const PAGE: usize = 4096;

/// A small generator (xorshift64*); seeded, so a failure can be repeated.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[7]).collect()
    }
}

/// Writable memory between two pages that fault on any access.
pub(crate) struct Guarded {
    start: *mut u8,
    len: usize,
}

impl Guarded {
    /// At least `len` bytes.
    pub(crate) fn new(len: usize) -> Self {
        let len = len.next_multiple_of(PAGE).max(PAGE);
        // SAFETY: a fresh anonymous mapping; the protection is lifted for all but its first and
        // last page.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let map = libc::mmap(
                core::ptr::null_mut(),
                len + 2 * PAGE,
                libc::PROT_NONE,
                flags,
                -1,
                0,
            );
            assert!(map != libc::MAP_FAILED, "mmap");
            let start = map.cast::<u8>().add(PAGE);
            let done = libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE);
            assert!(done == 0, "mprotect");
            Self { start, len }
        }
    }

    /// The last `len` bytes: one step behind them faults.
    pub(crate) fn tail(&mut self, len: usize) -> &mut [u8] {
        let from = self.len - len;
        &mut self.all()[from..]
    }

    /// The first `len` bytes: one step before them faults.
    pub(crate) fn head(&mut self, len: usize) -> &mut [u8] {
        &mut self.all()[..len]
    }

    fn all(&mut self) -> &mut [u8] {
        // SAFETY: `len` writable, zero-initialised bytes that `self` owns.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, with its two guard pages.
        unsafe { libc::munmap(self.start.sub(PAGE).cast(), self.len + 2 * PAGE) };
    }
}

/// Bytes of a hexadecimal string; blanks are passed over.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| u8::try_from(c.to_digit(16).expect("a hexadecimal digit")).unwrap())
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}
