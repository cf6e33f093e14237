//! A message to hash, with the key of its HMAC, if it has one, and the place of its output.

#![allow(unsafe_code)] // memory of messages is raw: other operations may write to it

use core::fmt;

use super::HmacKey;
use crate::parts::Parts;

/// A message to hash: one part, or several in order.
pub struct Job<'m> {
    /// Invariant: valid for reading until the job has run.
    parts: Parts<'m>,
    key: Option<&'m HmacKey>,
    place: &'m mut [u8],
}

impl<'m> Job<'m> {
    /// A message in one part. Its hash, or its HMAC under `key`, goes to `place`, cut to its length;
    /// an extendable function fills it.
    #[inline]
    #[must_use]
    pub fn new(message: &'m [u8], key: Option<&'m HmacKey>, place: &'m mut [u8]) -> Self {
        // SAFETY: the message is borrowed for as long as the job lives.
        unsafe { Self::of_raw(message, &[], key, place) }
    }

    /// As [`Job::new`], of a message in several parts.
    #[inline]
    #[must_use]
    pub fn of_parts(parts: &'m [&'m [u8]], key: Option<&'m HmacKey>, place: &'m mut [u8]) -> Self {
        let parts = Parts::of(parts);
        Self { parts, key, place }
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
        key: Option<&'m HmacKey>,
        place: &'m mut [u8],
    ) -> Self {
        Self {
            parts: Parts::new(first, more),
            key,
            place,
        }
    }

    /// The next part, `None` past the last one.
    #[inline(always)]
    pub(super) fn next_part(&mut self) -> Option<*const [u8]> {
        self.parts.next()
    }

    #[inline(always)]
    pub(super) fn key(&self) -> Option<&'m HmacKey> {
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
