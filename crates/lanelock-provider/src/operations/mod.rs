//! The functions that the core calls, one module for each operation.
//!
//! A function goes on to the default provider's of the same number with what that made itself.
//! SAFETY, for all of them: the core passes what functions of the same table gave it, alive, and
//! arguments as openssl/core_dispatch.h says; a function is offered only if the default provider
//! has it. Keys and secrets of [`crate::hybrid`]'s groups are this provider's own.

pub(crate) mod asym_cipher;
mod context;
pub(crate) mod hybrid_keymgmt;
pub(crate) mod kem;
pub(crate) mod keyexch;
pub(crate) mod keymgmt;
mod output;
mod scheme;
pub(crate) mod signature;
