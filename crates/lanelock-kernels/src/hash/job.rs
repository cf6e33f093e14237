//! A message to hash, with the key of its HMAC, if it has one, and a place for the digest.

#![allow(unsafe_code)] // memory of messages is raw: other operations may write to it

use core::fmt;
use core::mem::MaybeUninit;

use super::{Algorithm, HmacKey};
use crate::arch::words::Row;
use crate::bytes::copy_short;
use crate::parts::Parts;

/// Longest digest, in bytes.
pub const MAX_DIGEST: usize = 64;

/// A message to hash: one part, or several in order (a prefix, the segments of a buffer).
///
/// One type for every caller, so that what walks over messages is compiled once for each tier.
/// What is not used of it is not initialised: a job is a cache line and a half of writes.
pub struct Job<'m, A: Algorithm> {
    /// Invariant: valid for reading until the job has run.
    parts: Parts<'m>,
    has_run: bool,
    key: Option<&'m HmacKey<A>>,
    /// Where the first bytes of the digest go; `None` for `digest`. No longer than the digest.
    place: Option<&'m mut [u8]>,
    /// Invariant: the digest's bytes are initialised if `has_run` and there is no `place`.
    digest: MaybeUninit<[u8; MAX_DIGEST]>,
}

impl<'m, A: Algorithm> Job<'m, A> {
    /// A message in one part; its HMAC under `key`, if there is one, else its hash.
    #[inline]
    #[must_use]
    pub fn new(message: &'m [u8], key: Option<&'m HmacKey<A>>) -> Self {
        // SAFETY: the message is borrowed for as long as the job lives.
        unsafe { Self::of_raw(message, &[], key, None) }
    }

    /// A message in several parts. The digest goes to `place`, cut to its length, if there is one.
    ///
    /// # Panics
    /// If `place` is longer than the digest.
    #[inline]
    #[must_use]
    pub fn of_parts(
        parts: &'m [&'m [u8]],
        key: Option<&'m HmacKey<A>>,
        place: Option<&'m mut [u8]>,
    ) -> Self {
        Self::of(Parts::of(parts), key, place)
    }

    /// A message in memory that is not borrowed: its first part, and what follows. The digest goes to
    /// `place`, cut to its length, if there is one.
    ///
    /// # Panics
    /// If `place` is longer than the digest.
    ///
    /// # Safety
    /// All parts are valid for reading until the job has run or is dropped.
    #[inline(always)]
    #[must_use]
    pub unsafe fn of_raw(
        first: *const [u8],
        more: &'m [*const [u8]],
        key: Option<&'m HmacKey<A>>,
        place: Option<&'m mut [u8]>,
    ) -> Self {
        Self::of(Parts::new(first, more), key, place)
    }

    #[inline(always)]
    fn of(parts: Parts<'m>, key: Option<&'m HmacKey<A>>, place: Option<&'m mut [u8]>) -> Self {
        let fits = place.as_ref().is_none_or(|place| place.len() <= A::DIGEST);
        assert!(fits, "a place for a digest is no longer than the digest");
        Self {
            parts,
            has_run: false,
            key,
            place,
            digest: MaybeUninit::uninit(),
        }
    }

    /// The whole digest; empty before the job has run, and if it has another place.
    #[inline]
    #[must_use]
    pub fn digest(&self) -> &[u8] {
        if !self.has_run || self.place.is_some() {
            return &[];
        }
        // SAFETY: the invariant of `digest`.
        unsafe { core::slice::from_raw_parts(self.digest.as_ptr().cast(), A::DIGEST) }
    }

    /// Blocks of the message, which is not begun; its padding is the last of them, or in it.
    #[inline(always)]
    pub(super) fn blocks(&self) -> usize {
        self.parts.len() / A::BLOCK + 1
    }

    /// The next part, `None` past the last one.
    #[inline(always)]
    pub(super) fn next_part(&mut self) -> Option<*const [u8]> {
        self.parts.next()
    }

    /// Whether [`Self::next_part`] has returned the last part, or there is none.
    #[inline(always)]
    pub(super) fn is_read(&self) -> bool {
        self.parts.is_read()
    }

    /// The chaining value before the first block.
    #[inline(always)]
    pub(super) fn chain(&self) -> Row<A::Word> {
        self.key.map_or(A::INITIAL, |key| *key.inner())
    }

    /// Bytes that this chaining value stands for.
    #[inline(always)]
    pub(super) fn before(&self) -> u64 {
        if self.key.is_some() {
            A::BLOCK as u64
        } else {
            0
        }
    }

    /// The chaining value of the outer hash, if there is one.
    #[inline(always)]
    pub(super) fn outer(&self) -> Option<&'m Row<A::Word>> {
        self.key.map(HmacKey::outer)
    }

    /// Takes the digest, whole.
    ///
    /// # Safety
    /// `digest` is valid for reading a digest.
    #[inline(always)]
    pub(super) unsafe fn finish(&mut self, digest: *const u8) {
        self.has_run = true;
        let (to, len) = match &mut self.place {
            Some(place) => (place.as_mut_ptr(), place.len().min(A::DIGEST)),
            None => (self.digest.as_mut_ptr().cast(), A::DIGEST),
        };
        // SAFETY: at most a digest, which both hold; the place is borrowed exclusively.
        unsafe { copy_short(digest, to, len) }
    }
}

impl<A: Algorithm> fmt::Debug for Job<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job<{}>", A::NAME)
    }
}
