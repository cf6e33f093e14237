//! The check that nearly every operation passes, alone or a burst at a time.

use crate::buffer::TOO_LARGE;
use crate::op::Op;
use crate::op::flags::Standing;

/// What a session demands of an operation in its most common form: the ranges are the whole
/// input, in one run, and IV and tag are slices of their own. Each field has the width of what it is
/// compared with, and a loop over operations of one session keeps a copy in registers.
///
/// Whatever passes here passes [`validate_any`](super::validate_any) with the same ranges, which are settled already.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Whole {
    pub(super) iv_len: u64,
    pub(super) tag_len: u64,
    /// What no operation has that is admitted.
    pub(super) unusual: Standing,
    /// The same, and what one has whose output is other memory, which may be too short.
    pub(super) unusual_or_separate: Standing,
    pub(super) block_mask: u64,
    pub(super) min_len: u64,
    /// Lengths from the least to the largest.
    pub(super) span: u64,
    pub(crate) max_aad: u64,
    pub(super) cipher_mask: u64,
}

impl Whole {
    /// Whether `op` has no result yet, and this form.
    #[inline(always)]
    pub(crate) fn admits(self, op: &Op<'_>) -> bool {
        op.aad.word() <= self.max_aad && self.admits_unless(op, self.unlike(op))
    }

    /// [`Whole::admits`] of a session [of a cipher](super::Rules::is_of_cipher).
    #[inline(always)]
    pub(crate) fn admits_bare(self, op: &Op<'_>) -> bool {
        let unlike = (op.iv.word() ^ self.iv_len) | op.tag.word() | op.aad.word();
        self.admits_unless(op, unlike)
    }

    /// Differences of the IV's and the tag's length from those demanded.
    #[inline(always)]
    fn unlike(self, op: &Op<'_>) -> u64 {
        (op.iv.word() ^ self.iv_len) | (op.tag.word() ^ self.tag_len)
    }

    /// Whether `op` has no result yet, nothing unusual, and an input and an output as long as demanded, and
    /// `unlike` is 0. Two branches where the output is the input: a CPU foretells them line by line of its cache,
    /// and not many in each.
    #[inline(always)]
    fn admits_unless(self, op: &Op<'_>, unlike: u64) -> bool {
        let beyond = op.input.size.word().wrapping_sub(self.min_len);
        let (unlike, standing) = (unlike | beyond & self.block_mask, op.standing());
        beyond <= self.span
            && (unlike | standing.among(self.unusual_or_separate) == 0
                || unlike | standing.among(self.unusual) == 0 && self.has_room(op))
    }

    /// Adds `op` to those before it.
    #[inline(always)]
    pub(crate) fn join(self, op: &Op<'_>, joint: &mut Joint) {
        // Of a list of segments, or an inline part, the word is more than any length.
        let len = op.input.size.word();
        let beyond = len.wrapping_sub(self.min_len);
        joint.beyond |= beyond;
        joint.beyond_of_all &= beyond;
        joint.unlike |= self.unlike(op);
        joint.standing |= op.standing();
        joint.aad |= op.aad.word();
        joint.aad_of_all &= op.aad.word();
        joint.bytes = joint.bytes.wrapping_add(len);
    }

    /// Whether `ops`, which were joined, are all admitted; only some of which the lengths together have
    /// bits that none may have alone are not admitted.
    #[inline(always)]
    pub(crate) fn admits_all(self, joint: &Joint, ops: &[Op<'_>]) -> bool {
        !joint.standing.has(self.unusual)
            && joint.unlike == 0
            && joint.beyond & self.block_mask == 0
            && joint.beyond <= self.span
            && joint.aad <= self.max_aad
            && (!joint.standing.has(self.unusual_or_separate)
                || ops.iter().all(|op| self.has_room(op)))
    }

    /// Whether the output holds as much as the input.
    #[inline(always)]
    fn has_room(self, op: &Op<'_>) -> bool {
        let (len, room) = (op.input.size.word(), op.output.size.word());
        room >= len & self.cipher_mask && room < TOO_LARGE.into()
    }
}

/// What operations have between them, gathered without a branch for each: bits that any of them has, or
/// all of them.
#[derive(Clone, Copy)]
pub(crate) struct Joint {
    /// Of the bytes that the inputs have more than the least; below that, the top ones.
    beyond: u64,
    beyond_of_all: u64,
    /// Of the differences of IVs' and tags' lengths from those demanded.
    unlike: u64,
    standing: Standing,
    /// Of the lengths of additional data.
    pub(crate) aad: u64,
    aad_of_all: u64,
    /// The sum of the inputs' lengths, if all are admitted.
    pub(crate) bytes: u64,
}

impl Joint {
    /// Whether the inputs have one length, and so has additional data.
    #[inline(always)]
    pub(crate) fn is_of_one_length(&self) -> bool {
        self.beyond == self.beyond_of_all && self.aad == self.aad_of_all
    }
}

impl Default for Joint {
    /// Of none.
    #[inline(always)]
    fn default() -> Self {
        Self {
            beyond: 0,
            beyond_of_all: !0,
            unlike: 0,
            standing: Standing::default(),
            aad: 0,
            aad_of_all: !0,
            bytes: 0,
        }
    }
}
