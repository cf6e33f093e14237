//! AES-GCM, and GMAC: GCM without a text.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::mem::offset_of;
use std::{iter, ptr, slice};

use arrayvec::ArrayVec;
use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{Ciphertext, Fed, Likeness, Record, ValidOp};
use lanelock_core::transform::Direction;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::gcm::{
    J0, Job, Key, Known, LoneKernel, MacJob, MacKey, Part, authenticate_fed, authenticate_lone,
    authenticate_many, decrypt_fed, decrypt_many, decrypt_parts, encrypt_fed, encrypt_many,
    encrypt_parts,
};
use lanelock_kernels::aes::{BLOCK, Piece};

use crate::aead::{Aead, Message, Scattered};
use crate::burst::{BURST, Mapped, fed_if};
use crate::carry::Carry;
use crate::in_place::RecordAead;
use crate::mac::{self, Mac};
use crate::records::TAG;
use crate::rounds::{InRounds, run_in_rounds};
use crate::tags::Left;

/// Bytes of an IV that begins the blocks of counters as it is.
const IV: usize = 12;

pub(crate) struct Gcm {
    machine: Machine,
    seal: bool,
    key: Key,
    lone: LoneKernel,
}

pub(crate) struct Gmac {
    machine: Machine,
    key: MacKey,
}

