//! One public-key operation for contestants of several kinds.

use std::rc::Rc;

use lanelock::Device;

use super::super::contestant::Contestant;
use super::contestant::KeyContestant;
use super::who::Who;
use super::work::KeyWork;
use crate::failure::Failure;

/// How RSA's private operations are protected; other operations know no difference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protection {
    /// By base blinding.
    Blinded,
    /// Not against their timing's dependence on the input.
    Unblinded,
}

/// The operation, its keys and inputs.
pub struct KeyRace(pub(super) Rc<KeyWork>);

impl KeyRace {
    /// Prepares the operation called `name` with `keys` keys.
    ///
    /// # Errors
    /// As [`KeyWork::new`].
    pub fn new(device: &Device, name: &str, keys: usize) -> Result<Self, Failure> {
        Ok(Self(Rc::new(KeyWork::new(device, name, keys)?)))
    }

    /// Whether it is the operation called `name`.
    pub fn is(&self, name: &str) -> bool {
        self.0.name == name
    }

    /// An engine, or with `None` those that `device` chooses, prepared for batches of `batch`.
    ///
    /// # Errors
    /// [`Failure::Failed`] if the operation is not offered.
    pub fn contestant(
        &self,
        device: &Device,
        engine: Option<&str>,
        protection: Protection,
        batch: usize,
    ) -> Result<impl Contestant + use<>, Failure> {
        let who = Who::of(engine, protection == Protection::Blinded);
        let opened = KeyContestant::open(device, &who, &self.0, batch)?;
        opened.ok_or_else(|| {
            Failure::Failed(format!("{} does not offer {}", who.name(), self.0.name))
        })
    }
}
