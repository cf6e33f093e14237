//! Public keys on a device.

use lanelock_core::engine::Engine;
use lanelock_core::job::OwnedBuffer;
use lanelock_core::{Device, DeviceBuilder};

use super::alone::Alone;
use super::engine::{KeyEngine, KeyReader, PublicKeyEngine};
use super::error::KeyError;
use super::flush::FlushPolicy;
use super::key::{PublicKey, SecretKey};
use super::observer::ObserverMaker;
use super::queue::KeyQueue;
use super::session::KeySession;
use super::transform::KeyTransform;

/// What a [`Device`] does with public keys.
pub trait KeyDevice {
    /// Prepares `transform` on the first engine that offers it. If that engine has lanes, a single
    /// operation takes as long there as a full batch: batches below
    /// [`KeySession::break_even`] run on the next engine that runs operations one at a time, on
    /// which the first of them prepares the key once more.
    ///
    /// # Errors
    /// The error of [`KeyTransform::validate`], or of the engine, about the key or its parameters;
    /// [`KeyError::Unsupported`] with every engine's reason if none offers it.
    fn key_session(&self, transform: &KeyTransform) -> Result<KeySession, KeyError>;

    /// Prepares `transform` on the engine called `engine`, and on no other.
    ///
    /// # Errors
    /// As [`KeyDevice::key_session`], and [`KeyError::NoSuchEngine`].
    fn key_session_on(
        &self,
        engine: &str,
        transform: &KeyTransform,
    ) -> Result<KeySession, KeyError>;

    /// A queue for one thread at a time that holds up to `depth` jobs (at least 1), with vectors
    /// as their buffers.
    #[must_use]
    fn key_queue(&self, depth: usize, policy: FlushPolicy) -> KeyQueue;

    /// A queue whose jobs own buffers of type `B`.
    #[must_use]
    fn key_queue_of<B: OwnedBuffer>(&self, depth: usize, policy: FlushPolicy) -> KeyQueue<B>;

    /// Reads a secret key from PEM or DER: PKCS #8, or the older forms of RSA and EC; `passphrase`
    /// opens an encrypted one; without it no passphrase is tried.
    ///
    /// With OpenSSL a container may have at most 1 MiB and a key in it at most 64 KiB; the key of
    /// an encrypted container may be derived with at most 10,000,000 iterations, or by scrypt with
    /// 128·N·r·p of at most 256 MiB.
    ///
    /// # Errors
    /// [`KeyError::Container`] if there is no such key, the passphrase is missing or does not open
    /// it, or it exceeds these bounds; [`KeyError::Refused`] for an invalid key;
    /// [`KeyError::Unsupported`] if no engine reads containers.
    fn read_secret_key(
        &self,
        bytes: &[u8],
        passphrase: Option<&[u8]>,
    ) -> Result<SecretKey, KeyError>;

    /// Reads a public key from PEM or DER: `SubjectPublicKeyInfo`, or RSA's older form.
    ///
    /// # Errors
    /// As [`KeyDevice::read_secret_key`].
    fn read_public_key(&self, bytes: &[u8]) -> Result<PublicKey, KeyError>;

    /// The public half of `key`, computed if it did not come with it.
    ///
    /// # Errors
    /// [`KeyError::Refused`] if the key is invalid.
    fn public_key(&self, key: &SecretKey) -> Result<PublicKey, KeyError>;
}

/// What a device's builder does for public keys.
pub trait KeyDeviceBuilder {
    /// Gives each public-key queue of the device an observer of its own.
    #[must_use]
    fn key_observers(self, make: ObserverMaker) -> Self;
}

/// What a device keeps: from where its queues have their observers.
struct Observers(ObserverMaker);

impl KeyDevice for Device {
    fn key_session(&self, transform: &KeyTransform) -> Result<KeySession, KeyError> {
        transform.validate()?;
        first_engine(self, transform, 0)
    }

    fn key_session_on(
        &self,
        engine: &str,
        transform: &KeyTransform,
    ) -> Result<KeySession, KeyError> {
        transform.validate()?;
        let Some((index, name, found)) = key_engines(self).find(|(_, name, _)| *name == engine)
        else {
            return Err(KeyError::NoSuchEngine {
                name: engine.to_owned(),
                known: key_engines(self).map(|(_, name, _)| name).collect(),
            });
        };
        let session = found.open(transform)?;
        let break_even = found.break_even(transform.spec());
        let engine = (index, name);
        Ok(KeySession::new(
            self.id(),
            transform,
            engine,
            session,
            break_even,
            None,
        ))
    }

    fn key_queue(&self, depth: usize, policy: FlushPolicy) -> KeyQueue {
        self.key_queue_of(depth, policy)
    }

    fn key_queue_of<B: OwnedBuffer>(&self, depth: usize, policy: FlushPolicy) -> KeyQueue<B> {
        let engines: Vec<_> = self.engines().map(Engine::name).collect();
        let mut queue = KeyQueue::new(self.id(), &engines, depth, policy);
        let observers: Option<&Observers> = self.extension();
        queue.set_observer(observers.and_then(|Observers(make)| make()));
        queue
    }

    fn read_secret_key(
        &self,
        bytes: &[u8],
        passphrase: Option<&[u8]>,
    ) -> Result<SecretKey, KeyError> {
        reader(self)?.read_secret(bytes, passphrase)
    }

    fn read_public_key(&self, bytes: &[u8]) -> Result<PublicKey, KeyError> {
        reader(self)?.read_public(bytes)
    }

    fn public_key(&self, key: &SecretKey) -> Result<PublicKey, KeyError> {
        match key.public_key() {
            Some(public) => Ok(public),
            None => reader(self)?.public_of(key),
        }
    }
}

impl KeyDeviceBuilder for DeviceBuilder {
    fn key_observers(self, make: ObserverMaker) -> Self {
        self.extension(Observers(make))
    }
}

/// A session on the first engine that offers `transform`, of those from the `from`-th on.
pub(super) fn first_engine(
    device: &Device,
    transform: &KeyTransform,
    from: usize,
) -> Result<KeySession, KeyError> {
    let spec = transform.spec();
    let mut refused = Vec::new();
    for (index, name, engine) in key_engines(device).filter(|(index, ..)| *index >= from) {
        match engine.open(transform) {
            Err(KeyError::Unsupported { why, .. }) => refused.push(format!("{name}: {why}")),
            opened => {
                let session = opened?;
                let break_even = engine.break_even(spec);
                let alone = (break_even > 1).then(|| Alone::new(device, transform, index + 1));
                let engine = (index, name);
                return Ok(KeySession::new(
                    device.id(),
                    transform,
                    engine,
                    session,
                    break_even,
                    alone,
                ));
            }
        }
    }
    if refused.is_empty() {
        refused.push("none of the device's engines has public keys".to_owned());
    }
    Err(KeyError::unsupported(spec, refused.join("; ")))
}

fn reader(device: &Device) -> Result<&dyn KeyReader, KeyError> {
    let mut readers = key_engines(device).filter_map(|(_, _, engine)| engine.keys());
    readers
        .next()
        .ok_or_else(|| KeyError::unsupported("key containers", "no engine reads them"))
}

/// The engines that have public keys, each with its place on the device and its name.
fn key_engines(device: &Device) -> impl Iterator<Item = (usize, &'static str, &dyn KeyEngine)> {
    let engines = device.engines().enumerate();
    engines.filter_map(|(index, engine)| Some((index, engine.name(), engine.public_key()?)))
}