// A record is a job, word for word.
const _: () = {
    type OfGcm = Record<Key>;
    assert!(size_of::<OfGcm>() == size_of::<Job<'_>>());
    assert!(align_of::<OfGcm>() == align_of::<Job<'_>>());
    assert!(offset_of!(OfGcm, source) == offset_of!(Job<'_>, source));
    assert!(offset_of!(OfGcm, len) == offset_of!(Job<'_>, len));
    assert!(offset_of!(OfGcm, target) == offset_of!(Job<'_>, target));
    assert!(offset_of!(OfGcm, iv) == offset_of!(Job<'_>, iv));
    assert!(offset_of!(OfGcm, aad) == offset_of!(Job<'_>, aad));
    assert!(offset_of!(OfGcm, aad_len) == offset_of!(Job<'_>, aad_len));
    assert!(offset_of!(OfGcm, key) == offset_of!(Job<'_>, key));
    assert!(offset_of!(OfGcm, place) == offset_of!(Job<'_>, place));
    assert!(offset_of!(OfGcm, block) == offset_of!(Job<'_>, block));
};

impl Gcm {
    pub(crate) fn new(machine: Machine, key: &[u8], seal: bool) -> Option<Self> {
        let key = Key::new(machine, key)?;
        let size = key.cipher().size();
        let lone = if seal {
            LoneKernel::encrypting(&machine, size)
        } else {
            LoneKernel::decrypting(&machine, size)
        };
        Some(Self {
            machine,
            seal,
            key,
            lone,
        })
    }

    /// # Safety
    /// As for [`Aead::run`]; what is said to be known is true.
    #[inline(always)]
    unsafe fn run_known(&self, jobs: &mut [Job<'_>], known: Known) {
        debug_assert!(known.is_true_of(jobs), "{known:?}");
        // SAFETY: the caller's promises are the kernels'; keys of one group have one size.
        unsafe {
            if self.seal {
                encrypt_many(&self.machine, jobs, known);
            } else {
                decrypt_many(&self.machine, jobs, known);
            }
        }
    }
}

impl Gmac {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = MacKey::new(machine, key)?;
        Some(Self { machine, key })
    }
}

/// A message of GCM.
#[inline(always)]
fn job<'k>(machine: &Machine, key: &'k Key, message: &Message<'_>) -> Job<'k> {
    let Message { text, aad, iv, .. } = *message;
    let job = match <&[u8; IV]>::try_from(iv) {
        Ok(iv) if message.is_iv_kept => Job::new(key, iv),
        _ => Job::of_block(key, *key.j0(machine, iv).block()),
    };
    job.text(text.source, text.target, text.len)
        .aad(aad.cast(), aad.len())
}

impl Aead for Gcm {
    type Job<'k> = Job<'k>;

    #[inline(always)]
    fn job<'k>(&'k self, message: Message<'_>, _: impl FnOnce() -> [u8; TAG]) -> Job<'k> {
        job(&self.machine, &self.key, &message)
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        let known = Known::of(jobs);
        // SAFETY: the caller's promises are the kernels'; keys of one group have one size.
        unsafe { self.run_known(jobs, known) }
    }

    #[inline(always)]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8; TAG]> {
        Some(&job.block)
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

impl RecordAead for Gcm {
    const IV: usize = IV;
    type Key = Key;

    #[inline(always)]
    fn key(&self) -> &Key {
        &self.key
    }

    #[inline(always)]
    unsafe fn run_records(&self, first: *mut Record<Key>, count: usize, likeness: Likeness) {
        let known = Known {
            one_key: likeness.one_session,
            one_length: likeness.one_length,
            ivs: true,
        };
        // SAFETY: the caller's promises; a record has all that a job has, and an IV of twelve bytes.
        unsafe { self.run_known(slice::from_raw_parts_mut(first.cast(), count), known) }
    }

    #[inline(always)]
    unsafe fn run_record(&self, record: *mut Record<Key>, _: Direction) {
        // SAFETY: the caller's promises; a record has all that a job has, and an IV of twelve bytes.
        unsafe {
            self.lone.run(&mut *record.cast());
        }
    }

    fn fed(&self) -> Fed {
        if !self.machine.is_fed() {
            return Fed::NONE;
        }
        // Those that fill registers of their own with text, up to as many as are turned in one go. Encrypted
        // side by side, messages have each other's products to run beside their rounds. Where the two take
        // turns, a burst that has more of both to choose from is soon faster.
        let (most, longest, long) = match (self.machine.multiplies_beside_rounds(), self.seal) {
            (true, true) => (15, 384, u32::MAX),
            (true, false) => (u32::MAX, 576, u32::MAX),
            (false, true) => (3, 576, u32::MAX),
            (false, false) => (7, 576, 385),
        };
        Fed {
            few: 3,
            most,
            lengths: [65, longest],
            long,
            unlike: true,
            many_keys: false,
        }
    }

    #[inline(always)]
    unsafe fn run_fed(
        &self,
        records: impl Iterator<Item = *mut Record<Key>>,
        direction: Direction,
    ) {
        let size = self.key.cipher().size();
        let jobs = Mapped::new(records, <*mut _>::cast);
        // SAFETY: as in `run_record`.
        unsafe {
            match direction {
                Direction::Forward => encrypt_fed(&self.machine, size, jobs),
                Direction::Reverse => decrypt_fed(&self.machine, size, jobs),
            }
        }
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
                (*hash, _) = hash_pieces(
                    |hash, blocks| key.absorb(machine, hash, blocks),
                    |piece| op.for_each_aad(piece),
                );
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

/// The hash of additional data, which `absorb` goes on with, and how many bytes it has; `each` hands over
/// all of its pieces.
fn hash_pieces(
    absorb: impl Fn(&mut [u8; BLOCK], &[u8]),
    each: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Infallible>) -> Result<(), Infallible>,
) -> ([u8; BLOCK], usize) {
    let (mut hash, mut len, mut carry) = ([0; BLOCK], 0, Carry::default());
    let _infallible = each(&mut |piece| {
        len += piece.len();
        carry.push(piece, |blocks| absorb(&mut hash, blocks));
        Ok(())
    });
    absorb(&mut hash, carry.last());
    (hash, len)
}

/// A message of GMAC.
///
/// # Safety
/// Its IV is valid until this returns, and one of twelve bytes until the job has run.
#[inline(always)]
unsafe fn mac_job<'k>(message: &mac::Message<'k, Gmac>) -> MacJob<'k> {
    let Gmac { machine, key } = message.mac;
    // SAFETY: the caller's promise.
    let iv = unsafe { &*message.iv };
    let job = match <&[u8; IV]>::try_from(iv) {
        Ok(iv) => MacJob::new(key, iv),
        Err(_) => MacJob::of_block(key, *key.j0(machine, iv).block()),
    };
    job.message(message.text.cast(), message.text.len())
}

impl Mac for Gmac {
    const TAG: usize = BLOCK;

    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Iterator<Item = mac::Message<'k, Self>>) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        let (mut left, mut known) = (Left::new(), MacJob::KNOWN);
        for (number, message) in messages.enumerate() {
            // SAFETY: an IV is as valid as its message.
            let mut job = unsafe { mac_job(&message) };
            job.set_place(left.unless_whole(number, message.tag));
            known = job.joins(jobs.first().unwrap_or(&job), known);
            jobs.push(job);
        }
        // SAFETY: keys of one group have one size and one machine, and the caller promises one group.
        // Messages, IVs and tags are valid until this returns.
        unsafe { authenticate_many(&self.machine, &mut jobs, known) };
        left.write(|number| jobs[number].tag());
    }

    #[inline(always)]
    unsafe fn run_lone<'k>(&self, message: mac::Message<'k, Self>) {
        if message.iv.len() != IV {
            // SAFETY: the caller's promise.
            return unsafe { self.run(iter::once(message)) };
        }
        // SAFETY: an IV is as valid as its message.
        let mut job = unsafe { mac_job(&message) };
        let place = <&mut [u8; BLOCK]>::try_from(&mut *message.tag).ok();
        let is_whole = place.is_some();
        job.set_place(place.map_or(ptr::null_mut(), ptr::from_mut));
        // SAFETY: message and tag are valid.
        unsafe { authenticate_lone(&self.machine, &mut job) };
        if !is_whole {
            message.tag.copy_from_slice(&job.tag()[..message.tag.len()]);
        }
    }

    fn fed(&self) -> Fed {
        fed_if(self.machine.is_fed_macs())
    }

    #[inline(always)]
    unsafe fn run_fed(&self, records: impl Iterator<Item = *mut Record<Self>>) {
        let jobs = Mapped::new(records, |record: *mut Record<Self>| {
            // SAFETY: the caller's promise; an IV has twelve bytes.
            let (record, key) = unsafe { (&mut *record, &(*(*record).key).key) };
            let block = &raw mut record.block;
            let placed: *mut [u8; BLOCK] = record.place.cast();
            let mut job = MacJob::new(key, record.iv.cast()).message(record.source, record.len);
            job.set_place(if placed.is_null() { block } else { placed });
            job
        });
        // SAFETY: the caller's promise; keys of one group have one size and one machine.
        unsafe { authenticate_fed(&self.machine, jobs) };
    }

    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
        let (hash, len) = hash_pieces(
            |hash, blocks| self.key.absorb(&self.machine, hash, blocks),
            |piece| op.for_each_authenticated(ciphertext, piece),
        );
        let j0 = self.key.j0(&self.machine, op.iv(&mut [0; MAX_IV_LEN]));
        tag.copy_from_slice(&self.key.tag(&self.machine, &j0, hash, len));
    }
}
