//! Bursts of cryptographic operations on the fastest engine of this CPU.

#![forbid(unsafe_code)]

pub use lanelock_core::*;

/// Opens the default device: every engine of this machine, the fastest first.
///
/// # Errors
/// If no engine can be opened.
pub fn open() -> Result<Device, SessionError> {
    Ok(Device::builder()
        .engine(lanelock_openssl::OpenSsl::new()?)
        .build())
}
