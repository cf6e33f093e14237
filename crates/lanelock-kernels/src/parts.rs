//! A message to hash, in any number of parts.

#![allow(unsafe_code)] // parts are raw: they may lie in buffers that other operations write

/// The parts of a message that have not been read.
pub(crate) struct Parts<'m> {
    /// The next one.
    next: *const [u8],
    /// Those behind it.
    more: &'m [*const [u8]],
    is_read: bool,
}

impl<'m> Parts<'m> {
    #[inline(always)]
    pub(crate) fn new(first: *const [u8], more: &'m [*const [u8]]) -> Self {
        let (next, is_read) = (first, false);
        Self {
            next,
            more,
            is_read,
        }
    }

    /// Those of slices.
    #[inline]
    pub(crate) fn of(parts: &'m [&'m [u8]]) -> Self {
        // SAFETY: a reference has the layout of a raw pointer.
        let parts = unsafe { core::slice::from_raw_parts(parts.as_ptr().cast(), parts.len()) };
        match parts {
            [] => Self {
                is_read: true,
                ..Self::new(&[], &[])
            },
            [first, more @ ..] => Self::new(*first, more),
        }
    }

    /// The next part, `None` past the last one.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<*const [u8]> {
        if self.is_read {
            return None;
        }
        let part = self.next;
        match self.more {
            [] => self.is_read = true,
            [next, more @ ..] => (self.next, self.more) = (*next, more),
        }
        Some(part)
    }

    /// Bytes that have not been read.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        if self.is_read {
            return 0;
        }
        let more: usize = self.more.iter().map(|part| part.len()).sum();
        self.next.len() + more
    }

    /// Whether [`Self::next`] has returned the last part, or there is none.
    #[inline(always)]
    pub(crate) fn is_read(&self) -> bool {
        self.is_read
    }
}
