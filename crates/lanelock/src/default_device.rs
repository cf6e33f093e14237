//! The devices that the crate opens: the engines that its features enable, in their order.

use lanelock_core::{Device, DeviceBuilder, SessionError};
#[cfg(feature = "native")]
use lanelock_native::Native;

/// Opens the default device: every engine of this machine, the preferred one first.
///
/// These are lanelock's own engine, if this CPU has one of its tiers, then OpenSSL. The environment
/// variable `LANELOCK_TIER` makes lanelock's engine run on another tier than the widest. Without
/// the features `native` and `openssl` the device has no engine.
///
/// ```
/// let device = lanelock::open()?;
/// let names: Vec<_> = device.engines().map(|engine| engine.name()).collect();
/// assert_eq!(names.last(), Some(&"openssl"));
/// # Ok::<(), lanelock::SessionError>(())
/// ```
///
/// # Errors
/// [`SessionError::Engine`] if OpenSSL cannot be opened, or `LANELOCK_TIER` asks for a tier that
/// does not exist or that this CPU cannot run.
pub fn open() -> Result<Device, SessionError> {
    Ok(builder()?.build())
}

/// Starts a device with the engines of [`open`]; engines that are added come after them.
/// With the feature `telemetry` its public-key queues are counted.
///
/// # Errors
/// As [`open`].
pub fn builder() -> Result<DeviceBuilder, SessionError> {
    let builder = observed();
    #[cfg(feature = "native")]
    let builder = match Native::new()? {
        Some(native) => builder.engine(native),
        None => builder,
    };
    with_openssl(builder)
}

/// Opens a device as [`open`] does, for public keys only: its sessions of ciphers, MACs and hashes
/// run on OpenSSL. The linker leaves out the code that the program cannot reach, which is most of
/// the kernels.
///
/// # Errors
/// As [`open`].
pub fn open_public_keys() -> Result<Device, SessionError> {
    let builder = observed();
    #[cfg(feature = "native")]
    let builder = match Native::new()? {
        Some(native) => builder.engine(public_keys::PublicKeys(native)),
        None => builder,
    };
    Ok(with_openssl(builder)?.build())
}

fn observed() -> DeviceBuilder {
    let builder = Device::builder();
    #[cfg(feature = "telemetry")]
    let builder = {
        use lanelock_public_key::KeyDeviceBuilder;
        builder.key_observers(lanelock_telemetry::observer)
    };
    builder
}

fn with_openssl(builder: DeviceBuilder) -> Result<DeviceBuilder, SessionError> {
    #[cfg(feature = "openssl")]
    let builder = builder.engine(lanelock_openssl::OpenSsl::new()?);
    Ok(builder)
}

#[cfg(feature = "native")]
mod public_keys {
    use std::any::Any;

    use lanelock_core::engine::{Capability, Engine, EngineSession};
    use lanelock_core::{SessionError, Transform};
    use lanelock_native::Native;

    /// lanelock's own engine with nothing but its public keys. Never calls [`Engine::open`] of the
    /// engine inside, which would link every other kernel.
    #[derive(Debug)]
    pub(super) struct PublicKeys(pub(super) Native);

    impl Engine for PublicKeys {
        fn name(&self) -> &'static str {
            self.0.name()
        }

        fn version(&self) -> String {
            self.0.version()
        }

        fn capabilities(&self) -> &[Capability] {
            &[]
        }

        fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
            Err(SessionError::Unsupported {
                what: transform.spec(),
                why: "the device was opened for public keys only".to_owned(),
            })
        }

        fn extension(&self) -> Option<&dyn Any> {
            self.0.extension()
        }
    }
}

#[cfg(all(test, feature = "native", feature = "openssl"))]
mod tests {
    use lanelock_core::engine::Engine;
    use lanelock_core::{Cipher, Transform};
    use lanelock_native::Tier;
    use lanelock_public_key::engine::{KeyEngine, PublicKeyEngine};

    use super::*;

    #[test]
    fn native_comes_first_where_the_cpu_has_it_and_openssl_always_follows() {
        let device = open().expect("OpenSSL 3");
        let names: Vec<_> = device.engines().map(Engine::name).collect();
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

    #[test]
    fn a_device_for_public_keys_has_those_of_the_whole_device_and_nothing_else() {
        let (half, whole) = (open_public_keys(), open());
        let (half, whole) = (half.expect("OpenSSL 3"), whole.expect("OpenSSL 3"));
        let keys = |device: &Device| -> Vec<_> {
            let engines = device.engines();
            let offered = engines.map(|engine| {
                let keys = engine.public_key().map(KeyEngine::capabilities);
                let specs = keys.unwrap_or_default().into_iter().map(|row| row.spec);
                (engine.name(), specs.collect::<Vec<_>>())
            });
            offered.collect()
        };
        assert_eq!(keys(&half), keys(&whole));
        let aes = half.session(Transform::encrypt(Cipher::AesCbc, &[5; 16]));
        assert_eq!(aes.expect("OpenSSL has it").engine(), "openssl");
    }
}
