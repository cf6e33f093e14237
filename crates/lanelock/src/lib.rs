#![doc = include_str!("../../../README.md")]
#![forbid(unsafe_code)]

pub use lanelock_core::*;

/// Opens the default device: every engine of this machine, the preferred first.
///
/// # Errors
/// [`SessionError::Engine`] if OpenSSL cannot be opened.
pub fn open() -> Result<Device, SessionError> {
    Ok(Device::builder()
        .engine(lanelock_openssl::OpenSsl::new()?)
        .build())
}
