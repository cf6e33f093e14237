//! SHA-1, SHA-2 and HMAC over them, a message in each lane.

#![allow(unsafe_code)] // names the memory of messages to the kernels

use std::convert::Infallible;

use arrayvec::ArrayVec;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN, Order};
use lanelock_core::engine::{Ciphertext, EngineSession, PlainTag, PlainTags, ValidOp, copy_tag};
use lanelock_kernels::aes::interleave::{CbcKey, Interleave};
use lanelock_kernels::cpu::ShaNi;
use lanelock_kernels::hash::{
    Algorithm, HmacKey, Kernels, Keyed, MAX_DIGEST, Message, Stream, hash_many, hmac_many,
};

use crate::burst::{BURST, Tagger};
use crate::interleave;

pub(crate) struct Digest<A: Algorithm> {
    kernels: &'static Kernels<A>,
}

pub(crate) struct Hmac<A: Algorithm> {
    kernels: &'static Kernels<A>,
    key: HmacKey<A>,
}

/// Pieces of a message that runs in a lane; those of more pieces run alone.
const PIECES: usize = 4;

/// A message on its way through a lane. Invariant: the first `count` pieces are valid for reading
/// until the kernel returns.
pub(crate) struct DigestJob {
    pieces: [*const [u8]; PIECES],
    next: u8,
    count: u8,
    digest: [u8; MAX_DIGEST],
}

/// A message in one piece whose digest goes to its place. Invariant: both are borrowed for 'o.
struct PlainJob<'o> {
    message: Option<*const [u8]>,
    tag: &'o mut [u8],
}

/// A message in one piece and its key.
struct PlainHmacJob<'o, 'k, A: Algorithm> {
    message: PlainJob<'o>,
    key: &'k HmacKey<A>,
}

/// A message and its key.
pub(crate) struct HmacJob<'k, A: Algorithm> {
    message: DigestJob,
    key: &'k HmacKey<A>,
}

impl<A: Algorithm> Digest<A> {
    pub(crate) fn new(kernels: &'static Kernels<A>) -> Self {
        Self { kernels }
    }
}

impl<A: Algorithm> Hmac<A> {
    pub(crate) fn new(kernels: &'static Kernels<A>, key: &[u8]) -> Self {
        Self {
            kernels,
            key: HmacKey::new(kernels, key),
        }
    }
}

impl DigestJob {
    const NO_PIECE: *const [u8] = std::ptr::from_ref(&[]);

    /// A message in one piece.
    #[inline(always)]
    fn of_whole(message: &[u8]) -> Self {
        Self {
            pieces: [message, Self::NO_PIECE, Self::NO_PIECE, Self::NO_PIECE],
            next: 0,
            count: 1,
            digest: [0; MAX_DIGEST],
        }
    }

    /// What `op` authenticates, if that is in few enough pieces.
    #[inline(never)]
    fn of_pieces(op: &ValidOp<'_, '_>, ciphertext: Ciphertext) -> Option<Self> {
        let mut job = Self {
            pieces: [Self::NO_PIECE; PIECES],
            next: 0,
            count: 0,
            digest: [0; MAX_DIGEST],
        };
        op.for_each_authenticated(ciphertext, |piece| {
            *job.pieces.get_mut(usize::from(job.count)).ok_or(())? = piece;
            job.count += 1;
            Ok::<_, ()>(())
        })
        .ok()?;
        Some(job)
    }
}

// SAFETY: the invariant. The pieces were borrowed from an operation whose memory stays as it is
// until the kernel returns, as `Tagger::run` demands.
unsafe impl Message for DigestJob {
    #[inline]
    fn next_part(&mut self) -> Option<*const [u8]> {
        if self.next == self.count {
            return None;
        }
        let piece = self.pieces[usize::from(self.next)];
        self.next += 1;
        Some(piece)
    }

    #[inline]
    fn is_read(&self) -> bool {
        self.next == self.count
    }

    #[inline(always)]
    fn finish(&mut self, digest: &[u8]) {
        self.digest[..digest.len()].copy_from_slice(digest);
    }
}

// SAFETY: as for `DigestJob`.
unsafe impl<A: Algorithm> Message for HmacJob<'_, A> {
    #[inline]
    fn next_part(&mut self) -> Option<*const [u8]> {
        self.message.next_part()
    }

    #[inline]
    fn is_read(&self) -> bool {
        self.message.is_read()
    }

    #[inline]
    fn finish(&mut self, digest: &[u8]) {
        self.message.finish(digest);
    }
}

impl<'o> PlainJob<'o> {
    #[inline(always)]
    fn new<S>(plain: PlainTag<'o, '_, S>) -> Self {
        Self {
            message: Some(std::ptr::from_ref(plain.message)),
            tag: plain.tag,
        }
    }
}

