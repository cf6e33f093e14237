//! AEADs: from the messages of a batch to one kernel call, and what becomes of their tags.

#![allow(unsafe_code)] // hands the memory of a batch's operations to the kernels

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::engine::{
    Batch, EngineSession, LastSession, Lone, PlainAead, QueueToken, ValidOp,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;

use crate::burst::{BURST, Mapped, Text, append, memory, session_of};
use crate::gathered;
use crate::group::Group;
use crate::records::TAG;
use crate::tags;

/// An AEAD, keyed for one direction.
pub(crate) trait Aead: Send + Sync + 'static {
    /// A message on its way through the kernel.
    type Job<'k>;

    /// A message in one piece. `expected` is the tag that came with one to open.
    fn job<'k>(
        &'k self,
        message: Message<'_>,
        expected: impl FnOnce() -> [u8; TAG],
    ) -> Self::Job<'k>;

    /// Runs at most [`BURST`] jobs.
    ///
    /// # Safety
    /// The jobs are of this group. Text and additional data of each are valid, and so is the IV if it is
    /// kept. A target is its own source or disjoint from it, and disjoint from what other jobs read and
    /// write.
    unsafe fn run(&self, jobs: &mut [Self::Job<'_>]);

    /// The tag of a job that has run; `None` if the kernel has found the
    /// one expected to be wrong, and left no plaintext.
    fn tag<'j>(job: &'j Self::Job<'_>) -> Option<&'j [u8; TAG]>;

    /// Runs a message in pieces by itself, however long; returns its tag. An AEAD has this or
    /// [`Aead::run_scattered`].
    fn run_pieces(&self, op: &mut ValidOp<'_, '_>) -> [u8; TAG]
    where
        Self: Sized,
    {
        let mut message = [Scattered::new(self, op)];
        self.run_scattered(&mut message);
        message[0].tag
    }

    /// Runs at most [`BURST`] messages in pieces, all of this group, and leaves their tags in them.
    fn run_scattered(&self, messages: &mut [Scattered<'_, '_, '_, Self>])
    where
        Self: Sized,
    {
        gathered::run(self, messages);
    }
}

/// A message in pieces.
pub(crate) struct Scattered<'m, 'b, 'a, A> {
    pub(crate) aead: &'m A,
    pub(crate) op: &'m mut ValidOp<'b, 'a>,
    /// After it has run.
    pub(crate) tag: [u8; TAG],
    /// Whether its tag has been found to be wrong, and no plaintext was written.
    pub(crate) is_refused: bool,
}

impl<'m, 'b, 'a, A> Scattered<'m, 'b, 'a, A> {
    fn new(aead: &'m A, op: &'m mut ValidOp<'b, 'a>) -> Self {
        Self {
            aead,
            op,
            tag: [0; TAG],
            is_refused: false,
        }
    }

    fn tag(&self) -> Option<[u8; TAG]> {
        (!self.is_refused).then_some(self.tag)
    }
}

/// A message of an AEAD in one piece, without the borrow of its operation but for the IV.
pub(crate) struct Message<'m> {
    pub(crate) text: Text,
    pub(crate) aad: *const [u8],
    /// As long as the session demands.
    pub(crate) iv: &'m [u8],
    /// Whether the IV stays where it is until the job has run.
    pub(crate) is_iv_kept: bool,
}

/// The session of an AEAD, whose messages run as jobs.
pub(crate) struct AeadSession<A> {
    aead: A,
    group: Group,
}

impl<A: Aead> AeadSession<A> {
    pub(crate) fn boxed(group: Group, aead: A) -> Box<dyn EngineSession> {
        Box::new(Self { aead, group })
    }
}

impl<A: Aead> HasAead for AeadSession<A> {
    type Aead = A;

    #[inline(always)]
    fn aead(&self) -> &A {
        &self.aead
    }
}

impl<A: Aead> EngineSession for AeadSession<A> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each_stretch(BURST, |batch| {
            if batch.plain().is_some() {
                self.run_plain(batch);
            } else {
                self.run_any(batch);
            }
        });
    }

    fn process_lone(&self, _: &mut QueueToken, op: Lone<'_, '_>) -> Status {
        self.run_lone_job(op)
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}

/// A session that has an AEAD, and runs its messages as jobs. The sessions of a group are of one type.
pub(crate) trait HasAead: EngineSession + Sized {
    type Aead: Aead;

    fn aead(&self) -> &Self::Aead;

    /// Runs the only operation of a burst; returns how it ended.
    // On its own, so that what runs it otherwise does not save the registers that this needs.
    #[inline(never)]
    fn run_lone_job(&self, mut op: Lone<'_, '_>) -> Status {
        let direction = op.direction();
        let mut job = [Self::job(op.aead(self))];
        // SAFETY: as in `run_plain`.
        unsafe { self.aead().run(&mut job) };
        op.in_batch(|batch| end_plain::<Self::Aead>(batch, direction, &job))
    }

