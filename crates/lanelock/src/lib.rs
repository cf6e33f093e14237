#![doc = include_str!("../../../README.md")]
#![forbid(unsafe_code)]

pub mod asynchronous;
mod public_keys;

pub use lanelock_core::*;
pub use lanelock_public_key as public_key;
pub use lanelock_telemetry as telemetry;
pub use public_keys::open_public_keys;

use public_key::KeyDeviceBuilder;

/// Opens the default device: every engine of this machine, the preferred first.
///
/// That is lanelock's own engine, if this CPU has one of its tiers, then OpenSSL. The environment
/// variable `LANELOCK_TIER` makes the first run on another tier than the widest.
///
/// # Errors
/// [`SessionError::Engine`] if OpenSSL cannot be opened, or `LANELOCK_TIER` asks for a tier that
/// does not exist or that this CPU cannot run.
pub fn open() -> Result<Device, SessionError> {
    Ok(builder()?.build())
}

/// Starts a device with the engines that [`open`] gives it; engines added to it come behind them.
/// Its public-key queues are counted: see [`telemetry`].
///
/// # Errors
/// As [`open`].
pub fn builder() -> Result<DeviceBuilder, SessionError> {
    let mut builder = Device::builder().key_observers(telemetry::observer);
    if let Some(native) = lanelock_native::Native::new()? {
        builder = builder.engine(native);
    }
    Ok(builder.engine(lanelock_openssl::OpenSsl::new()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanelock_native::{Native, Tier};

    #[test]
    fn native_comes_first_where_the_cpu_has_it_and_openssl_always_follows() {
        let device = open().expect("OpenSSL 3");
        let names: Vec<_> = device.engines().map(engine::Engine::name).collect();
        let has_native = Tier::available().next() != Some(Tier::Portable);
        let expected: &[_] = if has_native {
            &["native", "openssl"]
        } else {
            &["openssl"]
        };
        assert_eq!(names, expected);
    }

    #[test]
    fn what_native_does_not_offer_goes_to_openssl() {
        let device = open().expect("OpenSSL 3");
        let triple_des = device.session(Transform::encrypt(Cipher::TripleDesCbc, &[5; 24]));
        assert_eq!(triple_des.expect("OpenSSL has it").engine(), "openssl");
        let aes = device.session(Transform::encrypt(Cipher::AesCbc, &[5; 16]));
        let native = Native::new().expect("no tier is forced").is_some();
        let expected = if native { "native" } else { "openssl" };
        assert_eq!(aes.expect("both have it").engine(), expected);
    }
}
