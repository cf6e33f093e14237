//! A whole message of a mode with an IV, and how messages reach a kernel.

use core::mem::MaybeUninit;

use super::BLOCK;

/// One message from its beginning to its end.
#[derive(Debug)]
pub struct Message<'k, Key> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, as many as the mode takes; zero does nothing.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k Key,
    /// Valid for reads.
    pub iv: *const [u8; BLOCK],
}

/// Most messages of one kernel call: enough that the call costs nothing by comparison.
const PART: usize = 64;

/// Messages of one kernel call, field by field: compilers would otherwise bring the fields of each
/// together in wider registers first.
///
/// Invariant: the first `len` of every column are initialised, and are what messages have.
pub(crate) struct Part<'k, Key> {
    source: [MaybeUninit<*const u8>; PART],
    target: [MaybeUninit<*mut u8>; PART],
    bytes: [MaybeUninit<usize>; PART],
    key: [MaybeUninit<&'k Key>; PART],
    iv: [MaybeUninit<*const [u8; BLOCK]>; PART],
    len: usize,
}

impl<'k, Key> Part<'k, Key> {
    /// No messages.
    #[inline(always)]
    pub fn new() -> Self {
        Self {
            source: [const { MaybeUninit::uninit() }; PART],
            target: [const { MaybeUninit::uninit() }; PART],
            bytes: [const { MaybeUninit::uninit() }; PART],
            key: [const { MaybeUninit::uninit() }; PART],
            iv: [const { MaybeUninit::uninit() }; PART],
            len: 0,
        }
    }

    /// Hands all messages to `run`, as many at a time as there is room for. What yields them is
    /// inlined here, the kernel is not: it is compiled once, in this crate, with the instructions of
    /// its tier.
    #[inline(always)]
    pub fn run_all(messages: impl Iterator<Item = Message<'k, Key>>, run: impl Fn(&Self)) {
        let mut part = Self::new();
        let mut messages = messages;
        loop {
            part.fill(&mut messages);
            run(&part);
            if part.len < PART {
                return;
            }
        }
    }

    /// Takes messages, in place of those before, until there is room for no more.
    #[inline(always)]
    pub fn fill(&mut self, messages: &mut impl Iterator<Item = Message<'k, Key>>) {
        let mut len = 0;
        while len < PART
            && let Some(message) = messages.next()
        {
            self.source[len].write(message.source);
            self.target[len].write(message.target);
            self.bytes[len].write(message.len);
            self.key[len].write(message.key);
            self.iv[len].write(message.iv);
            len += 1;
        }
        self.len = len;
    }

    /// How many messages there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Message `i`.
    ///
    /// # Panics
    /// If there are no more than `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> Message<'k, Key> {
        assert!(i < self.len && i < PART, "message {i} of {}", self.len);
        // SAFETY: the invariant.
        unsafe {
            Message {
                source: self.source[i].assume_init(),
                target: self.target[i].assume_init(),
                len: self.bytes[i].assume_init(),
                key: self.key[i].assume_init(),
                iv: self.iv[i].assume_init(),
            }
        }
    }
}
