//! Operations on memory that addresses describe, for programs in other languages.

#![allow(unsafe_code)] // addresses that the caller vouches for

use std::mem::{MaybeUninit, offset_of};
use std::ptr;

use super::flags::Flags;
use super::{Extent, Op, Place, clamp};
use crate::buffer::{Access, Span};
use crate::halves::Halves;
use crate::session::Session;
use crate::status::{InvalidReason, Status};

/// Some bytes: an address, which may be null if there are none, and their number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C)]
pub struct RawRun {
    /// Where they start.
    pub base: *mut u8,
    /// Their number.
    pub len: u32,
    /// Zero.
    pub zero: u32,
}

/// A record of where an operation's parts lie, each in one run: with a [`RawForm`] it is an
/// operation. A length of `u32::MAX` is refused when the operation runs; so are ranges that do not
/// fit.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawOp {
    /// The input.
    pub input: RawRun,
    /// The output of [`RawOutput::Separate`].
    pub output: RawRun,
    /// The IV.
    pub iv: RawRun,
    /// Length of what is encrypted or decrypted, if the form has [`RawForm::cipher_range`].
    pub cipher_len: u32,
    /// Its offset.
    pub cipher_at: u32,
    /// Length of what is authenticated, if the form has [`RawForm::auth_range`].
    pub auth_len: u32,
    /// Its offset.
    pub auth_at: u32,
    /// The tag to write or to compare.
    pub tag: RawRun,
    /// Additional data; none if it is empty.
    pub aad: RawRun,
}

/// Where the results of operations go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RawOutput {
    /// They replace the input.
    InPlace,
    /// To other memory.
    Separate,
    /// Nowhere: a MAC or hash with its tag.
    Nowhere,
}

/// Which parts operations have: decided once for many [`RawOp`] that are alike.
#[derive(Clone, Copy, Debug)]
pub struct RawForm {
    rest: Rest,
    cipher_range: bool,
    auth_range: bool,
}

/// The rest of an operation, as it lies there.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Rest {
    output_at: u32,
    access: Access,
    reason: Option<InvalidReason>,
    status: Status,
    flags: Flags,
}

