//! AES-GCM, and GMAC: GCM without a text.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::ptr;

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::engine::{Batch, Ciphertext, EngineSession, PlainAeads, ValidOp};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::BLOCK;
use lanelock_kernels::aes::gcm::{Direction, Job, Key, Stream, decrypt_many, encrypt_many};
use lanelock_kernels::taint::declassify;

use crate::burst::{BURST, Mapped, Pieces, Tagger, Whole, settle};
use crate::carry::Carry;

pub(crate) struct Gcm {
    machine: Machine,
    direction: Direction,
    key: Key,
}

pub(crate) struct Gmac {
    machine: Machine,
    key: Key,
}

impl Gcm {
    pub(crate) fn new(machine: Machine, key: &[u8], seal: bool) -> Option<Self> {
        let direction = if seal {
            Direction::Encrypt
        } else {
            Direction::Decrypt
        };
        let key = Key::new(machine, key)?;
        Some(Self {
            machine,
            direction,
            key,
        })
    }
}

impl Gmac {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = Key::new(machine, key)?;
        Some(Self { machine, key })
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

impl Gcm {
    /// Runs messages; those whose tags have a place of a block leave them there, the others in
    /// the jobs.
    #[inline(always)]
    fn run_plain_aeads<'a, S: EngineSession>(
        &self,
        messages: PlainAeads<'_, 'a, S>,
        tagger: impl Fn(&'a S) -> &'a Self,
        jobs: &mut ArrayVec<Job<'a>, BURST>,
    ) {
        // Tags that are shorter than a block are cut off behind the kernel.
        let mut short = ArrayVec::<_, BURST>::new();
        let mut number = 0;
        // Extended, not collected: that would move them all.
        jobs.extend(Mapped::new(messages, |message| {
            let text = Whole::of(&message.payload);
            let key = &tagger(message.session).key;
            let mut place = ptr::null_mut();
            if message.tag.len() == BLOCK {
                place = message.tag.as_mut_ptr().cast();
            } else if !message.tag.is_empty() {
                short.push((number, message.tag));
            }
            number += 1;
            Job {
                source: text.source,
                target: text.target,
                len: text.len,
                aad: message.aad.as_ptr(),
                aad_len: message.aad.len(),
                key,
                j0: key.j0(self.machine, message.iv),
                place,
                tag: [0; BLOCK],
            }
        }));
        // SAFETY: a batch is of one group. The memory of the messages is the operations' for as
        // long as the batch is borrowed. Input and output of a payload are alike or disjoint;
        // outputs and tags of different operations are disjoint from each other and from what is
        // read.
        unsafe { self.run(jobs) };
        for (number, tag) in &mut short {
            tag.copy_from_slice(&jobs[*number].tag[..tag.len()]);
        }
    }
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
            j0: self.key.j0(self.machine, op.iv(iv)),
            place: ptr::null_mut(),
            tag: [0; BLOCK],
        });
        true
    }

    fn run_whole<'a, S: EngineSession>(
        &self,
        batch: &mut Batch<'_, 'a>,
        tagger: impl Fn(&'a S) -> &'a Self,
    ) -> bool {
        let mut jobs = ArrayVec::<_, BURST>::new();
        let Some(messages) = batch.plain_aeads() else {
            return false;
        };
        self.run_plain_aeads(messages, tagger, &mut jobs);
        match self.direction {
            Direction::Encrypt => batch.complete(Status::Success),
            Direction::Decrypt => settle_each(batch, &jobs),
        }
        true
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: keys of one group have one size. Text and additional data were valid for their
        // lengths and still are; the text is rewritten as the caller promises.
        unsafe {
            match self.direction {
                Direction::Encrypt => encrypt_many(self.machine, jobs),
                Direction::Decrypt => decrypt_many(self.machine, jobs),
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
        let mut stream = Stream::new(
            self.machine,
            &self.key,
            self.key.j0(self.machine, op.iv(iv)),
        );
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
            j0: self.key.j0(self.machine, op.iv(iv)),
            place: ptr::null_mut(),
            tag: [0; BLOCK],
        });
        true
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: keys of one group have one size. The messages were valid for their lengths and
        // still are; nothing is written.
        unsafe { encrypt_many(self.machine, jobs) }
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
        let mut stream = Stream::new(
            self.machine,
            &self.key,
            self.key.j0(self.machine, op.iv(iv)),
        );
        let mut carry = Carry::default();
        let _infallible: Result<(), Infallible> = op.for_each_authenticated(ciphertext, |piece| {
            carry.push(piece, |blocks| stream.aad(blocks));
            Ok(())
        });
        stream.aad(carry.last());
        tag[..BLOCK].copy_from_slice(&stream.finish());
    }
}
