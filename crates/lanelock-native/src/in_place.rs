//! AEADs with kernels that read messages where the operations have them; other forms of messages run as jobs.

#![allow(unsafe_code)] // hands the memory of operations to the kernels

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::engine::{
    Batch, EngineSession, Fed, Feed, Likeness, Lone, Plain, QueueToken, Record,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;

use crate::aead::{Aead, AeadSession, HasAead};
use crate::burst::{BURST, Mapped, append, memory};
use crate::group::Group;
use crate::records::{TAG, all_match, verify_fed};
use crate::tags;

/// An AEAD that has such kernels for IVs of one length.
pub(crate) trait RecordAead: Aead {
    /// Bytes of these IVs.
    const IV: usize;

    /// What a kernel needs of a session.
    type Key: 'static;

    fn key(&self) -> &Self::Key;

    /// Runs messages that lie in records, `count` from `first` on; each whole tag goes to its place, or to its
    /// record's block if it has none.
    ///
    /// # Safety
    /// The records are as `PlainAeads::records` makes them, of keys of this group and with IVs of
    /// [`RecordAead::IV`] bytes; what is said of them is true.
    unsafe fn run_records(&self, first: *mut Record<Self::Key>, count: usize, likeness: Likeness);

    /// [`RecordAead::run_records`] of one, of a session of this direction.
    ///
    /// # Safety
    /// As for [`RecordAead::run_records`], of a record as `Lone::record` makes it.
    unsafe fn run_record(&self, record: *mut Record<Self::Key>, direction: Direction);

    /// Which bursts [`RecordAead::run_fed`] is to run, faster than [`RecordAead::run_records`].
    fn fed(&self) -> Fed;

    /// [`RecordAead::run_records`] of each record when it is yielded, of sessions of this direction.
    ///
    /// # Safety
    /// As for [`RecordAead::run_records`], of records as `Feed::records` makes them, each from when it is yielded
    /// until this returns.
    unsafe fn run_fed(
        &self,
        records: impl Iterator<Item = *mut Record<Self::Key>>,
        direction: Direction,
    );
}

/// A session of an AEAD, for IVs of `iv_len` bytes.
pub(crate) fn boxed<A: RecordAead>(group: Group, aead: A, iv_len: usize) -> Box<dyn EngineSession> {
    if iv_len == A::IV {
        let group = group.in_place();
        Box::new(InPlaceSession { aead, group })
    } else {
        AeadSession::boxed(group, aead)
    }
}

/// A session of an AEAD, whose messages run where they lie.
///
/// Invariant: IVs have [`RecordAead::IV`] bytes.
struct InPlaceSession<A> {
    aead: A,
    group: Group,
}

/// What became of plain operations.
enum InPlace<K> {
    /// This machine has no records.
    None,
    /// They have run, and no tag is left to write or to compare.
    Ended,
    /// They have run: these are their records.
    Left(*const Record<K>, usize),
}

impl<A: RecordAead> InPlaceSession<A> {
    /// Runs at most [`BURST`] plain operations.
    #[inline(always)]
    fn run_in_place(&self, plain: &mut Plain<'_, '_>) -> InPlace<A::Key> {
        let messages = plain.aeads::<Self>();
        let (written, compared) = (messages.tag_len() == TAG, messages.expected_len() == TAG);
        let Some((first, count, likeness)) = messages.records(TAG, Self::key) else {
            return InPlace::None;
        };
        // SAFETY: a batch is of one group, and IVs have this length. The memory of the messages is the
        // operations' for as long as the batch is borrowed. Input and output of a payload are alike or
        // disjoint; outputs and tags of different operations are disjoint from each other and from what is
        // read. There are so many records, and they have run.
        unsafe {
            self.aead.run_records(first, count, likeness);
            if written || compared && all_match(first, count) {
                InPlace::Ended
            } else {
                InPlace::Left(first, count)
            }
        }
    }

    #[inline(always)]
    fn key(&self) -> &A::Key {
        self.aead.key()
    }
}

impl<A: RecordAead> HasAead for InPlaceSession<A> {
    type Aead = A;

    #[inline(always)]
    fn aead(&self) -> &A {
        &self.aead
    }
}

impl<A: RecordAead> EngineSession for InPlaceSession<A> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each_stretch(BURST, |batch| {
            let Some(mut plain) = batch.plain() else {
                return self.run_any(batch);
            };
            match self.run_in_place(&mut plain) {
                InPlace::None => self.run_plain(batch),
                InPlace::Ended => batch.complete(Status::Success),
                // SAFETY: the batch's records, which have run.
                InPlace::Left(first, count) => unsafe { end_records(batch, first, count) },
            }
        });
    }

    fn fed(&self) -> Fed {
        self.aead.fed()
    }

    fn feed(&self, feed: &mut Feed<'_, '_>) {
        let direction = feed.direction();
        // Tags that are cut off are left to those that run together.
        if feed.tag_len() != TAG {
            return;
        }
        let seals = direction == Direction::Forward;
        let Some(records) = feed.records(seals, Self::key) else {
            return;
        };
        // SAFETY: as in `run_in_place`; the operations are borrowed for as long as the feed is.
        unsafe { self.aead.run_fed(records, direction) };
        if !seals {
            // SAFETY: the records have run, and their tags are whole.
            unsafe { verify_fed::<A::Key>(feed) };
        }
    }

    fn process_lone(&self, _: &mut QueueToken, mut op: Lone<'_, '_>) -> Status {
        let (is_whole, direction) = (op.tag_len() == TAG, op.direction());
        let seals = direction == Direction::Forward;
        let Some(record) = op.record(self.key(), is_whole && seals) else {
            return self.run_lone_job(op);
        };
        // SAFETY: as in `run_in_place`; there is one record.
        let tag = unsafe {
            self.aead.run_record(record, direction);
            if is_whole && (seals || all_match(record, 1)) {
                return Status::Success;
            }
            &(*record).block
        };
        end_lone(op, *tag)
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}

/// Ends plain operations by the tags in their records, which are to be written or compared.
///
/// # Safety
/// The records, so many, are the batch's, at most [`BURST`], and have run.
#[inline(never)]
unsafe fn end_records<K>(batch: &mut Batch<'_, '_>, first: *const Record<K>, count: usize) {
    let mut tags = ArrayVec::<_, BURST>::new();
    // SAFETY: the caller's promise.
    let block = |i| unsafe { (*first.add(i)).block };
    append(&mut tags, Mapped::new(0..count, block));
    match batch.get(0).direction() {
        Direction::Forward => tags::write_each(batch, |number| &tags[number]),
        Direction::Reverse => tags::verify_each(batch, |number| Some(&tags[number])),
    }
}

/// Ends the only operation of a burst by its tag, as far as that is to be written or compared.
#[inline(never)]
fn end_lone(op: Lone<'_, '_>, tag: [u8; TAG]) -> Status {
    let direction = op.direction();
    op.in_batch(|batch| match direction {
        Direction::Forward => tags::write_each(batch, |_| &tag),
        Direction::Reverse => tags::verify_each(batch, |_| Some(&tag)),
    })
}
