//! Messages of a mode with an IV, whole or in parts, and how they reach a kernel.

use core::mem::MaybeUninit;

use super::key::Schedule;
use super::{BLOCK, KeySize};

/// One message from its beginning to its end.
#[derive(Debug)]
pub struct Message<'k, Key> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, as many as the mode takes; zero does nothing.
    pub len: u32,
    /// The schedule of this message.
    pub key: &'k Key,
    /// Valid for reads.
    pub iv: *const [u8; BLOCK],
}

/// One message, or the next part of one.
#[derive(Debug)]
pub struct Part<'k, Key> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, below 4 GiB; of a part that is not the last, a multiple of 16. Zero does nothing.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k Key,
    /// Before: the IV, or what the previous part left here. After: the last block of the chain.
    pub iv: [u8; BLOCK],
}

impl<'k, Key: Schedule> Part<'k, Key> {
    /// As a message, whose IV stays here.
    ///
    /// # Panics
    /// If the length is not below 4 GiB.
    #[inline(always)]
    pub(super) fn message(&self) -> Message<'k, Key> {
        Message {
            source: self.source,
            target: self.target,
            len: length(self.len),
            key: self.key,
            iv: &raw const self.iv,
        }
    }

    /// Where its last whole block begins, in bytes; `None` without one.
    #[inline(always)]
    pub(super) fn last_block(&self) -> Option<usize> {
        (self.len / BLOCK * BLOCK).checked_sub(BLOCK)
    }

    /// The size of all keys; `None` without parts.
    ///
    /// # Panics
    /// If a key differs in size from the first part's.
    pub(super) fn key_size(parts: &[Self]) -> Option<KeySize> {
        let size = parts.first()?.key.key_size();
        let uniform = parts.iter().all(|part| part.key.key_size() == size);
        assert!(uniform, "keys of one size are required");
        Some(size)
    }

    /// [`Self::key_size`] of parts in whole blocks.
    ///
    /// # Panics
    /// As [`Self::key_size`], and if a length is not a multiple of 16.
    pub(super) fn key_size_of_blocks(parts: &[Self]) -> Option<KeySize> {
        let whole = parts.iter().all(|part| part.len.is_multiple_of(BLOCK));
        assert!(whole, "whole blocks are required");
        Self::key_size(parts)
    }
}

/// Messages as they lie in a caller's records, field by field: kernels read them there, and are
/// compiled once, whatever the records are. Each pointer is to the field of the first record.
#[derive(Debug)]
pub struct Records<'k, Key> {
    /// [`Message::source`] of each.
    pub source: *const *const u8,
    /// [`Message::target`] of each.
    pub target: *const *mut u8,
    /// [`Message::len`] of each.
    pub len: *const u32,
    /// [`Message::iv`] of each.
    pub iv: *const *const [u8; BLOCK],
    /// [`Message::key`] of each.
    pub key: *const &'k Key,
    /// Bytes from a record to the next.
    pub stride: usize,
    /// Bytes from a key to the next; 0 if all messages have the first.
    pub key_stride: usize,
    /// Number of messages.
    pub count: usize,
}

impl<'k, Key> Records<'k, Key> {
    /// Messages that lie in a row; `None` without one.
    #[inline]
    pub fn of(messages: &[Message<'k, Key>]) -> Option<Self> {
        if messages.is_empty() {
            return None;
        }
        let first = messages.as_ptr();
        // SAFETY: fields of the first message, which there is; their places alone are taken.
        unsafe {
            Some(Self {
                source: &raw const (*first).source,
                target: &raw const (*first).target,
                len: &raw const (*first).len,
                iv: &raw const (*first).iv,
                key: &raw const (*first).key,
                stride: size_of::<Message<'k, Key>>(),
                key_stride: size_of::<Message<'k, Key>>(),
                count: messages.len(),
            })
        }
    }

    /// The messages from `first` on, `most` at most.
    #[inline]
    pub(crate) fn part(&self, first: usize, most: usize) -> Self {
        let at = first * self.stride;
        Self {
            source: self.source.wrapping_byte_add(at),
            target: self.target.wrapping_byte_add(at),
            len: self.len.wrapping_byte_add(at),
            iv: self.iv.wrapping_byte_add(at),
            key: self.key.wrapping_byte_add(first * self.key_stride),
            count: (self.count - first).min(most),
            ..*self
        }
    }

    /// Message `i`.
    ///
    /// # Safety
    /// `i` is below `count`, and the pointers are as the fields say.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, i: usize) -> Message<'k, Key> {
        let at = i * self.stride;
        // SAFETY: the caller's promise.
        unsafe {
            Message {
                source: self.source.byte_add(at).read(),
                target: self.target.byte_add(at).read(),
                len: self.len.byte_add(at).read(),
                key: self.key.byte_add(i * self.key_stride).read(),
                iv: self.iv.byte_add(at).read(),
            }
        }
    }
}

/// The length of a message.
///
/// # Panics
/// If it is not below 4 GiB.
#[inline(always)]
pub(super) fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("a message is shorter than 4 GiB")
}

/// Most messages that are written down for a kernel: enough that a call costs nothing by comparison.
const WRITTEN: usize = 64;

/// Hands all messages to `run`, in records.
#[inline(always)]
pub(crate) fn in_records<'k, Key: 'k>(
    mut messages: impl Iterator<Item = Message<'k, Key>>,
    run: impl Fn(&Records<'k, Key>),
) {
    let mut written = [const { MaybeUninit::<Message<'k, Key>>::uninit() }; WRITTEN];
    loop {
        let mut len = 0;
        while len < WRITTEN
            && let Some(message) = messages.next()
        {
            written[len].write(message);
            len += 1;
        }
        // SAFETY: the first `len` are initialised. Messages borrow and have nothing to drop.
        let messages = unsafe { core::slice::from_raw_parts(written.as_ptr().cast(), len) };
        if let Some(records) = Records::of(messages) {
            run(&records);
        }
        if len < WRITTEN {
            return;
        }
    }
}
