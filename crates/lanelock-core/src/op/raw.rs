//! Operations on memory that addresses describe, for programs in other languages.

#![allow(unsafe_code)] // addresses that the caller vouches for

use std::marker::PhantomData;

use super::signature::Signature;
use super::{Extent, Op, Place};
use crate::buffer::{Access, Span};
use crate::session::Session;
use crate::status::Status;

/// Some bytes: an address, which may be null if there are none, and their number.
pub type RawRun = (*mut u8, u32);

/// Where the result of a [`RawOp`] goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RawOutput {
    /// It replaces the input.
    InPlace,
    /// To other memory.
    Separate(RawRun),
    /// Nowhere: a MAC or hash with its tag.
    Nowhere,
}

/// An operation whose parts each lie in one run: what [`Op::from_raw`] makes one of, in a dozen loads
/// and stores. A length of `u32::MAX` is refused when the operation runs; so are ranges that do not
/// fit.
#[derive(Clone, Copy, Debug)]
pub struct RawOp {
    /// The input.
    pub input: RawRun,
    /// The output.
    pub output: RawOutput,
    /// The IV; none if it is empty.
    pub iv: RawRun,
    /// Additional data; none if it is empty.
    pub aad: RawRun,
    /// The tag to write or to compare; none if it is empty.
    pub tag: RawRun,
    /// Whether the tag may be written.
    pub tag_writable: bool,
    /// Offset and length of what is encrypted or decrypted, if that is not all of the input.
    pub cipher: Option<(u32, u32)>,
    /// Offset and length of what is authenticated, if that is not all of the input.
    pub auth: Option<(u32, u32)>,
    /// Where the payload starts in the output, if that is not its start.
    pub output_at: Option<u32>,
}

impl<'a> Op<'a> {
    /// The operation that `raw` describes: what [`Op::new`] and the methods for its parts make of
    /// slices.
    ///
    /// # Safety
    /// For `'a`, each run is valid for reads, or empty; what is written ([`RawOp::output`], and a tag
    /// that may be) is valid for writes, nobody else refers to it, and it lies apart from every other
    /// run of the operation, or is the input where the result replaces that.
    #[inline(always)]
    #[must_use]
    pub unsafe fn from_raw(session: &'a Session, raw: &RawOp) -> Self {
        let session = session.inner();
        let input = span(raw.input);
        let (access, output, form) = match raw.output {
            RawOutput::InPlace => (Access::InPlace, input, Signature::EMPTY),
            RawOutput::Separate(run) => (Access::Separate, span(run), Signature::SEPARATE),
            RawOutput::Nowhere => (Access::ReadOnly, input, Signature::READ_ONLY),
        };
        let mut signature = form.with_iv(raw.iv.1 as usize).with_tag(raw.tag.1 as usize);
        if raw.tag_writable && raw.tag.1 != 0 {
            signature = signature.with(Signature::TAG_WRITABLE);
        }
        if raw.cipher.is_some() | raw.auth.is_some() {
            signature = signature.with(Signature::RANGES);
        }
        if raw.output_at.is_some() {
            signature = signature.with(match access {
                Access::InPlace => Signature::OUTPUT_AT_IN_PLACE,
                _ => Signature::RANGES,
            });
        }
        let range = |given: Option<(u32, u32)>, used: u32| match given {
            Some((at, len)) => Extent::new(at, len),
            None => Extent::new(0, input.len() & used),
        };
        Self {
            session,
            input,
            output,
            iv: place(raw.iv),
            aad: place(raw.aad),
            tag: place(raw.tag),
            cipher: range(raw.cipher, session.rules.cipher_mask),
            auth: range(raw.auth, session.rules.auth_mask),
            output_at: raw.output_at.unwrap_or(0),
            signature,
            access,
            status: Status::NotProcessed,
            reason: None,
            lifetime: PhantomData,
        }
    }
}

/// Slices have addresses, empty ones too.
#[inline(always)]
fn span((base, len): RawRun) -> Span {
    let base = if base.is_null() {
        std::ptr::dangling_mut()
    } else {
        base
    };
    Span::contiguous(base, len as usize)
}

