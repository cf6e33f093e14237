//! A whole message of a mode with an IV.

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
