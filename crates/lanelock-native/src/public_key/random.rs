//! Randomness of the operating system.

use lanelock_public_key::KeyReason;

/// Fills `bytes`; one system call for a batch.
pub(super) fn fill(bytes: &mut [u8]) -> Result<(), KeyReason> {
    getrandom::fill(bytes).map_err(|_| KeyReason::Engine)
}
