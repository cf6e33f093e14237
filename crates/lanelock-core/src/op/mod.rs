//! One message of a session: its buffer, ranges, IV, additional data, tag and status.

mod error;
pub(crate) mod feed;
pub(crate) mod flags;
mod lone;
mod plain;
#[cfg(all(target_endian = "little", target_pointer_width = "64"))] // it relies on a layout
mod raw;
mod record;
mod tag;
#[cfg(test)]
mod testing;
mod valid;

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use flags::{Flags, Standing};

pub use error::OpError;
pub use feed::{FedPayload, FedPayloads, FedRecords, Feed};
pub use lone::Lone;
pub use plain::{
    Columns, Likeness, Plain, PlainAead, PlainAeads, PlainPayloads, PlainTag, PlainTags,
};
#[cfg(all(target_endian = "little", target_pointer_width = "64"))]
pub use raw::{RawForm, RawOp, RawOutput, RawRun};
pub use record::Record;
pub use valid::{Ciphertext, LastSession, ValidOp};

use crate::ahead::ask_for_session;
use crate::buffer::{Access, Buffer, Span};
use crate::halves::Halves;
use crate::session::{Session, SessionInner};
use crate::status::{InvalidReason, Status};

/// An operation on borrowed memory, for [`crate::QueuePair::process`].
///
/// By default the cipher range and the authenticated range are the whole input, a separate output
/// is written from its start, and there is no additional data. Offsets and lengths are in bytes
/// and count from the start of the input, also across segments.
///
/// ```
/// # use lanelock_core::*;
/// # fn build<'a>(session: &'a Session, packet: &'a mut [u8], iv: &'a [u8]) -> Op<'a> {
/// // ESP: SPI and sequence number, then IV, then the payload; the tag (ICV) ends the packet.
/// let icv = packet.len() - 12;
/// Op::new(session, Buffer::in_place(packet))
///     .iv_at(8)
///     .cipher_range(24..icv)
///     .auth_range(0..icv)
///     .tag_at(icv)
/// # }
/// ```
// In this order, pairs of words are written at once and none crosses the middle, and operations in a row
// share no cache line.
#[repr(C, align(64))]
pub struct Op<'a> {
    pub(crate) session: &'a SessionInner,
    pub(crate) output_at: u32,
    pub(crate) access: Access,
    pub(crate) reason: Option<InvalidReason>,
    /// This and the next are read together, as [`Op::standing`].
    pub(crate) status: Status,
    pub(crate) flags: Flags,
    pub(crate) input: Span,
    pub(crate) output: Span,
    pub(crate) iv: Place,
    pub(crate) tag: Place,
    pub(crate) aad: Place,
    /// This and the next count if the flags have [`Flags::RANGES`]; else see [`Op::cipher`].
    pub(crate) cipher: Extent,
    pub(crate) auth: Extent,
    /// For the engine, while the operation runs.
    pub(crate) scratch: MaybeUninit<[u64; 2]>,
    lifetime: PhantomData<&'a mut [u8]>,
}

/// A part that is either a slice of its own (`base` is not null) or inline at offset `at`.
///
/// Invariant: where `base` is not null it is valid for reads of `len` bytes while the operation
/// lives, and for writes if this is its tag, unless the flags have [`Flags::TAG_READ_ONLY`].
#[derive(Clone, Copy, Debug)]
#[repr(C)] // as records of other languages
pub(crate) struct Place {
    pub(crate) base: *mut u8,
    /// Inline: the length, and the complement of the offset, so that an absent part is all zeros. Of a
    /// slice of its own the word is its length, whatever that is: validation refuses what is too long,
    /// and building an operation need not look.
    range: Halves,
}

/// A range in bytes that cannot be reversed.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)] // [`Columns`] point to the length
pub(crate) struct Extent(Halves);

impl<'a> Op<'a> {
    /// An operation of `session` on `buffer`.
    #[inline]
    #[must_use]
    pub fn new(session: &'a Session, buffer: Buffer<'a>) -> Self {
        let session = session.inner();
        ask_for_session(session);
        let flags = match buffer.access {
            Access::InPlace => Flags::default(),
            Access::Separate => Flags::SEPARATE,
            Access::ReadOnly => Flags::READ_ONLY,
            Access::SeparateUnchecked => Flags::UNCHECKED,
        };
        Self {
            session,
            output_at: 0,
            access: buffer.access,
            status: Status::NotProcessed,
            reason: None,
            flags,
            input: buffer.input,
            output: buffer.output,
            iv: Place::ABSENT,
            tag: Place::ABSENT,
            aad: Place::ABSENT,
            cipher: Extent::default(),
            auth: Extent::default(),
            scratch: MaybeUninit::uninit(),
            lifetime: PhantomData,
        }
    }

