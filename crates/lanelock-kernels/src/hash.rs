//! SHA-1, SHA-2 and HMAC over many messages in lockstep.
//!
//! A message is one lane; [`hash_many`] runs any number of messages of any lengths and keys to
//! completion. A lane whose message ends takes the next message while the others keep going.

mod algorithm;
mod hmac;
mod job;
mod lane;
mod schedule;
mod sha1;
mod sha2;
#[cfg(target_arch = "x86_64")]
mod sha512_one;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sha_ni;
mod step;
mod stream;
mod tail;
mod tier;

pub use algorithm::{Algorithm, Compress, Sha1, Sha224, Sha256, Sha384, Sha512};
pub use hmac::HmacKey;
pub use job::{Job, MAX_DIGEST, MAX_PARTS};
pub use stream::Stream;
pub use tier::Kernels;

/// Words of the longest message schedule.
const SCHEDULE: usize = 80;

/// Runs every job, each to its hash, or to its HMAC under its own key.
#[inline]
pub fn hash_many<A: Algorithm>(kernels: &'static Kernels<A>, jobs: &mut [Job<'_, A>]) {
    A::run(kernels, jobs);
}

#[cfg(test)]
pub(crate) mod reference;
#[cfg(test)]
mod tests;
