//! The engines of this machine, and those that exist for comparison.

use lanelock::engine::Engine;
use lanelock::{Device, DeviceBuilder, Session, SessionError, Transform};
use lanelock_baselines::{Baseline, Habit};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;

use super::null_engine::NullEngine;
use crate::failure::Failure;
use crate::machine::Machine;

/// A device with every engine that can be measured.
#[derive(Debug)]
pub struct Bench {
    /// The device.
    pub device: Device,
}

impl Bench {
    /// Opens the engines.
    ///
    /// # Errors
    /// [`Failure::Failed`] if one cannot be opened.
    pub fn open() -> Result<Self, Failure> {
        Ok(Self::of(lanelock::builder().map_err(Failure::of)?))
    }

    /// The same with lanelock's own engine on this tier.
    ///
    /// # Errors
    /// [`Failure::Usage`] if this CPU does not have the tier, [`Failure::Failed`] if an engine cannot
    /// be opened.
    pub fn with_tier(tier: Tier) -> Result<Self, Failure> {
        let native = Native::with_tier(tier).map_err(|_| {
            let has: Vec<_> = Tier::available().map(Tier::name).collect();
            let (name, has) = (tier.name(), has.join(", "));
            Failure::Usage(format!(
                "--tier {name}: this CPU cannot run it; it has {has}"
            ))
        })?;
        let openssl = OpenSsl::new().map_err(Failure::of)?;
        Ok(Self::of(Device::builder().engine(native).engine(openssl)))
    }

    fn of(builder: DeviceBuilder) -> Self {
        let builder = builder.engine(NullEngine::new());
        let builder = Habit::ALL.into_iter().fold(builder, |builder, habit| {
            builder.engine(Baseline::new(habit))
        });
        Self {
            device: builder.build(),
        }
    }

    /// Names of the engines that do work, in order of preference.
    pub fn engines(&self) -> Vec<String> {
        self.device
            .engines()
            .map(Engine::name)
            .filter(|&name| name != NullEngine::NAME && !is_baseline(name))
            .map(str::to_owned)
            .collect()
    }

    /// Whether there is an engine of this name, or it is [`AUTO`].
    pub fn has(&self, name: &str) -> bool {
        name == AUTO || self.device.engines().any(|engine| engine.name() == name)
    }

    /// The machine, with the OpenSSL that is loaded.
    pub fn machine(&self) -> Machine {
        Machine::detect(&self.device)
    }
}

/// In place of an engine's name: the one that a session gets that names none.
pub const AUTO: &str = "auto";

/// A session on the engine called `engine`, or on what the device chooses.
///
/// # Errors
/// Those of the device.
pub fn session(
    device: &Device,
    engine: &str,
    transform: Transform,
) -> Result<Session, SessionError> {
    match engine {
        AUTO => device.session(transform),
        _ => device.session_on(engine, transform),
    }
}

/// Whether `name` is that of an engine with a habit.
pub fn is_baseline(name: &str) -> bool {
    Habit::ALL.iter().any(|habit| habit.name() == name)
}
