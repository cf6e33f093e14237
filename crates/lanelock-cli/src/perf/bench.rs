//! The engines of this machine, and those that exist for comparison.

use lanelock::engine::Engine;
use lanelock::{Device, Session, SessionError, Transform};
use lanelock_baselines::{Baseline, Habit};

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
        let builder = lanelock::builder()
            .map_err(Failure::of)?
            .engine(NullEngine::new());
        let builder = Habit::ALL.into_iter().fold(builder, |builder, habit| {
            builder.engine(Baseline::new(habit))
        });
        Ok(Self {
            device: builder.build(),
        })
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