    /// Runs plain messages as jobs, and ends their operations.
    #[inline(never)]
    fn run_plain(&self, batch: &mut Batch<'_, '_>) {
        let mut plain = batch.plain().expect("plain before");
        let direction = plain.direction();
        let mut jobs = ArrayVec::<_, BURST>::new();
        append(&mut jobs, Mapped::new(plain.aeads(), Self::job));
        // SAFETY: a batch is of one group. The memory of the messages is the operations' for as long as
        // the batch is borrowed. Input and output of a payload are alike or disjoint; outputs and tags of
        // different operations are disjoint from each other and from what is read.
        unsafe { self.aead().run(&mut jobs) };
        end_plain::<Self::Aead>(batch, direction, &jobs);
    }

    /// The job of a plain message.
    #[inline(always)]
    fn job<'a>(message: PlainAead<'_, 'a, Self>) -> <Self::Aead as Aead>::Job<'a> {
        let whole = Message {
            text: message.payload.into(),
            aad: message.aad,
            iv: message.iv,
            is_iv_kept: true,
        };
        let expected = || message.expected.try_into().expect("a whole tag");
        message.session.aead().job(whole, expected)
    }

    /// Runs messages of any form, and ends their operations.
    #[inline(never)]
    fn run_any(&self, batch: &mut Batch<'_, '_>) {
        let mut last = LastSession::<Self>::default();
        let mut scratch = [0; MAX_IV_LEN];
        let mut jobs = ArrayVec::<_, BURST>::new();
        let (mut number, mut scattered) = (0, 0_u64);
        batch.for_each(|mut op| {
            let aead = session_of(&op, &mut last).aead();
            let text = op.whole_payload().map(Text::from);
            match (text, op.whole_aad()) {
                (Some(text), Some(aad)) => {
                    let whole = Message {
                        text,
                        aad,
                        iv: op.iv(&mut scratch),
                        is_iv_kept: op.whole_iv().is_some(),
                    };
                    jobs.push(aead.job(whole, || expected_tag(&op)));
                }
                _ => scattered |= 1 << number,
            }
            number += 1;
        });
        // SAFETY: as in `run_plain`.
        unsafe { self.aead().run(&mut jobs) };
        if scattered != 0 {
            self.run_scattered(batch, scattered);
        }
        let mut jobs = jobs.iter();
        batch.for_each(|op| {
            if op.is_pending() {
                let job = jobs.next().expect("a job for each that is in one piece");
                settle(op, Self::Aead::tag(job));
            }
        });
    }

    /// Runs the operations that [`HasAead::run_any`] leaves out, a bit each, and ends them.
    #[inline(never)]
    fn run_scattered(&self, batch: &mut Batch<'_, '_>, scattered: u64) {
        let mut last = LastSession::<Self>::default();
        let mut ops = ArrayVec::<_, BURST>::new();
        for (number, op) in batch.all().enumerate() {
            if (scattered >> number) & 1 != 0 {
                ops.push((session_of(&op, &mut last).aead(), op));
            }
        }
        let messages = ops.iter_mut().map(|(aead, op)| Scattered::new(*aead, op));
        let mut messages: ArrayVec<_, BURST> = messages.collect();
        self.aead().run_scattered(&mut messages);
        let tags: ArrayVec<_, BURST> = messages.iter().map(Scattered::tag).collect();
        drop(messages);
        for ((_, op), tag) in ops.into_iter().zip(&tags) {
            settle(op, tag.as_ref());
        }
    }
}

/// Ends plain operations by their jobs, which have run.
#[inline(always)]
fn end_plain<A: Aead>(batch: &mut Batch<'_, '_>, direction: Direction, jobs: &[A::Job<'_>]) {
    match direction {
        Direction::Forward => tags::write_each(batch, |number| {
            A::tag(&jobs[number]).expect("a message that is sealed has a tag")
        }),
        Direction::Reverse => {
            tags::verify_each(batch, |number| Some(A::tag(&jobs[number])?.as_slice()));
        }
    }
}

/// Ends an operation by the tag of its job.
#[inline]
fn settle(mut op: ValidOp<'_, '_>, tag: Option<&[u8; TAG]>) {
    match tag {
        Some(tag) => tags::settle(op, tag),
        None => op.complete(Status::AuthFailed),
    }
}

/// The tag that came with a message, for algorithms that cut none off.
#[inline]
pub(crate) fn expected_tag(op: &ValidOp<'_, '_>) -> [u8; TAG] {
    let mut scratch = [0; MAX_TAG_LEN];
    let tag = op.expected_tag(&mut scratch);
    tag.try_into().expect("a whole tag")
}

/// The IV of an operation whose session demands `N` bytes.
#[inline]
pub(crate) fn nonce_of<const N: usize>(op: &ValidOp<'_, '_>) -> [u8; N] {
    nonce(op.iv(&mut [0; MAX_IV_LEN]))
}

/// The IV of a session that demands `N` bytes.
#[inline]
pub(crate) fn nonce<const N: usize>(iv: &[u8]) -> [u8; N] {
    iv.try_into().expect("as long as the session demands")
}
