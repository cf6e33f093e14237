//! MACs and hashes: from what the operations of a batch authenticate to one kernel call.

#![allow(unsafe_code)] // hands the memory of a batch's operations to the kernels

use std::mem::MaybeUninit;
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

/// Computes the tags of at most [`BURST`] plain operations, and writes each to its place. `any` is a
/// MAC of their group; the sessions compute tags.
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

/// Computes the tags of at most [`BURST`] operations, and hands each with its operation to `settle`.
/// `any` is a MAC of their group. On its own, so that what only writes tags has the registers to
/// itself, and no stack to reserve for this.
#[inline(never)]
pub(crate) fn run_beside<'a, S: EngineSession, M: Mac>(
    any: &M,
    batch: &mut Batch<'_, 'a>,
    ciphertext: Ciphertext,
    mac: impl Fn(&'a S) -> &'a M,
    mut settle: impl FnMut(ValidOp<'_, 'a>, &[u8]),
) {
    let mut tags = ArrayVec::<[u8; MAX_TAG_LEN], BURST>::new();
    for _ in 0..batch.len() {
        tags.push([0; MAX_TAG_LEN]);
    }
    let mut each = tags.iter_mut();
    let mut more = [const { [MaybeUninit::uninit(); MAX_PIECES - 1] }; BURST];
    // SAFETY: a batch is of one group. The memory of the messages is the operations' for as long as
    // the batch is borrowed, and nothing is written to it meanwhile.
    unsafe {
        match batch.plain() {
            Some(mut plain) => any.run(Mapped::new(plain.tags(ciphertext), |plain| Message {
                mac: mac(plain.session),
                text: plain.message,
                more: &[],
                iv: plain.iv,
                tag: &mut each.next().expect("a tag for each operation")[..M::TAG],
            })),
            None => any.run(AnyMessages {
                ops: batch.ops(),
                tags: each,
                more: more.iter_mut(),
                ciphertext,
                mac,
                last: LastSession::default(),
            }),
        }
    }
    let mut tags = tags.iter();
    batch.for_each(|op| {
        let tag = tags.next().expect("a tag for each operation");
        settle(op, tag);
    });
}

/// Room for all pieces of a message but the first.
type More = [MaybeUninit<*const [u8]>; MAX_PIECES - 1];

/// The messages of any operations. Those of too many pieces run on the way.
struct AnyMessages<'b, 't, 'a, S, F> {
    ops: Ops<'b, 'a>,
    tags: slice::IterMut<'t, [u8; MAX_TAG_LEN]>,
    more: slice::IterMut<'t, More>,
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
            let tag = &mut self.tags.next()?[..M::TAG];
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
                && let Some(more) = self.more.next()
                && let Some((text, more)) = pieces::<M>(&op, self.ciphertext, more)
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

/// The first piece of what `op` authenticates, and the others, kept in `more`; `None` if there are
/// more than a kernel takes.
#[inline(never)]
fn pieces<'t, M: Mac>(
    op: &ValidOp<'_, '_>,
    ciphertext: Ciphertext,
    more: &'t mut More,
) -> Option<(*const [u8], &'t [*const [u8]])> {
    let mut all = ArrayVec::<*const [u8], MAX_PIECES>::new();
    op.for_each_authenticated(ciphertext, |piece| {
        if all.len() == M::PIECES {
            return Err(());
        }
        all.push(ptr::from_ref(piece));
        Ok(())
    })
    .ok()?;
    let Some((&first, others)) = all.split_first() else {
        return Some((&[], &[]));
    };
    for (slot, &piece) in more.iter_mut().zip(others) {
        slot.write(piece);
    }
    // SAFETY: as many are initialised: others than the first are no more than there are slots.
    let more = unsafe { slice::from_raw_parts(more.as_ptr().cast(), others.len()) };
    Some((first, more))
}

#[inline(never)]
fn run_alone<M: Mac>(mac: &M, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
    mac.run_pieces(op, ciphertext, tag);
}

/// The session of a MAC or a hash.
pub(crate) struct MacSession<M> {
    mac: M,
    group: Group,
}

impl<M: Mac> MacSession<M> {
    pub(crate) fn boxed(group: Group, mac: M) -> Box<dyn EngineSession> {
        Box::new(Self { mac, group })
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
            Some(mut plain) if plain.direction() == Direction::Forward => {
                run_plain(&self.mac, plain.tags(from), Self::mac);
                batch.complete(Status::Success);
            }
            _ => run_beside(&self.mac, batch, from, Self::mac, settle),
        });
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}
