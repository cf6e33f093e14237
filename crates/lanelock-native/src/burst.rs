//! From a batch to kernel calls: messages in one piece become jobs that run together, the others
//! run by themselves, piece after piece.

#![allow(unsafe_code)] // hands the memory of a batch's operations to the kernels

use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN, Order};
use lanelock_core::cursor::{Cursor, Run};
use lanelock_core::engine::{
    Batch, Ciphertext, Columns, EngineSession, LastSession, Ops, PlainTags, ValidOp,
};
use lanelock_core::transform::Direction;
use lanelock_kernels::aes;
use lanelock_kernels::aes::interleave::CbcKey;
use lanelock_kernels::aes::interleave::Instructions;
use lanelock_kernels::taint::declassify;

/// Jobs of one kernel call: twice the lanes of the widest tier, and a bit each in a word.
pub(crate) const BURST: usize = 64;

/// A payload in one piece, without the borrow that [`Run`] has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub(crate) source: *const u8,
    pub(crate) target: *mut u8,
    pub(crate) len: usize,
}

/// A message in one piece, without the borrow of its operation.
pub(crate) struct Message<'k, C> {
    pub(crate) cipher: &'k C,
    pub(crate) iv: *const u8,
    /// As the session demands.
    pub(crate) iv_len: usize,
    pub(crate) payload: Whole,
}

impl<'k, C> Message<'k, C> {
    /// As the kernels take it, for a mode with an IV of one block.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "core bounds operations by 4 GiB"
    )]
    pub(crate) fn keyed<K>(self, key: impl Fn(&'k C) -> &'k K) -> aes::Message<'k, K> {
        aes::Message {
            source: self.payload.source,
            target: self.payload.target,
            len: self.payload.len as u32,
            key: key(self.cipher),
            iv: self.iv.cast(),
        }
    }
}

/// At most [`BURST`] messages of the most common form, as they lie in their operations.
pub(crate) struct Plain<'b, 'k, C> {
    columns: Columns<'b>,
    /// The only one, or one for each message.
    ciphers: &'b [&'k C],
    /// As the sessions demand.
    iv_len: usize,
}

impl<'b, 'k, C> Plain<'b, 'k, C> {
    /// As the kernels take them, for a mode with an IV of one block; `keys` has room for theirs.
    #[inline(always)]
    pub(crate) fn keyed<'r, K>(
        &self,
        keys: &'r mut ArrayVec<&'k K, BURST>,
        key: impl Fn(&'k C) -> &'k K,
    ) -> aes::Records<'k, K> {
        keys.extend(self.ciphers.iter().map(|cipher| key(cipher)));
        let Columns {
            source,
            target,
            len,
            iv,
            stride,
            count,
            ..
        } = self.columns;
        aes::Records {
            source,
            target,
            len,
            iv: iv.cast(),
            key: keys.as_ptr(),
            stride,
            key_stride: if keys.len() == 1 { 0 } else { size_of::<&K>() },
            count,
        }
    }

    /// One by one.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Message<'k, C>> {
        let each = usize::from(self.ciphers.len() > 1);
        Mapped::new(0..self.columns.count, move |i| {
            let at = i * self.columns.stride;
            // SAFETY: there are as many operations, with these fields.
            unsafe {
                Message {
                    cipher: self.ciphers[i * each],
                    iv: if self.iv_len == 0 {
                        std::ptr::dangling()
                    } else {
                        self.columns.iv.byte_add(at).read()
                    },
                    iv_len: self.iv_len,
                    payload: Whole {
                        source: self.columns.source.byte_add(at).read(),
                        target: self.columns.target.byte_add(at).read(),
                        len: self.columns.len.byte_add(at).read() as usize,
                    },
                }
            }
        })
    }
}

/// An iterator with each item turned into another, always inlined, unlike the standard library's:
/// a kernel's loop takes in all of what yields its messages.
pub(crate) struct Mapped<I, F>(I, F);

impl<I: Iterator, T, F: FnMut(I::Item) -> T> Mapped<I, F> {
    #[inline(always)]
    pub(crate) fn new(items: I, turn: F) -> Self {
        Self(items, turn)
    }
}

