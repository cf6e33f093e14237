//! The same key for batches too small for lanes.

use std::sync::OnceLock;

use lanelock_core::Device;

use super::device::first_engine;
use super::session::{KeySession, KeySessionInner};
use super::transform::KeyTransform;

/// A session's key on a later engine of its device, one that runs operations one at a time; it is
/// prepared when a batch first needs it.
pub(super) struct Alone {
    device: Device,
    transform: KeyTransform,
    /// The place on the device from which on an engine may serve it.
    from: usize,
    /// `None` within if no later engine has the algorithm, or takes the key.
    session: OnceLock<Option<KeySession>>,
}

impl Alone {
    pub(super) fn new(device: &Device, transform: &KeyTransform, from: usize) -> Self {
        Self {
            device: device.clone(),
            transform: transform.clone(),
            from,
            session: OnceLock::new(),
        }
    }

    /// The key by itself, if there is such an engine.
    pub(super) fn session(&self) -> Option<&KeySessionInner> {
        let session = self.session.get_or_init(|| {
            let opened = first_engine(&self.device, &self.transform, self.from).ok()?;
            (opened.lanes() == 1).then_some(opened)
        });
        session.as_ref().map(KeySession::inner)
    }

    /// The session, if a batch has needed it.
    pub(super) fn prepared(&self) -> Option<&KeySession> {
        self.session.get()?.as_ref()
    }
}
