//! A device for programs that use nothing but public keys: the linker leaves out what it does not
//! reach, and that is most of the kernels.

use std::any::Any;

use lanelock_core::engine::{Capability, Engine, EngineSession};
use lanelock_core::{Device, SessionError, Transform};
use lanelock_native::Native;
use lanelock_openssl::OpenSsl;
use lanelock_public_key::KeyDeviceBuilder;

use crate::telemetry;

/// Opens a device as [`crate::open`] does, for public keys: its sessions of ciphers, MACs and hashes
/// run on OpenSSL.
///
/// # Errors
/// As [`crate::open`].
pub fn open_public_keys() -> Result<Device, SessionError> {
    let mut builder = Device::builder().key_observers(telemetry::observer);
    if let Some(native) = Native::new()? {
        builder = builder.engine(PublicKeys(native));
    }
    Ok(builder.engine(OpenSsl::new()?).build())
}

/// lanelock's own engine without anything but its public keys. Never calls [`Engine::open`] of the
/// engine inside, which leads to every other kernel.
#[derive(Debug)]
struct PublicKeys(Native);

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
            why: "the device was opened for public keys alone".to_owned(),
        })
    }

    fn extension(&self) -> Option<&dyn Any> {
        self.0.extension()
    }
}

#[cfg(test)]
mod tests {
    use lanelock_core::Cipher;
    use lanelock_public_key::engine::{KeyEngine, PublicKeyEngine};

    use super::*;

    #[test]
    fn it_has_the_public_keys_of_the_whole_device_and_nothing_else() {
        let (half, whole) = (open_public_keys(), crate::open());
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