impl<I: Iterator, T, F: FnMut(I::Item) -> T> Iterator for Mapped<I, F> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        match self.0.next() {
            Some(item) => Some((self.1)(item)),
            None => None,
        }
    }
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

    /// Runs every job, all of them of one group, and leaves each where its next run goes on.
    ///
    /// # Safety
    /// Sources are valid for reads and targets for writes of their lengths. Each target is its own
    /// source or disjoint from it, and disjoint from what other jobs read or write.
    unsafe fn run(&self, jobs: &mut [Self::Job<'_>]);

    /// Runs at most [`BURST`] whole messages of one group. A kernel that takes them one by one
    /// spares writing them down.
    ///
    /// # Safety
    /// The ciphers are of one group. IVs and payloads are valid, and payloads as apart as for
    /// [`Cipher::run`], from when a message is yielded until this returns.
    #[inline]
    unsafe fn run_whole<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>)
    where
        Self: Sized,
    {
        let mut jobs = ArrayVec::<_, BURST>::new();
        for message in messages {
            // SAFETY: the caller's promise.
            let iv = unsafe { slice::from_raw_parts(message.iv, message.iv_len) };
            jobs.push(message.cipher.job(iv, message.payload));
        }
        // SAFETY: the caller's promise.
        unsafe { self.run(&mut jobs) }
    }

    /// As [`Cipher::run_whole`], for messages that a kernel may read where they lie.
    ///
    /// # Safety
    /// As for [`Cipher::run_whole`].
    #[inline]
    unsafe fn run_plain<'k>(&self, messages: Plain<'_, 'k, Self>)
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { self.run_whole(messages.iter()) }
    }

    /// The key, if this is CBC.
    fn cbc(&self) -> Option<CbcKey<'_>> {
        None
    }

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

    /// Runs every job.
    ///
    /// # Safety
    /// The jobs are of one group. What [`Tagger::push`] took from the operations is valid as it was then, and no operation
    /// writes what another reads or writes.
    unsafe fn run(&self, jobs: &mut [Self::Job<'_>]);

    /// The untruncated tag of a job that has run; `None` if the kernel has found the one expected
    /// to be wrong, and written nothing.
    fn tag<'j>(job: &'j Self::Job<'_>) -> Option<&'j [u8]>;

    /// Whether [`Tagger::run_plain`] computes tags.
    const PLAIN: bool = false;

    /// Computes and writes the tags of at most [`BURST`] messages.
    ///
    /// # Safety
    /// The taggers are of one group.
    unsafe fn run_plain<'a, S: EngineSession>(
        &self,
        _: PlainTags<'_, 'a, S>,
        _: impl Fn(&'a S) -> &'a Self,
    ) where
        Self: Sized,
    {
    }

    /// Runs and completes at most [`BURST`] messages of this group, if there is nothing to ask of
    /// each; `false` if there is: then nothing was done.
    fn run_whole<'a, S: EngineSession>(
        &self,
        _: &mut Batch<'_, 'a>,
        _: impl Fn(&'a S) -> &'a Self,
    ) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Whether [`Tagger::run_with_cbc`] has a kernel.
    const INTERLEAVES: bool = false;

    /// Runs a chain's message by itself, cipher and MAC in one pass, and completes it; one to verify
    /// before it is decrypted is only verified. `false` if there is no kernel for its ranges: then
    /// nothing was done.
    fn run_with_cbc(&self, _: Instructions, _: CbcKey<'_>, _: Order, _: ValidOp<'_, '_>) -> bool {
        false
    }

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

/// Text and additional data of an AEAD's message, each in one piece, without the borrow of its
/// operation.
pub(crate) struct Pieces {
    pub(crate) text: Whole,
    pub(crate) aad: *const [u8],
}

impl Pieces {
    /// Those of `op`; `None` if one of them lies across segments.
    #[inline]
    pub(crate) fn of(op: &mut ValidOp<'_, '_>) -> Option<Self> {
        let text = Whole::of(&op.whole_payload()?);
        let aad = std::ptr::from_ref(op.whole_aad()?);
        Some(Self { text, aad })
    }
}

/// Which payloads run, and from where.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Payload {
    /// All, from the input.
    FromInput,
    /// Those of operations without a result so far, from the input.
    OfPending,
    /// All, from the output where a tag was put into the payload there, else from the input.
    WithTag,
}

/// Runs the payloads of at most [`BURST`] operations.
#[inline]
pub(crate) fn run_payloads<'a, S: EngineSession, C: Cipher>(
    batch: &mut Batch<'_, 'a>,
    payload: Payload,
    cipher: impl Fn(&'a S) -> &'a C,
) {
    match payload {
        Payload::FromInput => run_those::<{ Payload::FromInput as u8 }, S, C>(batch, cipher),
        Payload::OfPending => run_those::<{ Payload::OfPending as u8 }, S, C>(batch, cipher),
        Payload::WithTag => run_those::<{ Payload::WithTag as u8 }, S, C>(batch, cipher),
    }
}

#[inline]
fn run_those<'a, const PAYLOAD: u8, S: EngineSession, C: Cipher>(
    batch: &mut Batch<'_, 'a>,
    cipher: impl Fn(&'a S) -> &'a C,
) {
    let mut last = LastSession::default();
    let first = batch.get(0);
    let (any, iv_len) = (
        cipher(session_of(&first, &mut last)),
        first.whole_iv().map_or(0, <[u8]>::len),
    );
    if PAYLOAD != Payload::OfPending as u8
        && let Some(payloads) = batch.plain_payloads()
    {
        // No tag is in a payload.
        let mut each = ArrayVec::<&C, BURST>::new();
        let messages = Plain {
            ciphers: if payloads.is_of_one_session() {
                slice::from_ref(&any)
            } else {
                each.extend(payloads.sessions().map(&cipher));
                &each
            },
            iv_len,
            columns: payloads.columns(),
        };
        // SAFETY: as below.
        return unsafe { any.run_plain(messages) };
    }
    let messages = Payloads::<PAYLOAD, _, _> {
        ops: batch.ops(),
        cipher,
        last,
    };
    // SAFETY: the memory of IVs and runs is the operations' for as long as the batch is borrowed,
    // and no reference to it was kept. Input and output of a run are alike or disjoint; outputs of
    // different operations are disjoint from each other and from what is read, as they were
    // borrowed exclusively (or promised to be, where raw pointers were given).
    unsafe { any.run_whole(messages) };
}

/// The payloads of a batch. Those that are not in one piece run on the way.
struct Payloads<'b, 'a, const PAYLOAD: u8, S, F> {
    ops: Ops<'b, 'a>,
    cipher: F,
    last: LastSession<'a, S>,
}

impl<'a, const PAYLOAD: u8, S, C, F> Iterator for Payloads<'_, 'a, PAYLOAD, S, F>
where
    S: EngineSession,
    C: Cipher,
    F: Fn(&'a S) -> &'a C,
{
    type Item = Message<'a, C>;

    #[inline(always)]
    fn next(&mut self) -> Option<Message<'a, C>> {
        loop {
            let mut op = self.ops.next()?;
            if PAYLOAD == Payload::OfPending as u8 && !op.is_pending() {
                continue;
            }
            let cipher = (self.cipher)(session_of(&op, &mut self.last));
            let tag_inside = PAYLOAD == Payload::WithTag as u8 && op.tag_in_payload();
            let payload = op.whole_payload().map(|run| Whole::of(&run));
            match (payload, op.whole_iv()) {
                (Some(payload), Some(iv)) if !tag_inside => {
                    return Some(Message {
                        cipher,
                        iv: iv.as_ptr(),
                        iv_len: iv.len(),
                        payload,
                    });
                }
                _ => run_alone(cipher, op, tag_inside),
            }
        }
    }
}

/// Runs a payload that is scattered or, with its tag, in the output.
#[inline(never)]
fn run_alone<C: Cipher>(cipher: &C, mut op: ValidOp<'_, '_>, from_output: bool) {
    let mut scratch = [0; MAX_IV_LEN];
    let job = cipher.job(op.iv(&mut scratch), Whole::EMPTY);
    let payload = if from_output {
        op.output_payload()
    } else {
        op.payload()
    };
    cipher.run_pieces(job, payload);
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

/// Runs and completes at most [`BURST`] operations by [`Tagger::run_whole`].
#[inline]
pub(crate) fn run_whole<'a, S: EngineSession, T: Tagger>(
    batch: &mut Batch<'_, 'a>,
    tagger: impl Fn(&'a S) -> &'a T,
) -> bool {
    let any = tagger(session_of(&batch.get(0), &mut LastSession::default()));
    any.run_whole(batch, tagger)
}

/// Computes the tags of at most [`BURST`] operations, and hands each with its operation to
/// `settle`.
#[inline]
pub(crate) fn run_tags<'a, S: EngineSession, T: Tagger>(
    batch: &mut Batch<'_, 'a>,
    ciphertext: Ciphertext,
    tagger: impl Fn(&'a S) -> &'a T,
    mut settle: impl FnMut(ValidOp<'_, 'a>, Option<&[u8]>),
) {
    let mut last = LastSession::default();
    let mut scratch = [0; MAX_IV_LEN];
    let mut jobs = ArrayVec::<T::Job<'a>, BURST>::new();
    // One bit for each operation that is not among the jobs.
    let (mut bit, mut alone) = (1_u64, 0);
    batch.for_each(|mut op| {
        let tagger = tagger(session_of(&op, &mut last));
        if !tagger.push(&mut op, ciphertext, &mut scratch, &mut jobs) {
            alone |= bit;
            let tag = tag_alone(tagger, &mut op, ciphertext, &mut scratch);
            settle(op, Some(&tag));
        }
        bit <<= 1;
    });
    if let Some(session) = last.engine() {
        // SAFETY: as in `run_payloads`. What `settle` wrote meanwhile belongs to operations that
        // are not among the jobs.
        unsafe { tagger(session).run(&mut jobs) };
    }
    let mut jobs = jobs.iter();
    batch.for_each(|op| {
        let ran_alone = alone & 1 == 1;
        alone >>= 1;
        if !ran_alone {
            let job = jobs.next().expect("a job for each other operation");
            settle(op, T::tag(job));
        }
    });
}

/// Computes and writes the tags of at most [`BURST`] operations, if there is nothing to ask of
/// each; `false` if there is: then nothing was done.
#[inline]
pub(crate) fn run_plain_tags<'a, S: EngineSession, T: Tagger>(
    batch: &mut Batch<'_, 'a>,
    ciphertext: Ciphertext,
    tagger: impl Fn(&'a S) -> &'a T,
) -> bool {
    if !T::PLAIN {
        return false;
    }
    let any = tagger(session_of(&batch.get(0), &mut LastSession::default()));
    let Some(tags) = batch.plain_tags(ciphertext) else {
        return false;
    };
    // SAFETY: a batch is of one group.
    unsafe { any.run_plain(tags, tagger) };
    true
}

/// The tag of an operation that is not among the jobs.
#[inline(never)]
fn tag_alone<T: Tagger>(
    tagger: &T,
    op: &mut ValidOp<'_, '_>,
    ciphertext: Ciphertext,
    scratch: &mut [u8; MAX_IV_LEN],
) -> [u8; MAX_TAG_LEN] {
    let mut tag = [0; MAX_TAG_LEN];
    tagger.alone(op, ciphertext, scratch, &mut tag);
    tag
}

/// The engine's part of an operation's session.
///
/// # Panics
/// If it is of another type, which its group's number rules out.
#[inline]
fn session_of<'a, S: EngineSession>(op: &ValidOp<'_, 'a>, last: &mut LastSession<'a, S>) -> &'a S {
    op.session_after(last)
        .expect("the sessions of a group are of one type")
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
    } else if declassify(op.tag_matches(tag)) {
        op.complete(Status::Success);
    } else {
        op.wipe_output();
        op.complete(Status::AuthFailed);
    }
}
