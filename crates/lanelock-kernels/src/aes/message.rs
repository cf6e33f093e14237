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
    /// Valid for reads, in a mode that has one.
    pub iv: *const [u8; BLOCK],
}

impl<'k, Key> Message<'k, Key> {
    /// Blocks of a mode without an IV; see the fields.
    ///
    /// # Panics
    /// If the length is not below 4 GiB.
    #[inline(always)]
    pub fn without_iv(source: *const u8, target: *mut u8, len: usize, key: &'k Key) -> Self {
        Self {
            source,
            target,
            len: length(len),
            key,
            iv: core::ptr::null(),
        }
    }
}

/// Memory where a message goes on.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes if the mode writes; may be `source`.
    pub target: *mut u8,
    /// Bytes, at least one and below 4 GiB.
    pub len: usize,
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
    /// What follows, if anything: then all pieces, the first `len` bytes among them, are of whole
    /// blocks.
    pub more: &'k [Piece],
    /// The schedule of this message.
    pub key: &'k Key,
    /// Before: the IV, or what the previous part left here. After: the last block of the chain.
    pub iv: [u8; BLOCK],
}

impl<Key> Part<'_, Key> {
    /// The first piece, or one of those that follow it.
    #[inline(always)]
    fn piece(&self, n: usize) -> Piece {
        match n.checked_sub(1) {
            Some(n) => self.more[n],
            None => Piece {
                source: self.source,
                target: self.target,
                len: self.len,
            },
        }
    }
}

impl<'k, Key: Schedule> Part<'k, Key> {
    /// The first piece as a message, whose IV stays here.
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

    /// Where its last whole block is written; `None` without one.
    #[inline(always)]
    pub(super) fn last_block(&self) -> Option<*const [u8; BLOCK]> {
        let Piece { target, len, .. } = self.piece(self.more.len());
        let at = (len / BLOCK * BLOCK).checked_sub(BLOCK)?;
        Some(target.wrapping_add(at).cast_const().cast())
    }

    /// The size of all keys; `None` without parts.
    ///
    /// # Panics
    /// If a key differs in size from the first part's, or a part in several pieces is not in whole
    /// blocks.
    pub(super) fn key_size(parts: &[Self]) -> Option<KeySize> {
        let size = parts.first()?.key.key_size();
        let uniform = parts.iter().all(|part| part.key.key_size() == size);
        assert!(uniform, "keys of one size are required");
        let whole = |part: &Self| part.more.is_empty() || part.is_whole();
        assert!(
            parts.iter().all(whole),
            "pieces of whole blocks are required"
        );
        Some(size)
    }

    /// Whether each piece is of whole blocks, and not empty if there are several.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        let (mut odd, mut empty) = (self.len % BLOCK, !self.more.is_empty() & (self.len == 0));
        for piece in self.more {
            odd |= piece.len % BLOCK;
            empty |= piece.len == 0;
        }
        odd == 0 && !empty
    }

    /// [`Self::key_size`] of parts in whole blocks.
    ///
    /// # Panics
    /// As [`Self::key_size`], and if a length is not a multiple of 16.
    pub(super) fn key_size_of_blocks(parts: &[Self]) -> Option<KeySize> {
        assert!(
            parts.iter().all(Self::is_whole),
            "whole blocks are required"
        );
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
        // SAFETY: the caller's promise.
        unsafe { self.at(i * self.stride, i * self.key_stride) }
    }

    /// The message with its fields this many bytes behind those of the first, and its key that many.
    ///
    /// # Safety
    /// There is one, and the pointers are as the fields say.
    #[inline(always)]
    pub(crate) unsafe fn at(&self, at: usize, key_at: usize) -> Message<'k, Key> {
        // SAFETY: the caller's promise.
        unsafe {
            Message {
                source: self.source.byte_add(at).read(),
                target: self.target.byte_add(at).read(),
                len: self.len.byte_add(at).read(),
                key: self.key.byte_add(key_at).read(),
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

/// Hands every piece of `parts` to `run`, as a message whose IV is the part's. `advance` makes it that
/// of what follows the piece: before any piece runs that is handed over with this one.
#[inline(always)]
pub(super) fn in_pieces<'k, Key: 'k>(
    parts: &mut [Part<'k, Key>],
    advance: impl Fn(&mut [u8; BLOCK], &Piece),
    run: impl Fn(&Records<'k, Key>),
) {
    let mut ivs = [[0; BLOCK]; WRITTEN];
    let ivs: *mut [u8; BLOCK] = ivs.as_mut_ptr();
    let mut written = Written::new();
    for part in parts {
        // In registers: a block that was stored in halves would wait for its stores when it is loaded.
        let mut iv = part.iv;
        for n in 0..=part.more.len() {
            let piece = part.piece(n);
            if written.is_full() {
                written.hand_over(&run);
            }
            let place = ivs.wrapping_add(written.len);
            // SAFETY: one of as many.
            unsafe { place.write(iv) };
            advance(&mut iv, &piece);
            written.push(Message {
                source: piece.source,
                target: piece.target,
                len: length(piece.len),
                key: part.key,
                iv: place.cast_const(),
            });
        }
        part.iv = iv;
    }
    written.hand_over(&run);
}

/// Most messages that are written down for a kernel: enough that a call costs nothing by comparison.
const WRITTEN: usize = 64;

/// Hands all messages to `run`, in records.
#[inline(always)]
pub(crate) fn in_records<'k, Key: 'k>(
    mut messages: impl Iterator<Item = Message<'k, Key>>,
    run: impl Fn(&Records<'k, Key>),
) {
    let mut written = Written::new();
    loop {
        while !written.is_full()
            && let Some(message) = messages.next()
        {
            written.push(message);
        }
        let more = written.is_full();
        written.hand_over(&run);
        if !more {
            return;
        }
    }
}

/// Messages that are written down.
struct Written<'k, Key> {
    messages: [MaybeUninit<Message<'k, Key>>; WRITTEN],
    /// Invariant: as many are initialised.
    len: usize,
}

impl<'k, Key> Written<'k, Key> {
    #[inline(always)]
    fn new() -> Self {
        let messages = [const { MaybeUninit::uninit() }; WRITTEN];
        Self { messages, len: 0 }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.len == WRITTEN
    }

    #[inline(always)]
    fn push(&mut self, message: Message<'k, Key>) {
        self.messages[self.len].write(message);
        self.len += 1;
    }

    /// Hands all of them to `run`, in records.
    #[inline(always)]
    fn hand_over(&mut self, run: impl Fn(&Records<'k, Key>)) {
        // SAFETY: the invariant. Messages borrow and have nothing to drop.
        let messages =
            unsafe { core::slice::from_raw_parts(self.messages.as_ptr().cast(), self.len) };
        if let Some(records) = Records::of(messages) {
            run(&records);
        }
        self.len = 0;
    }
}