    /// The IV, as a slice of its own.
    #[inline]
    #[must_use]
    pub fn iv(mut self, iv: &'a [u8]) -> Self {
        self.iv = Place::separate(iv.as_ptr().cast_mut(), iv.len());
        self
    }

    /// The IV lies in the input from `offset`.
    #[inline]
    #[must_use]
    pub fn iv_at(mut self, offset: usize) -> Self {
        self.iv = Place::inline(offset, self.session.rules.iv_len());
        self
    }

    /// Additional data, as a slice of its own. For MACs and chains it is authenticated before the
    /// authenticated range.
    #[inline]
    #[must_use]
    pub fn aad(mut self, aad: &'a [u8]) -> Self {
        self.aad = Place::separate(aad.as_ptr().cast_mut(), aad.len());
        self
    }

    /// Additional data that lies in the input.
    #[inline]
    #[must_use]
    pub fn aad_range(mut self, range: Range<usize>) -> Self {
        let extent = Extent::from(range);
        self.aad = Place::inline(extent.at() as usize, extent.len() as usize);
        self
    }

    /// The bytes of the input that are encrypted or decrypted.
    #[inline]
    #[must_use]
    pub fn cipher_range(mut self, range: Range<usize>) -> Self {
        self.settle_ranges();
        self.cipher = range.into();
        self
    }

    /// The bytes that a MAC, hash or chain authenticates, in offsets of the input. Those that are
    /// also in the cipher range are authenticated as ciphertext or plaintext, depending on the
    /// chain's order; all others are read from the input.
    #[inline]
    #[must_use]
    pub fn auth_range(mut self, range: Range<usize>) -> Self {
        self.settle_ranges();
        self.auth = range.into();
        self
    }

    /// Where the payload starts in a separate output.
    #[inline]
    #[must_use]
    pub fn output_at(mut self, offset: usize) -> Self {
        self.output_at = clamp(offset);
        if self.access == Access::InPlace {
            self.flags |= Flags::OUTPUT_AT_IN_PLACE;
        } else {
            self.settle_ranges();
        }
        self
    }

    /// Where to write the tag or digest, or (when verifying) the tag to compare.
    #[inline]
    #[must_use]
    pub fn tag(mut self, tag: &'a mut [u8]) -> Self {
        self.tag = Place::separate(tag.as_mut_ptr(), tag.len());
        self.flags = self.flags.without(Flags::TAG_READ_ONLY);
        self
    }

    /// The tag to compare, for sessions that verify.
    #[inline]
    #[must_use]
    pub fn expected_tag(mut self, tag: &'a [u8]) -> Self {
        self.tag = Place::separate(tag.as_ptr().cast_mut(), tag.len());
        self.flags |= Flags::TAG_READ_ONLY;
        self
    }

    /// The tag lies in the output (to compute) or in the input (to verify) from `offset`.
    #[inline]
    #[must_use]
    pub fn tag_at(mut self, offset: usize) -> Self {
        self.tag = Place::inline(offset, self.session.rules.tag_len());
        self
    }

    /// What is encrypted or decrypted: nothing, if the session does neither.
    #[inline]
    pub(crate) fn cipher(&self) -> Extent {
        self.range(self.cipher, self.session.rules.cipher_mask)
    }

    /// What is authenticated as a range: nothing, if the session has none.
    #[inline]
    pub(crate) fn auth(&self) -> Extent {
        self.range(self.auth, self.session.rules.auth_mask)
    }

    #[inline(always)]
    pub(crate) fn standing(&self) -> Standing {
        Standing::new(self.status, self.flags)
    }

    /// The range as settled, else the whole input, if the mask has all bits.
    #[inline]
    fn range(&self, settled: Extent, mask: u32) -> Extent {
        if self.flags.has(Flags::RANGES) {
            settled
        } else {
            Extent::new(0, self.input.len() & mask)
        }
    }

    /// Makes the ranges count.
    #[inline]
    fn settle_ranges(&mut self) {
        (self.cipher, self.auth) = (self.cipher(), self.auth());
        self.flags |= Flags::RANGES;
    }

    /// The result of the operation.
    #[inline]
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// Why the operation was refused, as a sentence with the values involved; `None` unless the
    /// status is [`Status::InvalidArgs`].
    #[must_use]
    pub fn error(&self) -> Option<OpError> {
        self.reason.map(|reason| self.explain(reason))
    }

