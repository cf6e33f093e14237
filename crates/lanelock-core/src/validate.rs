//! The check that an operation passes before any of its bytes is touched.

use std::ptr;

use crate::algorithm::{Algorithm, Order};
use crate::buffer::{Access, TOO_LARGE};
use crate::engine::Fed;
use crate::group::GroupId;
use crate::op::flags::{Flags, Standing};
use crate::op::{Extent, Op};
use crate::status::InvalidReason;
use crate::transform::{Direction, Transform};

mod overlap;
mod whole;

pub(crate) use whole::{Joint, Whole};

/// What a session demands of its operations: the transform reduced to a few comparisons.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(C)]
pub(crate) struct Rules {
    /// All bits if there is a payload, none otherwise.
    pub(crate) cipher_mask: u32,
    /// All bits if there is an authenticated range, none otherwise.
    pub(crate) auth_mask: u32,
    pub(crate) group: GroupId,
    /// What no operation has that is regular but for its ranges.
    forbidden: Flags,
    parts: u8,
    pub(crate) min_payload: u32,
    pub(crate) max_payload: u32,
    /// The most common form; lengths that do not depend on it are there alone.
    pub(crate) whole: Whole,
    fed: Fed,
}

impl Rules {
    const CIPHER: u8 = 1;
    const AUTH: u8 = 2;
    const TAG: u8 = 4;
    const FORWARD: u8 = 8;
    const MAC_FIRST: u8 = 16;

    /// The rules of a validated transform, and which bursts are fed to their engine.
    pub(crate) fn new(transform: &Transform, group: GroupId, fed: Fed) -> Self {
        let row = transform.algorithm().row();
        let iv_len = transform.iv_length();
        let mac_first = matches!(
            transform.algorithm(),
            Algorithm::Chain(Order::MacThenEncrypt, ..)
        );
        let parts = [
            (row.encrypts, Self::CIPHER),
            (row.authenticates, Self::AUTH),
            (row.default_tag > 0, Self::TAG),
            (transform.direction() == Direction::Forward, Self::FORWARD),
            (mac_first, Self::MAC_FIRST),
        ];
        let parts = parts.into_iter().fold(
            0,
            |parts, (has, part)| if has { parts | part } else { parts },
        );
        debug_assert!(
            row.min_payload.is_multiple_of(row.block),
            "`Whole` looks for blocks in what there is beyond the least"
        );
        let (min_payload, max_payload) = (
            u32::try_from(row.min_payload).expect("a block or two"),
            row.max_payload_with(iv_len).unwrap_or(TOO_LARGE - 1),
        );
        let unusual = forbidden(parts) | Flags::RANGES;
        let cipher_mask = if parts & Self::CIPHER == 0 { 0 } else { !0 };
        let rules = Self {
            group,
            forbidden: forbidden(parts),
            parts,
            min_payload,
            max_payload,
            cipher_mask,
            auth_mask: if parts & Self::AUTH == 0 { 0 } else { !0 },
            whole: Whole {
                iv_len: iv_len as u64,
                tag_len: transform.tag_length() as u64,
                unusual: Standing::other_than_new(unusual),
                unusual_or_separate: Standing::other_than_new(unusual | Flags::SEPARATE),
                block_mask: row.block as u64 - 1,
                min_len: min_payload.into(),
                span: (max_payload - min_payload).into(),
                max_aad: row.max_aad as u64,
                cipher_mask: cipher_mask.into(),
            },
            fed,
        };
        assert!(
            !rules.is_of_cipher() || row.max_aad == 0,
            "`Whole::admits_bare` knows of none"
        );
        rules
    }

    #[inline]
    pub(crate) fn iv_len(&self) -> usize {
        length(self.whole.iv_len)
    }

    #[inline]
    pub(crate) fn tag_len(&self) -> usize {
        length(self.whole.tag_len)
    }

    #[inline]
    pub(crate) fn block_len(&self) -> usize {
        length(self.whole.block_mask) + 1
    }

    #[inline]
    pub(crate) fn has(&self, parts: u8) -> bool {
        self.parts & parts == parts
    }

    /// Whether there is a payload to encrypt or decrypt.
    #[inline]
    pub(crate) fn ciphers(&self) -> bool {
        self.has(Self::CIPHER)
    }

    /// Whether all there is to an operation is a payload, and perhaps an IV.
    #[inline]
    pub(crate) fn is_of_cipher(&self) -> bool {
        self.parts & (Self::CIPHER | Self::AUTH | Self::TAG) == Self::CIPHER
    }