const _: () = {
    const START: usize = offset_of!(Op<'static>, output_at);
    assert!(offset_of!(Rest, access) == offset_of!(Op<'static>, access) - START);
    assert!(offset_of!(Rest, status) == offset_of!(Op<'static>, status) - START);
    assert!(offset_of!(Rest, reason) == offset_of!(Op<'static>, reason) - START);
    assert!(offset_of!(Rest, flags) == offset_of!(Op<'static>, flags) - START);
    assert!(size_of::<Rest>() == 8, "what is copied is a register");
};

impl RawForm {
    /// Operations of an input and, perhaps, additional data.
    #[must_use]
    pub fn new(output: RawOutput) -> Self {
        let (access, flags) = match output {
            RawOutput::InPlace => (Access::InPlace, Flags::default()),
            RawOutput::Separate => (Access::Separate, Flags::SEPARATE),
            RawOutput::Nowhere => (Access::ReadOnly, Flags::READ_ONLY),
        };
        Self {
            rest: Rest {
                output_at: 0,
                access,
                status: Status::NotProcessed,
                reason: None,
                flags,
            },
            cipher_range: false,
            auth_range: false,
        }
    }

    /// Tags may only be read.
    #[must_use]
    pub fn tag_read_only(mut self) -> Self {
        self.rest.flags |= Flags::TAG_READ_ONLY;
        self
    }

    /// What is encrypted or decrypted is given; else it is all of the input.
    #[must_use]
    pub fn cipher_range(mut self) -> Self {
        self.cipher_range = true;
        self.rest.flags |= Flags::RANGES;
        self
    }

    /// What is authenticated is given; else it is all of the input.
    #[must_use]
    pub fn auth_range(mut self) -> Self {
        self.auth_range = true;
        self.rest.flags |= Flags::RANGES;
        self
    }

    /// The payload starts there in the output.
    #[must_use]
    pub fn output_at(mut self, offset: usize) -> Self {
        self.rest.output_at = clamp(offset);
        self.rest.flags |= match self.rest.access {
            Access::InPlace => Flags::OUTPUT_AT_IN_PLACE,
            _ => Flags::RANGES,
        };
        self
    }
}

impl RawForm {
    /// Whether results go to other memory.
    #[must_use]
    pub fn is_separate(&self) -> bool {
        self.rest.access == Access::Separate
    }

    /// Whether it is given what is encrypted, decrypted or authenticated, or where the payload starts in
    /// other memory.
    #[must_use]
    pub fn has_ranges(&self) -> bool {
        self.rest.flags.has(Flags::RANGES)
    }
}

impl<'a> Op<'a> {
    /// Writes the operation that `raw` describes to `place`: what [`Op::new`] and the methods for its
    /// parts make of slices. With `FRESH`, `raw` is read field by field: a load of several fields that
    /// were just stored one by one waits until the stores have reached the cache.
    ///
    /// # Safety
    /// `SEPARATE` and `RANGES` are what the form says. `raw` is valid for reads, and `zero` is 0 in every
    /// run but perhaps in an output that the form has not. For `'a`, each of these runs is valid for reads,
    /// and its address not null unless it is that of a part other than input and output that is empty;
    /// what is written (the output, and a tag that may be) is valid for writes, nobody else refers to it,
    /// and it lies apart from every other run of the operation, or is the input where the result replaces
    /// that.
    #[inline(always)]
    pub unsafe fn write_raw<const SEPARATE: bool, const RANGES: bool, const FRESH: bool>(
        place: &mut MaybeUninit<Self>,
        session: &'a Session,
        raw: *const RawOp,
        form: &RawForm,
    ) {
        debug_assert_eq!((SEPARATE, RANGES), (form.is_separate(), form.has_ranges()));
        let session = session.inner();
        let to = place.as_mut_ptr();
        // SAFETY: `raw` is valid for reads, says the caller, and the place has room for all fields, each
        // of which is written. What is copied is a register of what lies alike on both sides: a run is a
        // span or place.
        unsafe {
            let run = |from: *const RawRun, to: *mut RawRun| match FRESH {
                true => {
                    let (base, len) = ((*from).base, (*from).len);
                    to.write(RawRun { base, len, zero: 0 });
                }
                false => ptr::copy_nonoverlapping(from, to, 1),
            };
            let input = &raw const (*raw).input;
            let range = |given: bool, from: *const u32, used: u32| match given {
                true if FRESH => Extent::new(*from.add(1), *from),
                true => Extent(from.cast::<Halves>().read()),
                false => Extent::new(0, (*input).len & used),
            };
            let (cipher, auth) = if RANGES {
                let (cipher, auth) = (&raw const (*raw).cipher_len, &raw const (*raw).auth_len);
                (
                    range(form.cipher_range, cipher, session.rules.cipher_mask),
                    range(form.auth_range, auth, session.rules.auth_mask),
                )
            } else {
                (Extent::default(), Extent::default())
            };
            let output = if SEPARATE {
                &raw const (*raw).output
            } else {
                input
            };
            (&raw mut (*to).session).write(session);
            run(input, (&raw mut (*to).input).cast());
            run(output, (&raw mut (*to).output).cast());
            run(&raw const (*raw).iv, (&raw mut (*to).iv).cast());
            (&raw mut (*to).cipher).write(cipher);
            (&raw mut (*to).auth).write(auth);
            run(&raw const (*raw).tag, (&raw mut (*to).tag).cast());
            run(&raw const (*raw).aad, (&raw mut (*to).aad).cast());
            let rest = to.byte_add(offset_of!(Self, output_at)).cast::<Rest>();
            rest.copy_from_nonoverlapping(&raw const form.rest, 1);
        }
    }
}

const _: () = {
    assert!(size_of::<RawRun>() == size_of::<Span>() && size_of::<RawRun>() == size_of::<Place>());
    assert!(offset_of!(RawRun, base) == offset_of!(Span, base));
    assert!(offset_of!(RawRun, base) == offset_of!(Place, base));
    assert!(offset_of!(RawRun, len) == offset_of!(Span, size));
    assert!(offset_of!(RawRun, len) == offset_of!(Place, range));
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::testing::Idle;
    use crate::{Aead, Buffer, Device, Transform};

    fn run(bytes: &mut [u8]) -> RawRun {
        RawRun {
            base: bytes.as_mut_ptr(),
            len: u32::try_from(bytes.len()).expect("short"),
            zero: 0,
        }
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
            flags,
            ..
        } = op;
        format!(
            "{input:?} {output:?} {iv:?} {cipher:?} {auth:?} {tag:?} {aad:?} {output_at} {access:?} \
             {flags:?}"
        )
    }

    #[test]
    fn it_is_what_the_methods_make_of_slices() {
        let device = Device::builder().engine(Idle).build();
        let session = device.session(Transform::seal(Aead::AesGcm, &[1; 16]));
        let session = session.expect("offered");
        let (mut data, mut out, mut tag) = ([0; 64], [0; 80], [0; 16]);
        let (mut iv, mut aad) = ([0; 12], [0; 5]);
        let none = RawRun {
            base: ptr::null_mut(),
            len: 0,
            zero: 0,
        };
        let raw = RawOp {
            input: run(&mut data),
            output: run(&mut out),
            iv: run(&mut iv),
            cipher_len: 48,
            cipher_at: 8,
            auth_len: 9,
            auth_at: 4,
            tag: run(&mut tag),
            aad: run(&mut aad),
        };
        macro_rules! both {
            ($separate:literal, $ranges:literal) => {
                [
                    Op::write_raw::<$separate, $ranges, true>,
                    Op::write_raw::<$separate, $ranges, false>,
                ]
            };
        }
        let made = |raw: RawOp, form: RawForm| {
            let [by_field, whole] = match (form.is_separate(), form.has_ranges()) {
                (false, false) => both!(false, false),
                (false, true) => both!(false, true),
                (true, false) => both!(true, false),
                (true, true) => both!(true, true),
            }
            .map(|write| {
                let mut place = MaybeUninit::uninit();
                // SAFETY: arrays that outlive the operations; each is used by one at a time.
                unsafe { write(&mut place, &session, ptr::from_ref(&raw), &form) };
                // SAFETY: written.
                shown(unsafe { place.assume_init_ref() })
            });
            assert_eq!(by_field, whole);
            whole
        };
        let parts = made(raw, RawForm::new(RawOutput::InPlace));
        let op = Op::new(&session, Buffer::in_place(&mut data)).iv(&iv);
        assert_eq!(parts, shown(&op.aad(&aad).tag(&mut tag)));

        let form = RawForm::new(RawOutput::Separate).tag_read_only();
        let parts = made(raw, form.cipher_range().output_at(3));
        let op = Op::new(&session, Buffer::separate(&data, &mut out)).iv(&iv);
        let op = op.aad(&aad).expected_tag(&tag).cipher_range(8..56);
        assert_eq!(parts, shown(&op.output_at(3)));

        let parts = made(raw, RawForm::new(RawOutput::Separate).output_at(3));
        let op = Op::new(&session, Buffer::separate(&data, &mut out)).iv(&iv);
        assert_eq!(parts, shown(&op.aad(&aad).tag(&mut tag).output_at(3)));

        let parts = made(raw, RawForm::new(RawOutput::InPlace).output_at(3));
        let op = Op::new(&session, Buffer::in_place(&mut data)).iv(&iv);
        assert_eq!(parts, shown(&op.aad(&aad).tag(&mut tag).output_at(3)));

        let bare = RawOp {
            iv: none,
            aad: none,
            tag: none,
            ..raw
        };
        let parts = made(bare, RawForm::new(RawOutput::Nowhere).auth_range());
        let op = Op::new(&session, Buffer::read_only(&data)).auth_range(4..13);
        assert_eq!(parts, shown(&op));
    }
}
