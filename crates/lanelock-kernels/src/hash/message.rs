//! What a message is to the kernels: parts in order, and a place for the digest.

#![allow(unsafe_code)] // parts are raw: they may lie in buffers that other operations write

/// Longest digest, in bytes.
pub const MAX_DIGEST: usize = 64;

/// A message to hash: one part, or several in order (a prefix, the segments of a buffer).
///
/// # Safety
/// Every part that [`Self::next_part`] returns stays valid for reading until [`Self::finish`] is
/// called on this message, whatever else is called on other messages of the burst meanwhile.
pub unsafe trait Message {
    /// The next part, `None` behind the last one. Empty parts are passed over.
    fn next_part(&mut self) -> Option<*const [u8]>;

    /// Whether [`Self::next_part`] has returned the last part, or there is none.
    fn is_read(&self) -> bool;

    /// Takes the digest, whole. Called once, after the last part was read.
    fn finish(&mut self, digest: &[u8]);
}

/// A message in one piece, with its digest.
#[derive(Clone, Debug)]
pub struct Whole<'m> {
    rest: Option<&'m [u8]>,
    digest: [u8; MAX_DIGEST],
}

impl<'m> Whole<'m> {
    /// A message to hash.
    #[must_use]
    pub fn new(message: &'m [u8]) -> Self {
        Self {
            rest: Some(message),
            digest: [0; MAX_DIGEST],
        }
    }

    /// The digest, in the first bytes; zeros before the message was hashed.
    #[must_use]
    pub fn digest(&self) -> &[u8; MAX_DIGEST] {
        &self.digest
    }
}

// SAFETY: the one part is borrowed for longer than `self` lives.
unsafe impl Message for Whole<'_> {
    #[inline]
    fn next_part(&mut self) -> Option<*const [u8]> {
        self.rest.take().map(core::ptr::from_ref)
    }

    #[inline]
    fn is_read(&self) -> bool {
        self.rest.is_none()
    }

    #[inline]
    fn finish(&mut self, digest: &[u8]) {
        self.digest[..digest.len()].copy_from_slice(digest);
    }
}

/// A message in several pieces, with its digest.
#[derive(Clone, Debug)]
pub struct Parts<'m> {
    rest: &'m [&'m [u8]],
    digest: [u8; MAX_DIGEST],
}

impl<'m> Parts<'m> {
    /// A message to hash.
    #[must_use]
    pub fn new(parts: &'m [&'m [u8]]) -> Self {
        Self {
            rest: parts,
            digest: [0; MAX_DIGEST],
        }
    }

    /// The digest, in the first bytes; zeros before the message was hashed.
    #[must_use]
    pub fn digest(&self) -> &[u8; MAX_DIGEST] {
        &self.digest
    }
}

// SAFETY: the parts are borrowed for longer than `self` lives.
unsafe impl Message for Parts<'_> {
    #[inline]
    fn next_part(&mut self) -> Option<*const [u8]> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(core::ptr::from_ref(*first))
    }

    #[inline]
    fn is_read(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    fn finish(&mut self, digest: &[u8]) {
        self.digest[..digest.len()].copy_from_slice(digest);
    }
}