    /// What [`Op::error`] says of an operation that was refused for `reason`, for programs that keep
    /// only the reason and describe the operation again.
    #[must_use]
    pub fn explain(&self, reason: InvalidReason) -> OpError {
        OpError::new(reason, self)
    }
}

impl Place {
    pub(crate) const ABSENT: Self = Self {
        base: std::ptr::null_mut(),
        range: Halves::new(0, !u32::MAX),
    };

    #[inline]
    fn separate(base: *mut u8, len: usize) -> Self {
        Self {
            base,
            range: Halves::of_word(len as u64),
        }
    }

    #[inline]
    fn inline(at: usize, len: usize) -> Self {
        // An offset of 4 GiB - 1 or more is past every input; one less keeps it from ABSENT.
        Self {
            base: std::ptr::null_mut(),
            range: Halves::new(clamp(len), !clamp(at).min(u32::MAX - 1)),
        }
    }

    #[inline]
    pub(crate) fn is_absent(&self) -> bool {
        self.base.is_null() && self.at() == u32::MAX
    }

    /// Whether there is no such part; an empty slice counts as absent.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.is_absent() || self.is_separate() && self.word() == 0
    }

    #[inline]
    pub(crate) fn is_separate(&self) -> bool {
        !self.base.is_null()
    }

    /// What it is of a part that is absent or a slice of its own: the length. An inline part has more
    /// than any.
    #[inline(always)]
    pub(crate) fn word(&self) -> u64 {
        self.range.word()
    }

    /// Bytes that the caller gave, before validation has found that they are no more than a part has.
    pub(crate) fn given(&self) -> u64 {
        if self.is_separate() {
            self.word()
        } else {
            self.len().into()
        }
    }

    /// The same part from another offset.
    pub(crate) fn moved_to(self, at: u32) -> Self {
        Self {
            range: Halves::new(self.len(), !at),
            ..self
        }
    }

    #[inline]
    pub(crate) fn at(&self) -> u32 {
        !self.range.beside()
    }

    /// The length of a part that validation has found short enough.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.range.len()
    }

    pub(crate) fn extent(&self) -> Extent {
        Extent::new(self.at(), self.len())
    }
}

impl Extent {
    #[inline]
    pub(crate) const fn new(at: u32, len: u32) -> Self {
        Self(Halves::new(len, at))
    }

    #[inline]
    pub(crate) const fn at(self) -> u32 {
        self.0.beside()
    }

    #[inline]
    pub(crate) const fn len(self) -> u32 {
        self.0.len()
    }

    /// Whether it ends within `len` bytes.
    #[inline]
    pub(crate) fn fits(self, len: u32) -> bool {
        self.end() <= u64::from(len)
    }

    #[inline]
    pub(crate) fn end(self) -> u64 {
        u64::from(self.at()) + u64::from(self.len())
    }

    #[inline]
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.len() > 0
            && other.len() > 0
            && u64::from(self.at()) < other.end()
            && u64::from(other.at()) < self.end()
    }

    #[inline]
    pub(crate) fn contains(self, other: Self) -> bool {
        other.at() >= self.at() && other.end() <= self.end()
    }
}

impl From<Range<usize>> for Extent {
    /// A reversed range becomes one that fits nowhere.
    #[inline]
    fn from(range: Range<usize>) -> Self {
        match range.end.checked_sub(range.start) {
            Some(len) => Self::new(clamp(range.start), clamp(len)),
            None => Self::new(u32::MAX, u32::MAX),
        }
    }
}

impl fmt::Debug for Op<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Op")
            .field("algorithm", &self.session.spec().to_string())
            .field("input_len", &self.input.len())
            .field("access", &self.access)
            .field("status", &self.status)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

/// Lengths and offsets that 32 bits cannot hold become the largest, which validation refuses.
#[inline]
fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_stays_within_two_cache_lines() {
        assert!(size_of::<Op<'_>>() <= 128, "{} bytes", size_of::<Op<'_>>());
    }

    #[test]
    fn extents_compare_without_overflow() {
        let all = Extent::new(u32::MAX, u32::MAX);
        assert!(!all.fits(u32::MAX));
        assert!(!Extent::from(Range { start: 3, end: 2 }).fits(u32::MAX - 1));
        let (a, b) = (Extent::from(0..4), Extent::from(4..8));
        assert!(!a.overlaps(b) && !b.overlaps(a));
        assert!(a.overlaps(Extent::from(3..5)) && Extent::from(0..8).contains(b));
        assert!(!a.overlaps(Extent::from(2..2)));
    }
}
