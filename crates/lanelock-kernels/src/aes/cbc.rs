//! CBC (SP 800-38A, section 6.2).

mod decrypt;
mod encrypt;

use super::BLOCK;

pub use decrypt::{DecryptJob, decrypt_each, decrypt_many};
pub use encrypt::{EncryptJob, encrypt_each, encrypt_many};

/// One message from its beginning to its end.
#[derive(Debug)]
pub struct Message<'k, Key> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, a multiple of 16; zero does nothing.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k Key,
    /// Valid for reads.
    pub iv: *const [u8; BLOCK],
}

#[cfg(test)]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tests;
