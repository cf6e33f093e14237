//! Messages as they lie in their operations.

#![allow(unsafe_code)] // operations taken for records

use std::mem::{MaybeUninit, offset_of};
use std::ptr;

use super::plain::{Likeness, PlainAeads};
use super::{Op, Place};
use crate::buffer::Span;
use crate::engine::EngineSession;

/// A message where its operation has it, for a kernel that reads each field there: one of
/// [`PlainAeads::records`] or [`Feed::records`](super::Feed::records), or [`Lone::record`](super::Lone::record),
/// which say when there are such. Each pointer is valid as it is for the operation: source, IV and additional
/// data for reads, and target and tag for writes, of their lengths in bytes, where the session has such; source
/// and target are the same or disjoint. A kernel writes the block, and no other field.
#[derive(Debug)]
#[repr(C)]
pub struct Record<K> {
    operation: MaybeUninit<[usize; 2]>,
    /// Where the payload is read, or what a MAC authenticates.
    pub source: *const u8,
    /// Its length.
    pub len: usize,
    /// Where it is written.
    pub target: *mut u8,
    room: MaybeUninit<usize>,
    /// Where the IV is.
    pub iv: *const u8,
    /// Its length.
    pub iv_len: usize,
    /// Where the tag goes, or the one to compare is.
    pub tag: *mut u8,
    /// Its length.
    pub tag_len: usize,
    /// Where additional data is; null or anything if there is none.
    pub aad: *const u8,
    /// Its length.
    pub aad_len: usize,
    /// What the engine has of the session.
    pub key: *const K,
    /// The tag's place if it is to be written there, else null.
    pub place: *mut u8,
    /// Zeros.
    pub block: [u8; 16],
}

impl<'a, S: EngineSession> PlainAeads<'_, 'a, S> {
    /// The operations that are left, as records: where the first lies, how many follow each other from
    /// there, and what is known of them; `None` where a machine's words and pointers differ. `key` makes
    /// what a kernel needs of a session. A tag is to be written where the operation wants it if it has
    /// `placed` bytes. The records are valid for as long as the messages are borrowed.
    #[inline(always)]
    #[must_use]
    pub fn records<K: 'a>(
        self,
        placed: usize,
        key: impl Fn(&'a S) -> &'a K,
    ) -> Option<(*mut Record<K>, usize, Likeness)> {
        if !HAS_RECORDS {
            return None;
        }
        let is_placed = self.tag_len == placed;
        let ops = self.walk.ops.into_slice();
        let (first, count) = (ops.as_mut_ptr(), ops.len());
        for i in 0..count {
            // SAFETY: the invariant of plain operations, of which there are so many.
            unsafe {
                let op = first.add(i);
                let key = key((*op).session.engine_that_is());
                fill(op.cast::<Record<K>>(), key, is_placed);
            }
        }
        Some((first.cast(), count, self.likeness))
    }
}

/// Makes a record of an operation; if it is `placed`, the place of its tag is where the operation wants it.
///
/// # Safety
/// This is an operation whose ranges do not count, borrowed exclusively: key and place lie where those do.
#[inline(always)]
pub(super) unsafe fn fill<K>(record: *mut Record<K>, key: &K, placed: bool) {
    // SAFETY: an operation has all of a record's fields.
    unsafe {
        (*record).key = key;
        (*record).place = if placed {
            (*record).tag
        } else {
            ptr::null_mut()
        };
        (*record).block = [0; 16];
    }
}

/// Whether an operation can be taken for a record: words and pointers are alike.
pub(super) const HAS_RECORDS: bool =
    cfg!(all(target_endian = "little", target_pointer_width = "64"));

macro_rules! alike {
    ($($record:ident = $op:ident $(+ $in:ident :: $part:ident)?),* $(,)?) => {
        const _: () = {
            type Any = Record<()>;
            assert!(!HAS_RECORDS || size_of::<Any>() == size_of::<Op<'_>>());
            assert!(align_of::<Any>() <= align_of::<Op<'_>>());
            $(assert!(
                !HAS_RECORDS
                    || offset_of!(Any, $record)
                        == offset_of!(Op<'static>, $op) $(+ offset_of!($in, $part))?
            );)*
        };
    };
}

alike! {
    operation = session,
    source = input + Span::base,
    len = input + Span::size,
    target = output + Span::base,
    room = output + Span::size,
    iv = iv + Place::base,
    iv_len = iv + Place::range,
    tag = tag + Place::base,
    tag_len = tag + Place::range,
    aad = aad + Place::base,
    aad_len = aad + Place::range,
    key = cipher,
    place = auth,
    block = scratch,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Batch;
    use crate::op::testing::Idle;
    use crate::{Aead, Buffer, Device, Transform};

    #[test]
    fn a_record_is_what_the_operation_was_given() {
        let device = Device::builder().engine(Idle).build();
        for (seal, tag_len, placed) in [(true, 16, true), (true, 12, false), (false, 16, false)] {
            let transform = match seal {
                true => Transform::seal(Aead::AesGcm, &[1; 16]),
                false => Transform::open(Aead::AesGcm, &[1; 16]),
            };
            let session = device.session(transform.tag_len(tag_len)).expect("offered");
            let (iv, aad) = ([0; 12], [0; 5]);
            let (data, mut out) = ([[0; 64]; 2], [[0; 80]; 2]);
            let mut tags = [[0; 16]; 2];
            let given: Vec<_> = (0..2)
                .map(|i| [data[i].as_ptr(), out[i].as_ptr(), tags[i].as_ptr()])
                .collect();
            let mut ops: Vec<_> = (data.iter().zip(&mut out).zip(&mut tags))
                .map(|((data, out), tag)| {
                    let op = Op::new(&session, Buffer::separate(data, out))
                        .iv(&iv)
                        .aad(&aad);
                    op.tag(&mut tag[..tag_len])
                })
                .collect();
            let likeness = Likeness {
                one_session: true,
                one_length: true,
            };
            let mut batch = Batch::alike(&mut ops, true, likeness);
            let mut plain = batch.plain().expect("plain");
            let messages = plain.aeads::<Idle>();
            let (first, count, known) = messages.records(16, |_| &7_u8).expect("records");
            assert_eq!((count, known), (2, likeness));
            for (i, [source, target, tag]) in given.into_iter().enumerate() {
                // SAFETY: two records.
                let record = unsafe { &*first.add(i) };
                assert_eq!((record.source, record.len), (source, 64));
                assert_eq!(record.target.cast_const(), target);
                assert_eq!((record.iv, record.iv_len), (iv.as_ptr(), 12));
                assert_eq!((record.tag.cast_const(), record.tag_len), (tag, tag_len));
                assert_eq!((record.aad, record.aad_len), (aad.as_ptr(), 5));
                assert_eq!(record.place == record.tag, placed);
                assert!(placed || record.place.is_null());
                // SAFETY: a static.
                assert_eq!(unsafe { *record.key }, 7);
                assert_eq!(record.block, [0; 16]);
            }
        }
    }
}
