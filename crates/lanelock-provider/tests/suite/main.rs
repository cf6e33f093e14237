//! The module as OpenSSL loads it, against the default provider.

#![allow(unsafe_code, missing_docs)]
#![allow(dead_code)] // the modules shared with the other suite have more
#![allow(clippy::undocumented_unsafe_blocks, clippy::unwrap_used)] // calls as an application makes them

mod asynchronous;
mod hybrid;
mod jobs;
mod messages;
mod ml_kem;
mod openssl;
mod shares;
mod synchronous;