#[inline(always)]
fn place((base, len): RawRun) -> Place {
    // Null is the base of [`Place::ABSENT`], whose other word is that of a length of 0.
    let base = if len == 0 { std::ptr::null_mut() } else { base };
    Place::separate(base, len as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Batch, Capability, Engine, EngineSession, QueueToken};
    use crate::session::{SessionError, SessionMemory};
    use crate::{Aead, Buffer, Device, Transform};

    /// An engine that only has sessions.
    struct Idle;

    impl Engine for Idle {
        fn name(&self) -> &'static str {
            "idle"
        }

        fn version(&self) -> String {
            String::new()
        }

        fn capabilities(&self) -> &[Capability] {
            &[]
        }

        fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
            Ok(Box::new(Self))
        }
    }

    impl EngineSession for Idle {
        fn group(&self) -> u16 {
            0
        }

        fn process(&self, _: &mut QueueToken, _: &mut Batch<'_, '_>) {}

        fn memory(&self) -> SessionMemory {
            SessionMemory::default()
        }
    }

    fn run(bytes: &mut [u8]) -> RawRun {
        let len = u32::try_from(bytes.len()).expect("short");
        (bytes.as_mut_ptr(), len)
    }

    /// Everything that engines and validation look at.
    fn shown(op: &Op<'_>) -> String {
        let Op {
            input,
            output,
            iv,
            cipher,
            auth,
            tag,
            aad,
            output_at,
            access,
            signature,
            ..
        } = op;
        format!(
            "{input:?} {output:?} {iv:?} {cipher:?} {auth:?} {tag:?} {aad:?} {output_at} {access:?} \
             {signature:?}"
        )
    }

    #[test]
    fn it_is_what_the_methods_make_of_slices() {
        let device = Device::builder().engine(Idle).build();
        let session = device.session(Transform::seal(Aead::AesGcm, &[1; 16]));
        let session = session.expect("offered");
        let (mut data, mut out, mut tag) = ([0; 64], [0; 80], [0; 16]);
        let (mut iv, mut aad) = ([0; 12], [0; 5]);
        let raw = RawOp {
            input: run(&mut data),
            output: RawOutput::InPlace,
            iv: run(&mut iv),
            aad: run(&mut aad),
            tag: run(&mut tag),
            tag_writable: true,
            cipher: None,
            auth: None,
            output_at: None,
        };
        // SAFETY: arrays that outlive the operations; each is used by one at a time.
        let made = |raw: RawOp| shown(&unsafe { Op::from_raw(&session, &raw) });
        let parts = made(raw);
        let op = Op::new(&session, Buffer::in_place(&mut data))
            .iv(&iv)
            .aad(&aad);
        assert_eq!(parts, shown(&op.tag(&mut tag)));

        let other = RawOp {
            output: RawOutput::Separate(run(&mut out)),
            tag_writable: false,
            cipher: Some((8, 48)),
            output_at: Some(3),
            ..raw
        };
        let parts = made(other);
        let op = Op::new(&session, Buffer::separate(&data, &mut out))
            .iv(&iv)
            .aad(&aad);
        let op = op.expected_tag(&tag).cipher_range(8..56).output_at(3);
        assert_eq!(parts, shown(&op));

        let offset = RawOp {
            output_at: Some(3),
            ..raw
        };
        let parts = made(offset);
        let op = Op::new(&session, Buffer::in_place(&mut data))
            .iv(&iv)
            .aad(&aad);
        assert_eq!(parts, shown(&op.tag(&mut tag).output_at(3)));

        let none = (std::ptr::null_mut(), 0);
        let bare = RawOp {
            output: RawOutput::Nowhere,
            iv: none,
            aad: none,
            tag: none,
            auth: Some((4, 9)),
            ..raw
        };
        let parts = made(bare);
        let op = Op::new(&session, Buffer::read_only(&data)).auth_range(4..13);
        assert_eq!(parts, shown(&op));
    }
}
