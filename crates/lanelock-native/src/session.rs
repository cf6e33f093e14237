//! Sessions of one algorithm: a cipher, or what computes a tag.

use lanelock_core::Status;
use lanelock_core::engine::{Batch, Ciphertext, EngineSession, QueueToken};
use lanelock_core::session::SessionMemory;

use crate::burst::{
    BURST, Cipher, Payload, Tagger, run_payloads, run_plain_tags, run_tags, run_whole, settle,
};
use crate::group::Group;

/// The session of a cipher.
pub(crate) struct CipherSession<C> {
    cipher: C,
    group: Group,
}

/// The session of a MAC, a hash or an AEAD.
pub(crate) struct TagSession<T> {
    tagger: T,
    group: Group,
}

impl<C: Cipher> CipherSession<C> {
    pub(crate) fn boxed(group: Group, cipher: C) -> Box<dyn EngineSession> {
        Box::new(Self { cipher, group })
    }

    #[inline]
    fn cipher(&self) -> &C {
        &self.cipher
    }
}

impl<T: Tagger> TagSession<T> {
    pub(crate) fn boxed(group: Group, tagger: T) -> Box<dyn EngineSession> {
        Box::new(Self { tagger, group })
    }

    #[inline]
    fn tagger(&self) -> &T {
        &self.tagger
    }
}

impl<C: Cipher> EngineSession for CipherSession<C> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each_stretch(BURST, |batch| {
            run_payloads(batch, Payload::FromInput, Self::cipher);
            batch.complete(Status::Success);
        });
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}

impl<T: Tagger> EngineSession for TagSession<T> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each_stretch(BURST, |batch| {
            if run_plain_tags(batch, Ciphertext::InInput, Self::tagger) {
                batch.complete(Status::Success);
            } else if !run_whole(batch, Self::tagger) {
                run_tags(batch, Ciphertext::InInput, Self::tagger, settle);
            }
        });
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}

/// All that a session holds, keys included; queue pairs hold nothing.
pub(crate) fn memory<S>() -> SessionMemory {
    SessionMemory {
        session: size_of::<S>(),
        per_queue_pair: 0,
    }
}
