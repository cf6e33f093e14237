//! Who runs public-key operations: an engine by name, or the one that an application gets.

use clap::{Args, ValueEnum};
use lanelock::Device;
use lanelock::public_key::{KeyDevice, KeyError, KeyKind, KeySession, KeyTransform, Operation};

use super::super::bench::Bench;
use super::super::contest::Engines;
use super::work::KeyWork;
use crate::failure::Failure;

/// Which engines, and how.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Contestants")]
pub struct Contestants {
    /// Engines of this machine, or `device`: the engine of a session that names none [default: all,
    /// and device].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    engine: Vec<String>,

    /// RSA's private operations with base blinding, without it, or both side by side, to show what
    /// the protection costs. OpenSSL always blinds.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "on")]
    blinding: Vec<Blinding>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Blinding {
    On,
    Off,
}

/// One contestant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Who {
    /// `None` for the one that a session gets that names none.
    engine: Option<String>,
    blinding: bool,
}

/// The contestant that names no engine.
const DEVICE: &str = "device";

/// The engine that has everything, one at a time: ratios compare with it.
const REFERENCE: &str = "openssl";

impl Contestants {
    /// All contestants of `work`.
    ///
    /// # Errors
    /// [`Failure::Usage`] for an engine that there is not.
    pub(super) fn of(&self, bench: &Bench, work: &KeyWork) -> Result<Vec<Who>, Failure> {
        let mut who = Vec::new();
        for engine in self.engines(bench)? {
            for &blinding in &self.blinding {
                if blinding == Blinding::Off && (is_reference(&engine) || !is_blinded(work)) {
                    continue;
                }
                who.push(Who {
                    engine: engine.clone(),
                    blinding: blinding == Blinding::On,
                });
            }
        }
        Ok(who)
    }

    /// Engines by name, and none.
    fn engines(&self, bench: &Bench) -> Result<Vec<Option<String>>, Failure> {
        let (device, named): (Vec<_>, Vec<_>) =
            self.engine.iter().cloned().partition(|name| name == DEVICE);
        if named.is_empty() && !device.is_empty() {
            return Ok(vec![None]);
        }
        let engines = Engines { engine: named }.names(bench)?;
        let unnamed = !device.is_empty() || self.engine.is_empty() && engines.len() > 1;
        let mut all: Vec<_> = engines.into_iter().map(Some).collect();
        if unnamed {
            all.insert(0, None);
        }
        Ok(all)
    }
}

fn is_reference(engine: &Option<String>) -> bool {
    engine.as_deref() == Some(REFERENCE)
}

fn is_blinded(work: &KeyWork) -> bool {
    let private = matches!(work.spec.operation, Operation::Sign | Operation::Decrypt);
    matches!(work.spec.kind, KeyKind::Rsa(_)) && private
}

impl Who {
    /// The engine of this name, or the one that a session gets that names none.
    pub(super) fn of(engine: Option<&str>, blinding: bool) -> Self {
        Self {
            engine: engine.map(str::to_owned),
            blinding,
        }
    }

    /// Its name in tables and rows.
    pub(super) fn name(&self) -> String {
        let engine = self.engine.as_deref().unwrap_or(DEVICE);
        let suffix = if self.blinding { "" } else { "-unblinded" };
        format!("{engine}{suffix}")
    }

    pub(super) fn is_reference(&self) -> bool {
        is_reference(&self.engine)
    }

    /// A session for `transform`; `None` if it is not offered.
    ///
    /// # Errors
    /// [`Failure::Failed`] if the key is refused.
    pub(super) fn session(
        &self,
        device: &Device,
        transform: &KeyTransform,
    ) -> Result<Option<KeySession>, Failure> {
        let transform = transform.clone().blinding(self.blinding);
        let session = match &self.engine {
            Some(engine) => device.key_session_on(engine, &transform),
            None => device.key_session(&transform),
        };
        match session {
            Ok(session) => Ok(Some(session)),
            Err(KeyError::Unsupported { .. }) => Ok(None),
            Err(error) => Err(Failure::of(error)),
        }
    }
}
