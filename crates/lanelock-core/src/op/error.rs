//! A refusal as a sentence: the field, the value given, and what is allowed.

use std::fmt;

use super::{Extent, Op};
use crate::status::InvalidReason;

/// Why an operation was refused, with the values involved.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Buffer, Hash, Mac, Op, Transform};
///
/// let session = device.session(Transform::compute(Mac::Hmac(Hash::Sha1), b"key"))?;
/// let mut tag = [0; 20];
/// let op = Op::new(&session, Buffer::read_only(b"short")).auth_range(2..65).tag(&mut tag);
/// let mut burst = [op];
/// let _ = device.queue_pair(1).process(&mut burst);
/// let error = burst[0].error().expect("the range is longer than the message");
/// assert!(error.to_string().contains("2..65"));
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpError {
    reason: InvalidReason,
    message: String,
}

impl OpError {
    /// The reason alone, to match on.
    #[must_use]
    pub fn reason(&self) -> InvalidReason {
        self.reason
    }

    pub(super) fn new(reason: InvalidReason, op: &Op<'_>) -> Self {
        Self {
            reason,
            message: message(reason, op),
        }
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpError {}

fn message(reason: InvalidReason, op: &Op<'_>) -> String {
    use InvalidReason as Bad;
    let rules = &op.session.rules;
    let name = op.session.spec();
    let (input, output) = (op.input.len(), op.output.len());
    let (cipher, auth) = (op.cipher(), op.auth());
    // A range that is reversed or does not fit 32 bits is kept as an offset past any buffer's end.
    let past_end = |what: &str, extent: Extent| match extent.at() {
        0xffff_fffe.. => {
            format!("{what} is reversed or extends past 4 GiB; the input has {input} bytes")
        }
        at => format!(
            "{what} {at}..{} extends past the end of the {input}-byte input",
            extent.end()
        ),
    };
    match reason {
        Bad::TooLarge => {
            "buffer: longer than 4 GiB - 2 bytes; split it into several operations".to_owned()
        }
        Bad::ForeignSession => {
            "session: made by a different device than the queue pair; use one device for both"
                .to_owned()
        }
        Bad::CipherRange => past_end("cipher range", cipher),
        Bad::AuthRange => past_end("authenticated range", auth),
        Bad::OutputMissing => format!(
            "output: missing; {name} writes its payload, but the buffer is read-only; use an \
             in-place or separate output"
        ),
        Bad::OutputTooShort => format!(
            "output: {output} bytes given; the payload needs {} bytes at offset {}",
            cipher.len(),
            op.output_at
        ),
        Bad::OutputOffset => format!(
            "output offset {}: allowed only with a separate output; in place, the payload keeps \
             its offset",
            op.output_at
        ),
        Bad::BlockMultiple => format!(
            "cipher range of {} bytes: {name} takes multiples of {}; pad it first",
            cipher.len(),
            rules.block_len()
        ),
        Bad::PayloadTooShort => format!(
            "cipher range of {} bytes: {name} takes at least {}",
            cipher.len(),
            rules.min_payload
        ),
        Bad::PayloadTooLong => format!(
            "cipher range of {} bytes: {name} with this IV length takes at most {}",
            cipher.len(),
            rules.max_payload
        ),
        Bad::IvMissing => format!("IV: missing; {name} needs {} bytes", rules.iv_len()),
        Bad::IvUnexpected => format!("IV: {} bytes given; {name} takes none", op.iv.given()),
        Bad::IvLength => {
            format!(
                "IV: {} bytes given; the session was made for {}",
                op.iv.given(),
                rules.iv_len()
            )
        }
        Bad::IvRange => format!(
            "{}-byte IV at offset {} extends past the end of the {input}-byte input",
            op.iv.given(),
            op.iv.at()
        ),
        Bad::AadUnexpected => {
            format!(
                "additional data: {} bytes given; {name} takes none",
                op.aad.given()
            )
        }
        Bad::AadTooLong => {
            format!(
                "additional data: {} bytes given; {name} takes at most {}",
                op.aad.given(),
                rules.whole.max_aad
            )
        }
        Bad::AadRange => past_end("additional data range", op.aad.extent()),
        Bad::TagMissing => format!("tag: missing; {name} needs {} bytes", rules.tag_len()),
        Bad::TagUnexpected => format!("tag: given, but {name} takes none"),
        Bad::TagLength => {
            format!(
                "tag: {} bytes given; the session was made for {}",
                op.tag.given(),
                rules.tag_len()
            )
        }
        Bad::TagRange => format!(
            "{}-byte tag at offset {} extends past the end of the {}-byte {}",
            op.tag.given(),
            op.tag.at(),
            if rules.is_forward() { output } else { input },
            if rules.is_forward() {
                "output"
            } else {
                "input"
            },
        ),
        Bad::TagReadOnly => {
            "tag: read-only, but the session computes it; pass a mutable slice to `tag`".to_owned()
        }
        Bad::TagOverlap => format!(
            "tag at offset {} overlaps bytes that {name} authenticates or writes",
            op.tag.at()
        ),
        Bad::HeaderOverlap => format!(
            "inline IV or additional data overlaps the cipher range {}..{}, which is rewritten in \
             place; use a separate output",
            cipher.at(),
            cipher.end()
        ),
        Bad::BufferOverlap => {
            "buffer: input and output overlap; each byte of the payload must have identical or \
             disjoint input and output"
                .to_owned()
        }
    }
}
