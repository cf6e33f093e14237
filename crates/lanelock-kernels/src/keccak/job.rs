//! A message to hash, with its key, if it has one, and the place of its output.

#![allow(unsafe_code)] // memory of messages is raw: other operations may write to it

use core::fmt;

use super::Key;
use crate::parts::Parts;

/// A message to hash: one part, or several in order.
pub struct Job<'m> {
    /// Invariant: valid for reading until the job has run.
    parts: Parts<'m>,
    key: Option<&'m Key>,
    /// Whether the key's suffix has been read.
    ended: bool,
    place: &'m mut [u8],
}

impl<'m> Job<'m> {
    /// A message in one part. Its hash, or what `key` makes of it, goes to `place`, cut to its length;
    /// an extendable function fills it. A key of KMAC is for tags of this length or longer ones.
    #[inline]
    #[must_use]
    pub fn new(message: &'m [u8], key: Option<&'m Key>, place: &'m mut [u8]) -> Self {
        // SAFETY: the message is borrowed for as long as the job lives.
        unsafe { Self::of_raw(message, &[], key, place) }
    }

    /// As [`Job::new`], of a message in several parts.
    #[inline]
    #[must_use]
    pub fn of_parts(parts: &'m [&'m [u8]], key: Option<&'m Key>, place: &'m mut [u8]) -> Self {
        Self {
            parts: Parts::of(parts),
            key,
            ended: false,
            place,
        }
    }

    /// As [`Job::new`], for memory that is not borrowed: the first part, and what follows.
    ///
    /// # Safety
    /// All parts are valid for reading until the job has run or is dropped.
    #[inline(always)]
    #[must_use]
    pub unsafe fn of_raw(
        first: *const [u8],
        more: &'m [*const [u8]],
        key: Option<&'m Key>,
        place: &'m mut [u8],
    ) -> Self {
        Self {
            parts: Parts::new(first, more),
            key,
            ended: false,
            place,
        }
    }

    /// The next part, the key's suffix after all of them; `None` past the last one.
    #[inline(always)]
    pub(super) fn next_part(&mut self) -> Option<*const [u8]> {
        if let Some(part) = self.parts.next() {
            return Some(part);
        }
        let suffix = self.key?.suffix();
        if self.ended || suffix.is_empty() {
            return None;
        }
        self.ended = true;
        Some(suffix)
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
        f.write_str("Job")
    }
}
