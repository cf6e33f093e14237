//! A whole message of a mode with an IV, and how many of them reach a kernel.

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

/// Messages of one kernel call: enough that the call costs nothing by comparison.
const PART: usize = 64;

/// Hands the messages to `run`, up to [`PART`] at a time. What yields them is inlined here, the
/// kernel is not: it is compiled once, in this crate, with the instructions of its tier.
#[inline(always)]
pub(crate) fn in_parts<T>(mut messages: impl Iterator<Item = T>, run: impl Fn(&[T])) {
    let mut part = [const { MaybeUninit::<T>::uninit() }; PART];
    loop {
        let mut len = 0;
        while len < PART
            && let Some(message) = messages.next()
        {
            part[len].write(message);
            len += 1;
        }
        // SAFETY: the first `len` are initialised. Messages borrow and have nothing to drop.
        run(unsafe { part[..len].assume_init_ref() });
        if len < PART {
            return;
        }
    }
}
