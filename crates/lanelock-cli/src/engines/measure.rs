//! `lanelock engines --measure`: runs bursts until the process knows which engine is faster.

use lanelock::algorithm::Spec;
use lanelock::{Device, Session};

use crate::failure::Failure;
use crate::perf;

/// Operations in a burst, and bytes of their messages: one of each kind that is told apart.
const OPS: [usize; 5] = [1, 2, 4, 8, 32];
const BYTES: [u32; 5] = [64, 256, 1024, 4096, 16_384];

/// More than it takes to know a kind of burst.
const BURSTS: usize = 160;

/// Chains to measure beside every single algorithm.
const CHAINS: [&str; 6] = [
    "aes-128-cbc+hmac-sha1",
    "aes-128-cbc+hmac-sha256",
    "aes-256-cbc+hmac-sha512",
    "aes-128-ctr+hmac-sha1",
    "aes-128-cbc+aes-128-cmac",
    "hmac-sha256+aes-256-cbc",
];

/// The chains, by name.
pub(super) fn chains() -> impl Iterator<Item = Spec> {
    CHAINS.iter().map(|name| name.parse().expect("a name"))
}

/// Runs every kind of burst of a session that protects until it is known, if it has a stand-in.
///
/// # Errors
/// [`Failure::Failed`] if an operation failed.
pub(super) fn run(device: &Device, session: &Session) -> Result<(), Failure> {
    if session.stand_in().is_none() {
        return Ok(());
    }
    for (ops, len) in OPS.iter().flat_map(|&ops| BYTES.map(|len| (ops, len))) {
        perf::exercise(device, session, ops, len, BURSTS)?;
    }
    Ok(())
}
