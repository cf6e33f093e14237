//! A message to hash, with its key, if it has one, and the place of its output.

#![allow(unsafe_code)] // parts are raw: they may lie in buffers that other operations write

use core::fmt;
use core::mem::MaybeUninit;

use super::Key;

/// Most parts of a message that runs in a lane; [`Stream`](super::Stream) takes any number.
pub const MAX_PARTS: usize = 4;

/// A message to hash: one part, or several in order.
pub struct Job<'m> {
    /// Invariant: those below `count` are initialised, and valid for reading until the job has run.
    parts: [MaybeUninit<*const [u8]>; MAX_PARTS],
    /// Parts that have been read; one more than there are if the key's suffix has been read, too.
    read: u8,
    count: u8,
    key: Option<&'m Key>,
    place: &'m mut [u8],
}

impl<'m> Job<'m> {
    /// A message in one part. Its hash, or what `key` makes of it, goes to `place`, cut to its length;
    /// an extendable function fills it. A key of KMAC is for tags of this length or longer ones.
    #[inline]
    #[must_use]
    pub fn new(message: &'m [u8], key: Option<&'m Key>, place: &'m mut [u8]) -> Self {
        // SAFETY: the message is borrowed for as long as the job lives.
        unsafe { Self::of_raw(message, key, place) }
    }

    /// As [`Job::new`], for memory that is not borrowed.
    ///
    /// # Safety
    /// `message` is valid for reading until the job has run or is dropped.
    #[inline(always)]
    #[must_use]
    pub unsafe fn of_raw(message: *const [u8], key: Option<&'m Key>, place: &'m mut [u8]) -> Self {
        let mut parts = [MaybeUninit::uninit(); MAX_PARTS];
        parts[0].write(message);
        Self {
            parts,
            read: 0,
            count: 1,
            key,
            place,
        }
    }

    /// Appends a part; `false` if there is no room for it.
    ///
    /// # Safety
    /// `part` is valid for reading until the job has run or is dropped.
    #[inline]
    pub unsafe fn push(&mut self, part: *const [u8]) -> bool {
        let Some(slot) = self.parts.get_mut(usize::from(self.count)) else {
            return false;
        };
        slot.write(part);
        self.count += 1;
        true
    }

    /// The next part, `None` past the last one.
    #[inline(always)]
    pub(super) fn next_part(&mut self) -> Option<*const [u8]> {
        if self.read >= self.count {
            let suffix = self.key?.suffix();
            if self.read > self.count || suffix.is_empty() {
                return None;
            }
            self.read += 1;
            return Some(suffix);
        }
        // SAFETY: `read` < `count`.
        let part = unsafe { self.parts[usize::from(self.read) % MAX_PARTS].assume_init() };
        self.read += 1;
        Some(part)
    }

    #[inline(always)]
    pub(super) fn key(&self) -> Option<&'m Key> {
        self.key
    }

    #[inline(always)]
    pub(super) fn place(&mut self) -> &mut [u8] {
        self.place
    }
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job of {} parts", self.count)
    }
}
