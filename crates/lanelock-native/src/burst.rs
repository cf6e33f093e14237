//! From a batch to kernel calls: messages in one piece become jobs that run together, the others
//! run by themselves, piece after piece.

#![allow(unsafe_code)] // hands the memory of a batch's operations to the kernels

use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::cursor::{Cursor, Run};
use lanelock_core::engine::{Batch, Ciphertext, ValidOp};
use lanelock_core::transform::Direction;

/// Jobs of one kernel call: twice the lanes of the widest tier.
pub(crate) const BURST: usize = 64;

/// A payload in one piece, without the borrow that [`Run`] has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub(crate) source: *const u8,
    pub(crate) target: *mut u8,
    pub(crate) len: usize,
}

/// A cipher, keyed for one direction.
pub(crate) trait Cipher: Send + Sync + 'static {
    /// A message on its way through the kernel.
    type Job<'k>;

    /// Runs of a scattered payload have a multiple of this length, but for the last.
    const BLOCK: usize;

    /// Starts a message. `iv` has the length that the session demands.
    fn job<'k>(&'k self, iv: &[u8], payload: Whole) -> Self::Job<'k>;

    /// The next run of a message whose last one has run.
    fn go_on(job: &mut Self::Job<'_>, payload: Whole);

    /// Runs every job, all of them of one group.
    ///
    /// # Safety
    /// Sources are valid for reads and targets for writes of their lengths. Each target is its own
    /// source or disjoint from it, and disjoint from what other jobs read or write.
    unsafe fn run(&self, jobs: &mut [Self::Job<'_>]);

    /// Runs a scattered payload.
    fn run_pieces(&self, mut job: Self::Job<'_>, payload: Cursor<'_>)
    where
        Self: Sized,
    {
        run_blocks(self, &mut job, payload);
    }
}

/// What computes a tag or digest: a MAC, a hash, or an AEAD, which also rewrites the payload.
pub(crate) trait Tagger: Send + Sync + 'static {
    /// A message on its way through the kernel.
    type Job<'k>;

    /// Puts a message among the jobs, which have room for it; `false` if it has to run alone.
    fn push<'k>(
        &'k self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<Self::Job<'k>, BURST>,
    ) -> bool;

    /// Runs every job, all of them of one group.
    ///
    /// # Safety
    /// What [`Tagger::push`] took from the operations is valid as it was then, and no operation
    /// writes what another reads or writes.
    unsafe fn run(&self, jobs: &mut [Self::Job<'_>]);

    /// The untruncated tag of a job that has run; `None` if the kernel has found the one expected
    /// to be wrong, and written nothing.
    fn tag<'j>(job: &'j Self::Job<'_>) -> Option<&'j [u8]>;

    /// Runs a message by itself and leaves its untruncated tag in the first bytes of `tag`.
    fn alone(
        &self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        tag: &mut [u8; MAX_TAG_LEN],
    );
}

impl Whole {
    /// No bytes.
    pub(crate) const EMPTY: Self = Self {
        source: std::ptr::null(),
        target: std::ptr::null_mut(),
        len: 0,
    };

    #[inline]
    pub(crate) fn of(run: &Run<'_>) -> Self {
        Self {
            source: run.input(),
            target: run.output(),
            len: run.len(),
        }
    }
}

/// The indices of a batch of `len` operations in stretches that fit one kernel call.
#[inline]
pub(crate) fn stretches(len: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..len)
        .step_by(BURST)
        .map(move |first| first..len.min(first + BURST))
}

/// Where a cipher finds its payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Payload {
    /// In the input.
    FromInput,
    /// In the output, where it was put together with the tag that lies in it; without such a tag
    /// in the input.
    WithTag,
}

