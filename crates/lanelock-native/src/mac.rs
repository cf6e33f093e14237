//! MACs and hashes: from what the operations of a batch authenticate to one kernel call.

#![allow(unsafe_code)] // hands the memory of a batch's operations to the kernels

use std::iter;
use std::mem::MaybeUninit;
use std::ptr;
use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::MAX_TAG_LEN;
use lanelock_core::engine::{
    Batch, Ciphertext, EngineSession, Fed, Feed, LastSession, Lone, Ops, PlainTags, QueueToken,
    Record, ValidOp,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;

use crate::burst::{BURST, LONG_BURST, Mapped, memory, session_of};
use crate::group::Group;
use crate::records::{self, TAG};
use crate::tags::{settle, verify_each};

/// A MAC, keyed, or a hash.
pub(crate) trait Mac: Send + Sync + 'static {
    /// Bytes of a whole tag.
    const TAG: usize;

    /// Whether [`Mac::run`] takes messages in several pieces.
    const TAKES_PIECES: bool = false;

    /// Most messages that [`Mac::run`] takes, at most [`LONG_BURST`].
    const AT_A_TIME: usize = BURST;

    /// Runs at most [`Mac::AT_A_TIME`] messages, and writes each tag to its place.
    ///
    /// # Safety
    /// The MACs of the messages are of one group, and so is this. Pieces are valid and stay as they
    /// are from when a message is yielded until this returns.
    unsafe fn run<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>)
    where
        Self: Sized;

    /// Runs a message that is alone.
    ///
    /// # Safety
    /// As for [`Mac::run`].
    #[inline(always)]
    unsafe fn run_lone<'k>(&self, message: Message<'k, Self>)
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { self.run(iter::once(message)) }
    }

    /// Which bursts [`Mac::run_fed`] is to run.
    fn fed(&self) -> Fed {
        Fed::NONE
    }

    /// Runs the message of each record when it is yielded, with an IV of twelve bytes; each tag, of [`TAG`]
    /// bytes, goes to its place, or to its record's block if it has none.
    ///
    /// # Safety
    /// The records are as `Feed::records` makes them, with MACs of this group for keys, and stay valid until
    /// this returns.
    #[inline(always)]
    unsafe fn run_fed(&self, _: impl Iterator<Item = *mut Record<Self>>)
    where
        Self: Sized,
    {
        unreachable!("a MAC that says it is fed");
    }

    /// Runs a message of any number of pieces by itself. `tag` has room for a whole one.
    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]);
}

/// What a MAC or hash authenticates, without the borrow of its operation, and where the tag goes.
pub(crate) struct Message<'k, M> {
    pub(crate) mac: &'k M,
    /// The first piece.
    pub(crate) text: *const [u8],
    /// What follows it; nothing unless the MAC takes pieces.
    pub(crate) more: &'k [*const [u8]],
    /// As long as the session demands.
    pub(crate) iv: *const [u8],
    /// No longer than a whole tag; shorter where the session cuts it off.
    pub(crate) tag: &'k mut [u8],
}

/// Pieces of all messages of a [`BURST`] but their first ones. Messages that find no room run alone.
const MORE: usize = 8 * BURST;

/// How many operations of a batch run together: plain ones of several lengths, as many as an `M` takes. Those
/// of one length end together anyway, and fewer stay in the caches; for others there is no room.
#[inline]
pub(crate) fn at_a_time<M: Mac>(batch: &mut Batch<'_, '_>) -> usize {
    match batch.plain() {
        Some(plain) if !plain.likeness().one_length => M::AT_A_TIME,
        _ => BURST,
    }
}

/// Computes the tags of at most [`Mac::AT_A_TIME`] plain operations, and writes each to its place. `any` is a
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

/// Computes the tags of at most [`Mac::AT_A_TIME`] operations beside them. `any` is a MAC of their group. On its
/// own, so that what only writes tags has the registers to itself, and no stack to reserve for this.
#[inline(never)]
pub(crate) fn run_beside<'a, S: EngineSession, M: Mac>(
    any: &M,
    batch: &mut Batch<'_, 'a>,
    ciphertext: Ciphertext,
    mac: impl Fn(&'a S) -> &'a M,
    tags: &mut Tags,
) {
    let mut each = tags.room::<M>(batch.len());
    let mut more = [MaybeUninit::uninit(); MORE];
    // SAFETY: a batch is of one group. The memory of the messages is the operations' for as long as
    // the batch is borrowed, and nothing is written to it meanwhile.
    unsafe {
        match batch.plain() {
            Some(mut plain) => any.run(Mapped::new(plain.tags(ciphertext), |plain| Message {
                mac: mac(plain.session),
                text: plain.message,
                more: &[],
                iv: plain.iv,
                tag: each.next().expect("a tag for each operation"),
            })),
            None => any.run(AnyMessages {
                ops: batch.ops(),
                tags: each,
                more: &mut more,
                ciphertext,
                mac,
                last: LastSession::default(),
            }),
        }
    }
}

/// Whole tags of a batch's operations, one after another.
pub(crate) struct Tags {
    bytes: ArrayVec<u8, { LONG_BURST * MAX_TAG_LEN }>,
    /// Bytes of each.
    len: usize,
}

impl Tags {
    pub(crate) fn new() -> Self {
        let (bytes, len) = (ArrayVec::new_const(), 1);
        Self { bytes, len }
    }

