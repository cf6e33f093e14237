//! ChaCha20, ChaCha20-Poly1305 (RFC 8439) and XChaCha20 over many messages.
//!
//! A lane is one 64-byte block of keystream. A long message fills the lanes with its own blocks;
//! the blocks of short messages, and the one-time keys of all, share registers.

mod aead;
mod batch;
mod block;
mod cipher;
mod consecutive;
mod kernels;
mod key;
mod lone;
mod pass;
mod stream;
mod tags;

pub use aead::{AeadJob, TAG, open_many, seal_many};
pub use cipher::{CipherJob, cipher_many};
pub use kernels::Kernels;
pub use key::{ExtendedKeys, KEY, Key, NONCE, X_NONCE, extended_nonce};
pub use stream::TagStream;

/// Largest message of ChaCha20-Poly1305 in bytes: the block counter has 32 bits and starts at 1.
pub const MAX_MESSAGE: u64 = ((1 << 32) - 2) * 64;