// SAFETY: the invariant.
unsafe impl Message for PlainJob<'_> {
    #[inline(always)]
    fn next_part(&mut self) -> Option<*const [u8]> {
        self.message.take()
    }

    #[inline(always)]
    fn is_read(&self) -> bool {
        self.message.is_none()
    }

    #[inline(always)]
    fn finish(&mut self, digest: &[u8]) {
        copy_tag(&digest[..self.tag.len()], self.tag);
    }
}

// SAFETY: as for `PlainJob`.
unsafe impl<A: Algorithm> Message for PlainHmacJob<'_, '_, A> {
    #[inline(always)]
    fn next_part(&mut self) -> Option<*const [u8]> {
        self.message.next_part()
    }

    #[inline(always)]
    fn is_read(&self) -> bool {
        self.message.is_read()
    }

    #[inline(always)]
    fn finish(&mut self, digest: &[u8]) {
        self.message.finish(digest);
    }
}

impl<A: Algorithm> Keyed<A> for PlainHmacJob<'_, '_, A> {
    #[inline(always)]
    fn key(&self) -> &HmacKey<A> {
        self.key
    }
}

impl<A: Algorithm> Keyed<A> for HmacJob<'_, A> {
    #[inline]
    fn key(&self) -> &HmacKey<A> {
        self.key
    }
}

impl<A: Algorithm> Tagger for Digest<A> {
    type Job<'k> = DigestJob;
    const PLAIN: bool = true;

    unsafe fn run_plain<'a, S: EngineSession>(
        &self,
        tags: PlainTags<'_, 'a, S>,
        _: impl Fn(&'a S) -> &'a Self,
    ) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        tags.for_each(|plain| jobs.push(PlainJob::new(plain)));
        hash_many(self.kernels, &mut jobs);
    }

    #[inline]
    fn push(
        &self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        _: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<DigestJob, BURST>,
    ) -> bool {
        if let Some(message) = op.whole_authenticated(ciphertext) {
            jobs.push(DigestJob::of_whole(message));
            return true;
        }
        let job = DigestJob::of_pieces(op, ciphertext);
        job.map(|job| jobs.push(job)).is_some()
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [DigestJob]) {
        hash_many(self.kernels, jobs);
    }

    #[inline]
    fn tag(job: &DigestJob) -> Option<&[u8]> {
        Some(&job.digest)
    }

    fn alone(
        &self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        _: &mut [u8; MAX_IV_LEN],
        tag: &mut [u8; MAX_TAG_LEN],
    ) {
        let mut stream = Stream::new(self.kernels);
        absorb(&mut stream, op, ciphertext);
        stream.finish(&mut tag[..A::DIGEST]);
    }
}

impl<A: Interleave> Tagger for Hmac<A> {
    type Job<'k> = HmacJob<'k, A>;
    const PLAIN: bool = true;
    const INTERLEAVES: bool = A::INTERLEAVES;

    unsafe fn run_plain<'a, S: EngineSession>(
        &self,
        tags: PlainTags<'_, 'a, S>,
        tagger: impl Fn(&'a S) -> &'a Self,
    ) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        tags.for_each(|plain| {
            let key = &tagger(plain.session).key;
            let message = PlainJob::new(plain);
            jobs.push(PlainHmacJob { message, key });
        });
        hmac_many(self.kernels, &mut jobs);
    }

    fn run_with_cbc(
        &self,
        token: ShaNi,
        key: CbcKey<'_>,
        order: Order,
        op: ValidOp<'_, '_>,
    ) -> bool {
        interleave::run(token, key, &self.key, order, op)
    }

    #[inline]
    fn push<'k>(
        &'k self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        _: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<HmacJob<'k, A>, BURST>,
    ) -> bool {
        let key = &self.key;
        if let Some(message) = op.whole_authenticated(ciphertext) {
            // Built where it stays: a job is too large to be moved for nothing.
            let message = DigestJob::of_whole(message);
            jobs.push(HmacJob { message, key });
            return true;
        }
        let message = DigestJob::of_pieces(op, ciphertext);
        message
            .map(|message| jobs.push(HmacJob { message, key }))
            .is_some()
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [HmacJob<'_, A>]) {
        hmac_many(self.kernels, jobs);
    }

    #[inline]
    fn tag<'j>(job: &'j HmacJob<'_, A>) -> Option<&'j [u8]> {
        Some(&job.message.digest)
    }

    fn alone(
        &self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        _: &mut [u8; MAX_IV_LEN],
        tag: &mut [u8; MAX_TAG_LEN],
    ) {
        let mut stream = Stream::hmac(self.kernels, &self.key);
        absorb(&mut stream, op, ciphertext);
        stream.finish_hmac(&self.key, &mut tag[..A::DIGEST]);
    }
}

fn absorb<A: Algorithm>(stream: &mut Stream<A>, op: &ValidOp<'_, '_>, ciphertext: Ciphertext) {
    let _infallible: Result<(), Infallible> = op.for_each_authenticated(ciphertext, |piece| {
        stream.update(piece);
        Ok(())
    });
}
