//! AES-GCM, and GMAC: GCM without a text.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::engine::{Batch, Ciphertext, ValidOp};
use lanelock_kernels::aes::gcm::{Direction, Job, Key, Stream, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, Isa};
use lanelock_kernels::taint::declassify;

use crate::burst::{BURST, Pieces, Tagger, Whole, settle};
use crate::carry::Carry;

pub(crate) struct Gcm {
    isa: Isa,
    direction: Direction,
    key: Key,
}

pub(crate) struct Gmac {
    isa: Isa,
    key: Key,
}

impl Gcm {
    pub(crate) fn new(isa: Isa, key: &[u8], seal: bool) -> Option<Self> {
        let direction = if seal {
            Direction::Encrypt
        } else {
            Direction::Decrypt
        };
        let key = Key::new(isa, key)?;
        Some(Self {
            isa,
            direction,
            key,
        })
    }
}

impl Gmac {
    pub(crate) fn new(isa: Isa, key: &[u8]) -> Option<Self> {
        let key = Key::new(isa, key)?;
        Some(Self { isa, key })
    }
}

/// Ends operations by the tags of their jobs, by one verdict if all are right.
fn settle_each(batch: &mut Batch<'_, '_>, jobs: &[Job<'_>]) {
    let (mut all, mut at) = (true, 0);
    batch.for_each(|op| {
        all &= op.tag_matches(&jobs[at].tag);
        at += 1;
    });
    if declassify(all) {
        return batch.complete(Status::Success);
    }
    at = 0;
    batch.for_each(|op| {
        settle(op, Some(&jobs[at].tag));
        at += 1;
    });
}

impl Tagger for Gcm {
    type Job<'k> = Job<'k>;

    #[inline]
    fn push<'k>(
        &'k self,
        op: &mut ValidOp<'_, '_>,
        _: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<Job<'k>, BURST>,
    ) -> bool {
        let Some(Pieces { text, aad }) = Pieces::of(op) else {
            return false;
        };
        jobs.push(Job {
            source: text.source,
            target: text.target,
            len: text.len,
            aad: aad.cast(),
            aad_len: aad.len(),
            key: &self.key,
            j0: self.key.j0(self.isa, op.iv(iv)),
            tag: [0; BLOCK],
        });
        true
    }

    fn run_whole(&self, batch: &mut Batch<'_, '_>) -> bool {
        let Some(messages) = batch.plain_aeads() else {
            return false;
        };
        let mut jobs = ArrayVec::<Job<'_>, BURST>::new();
        let mut places = ArrayVec::<&mut [u8], BURST>::new();
        for message in messages {
            let text = Whole::of(&message.payload);
            jobs.push(Job {
                source: text.source,
                target: text.target,
                len: text.len,
                aad: message.aad.as_ptr(),
                aad_len: message.aad.len(),
                key: &self.key,
                j0: self.key.j0(self.isa, message.iv),
                tag: [0; BLOCK],
            });
            places.push(message.tag);
        }
        // SAFETY: the memory of the messages is the operations' for as long as the batch is
        // borrowed. Input and output of a payload are alike or disjoint; outputs of different
        // operations are disjoint from each other and from what is read.
        unsafe { self.run(&mut jobs) };
        for (job, place) in jobs.iter().zip(places) {
            match <&mut [u8; BLOCK]>::try_from(&mut *place) {
                Ok(place) => *place = job.tag,
                Err(_) => place.copy_from_slice(&job.tag[..place.len()]),
            }
        }
        match self.direction {
            Direction::Encrypt => batch.complete(Status::Success),
            Direction::Decrypt => settle_each(batch, &jobs),
        }
        true
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: text and additional data were valid for their lengths and still are; the text
        // is rewritten as the caller promises.
        unsafe {
            match self.direction {
                Direction::Encrypt => encrypt_many(self.isa, jobs),
                Direction::Decrypt => decrypt_many(self.isa, jobs),
            }
        }
    }

    #[inline]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8]> {
        Some(&job.tag)
    }

    fn alone(
        &self,
        op: &mut ValidOp<'_, '_>,
        _: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        tag: &mut [u8; MAX_TAG_LEN],
    ) {
        let mut stream = Stream::new(self.isa, &self.key, self.key.j0(self.isa, op.iv(iv)));
        let mut carry = Carry::default();
        let _infallible: Result<(), Infallible> = op.for_each_aad(|piece| {
            carry.push(piece, |blocks| stream.aad(blocks));
            Ok(())
        });
        stream.aad(carry.last());
        let mut payload = op.payload();
        while let Some(run) = payload.next_run(usize::MAX) {
            // SAFETY: a run is valid for its length; input and output are alike or disjoint.
            unsafe { stream.update(self.direction, run.input(), run.output(), run.len()) };
        }
        tag[..BLOCK].copy_from_slice(&stream.finish());
    }
}

impl Tagger for Gmac {
    type Job<'k> = Job<'k>;

    #[inline]
    fn push<'k>(
        &'k self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<Job<'k>, BURST>,
    ) -> bool {
        let Some(message) = op.whole_authenticated(ciphertext) else {
            return false;
        };
        let none = Whole::EMPTY;
        jobs.push(Job {
            source: none.source,
            target: none.target,
            len: none.len,
            aad: message.as_ptr(),
            aad_len: message.len(),
            key: &self.key,
            j0: self.key.j0(self.isa, op.iv(iv)),
            tag: [0; BLOCK],
        });
        true
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: the messages were valid for their lengths and still are; nothing is written.
        unsafe { encrypt_many(self.isa, jobs) }
    }

    #[inline]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8]> {
        Some(&job.tag)
    }

    fn alone(
        &self,
        op: &mut ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        tag: &mut [u8; MAX_TAG_LEN],
    ) {
        let mut stream = Stream::new(self.isa, &self.key, self.key.j0(self.isa, op.iv(iv)));
        let mut carry = Carry::default();
        let _infallible: Result<(), Infallible> = op.for_each_authenticated(ciphertext, |piece| {
            carry.push(piece, |blocks| stream.aad(blocks));
            Ok(())
        });
        stream.aad(carry.last());
        tag[..BLOCK].copy_from_slice(&stream.finish());
    }
}
