//! AES-GCM, and GMAC: GCM without a text.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::{iter, ptr, slice};

use arrayvec::ArrayVec;
use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::gcm::{
    J0, Job, Key, Lone, Part, decrypt_lone, decrypt_many, decrypt_parts, encrypt_lone,
    encrypt_many, encrypt_parts,
};
use lanelock_kernels::aes::{BLOCK, Piece};

use crate::aead::{Aead, Message, Scattered, TAG, nonce};
use crate::burst::{BURST, Text};
use crate::carry::Carry;
use crate::mac::{self, Mac};
use crate::rounds::{InRounds, run_in_rounds};
use crate::tags::Left;

/// Bytes of the IV that begins a block of counters.
const READY_IV: usize = 12;

pub(crate) struct Gcm {
    machine: Machine,
    seal: bool,
    key: Key,
}

pub(crate) struct Gmac {
    machine: Machine,
    key: Key,
}

impl Gcm {
    pub(crate) fn new(machine: Machine, key: &[u8], seal: bool) -> Option<Self> {
        let key = Key::new(machine, key)?;
        Some(Self { machine, seal, key })
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
fn job<'k>(key: &'k Key, j0: J0, text: Text, aad: *const [u8], place: *mut [u8; BLOCK]) -> Job<'k> {
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

/// A message of GCM that is alone; `None` if its IV has another length than twelve bytes.
#[inline(always)]
fn lone<'k>(
    key: &'k Key,
    iv: &[u8],
    text: Text,
    aad: *const [u8],
    tag: *mut [u8; BLOCK],
) -> Option<Lone<'k>> {
    let iv: &[u8; READY_IV] = iv.try_into().ok()?;
    Some(Lone {
        source: text.source,
        target: text.target,
        len: text.len,
        aad: aad.cast(),
        aad_len: aad.len(),
        key,
        iv,
        tag,
    })
}

impl Aead for Gcm {
    type Job<'k> = Job<'k>;
    const PLACES: bool = true;
    const READY_IV: Option<usize> = Some(READY_IV);

    #[inline(always)]
    fn job<'k>(&'k self, message: Message<'_>, _: impl FnOnce() -> [u8; TAG]) -> Job<'k> {
        let j0 = self.key.j0(&self.machine, message.iv);
        job(&self.key, j0, message.text, message.aad, message.place)
    }

    #[inline(always)]
    fn ready_job<'k>(&'k self, message: Message<'_>, _: impl FnOnce() -> [u8; TAG]) -> Job<'k> {
        let j0 = J0::of_iv12(&nonce(message.iv));
        job(&self.key, j0, message.text, message.aad, message.place)
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: the caller's promises are the kernels'; keys of one group have one size.
        unsafe {
            if self.seal {
                encrypt_many(self.machine, jobs);
            } else {
                decrypt_many(self.machine, jobs);
            }
        }
    }

    #[inline(always)]
    unsafe fn run_lone(&self, message: &Message<'_>) -> bool {
        let Some(lone) = lone(
            &self.key,
            message.iv,
            message.text,
            message.aad,
            message.place,
        ) else {
            return false;
        };
        // SAFETY: the caller's promises are the kernels'.
        unsafe {
            if self.seal {
                encrypt_lone(&self.machine, &lone);
            } else {
                decrypt_lone(&self.machine, &lone);
            }
        }
        true
    }

    #[inline(always)]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8; TAG]> {
        Some(&job.tag)
    }

    fn run_scattered(&self, messages: &mut [Scattered<'_, '_, '_, Self>]) {
        let mut texts = ArrayVec::<_, BURST>::new();
        for Scattered { aead, op, tag, .. } in messages {
            texts.push(InPieces::new(&aead.machine, &aead.key, op, tag));
        }
        run_in_rounds(&mut texts, |parts| {
            // SAFETY: pieces are valid and disjoint, as is the additional data of the operations; keys of
            // one group have one size.
            unsafe {
                if self.seal {
                    encrypt_parts(self.machine, parts);
                } else {
                    decrypt_parts(self.machine, parts);
                }
            }
        });
    }
}

