//! AES-GCM, and GMAC: GCM without a text.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;

use arrayvec::ArrayVec;
use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::BLOCK;
use lanelock_kernels::aes::gcm::{Direction, Job, Key, Stream, decrypt_many, encrypt_many};

use crate::aead::{Aead, Message, TAG};
use crate::burst::{BURST, Text};
use crate::carry::Carry;
use crate::mac::{self, Mac};
use crate::tags::Left;

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

/// A message of GCM; the tag goes to `place` unless that is null.
#[inline(always)]
fn job<'k>(
    key: &'k Key,
    j0: [u8; BLOCK],
    text: Text,
    aad: *const [u8],
    place: *mut [u8; BLOCK],
) -> Job<'k> {
    Job {
        source: text.source,
        target: text.target,
        len: text.len,
        aad: aad.cast(),
        aad_len: aad.len(),
        key,
        j0,
        place,
        tag: [0; BLOCK],
    }
}

impl Aead for Gcm {
    type Job<'k> = Job<'k>;
    const PLACES: bool = true;

    #[inline(always)]
    fn job<'k>(&'k self, message: Message<'_>, _: impl FnOnce() -> [u8; TAG]) -> Job<'k> {
        let j0 = self.key.j0(&self.machine, message.iv);
        job(&self.key, j0, message.text, message.aad, message.place)
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: the caller's promises are the kernels'; keys of one group have one size.
        unsafe {
            match self.direction {
                Direction::Encrypt => encrypt_many(self.machine, jobs),
                Direction::Decrypt => decrypt_many(self.machine, jobs),
            }
        }
    }

    #[inline(always)]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8; TAG]> {
        Some(&job.tag)
    }

    fn run_pieces(&self, op: &mut ValidOp<'_, '_>) -> [u8; TAG] {
        let j0 = self.key.j0(&self.machine, op.iv(&mut [0; MAX_IV_LEN]));
        let mut stream = Stream::new(self.machine, &self.key, j0);
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
        stream.finish()
    }
}

impl Mac for Gmac {
    const TAG: usize = BLOCK;

    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Iterator<Item = mac::Message<'k, Self>>) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        let mut left = Left::new();
        for (number, message) in messages.enumerate() {
            let key = &message.mac.key;
            // SAFETY: an IV is as valid as its message.
            let j0 = key.j0(&self.machine, unsafe { &*message.iv });
            let place = left.unless_whole(number, message.tag);
            jobs.push(job(key, j0, Text::EMPTY, message.text, place));
        }
        // SAFETY: keys of one group have one size, and the caller promises one. Messages and tags are
        // valid until this returns; there is no text.
        unsafe { encrypt_many(self.machine, &mut jobs) };
        left.write(|number| &jobs[number].tag);
    }

    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
        let j0 = self.key.j0(&self.machine, op.iv(&mut [0; MAX_IV_LEN]));
        let mut stream = Stream::new(self.machine, &self.key, j0);
        let mut carry = Carry::default();
        let _infallible: Result<(), Infallible> = op.for_each_authenticated(ciphertext, |piece| {
            carry.push(piece, |blocks| stream.aad(blocks));
            Ok(())
        });
        stream.aad(carry.last());
        tag.copy_from_slice(&stream.finish());
    }
}
