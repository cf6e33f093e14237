//! MACs and hashes: from what the operations of a batch authenticate to one kernel call.

#![allow(unsafe_code)] // hands the memory of a batch's operations to the kernels

use std::ptr;
use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::MAX_TAG_LEN;
use lanelock_core::engine::{
    Batch, Ciphertext, EngineSession, LastSession, Ops, PlainTags, QueueToken, ValidOp,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;

use crate::burst::{BURST, Mapped, memory, session_of};
use crate::group::Group;
use crate::tags::settle;

/// A MAC, keyed, or a hash.
pub(crate) trait Mac: Send + Sync + 'static {
    /// Bytes of a whole tag.
    const TAG: usize;

    /// Pieces of a message that a kernel takes, at most [`MAX_PIECES`].
    const PIECES: usize = 1;

    /// Runs at most [`BURST`] messages, and writes each tag to its place.
    ///
    /// # Safety
    /// The MACs of the messages are of one group, and so is this. Pieces are valid and stay as they
    /// are from when a message is yielded until this returns.
    unsafe fn run<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>)
    where
        Self: Sized;

    /// Runs a message of any number of pieces by itself. `tag` has room for a whole one.
    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]);
}

/// What a MAC or hash authenticates, without the borrow of its operation, and where the tag goes.
pub(crate) struct Message<'k, M> {
    pub(crate) mac: &'k M,
    /// The first piece.
    pub(crate) text: *const [u8],
    /// What follows it: of [`Mac::PIECES`] all but one at most.
    pub(crate) more: &'k [*const [u8]],
    /// As long as the session demands.
    pub(crate) iv: *const [u8],
    /// No longer than a whole tag; shorter where the session cuts it off.
    pub(crate) tag: &'k mut [u8],
}

/// Most pieces that any kernel takes of a message.
pub(crate) const MAX_PIECES: usize = 4;

/// Computes and writes the tags of at most [`BURST`] plain operations. `any` is a MAC of their group.
#[inline]
pub(crate) fn run_plain<'a, S: EngineSession, M: Mac>(
    any: &M,
    tags: PlainTags<'_, 'a, S>,
    mac: impl Fn(&'a S) -> &'a M,
) {
    let messages = Mapped::new(tags, |plain| Message {
        mac: mac(plain.session),
        text: plain.message,
        more: &[],
        iv: plain.iv,
        tag: plain.tag,
    });
    // SAFETY: a batch is of one group. The memory of the messages is borrowed until this returns.
    unsafe { any.run(messages) };
}

/// Computes the tags of at most [`BURST`] operations of any form, and hands each with its operation
/// to `settle`. `any` is a MAC of their group.
#[inline]
pub(crate) fn run_any<'a, S: EngineSession, M: Mac>(
    any: &M,
    batch: &mut Batch<'_, 'a>,
    ciphertext: Ciphertext,
    mac: impl Fn(&'a S) -> &'a M,
    mut settle: impl FnMut(ValidOp<'_, 'a>, &[u8]),
) {
    let mut beside = ArrayVec::<Beside, BURST>::new();
    for _ in 0..batch.len() {
        beside.push(Beside {
            tag: [0; MAX_TAG_LEN],
            more: ArrayVec::new(),
        });
    }
    let messages = AnyMessages {
        ops: batch.ops(),
        beside: beside.iter_mut(),
        ciphertext,
        mac,
        last: LastSession::default(),
    };
    // SAFETY: a batch is of one group. The memory of the messages is the operations' for as long as
    // the batch is borrowed, and nothing is written to it meanwhile.
    unsafe { any.run(messages) };
    let mut beside = beside.iter();
    batch.for_each(|op| {
        let Beside { tag, .. } = beside.next().expect("one for each operation");
        settle(op, tag);
    });
}

/// What is kept beside an operation until all have run.
struct Beside {
    tag: [u8; MAX_TAG_LEN],
    more: ArrayVec<*const [u8], { MAX_PIECES - 1 }>,
}

/// The messages of any operations. Those of too many pieces run on the way.
struct AnyMessages<'b, 't, 'a, S, F> {
    ops: Ops<'b, 'a>,
    beside: slice::IterMut<'t, Beside>,
    ciphertext: Ciphertext,
    mac: F,
    last: LastSession<'a, S>,
}

impl<'t, 'a: 't, S, M, F> Iterator for AnyMessages<'_, 't, 'a, S, F>
where
    S: EngineSession,
    M: Mac,
    F: Fn(&'a S) -> &'a M,
{
    type Item = Message<'t, M>;

    #[inline(always)]
    fn next(&mut self) -> Option<Message<'t, M>> {
        loop {
            let op = self.ops.next()?;
            let Beside { tag, more } = self.beside.next()?;
            let tag = &mut tag[..M::TAG];
            let mac = (self.mac)(session_of(&op, &mut self.last));
            let whole = op.whole_authenticated(self.ciphertext);
            if let (Some(text), Some(iv)) = (whole, op.whole_iv()) {
                return Some(Message {
                    mac,
                    text,
                    more: &[],
                    iv,
                    tag,
                });
            }
            if M::PIECES > 1
                && let Some(text) = pieces::<M>(&op, self.ciphertext, more)
            {
                return Some(Message {
                    mac,
                    text,
                    more,
                    iv: &[],
                    tag,
                });
            }
            run_alone(mac, &op, self.ciphertext, tag);
        }
    }
}

/// The first piece of what `op` authenticates, the others in `more`; `None` if there are more than a
/// kernel takes.
#[inline(never)]
fn pieces<M: Mac>(
    op: &ValidOp<'_, '_>,
    ciphertext: Ciphertext,
    more: &mut ArrayVec<*const [u8], { MAX_PIECES - 1 }>,
) -> Option<*const [u8]> {
    let mut first = None;
    op.for_each_authenticated(ciphertext, |piece| {
        let piece = ptr::from_ref(piece);
        if first.is_none() {
            first = Some(piece);
        } else if more.len() + 1 < M::PIECES {
            more.push(piece);
        } else {
            return Err(());
        }
        Ok(())
    })
    .ok()?;
    Some(first.unwrap_or(&[]))
}

#[inline(never)]
fn run_alone<M: Mac>(mac: &M, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
    mac.run_pieces(op, ciphertext, tag);
}

/// The session of a MAC or a hash.
pub(crate) struct MacSession<M> {
    mac: M,
    direction: Direction,
    group: Group,
}

impl<M: Mac> MacSession<M> {
    pub(crate) fn boxed(group: Group, direction: Direction, mac: M) -> Box<dyn EngineSession> {
        Box::new(Self {
            mac,
            direction,
            group,
        })
    }

    #[inline]
    fn mac(&self) -> &M {
        &self.mac
    }
}

impl<M: Mac> EngineSession for MacSession<M> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        let from = Ciphertext::InInput;
        batch.for_each_stretch(BURST, |batch| match batch.plain() {
            Some(mut plain) if self.direction == Direction::Forward => {
                run_plain(&self.mac, plain.tags(from), Self::mac);
                batch.complete(Status::Success);
            }
            _ => run_any(&self.mac, batch, from, Self::mac, settle),
        });
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}