    /// Room for `count` tags of an `M`.
    fn room<M: Mac>(&mut self, count: usize) -> slice::ChunksExactMut<'_, u8> {
        static NONE: [u8; LONG_BURST * MAX_TAG_LEN] = [0; LONG_BURST * MAX_TAG_LEN];
        self.bytes.clear();
        self.bytes
            .try_extend_from_slice(&NONE[..count * M::TAG])
            .expect("a batch has no more than a burst");
        self.len = M::TAG;
        self.bytes.chunks_exact_mut(M::TAG)
    }

    /// That of an operation, by its number in the batch.
    #[inline]
    pub(crate) fn of(&self, number: usize) -> &[u8] {
        &self.bytes[number * self.len..][..self.len]
    }

    /// Hands each with its operation to `settle`.
    #[inline]
    pub(crate) fn for_each<'a>(
        &self,
        batch: &mut Batch<'_, 'a>,
        mut settle: impl FnMut(ValidOp<'_, 'a>, &[u8]),
    ) {
        let mut tags = self.bytes.chunks_exact(self.len);
        batch.for_each(|op| settle(op, tags.next().expect("a tag for each operation")));
    }
}

/// Room for pieces.
type Room<'t> = &'t mut [MaybeUninit<*const [u8]>];

/// The messages of any operations. Those of too many pieces run on the way.
struct AnyMessages<'b, 't, 'a, S, F> {
    ops: Ops<'b, 'a>,
    tags: slice::ChunksExactMut<'t, u8>,
    more: Room<'t>,
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
            let tag = self.tags.next()?;
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
            if M::TAKES_PIECES
                && let Some((text, more)) = pieces(&op, self.ciphertext, &mut self.more)
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

/// The first piece of what `op` authenticates, and the others, kept in `room`; `None` if they do not
/// fit.
#[inline(never)]
fn pieces<'t>(
    op: &ValidOp<'_, '_>,
    ciphertext: Ciphertext,
    room: &mut Room<'t>,
) -> Option<(*const [u8], &'t [*const [u8]])> {
    let (mut first, mut count) = (None, 0);
    let all: Result<(), ()> = op.for_each_authenticated(ciphertext, |piece| {
        let piece = ptr::from_ref(piece);
        if first.is_none() {
            first = Some(piece);
        } else {
            room.get_mut(count).ok_or(())?.write(piece);
            count += 1;
        }
        Ok(())
    });
    all.ok()?;
    let more = room.split_off_mut(..count)?;
    // SAFETY: as many have been written.
    let more = unsafe { slice::from_raw_parts(more.as_ptr().cast(), count) };
    Some((first.unwrap_or(&[]), more))
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

    /// Runs operations up to [`at_a_time`]. On its own, so that a lone one saves few registers.
    #[inline(never)]
    fn run_stretches(&self, batch: &mut Batch<'_, '_>) {
        let at_a_time = at_a_time::<M>(batch);
        batch.for_each_stretch(at_a_time, |batch| match batch.plain() {
            Some(mut plain) if plain.direction() == Direction::Forward => {
                run_plain(&self.mac, plain.tags(FROM), Self::mac);
                batch.complete(Status::Success);
            }
            plain => {
                let verify = plain.is_some();
                self.run_beside(batch, verify);
            }
        });
    }

    /// Runs operations that are not plain, or all `verify`.
    #[inline(never)]
    fn run_beside(&self, batch: &mut Batch<'_, '_>, verify: bool) {
        let mut tags = Tags::new();
        run_beside(&self.mac, batch, FROM, Self::mac, &mut tags);
        if verify {
            verify_each(batch, |number| Some(tags.of(number)));
        } else {
            tags.for_each(batch, settle);
        }
    }
}

/// Bytes of the IVs of messages that [`Mac::run_fed`] takes.
const FED_IV: usize = 12;

/// Where a MAC without a cipher finds its messages.
const FROM: Ciphertext = Ciphertext::InInput;

impl<M: Mac> EngineSession for MacSession<M> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        self.run_stretches(batch);
    }

    fn fed(&self) -> Fed {
        self.mac.fed()
    }

    fn feed(&self, feed: &mut Feed<'_, '_>) {
        // Other IVs, and tags that are cut off, are left to those that run together.
        if feed.iv_len() != FED_IV || feed.tag_len() != TAG {
            return;
        }
        let computes = feed.direction() == Direction::Forward;
        let Some(records) = feed.records(computes, Self::mac) else {
            return;
        };
        // SAFETY: the operations are borrowed for as long as the feed is, and of one group.
        unsafe { self.mac.run_fed(records) };
        if !computes {
            // SAFETY: the records have run, and their tags are whole.
            unsafe { records::verify_fed::<M>(feed) };
        }
    }

    fn process_lone(&self, _: &mut QueueToken, mut op: Lone<'_, '_>) -> Status {
        let direction = op.direction();
        let Some(plain) = op.tag(self) else {
            return op.in_batch(|batch| self.run_stretches(batch));
        };
        let mut whole = [0; MAX_TAG_LEN];
        let message = Message {
            mac: &self.mac,
            text: plain.message,
            more: &[],
            iv: plain.iv,
            tag: match direction {
                Direction::Forward => plain.tag,
                Direction::Reverse => &mut whole[..M::TAG],
            },
        };
        // SAFETY: the memory of the message is borrowed until this returns.
        unsafe { self.mac.run_lone(message) };
        match direction {
            Direction::Forward => Status::Success,
            Direction::Reverse => {
                op.in_batch(|batch| verify_each(batch, |_| Some(&whole[..M::TAG])))
            }
        }
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}
