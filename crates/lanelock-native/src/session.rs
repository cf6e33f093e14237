//! Sessions of one algorithm: a cipher, or what computes a tag.

use lanelock_core::Status;
use lanelock_core::engine::{Batch, Ciphertext, EngineSession, QueueToken, ValidOp};
use lanelock_core::session::SessionMemory;

use crate::burst::{Cipher, Payload, Tagger, run_payloads, run_tags, settle, stretches};
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
}

impl<T: Tagger> TagSession<T> {
    pub(crate) fn boxed(group: Group, tagger: T) -> Box<dyn EngineSession> {
        Box::new(Self { tagger, group })
    }
}

impl<C: Cipher> EngineSession for CipherSession<C> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        for stretch in stretches(batch.len()) {
            run_payloads(batch, stretch.clone(), Payload::FromInput, |op| {
                &of::<Self>(op).cipher
            });
            for index in stretch {
                batch.get(index).complete(Status::Success);
            }
        }
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
        for stretch in stretches(batch.len()) {
            run_tags(
                batch,
                stretch,
                Ciphertext::InInput,
                |op| &of::<Self>(op).tagger,
                |_, op, tag| settle(op, tag),
            );
        }
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}

/// The session of an operation in a batch.
///
/// # Panics
/// If it is of another type, which its group's number rules out.
#[inline]
pub(crate) fn of<'a, S: EngineSession>(op: &ValidOp<'_, 'a>) -> &'a S {
    op.session()
        .expect("the sessions of a group are of one type")
}

/// All that a session holds, keys included; queue pairs hold nothing.
pub(crate) fn memory<S>() -> SessionMemory {
    SessionMemory {
        session: size_of::<S>(),
        per_queue_pair: 0,
    }
}
