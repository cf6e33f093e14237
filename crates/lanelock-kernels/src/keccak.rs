//! SHA-3, SHAKE (FIPS 202), HMAC over SHA-3, cSHAKE and KMAC (SP 800-185), many messages in lockstep.
//!
//! A message has a lane of a register for each of the 25 words of its state; [`hash_many`] runs any
//! number of messages of any lengths and keys to completion. A lane whose message ends takes the
//! next one. A message that is alone runs in registers of one word.
//!
//! All that a lane does is absorb and permute: what follows the first block of an output is squeezed
//! by absorbing zeros, and the outer hash of an HMAC is one block that its lane goes on with.

mod function;
mod job;
mod key;
pub(crate) mod lanes;
mod permutation;
mod schedule;
mod stream;

pub use function::Function;
pub use job::Job;
pub use key::Key;
pub use stream::{Output, Stream};

use crate::machine::Machine;

/// Runs every job of `function`.
///
/// # Panics
/// If a job's key is of another function, or its place is longer than the digest of a function whose
/// digest is of one length.
#[inline]
pub fn hash_many(machine: Machine, function: Function, jobs: &mut [Job<'_>]) {
    schedule::run(machine, function, jobs);
}

/// Whether several messages are faster than one after the other.
#[must_use]
pub fn has_lanes(machine: Machine) -> bool {
    crate::arch::of_words!(
        machine.words,
        |S| <S as crate::arch::words::Registers>::BITS > 64
    )
}
