//! SHAKE and cSHAKE, a message in each lane; the digest has the length of the session.

#![allow(unsafe_code)] // names the memory of messages to the kernels

use std::convert::Infallible;
use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::engine::{Batch, Ciphertext, EngineSession, LastSession, QueueToken, ValidOp};
use lanelock_core::session::SessionMemory;
use lanelock_kernels::Machine;
use lanelock_kernels::keccak::{Function, Job, Key, Stream, hash_many};

use crate::burst::{BURST, memory, session_of};
use crate::group::Group;

/// The session of an extendable function.
pub(crate) struct Shake {
    machine: Machine,
    function: Function,
    /// The customization of cSHAKE.
    key: Option<Key>,
    group: Group,
}

impl Shake {
    pub(crate) fn boxed(
        group: Group,
        machine: Machine,
        function: Function,
        key: Option<Key>,
    ) -> Box<dyn EngineSession> {
        Box::new(Self {
            machine,
            function,
            key,
            group,
        })
    }

    /// A message in any number of pieces, or with a digest in any place.
    #[inline(never)]
    fn run_alone(&self, op: &mut ValidOp<'_, '_>) {
        let mut stream = match &self.key {
            Some(key) => Stream::keyed(self.machine, key),
            None => Stream::new(self.machine, self.function),
        };
        let _infallible: Result<(), Infallible> =
            op.for_each_authenticated(Ciphertext::InInput, |piece| {
                stream.update(piece);
                Ok(())
            });
        let mut digest = stream.output();
        op.fill_tag(|place| digest.fill(place));
        op.complete(Status::Success);
    }
}

/// The message and the place of its digest, if each is in one piece. They are apart: validation
/// refuses a digest over its message.
fn in_one_piece(op: &mut ValidOp<'_, '_>) -> Option<(*const [u8], *mut [u8])> {
    let message: *const [u8] = op.whole_authenticated(Ciphertext::InInput)?;
    let place: *mut [u8] = op.tag_mut()?;
    Some((message, place))
}

impl EngineSession for Shake {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each_stretch(BURST, |batch| {
            if let Some(mut plain) = batch.plain() {
                let mut jobs = ArrayVec::<_, BURST>::new();
                for plain in plain.tags::<Self>(Ciphertext::InInput) {
                    jobs.push(Job::new(
                        plain.message,
                        plain.session.key.as_ref(),
                        plain.tag,
                    ));
                }
                hash_many(self.machine, self.function, &mut jobs);
                drop(jobs);
                batch.complete(Status::Success);
                return;
            }
            let mut jobs = ArrayVec::<_, BURST>::new();
            let mut last = LastSession::default();
            batch.for_each(|mut op| {
                let session: &Self = session_of(&op, &mut last);
                let Some((message, place)) = in_one_piece(&mut op) else {
                    return session.run_alone(&mut op);
                };
                // SAFETY: memory of the operation, which the batch borrows until the jobs have run;
                // nothing else is written meanwhile but places of other operations.
                unsafe {
                    let place = slice::from_raw_parts_mut(place.cast(), place.len());
                    jobs.push(Job::of_raw(message, &[], session.key.as_ref(), place));
                }
                op.complete(Status::Success);
            });
            hash_many(self.machine, self.function, &mut jobs);
        });
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}
