//! The engine under test.

use lanelock_core::algorithm::Spec;
use lanelock_core::engine::{Capability, Engine, offers};
use lanelock_core::{Algorithm, Device, Session, SessionError};

use crate::message::Setup;

/// A device and the name of the engine of it that is tested.
#[derive(Clone, Debug)]
pub struct Subject {
    device: Device,
    engine: String,
    capabilities: Vec<Capability>,
}

impl Subject {
    /// The engine called `engine` of `device`; nothing if there is none.
    #[must_use]
    pub fn new(device: &Device, engine: &str) -> Option<Self> {
        let found = device.engines().find(|e| e.name() == engine)?;
        Some(Self {
            device: device.clone(),
            engine: engine.to_owned(),
            capabilities: found.capabilities().to_vec(),
        })
    }

    /// Every engine of `device`.
    #[must_use]
    pub fn all(device: &Device) -> Vec<Self> {
        device
            .engines()
            .filter_map(|engine| Self::new(device, Engine::name(engine)))
            .collect()
    }

    /// The engine's name.
    #[must_use]
    pub fn engine(&self) -> &str {
        &self.engine
    }

    /// The device it belongs to.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether it offers an algorithm family.
    #[must_use]
    pub fn offers(&self, algorithm: Algorithm) -> bool {
        offers(&self.capabilities, algorithm)
    }

    /// Every named algorithm that it offers with that key length, chains behind the others.
    #[must_use]
    pub fn algorithms(&self) -> Vec<Spec> {
        Spec::singles()
            .into_iter()
            .chain(Spec::chains())
            .filter(|spec| self.offers(spec.algorithm) && self.takes_keys_of(spec))
            .collect()
    }

    /// What it says of a family that is no chain.
    #[must_use]
    pub fn capability(&self, algorithm: Algorithm) -> Option<&Capability> {
        self.capabilities
            .iter()
            .find(|row| row.algorithm == algorithm)
    }

    pub(crate) fn session(&self, setup: &Setup) -> Result<Session, SessionError> {
        self.device.session_on(&self.engine, setup.transform())
    }

    fn takes_keys_of(&self, spec: &Spec) -> bool {
        let takes = |algorithm, len| {
            self.capability(algorithm)
                .is_some_and(|row| row.key.contains(len))
        };
        match spec.algorithm {
            Algorithm::Chain(_, cipher, mac) => {
                takes(Algorithm::Cipher(cipher), spec.key_len)
                    && takes(Algorithm::Mac(mac), spec.mac_key_len)
            }
            single => takes(single, spec.key_len),
        }
    }
}