    /// Whether a burst of several operations is fed to the session's engine.
    #[inline(always)]
    pub(crate) fn feeds(&self, ops: &[Op<'_>]) -> bool {
        let [first, second, ..] = ops else {
            return false;
        };
        let Fed {
            few,
            most,
            lengths: [least, largest],
            long,
            unlike,
            many_keys,
        } = self.fed;
        // Of a list of segments, the word is more than any length.
        let (count, len) = (ops.len(), first.input.size.word());
        count <= few as usize
            || (count <= most as usize || len >= long.into())
                && (least.into()..=largest.into()).contains(&len)
            || many_keys && !ptr::eq(first.session, second.session)
            || unlike
                && ops
                    .last()
                    .is_some_and(|last| [second, last].iter().any(|op| op.input.size.word() != len))
    }

    #[inline]
    pub(crate) fn is_forward(&self) -> bool {
        self.has(Self::FORWARD)
    }

    #[inline]
    pub(crate) fn direction(&self) -> Direction {
        if self.is_forward() {
            Direction::Forward
        } else {
            Direction::Reverse
        }
    }

    /// Whether the payload is rewritten, and gets or has a tag of its own.
    #[inline]
    pub(crate) fn is_of_aead(&self) -> bool {
        self.parts & (Self::CIPHER | Self::AUTH | Self::TAG) == Self::CIPHER | Self::TAG
    }

    /// Whether there is a tag over an authenticated range.
    #[inline]
    pub(crate) fn is_of_mac(&self) -> bool {
        self.has(Self::AUTH | Self::TAG)
    }
}

/// A length of an algorithm's table.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it came from a usize")]
fn length(of_whole: u64) -> usize {
    of_whole as usize
}

/// Checks `op` against its session for a queue pair of `device`, and settles its ranges.
/// Reads and writes no byte of the message.
#[inline]
pub(crate) fn validate(op: &mut Op<'_>, device: u32) -> Result<(), InvalidReason> {
    let rules = &op.session.rules;
    if rules.group.device() == device && (rules.whole.admits(op) || validate_ranges(op)) {
        return Ok(());
    }
    validate_any(op, device)
}

/// Whether `op` differs from [`Whole`] by its ranges alone, and is valid: then they are settled.
/// Whatever passes here passes [`validate_any`] with the same ranges.
#[inline]
fn validate_ranges(op: &mut Op<'_>) -> bool {
    let rules = &op.session.rules;
    if op.flags.has(rules.forbidden)
        || op.iv.word() != rules.whole.iv_len
        || op.tag.word() != rules.whole.tag_len
        || op.input.len() == TOO_LARGE
        || op.output.len() == TOO_LARGE
    {
        return false;
    }
    let in_place = op.access == Access::InPlace;
    let mut output_at = op.output_at;
    if rules.ciphers() {
        let (at, len) = (op.cipher().at(), op.cipher().len());
        if in_place {
            output_at = at; // the output is the input: what fits one fits the other
        } else if !Extent::new(output_at, len).fits(op.output.len()) {
            return false;
        }
        let valid = op.cipher().fits(op.input.len())
            & (u64::from(len) & rules.whole.block_mask == 0)
            & (len >= rules.min_payload)
            & (len <= rules.max_payload);
        if !valid {
            return false;
        }
    }
    let authenticates = rules.has(Rules::AUTH);
    if op.aad.word() > rules.whole.max_aad || authenticates && !op.auth().fits(op.input.len()) {
        return false;
    }
    if rules.ciphers() {
        op.output_at = output_at;
    } else {
        (op.cipher, op.output_at) = (Extent::default(), 0);
    }
    if !authenticates {
        op.auth = Extent::default();
    }
    true
}

/// The whole check, part by part. On its own, so that the common form's has the registers.
#[inline(never)]
fn validate_any(op: &mut Op<'_>, device: u32) -> Result<(), InvalidReason> {
    use InvalidReason as Bad;
    let rules = &op.session.rules;
    if rules.group.device() != device {
        return Err(Bad::ForeignSession);
    }
    if op.input.len() == TOO_LARGE || op.output.len() == TOO_LARGE {
        return Err(Bad::TooLarge);
    }
    if rules.has(Rules::CIPHER) {
        check_payload(op, rules)?;
    } else {
        (op.cipher, op.output_at) = (Extent::default(), 0);
    }
    if !rules.has(Rules::AUTH) {
        op.auth = Extent::default();
    } else if !op.auth().fits(op.input.len()) {
        return Err(Bad::AuthRange);
    }
    check_iv(op, rules)?;
    if !op.aad.is_absent() {
        check_aad(op, rules)?;
    }
    check_tag(op, rules)?;
    if op.access == Access::SeparateUnchecked {
        overlap::check(op)?;
    }
    Ok(())
}

/// What no regular operation of a session with these parts has.
fn forbidden(parts: u8) -> Flags {
    let mut forbidden = Flags::CLOSER_LOOK;
    if parts & Rules::CIPHER != 0 {
        forbidden |= Flags::READ_ONLY;
    }
    if parts & Rules::TAG != 0 && parts & Rules::FORWARD != 0 {
        forbidden |= Flags::TAG_READ_ONLY;
    }
    forbidden
}

#[inline]
fn check_payload(op: &mut Op<'_>, rules: &Rules) -> Result<(), InvalidReason> {
    use InvalidReason as Bad;
    if !op.cipher().fits(op.input.len()) {
        return Err(Bad::CipherRange);
    }
    let len = op.cipher().len();
    if u64::from(len) & rules.whole.block_mask != 0 {
        return Err(Bad::BlockMultiple);
    }
    if len < rules.min_payload {
        return Err(Bad::PayloadTooShort);
    }
    if len > rules.max_payload {
        return Err(Bad::PayloadTooLong);
    }
    match op.access {
        Access::InPlace => {
            if op.flags.has(Flags::OUTPUT_AT_IN_PLACE) {
                return Err(Bad::OutputOffset);
            }
            op.output_at = op.cipher().at();
        }
        Access::Separate | Access::SeparateUnchecked => {
            if !Extent::new(op.output_at, len).fits(op.output.len()) {
                return Err(Bad::OutputTooShort);
            }
        }
        Access::ReadOnly => return Err(Bad::OutputMissing),
    }
    Ok(())
}

#[inline]
fn check_iv(op: &Op<'_>, rules: &Rules) -> Result<(), InvalidReason> {
    use InvalidReason as Bad;
    if op.iv.is_none() {
        return if rules.whole.iv_len == 0 {
            Ok(())
        } else {
            Err(Bad::IvMissing)
        };
    }
    if rules.whole.iv_len == 0 {
        return Err(Bad::IvUnexpected);
    }
    if op.iv.given() != rules.whole.iv_len {
        return Err(Bad::IvLength);
    }
    if op.iv.is_separate() {
        return Ok(());
    }
    if !op.iv.extent().fits(op.input.len()) {
        return Err(Bad::IvRange);
    }
    check_header(op, op.iv.extent(), rules)
}

fn check_aad(op: &Op<'_>, rules: &Rules) -> Result<(), InvalidReason> {
    use InvalidReason as Bad;
    if rules.whole.max_aad == 0 {
        return if op.aad.given() == 0 {
            Ok(())
        } else {
            Err(Bad::AadUnexpected)
        };
    }
    let separate = op.aad.is_separate();
    if !separate && !op.aad.extent().fits(op.input.len()) {
        return Err(Bad::AadRange);
    }
    if op.aad.given() > rules.whole.max_aad {
        return Err(Bad::AadTooLong);
    }
    if separate {
        return Ok(());
    }
    check_header(op, op.aad.extent(), rules)
}

/// An inline header part must not be rewritten by the payload: the reverse operation would read
/// other bytes.
fn check_header(op: &Op<'_>, part: Extent, rules: &Rules) -> Result<(), InvalidReason> {
    let rewritten = rules.ciphers() && op.access == Access::InPlace && part.overlaps(op.cipher());
    if rewritten {
        Err(InvalidReason::HeaderOverlap)
    } else {
        Ok(())
    }
}

#[inline]
fn check_tag(op: &mut Op<'_>, rules: &Rules) -> Result<(), InvalidReason> {
    use InvalidReason as Bad;
    if op.tag.is_none() {
        return if rules.has(Rules::TAG) {
            Err(Bad::TagMissing)
        } else {
            Ok(())
        };
    }
    if !rules.has(Rules::TAG) {
        return Err(Bad::TagUnexpected);
    }
    if op.tag.given() != rules.whole.tag_len {
        return Err(Bad::TagLength);
    }
    if op.tag.is_separate() {
        return if rules.is_forward() && op.flags.has(Flags::TAG_READ_ONLY) {
            Err(Bad::TagReadOnly)
        } else {
            Ok(())
        };
    }
    check_inline_tag(op, rules)
}

fn check_inline_tag(op: &mut Op<'_>, rules: &Rules) -> Result<(), InvalidReason> {
    use InvalidReason as Bad;
    let forward = rules.is_forward();
    if forward && op.access == Access::ReadOnly {
        return Err(Bad::TagReadOnly);
    }
    let tag = op.tag.extent();
    // A computed tag is in offsets of the output, one to verify in offsets of the input.
    let (side, payload_at) = if forward {
        (op.output.len(), op.output_at)
    } else {
        (op.input.len(), op.cipher().at())
    };
    if !tag.fits(side) {
        return Err(Bad::TagRange);
    }
    let payload = Extent::new(payload_at, op.cipher().len());
    if rules.ciphers() && tag.overlaps(payload) {
        if !rules.has(Rules::MAC_FIRST) || !payload.contains(tag) {
            return Err(Bad::TagOverlap);
        }
        op.flags |= Flags::TAG_IN_PAYLOAD;
    }
    let same_memory = op.access == Access::InPlace || !forward;
    let authenticated = rules.has(Rules::AUTH)
        && if !op.flags.has(Flags::TAG_IN_PAYLOAD) {
            same_memory && tag.overlaps(op.auth())
        } else {
            // Payload bytes that the tag replaces, in offsets of the input.
            let at = tag.at() - payload_at + op.cipher().at();
            Extent::new(at, tag.len()).overlaps(op.auth())
        };
    let in_header = [&op.iv, &op.aad]
        .into_iter()
        .any(|part| !part.is_absent() && !part.is_separate() && tag.overlaps(part.extent()));
    if authenticated || same_memory && in_header {
        return Err(Bad::TagOverlap);
    }
    Ok(())
}