/// What is left of a message in pieces.
struct InPieces<'k> {
    key: &'k Key,
    j0: J0,
    /// Not hashed yet.
    aad: *const [u8],
    payload: Cursor<'k>,
    /// Blocks of the text before that.
    before: usize,
    /// Bytes of the additional data and the text.
    lengths: [usize; 2],
    /// As the kernel leaves it: the tag in the end.
    hash: &'k mut [u8; BLOCK],
}

impl<'k> InPieces<'k> {
    /// `hash` is zero.
    fn new(
        machine: &Machine,
        key: &'k Key,
        op: &'k mut ValidOp<'_, '_>,
        hash: &'k mut [u8; BLOCK],
    ) -> Self {
        let j0 = key.j0(machine, op.iv(&mut [0; MAX_IV_LEN]));
        let lengths = [op.aad_len(), op.payload_len()];
        let aad: *const [u8] = match op.whole_aad() {
            Some(aad) => aad,
            None => {
                (*hash, _) = hash_pieces(machine, key, |piece| op.for_each_aad(piece));
                &[]
            }
        };
        Self {
            key,
            j0,
            aad,
            payload: op.payload(),
            before: 0,
            lengths,
            hash,
        }
    }
}

impl<'k> InRounds<'k> for InPieces<'k> {
    type Part<'p> = Part<'p>;

    const PADDED: bool = false;

    #[inline]
    fn payload(&mut self) -> &mut Cursor<'k> {
        &mut self.payload
    }

    #[inline]
    fn part<'p>(&self, pieces: &'p [Piece]) -> Part<'p>
    where
        'k: 'p,
    {
        Part {
            pieces,
            aad: self.aad.cast(),
            aad_len: self.aad.len(),
            key: self.key,
            j0: self.j0,
            before: self.before,
            ends: (self.payload.remaining() == 0).then_some(self.lengths),
            hash: *self.hash,
        }
    }

    #[inline]
    fn after(&mut self, part: &Part<'_>) {
        *self.hash = part.hash;
        self.aad = &[];
        let done = self.lengths[1] - self.payload.remaining();
        // Whole blocks, unless the message has ended.
        self.before = done / BLOCK;
    }
}

/// The hash of additional data, and how many bytes it has; `each` hands over all of its pieces.
fn hash_pieces(
    machine: &Machine,
    key: &Key,
    each: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Infallible>) -> Result<(), Infallible>,
) -> ([u8; BLOCK], usize) {
    let (mut hash, mut len, mut carry) = ([0; BLOCK], 0, Carry::default());
    let _infallible = each(&mut |piece| {
        len += piece.len();
        carry.push(piece, |blocks| key.absorb(machine, &mut hash, blocks));
        Ok(())
    });
    key.absorb(machine, &mut hash, carry.last());
    (hash, len)
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

    #[inline(always)]
    unsafe fn run_lone<'k>(&self, message: mac::Message<'k, Self>) {
        let mac::Message { mac, text, iv, .. } = message;
        let mut beside = [0; BLOCK];
        let whole = <&mut [u8; BLOCK]>::try_from(&mut *message.tag).ok();
        let is_cut = whole.is_none();
        let place = whole.unwrap_or(&mut beside);
        // SAFETY: an IV is as valid as its message.
        let Some(lone) = lone(&mac.key, unsafe { &*iv }, Text::EMPTY, text, place) else {
            // SAFETY: the caller's promise.
            return unsafe { self.run(iter::once(message)) };
        };
        // SAFETY: message and tag are valid; there is no text.
        unsafe { encrypt_lone(&self.machine, &lone) };
        if is_cut {
            message.tag.copy_from_slice(&beside[..message.tag.len()]);
        }
    }

    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
        let (hash, len) = hash_pieces(&self.machine, &self.key, |piece| {
            op.for_each_authenticated(ciphertext, piece)
        });
        let mut part = Part {
            pieces: &[],
            aad: ptr::null(),
            aad_len: 0,
            key: &self.key,
            j0: self.key.j0(&self.machine, op.iv(&mut [0; MAX_IV_LEN])),
            before: 0,
            ends: Some([len, 0]),
            hash,
        };
        // SAFETY: no memory but the key's.
        unsafe { encrypt_parts(self.machine, slice::from_mut(&mut part)) };
        tag.copy_from_slice(&part.hash);
    }
}
