//! SHA-1, SHA-2 and HMAC over them, a message in each lane.

#![allow(unsafe_code)] // names the memory of messages to the kernels

use std::convert::Infallible;

use arrayvec::ArrayVec;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN, Order};
use lanelock_core::engine::{Ciphertext, EngineSession, PlainTags, ValidOp};
use lanelock_kernels::aes::interleave::Instructions;
use lanelock_kernels::aes::interleave::{CbcKey, Interleave};
use lanelock_kernels::hash::{Algorithm, HmacKey, Job, Kernels, Stream, hash_many};

use crate::burst::{BURST, Tagger};
use crate::interleave;

pub(crate) struct Digest<A: Algorithm> {
    kernels: &'static Kernels<A>,
}

pub(crate) struct Hmac<A: Algorithm> {
    kernels: &'static Kernels<A>,
    key: HmacKey<A>,
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

/// What `op` authenticates, if that is in few enough pieces; its HMAC under `key`, if there is one.
///
/// # Safety
/// The operation's memory stays as it is until the job has run or is dropped.
#[inline(never)]
unsafe fn job_of_pieces<'k, A: Algorithm>(
    op: &ValidOp<'_, '_>,
    ciphertext: Ciphertext,
    key: Option<&'k HmacKey<A>>,
) -> Option<Job<'k, A>> {
    let mut job = Job::empty(key, None);
    op.for_each_authenticated(ciphertext, |piece| {
        // SAFETY: the caller's promise.
        if unsafe { job.push(piece) } {
            Ok(())
        } else {
            Err(())
        }
    })
    .ok()?;
    Some(job)
}

/// Puts a message among the jobs, which have room for it; `false` if it is in too many pieces.
///
/// # Safety
/// As for [`job_of_pieces`].
#[inline(always)]
unsafe fn push<'k, A: Algorithm>(
    op: &mut ValidOp<'_, '_>,
    ciphertext: Ciphertext,
    key: Option<&'k HmacKey<A>>,
    jobs: &mut ArrayVec<Job<'k, A>, BURST>,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(message) = op.whole_authenticated(ciphertext) {
            jobs.push(Job::of_raw(message, key, None));
            return true;
        }
        let job = job_of_pieces(op, ciphertext, key);
        job.map(|job| jobs.push(job)).is_some()
    }
}

impl<A: Algorithm> Tagger for Digest<A> {
    type Job<'k> = Job<'k, A>;
    const PLAIN: bool = true;

    unsafe fn run_plain<'a, S: EngineSession>(
        &self,
        tags: PlainTags<'_, 'a, S>,
        _: impl Fn(&'a S) -> &'a Self,
    ) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        tags.for_each(|plain| {
            // SAFETY: message and tag are borrowed from their operation for longer than this call.
            jobs.push(unsafe { Job::of_raw(plain.message, None, Some(plain.tag)) });
        });
        hash_many(self.kernels, &mut jobs);
    }

    #[inline]
    fn push<'k>(
        &'k self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        _: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<Job<'k, A>, BURST>,
    ) -> bool {
        // SAFETY: `Tagger::run` demands that what was taken from the operation stays valid.
        unsafe { push(op, ciphertext, None, jobs) }
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_, A>]) {
        hash_many(self.kernels, jobs);
    }

    #[inline]
    fn tag<'j>(job: &'j Job<'_, A>) -> Option<&'j [u8]> {
        Some(job.digest())
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
    type Job<'k> = Job<'k, A>;
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
            // SAFETY: as for a hash.
            jobs.push(unsafe { Job::of_raw(plain.message, Some(key), Some(plain.tag)) });
        });
        hash_many(self.kernels, &mut jobs);
    }

    fn run_with_cbc(
        &self,
        token: Instructions,
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
        jobs: &mut ArrayVec<Job<'k, A>, BURST>,
    ) -> bool {
        // SAFETY: `Tagger::run` demands that what was taken from the operation stays valid.
        unsafe { push(op, ciphertext, Some(&self.key), jobs) }
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_, A>]) {
        hash_many(self.kernels, jobs);
    }

    #[inline]
    fn tag<'j>(job: &'j Job<'_, A>) -> Option<&'j [u8]> {
        Some(job.digest())
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