/// Runs the payloads of the operations at `indices`, of which there are [`BURST`] at most.
#[inline]
pub(crate) fn run_payloads<'a, C: Cipher>(
    batch: &mut Batch<'_, 'a>,
    indices: impl Iterator<Item = usize>,
    payload: Payload,
    cipher: impl Fn(&ValidOp<'_, 'a>) -> &'a C,
) {
    let mut scratch = [0; MAX_IV_LEN];
    let mut jobs = ArrayVec::<C::Job<'a>, BURST>::new();
    let mut any = None;
    for index in indices {
        let mut op = batch.get(index);
        let cipher = cipher(&op);
        any = Some(cipher);
        if payload == Payload::WithTag && op.tag_in_payload() {
            let job = cipher.job(op.iv(&mut scratch), Whole::EMPTY);
            cipher.run_pieces(job, op.output_payload());
            continue;
        }
        match op.whole_payload().map(|run| Whole::of(&run)) {
            Some(whole) => jobs.push(cipher.job(op.iv(&mut scratch), whole)),
            None => {
                let job = cipher.job(op.iv(&mut scratch), Whole::EMPTY);
                cipher.run_pieces(job, op.payload());
            }
        }
    }
    if let Some(cipher) = any {
        // SAFETY: the runs' memory is the operations' for as long as the batch is borrowed, and
        // no reference to it was kept. Input and output of a run are alike or disjoint; outputs of
        // different operations are disjoint from each other and from what is read, as they were
        // borrowed exclusively (or promised to be, where raw pointers were given).
        unsafe { cipher.run(&mut jobs) };
    }
}

/// Runs a payload of whole blocks, and a part of one at the end, run by run.
pub(crate) fn run_blocks<C: Cipher>(cipher: &C, job: &mut C::Job<'_>, payload: Cursor<'_>) {
    let _infallible: Result<(), std::convert::Infallible> =
        payload.for_each_block_run(C::BLOCK, |run| {
            C::go_on(job, Whole::of(&run));
            // SAFETY: the run is valid for its length and lives until the call returns; its input
            // and output are alike or disjoint.
            unsafe { cipher.run(slice::from_mut(job)) };
            Ok(())
        });
}

/// Computes the tags of the operations at `indices`, of which there are [`BURST`] at most, and
/// hands each with its operation and index to `settle`.
#[inline]
pub(crate) fn run_tags<'a, T: Tagger>(
    batch: &mut Batch<'_, 'a>,
    indices: impl Iterator<Item = usize>,
    ciphertext: Ciphertext,
    tagger: impl Fn(&ValidOp<'_, 'a>) -> &'a T,
    mut settle: impl FnMut(usize, ValidOp<'_, 'a>, Option<&[u8]>),
) {
    let mut scratch = [0; MAX_IV_LEN];
    let mut jobs = ArrayVec::<T::Job<'a>, BURST>::new();
    let mut owners = ArrayVec::<usize, BURST>::new();
    let mut any = None;
    for index in indices {
        let mut op = batch.get(index);
        let tagger = tagger(&op);
        any = Some(tagger);
        if tagger.push(&mut op, ciphertext, &mut scratch, &mut jobs) {
            owners.push(index);
        } else {
            let mut tag = [0; MAX_TAG_LEN];
            tagger.alone(&mut op, ciphertext, &mut scratch, &mut tag);
            settle(index, op, Some(&tag));
        }
    }
    if let Some(tagger) = any {
        // SAFETY: as in `run_payloads`. What `settle` wrote meanwhile belongs to operations that
        // are not among the jobs.
        unsafe { tagger.run(&mut jobs) };
    }
    for (job, index) in jobs.iter().zip(owners) {
        settle(index, batch.get(index), T::tag(job));
    }
}

/// Ends an operation by its tag: written, or compared with the one expected. If that differs, no
/// plaintext stays in the output. `None` for a tag that is known to differ: nothing was written.
#[inline]
pub(crate) fn settle(mut op: ValidOp<'_, '_>, tag: Option<&[u8]>) {
    let Some(tag) = tag else {
        return op.complete(Status::AuthFailed);
    };
    if op.direction() == Direction::Forward {
        op.write_tag(tag);
        op.complete(Status::Success);
    } else if op.tag_matches(tag) {
        op.complete(Status::Success);
    } else {
        op.wipe_output();
        op.complete(Status::AuthFailed);
    }
}
