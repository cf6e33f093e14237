//! SHA-1, SHA-2 and HMAC over many messages in lockstep.
//!
//! A message is one lane; [`hash_many`] runs any number of messages of any lengths and keys to
//! completion. A lane whose message ends takes the next message while the others keep going.

mod algorithm;
mod block;
mod compiled;
mod hmac;
mod job;
mod kernels;
mod lane;
mod schedule;
mod sha1;
pub(crate) mod sha2;
mod step;
mod stream;

pub use algorithm::{Algorithm, Compress, Sha1, Sha224, Sha256, Sha384, Sha512};
pub use hmac::HmacKey;
pub use job::{Job, MAX_DIGEST};
pub use kernels::Kernels;
pub use stream::Stream;

/// Runs every job, each to its hash, or to its HMAC under its own key.
#[inline]
pub fn hash_many<A: Algorithm>(kernels: &'static Kernels<A>, jobs: &mut [Job<'_, A>]) {
    A::run(kernels, jobs);
}
