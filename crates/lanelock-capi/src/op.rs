//! Operations: the record that a program keeps for each message.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use lanelock::{InvalidReason, Status};

use crate::alike::Alike;
use crate::boundary::counted;
use crate::error::{Failure, copy_text};
use crate::pointer::check_array;
use crate::session::lanelock_session;
use crate::view::{Spare, view};

/// No queue pair has taken the operation yet; nothing was read or written.
pub const LANELOCK_NOT_PROCESSED: u8 = 0;
/// Done: output and tag are in place.
pub const LANELOCK_SUCCESS: u8 = 1;
/// The tag did not match. The output holds no plaintext: it is untouched or zeroed.
pub const LANELOCK_AUTH_FAILED: u8 = 2;
/// Refused before any byte was touched: `reason` has a number, `lanelock_op_explain` a sentence.
pub const LANELOCK_INVALID_ARGS: u8 = 3;
/// The engine failed. The output's content is unspecified, but holds no unauthenticated plaintext.
pub const LANELOCK_ENGINE_ERROR: u8 = 4;

/// The output is other memory than the input.
pub const LANELOCK_OP_SEPARATE: u16 = 1;
/// There is no output: a MAC or hash with a separate tag.
pub const LANELOCK_OP_READ_ONLY: u16 = 2;
/// `cipher_at` and `cipher_len` are given; without it, all of the input is encrypted or decrypted.
pub const LANELOCK_OP_CIPHER_RANGE: u16 = 4;
/// `auth_at` and `auth_len` are given; without it, all of the input is authenticated.
pub const LANELOCK_OP_AUTH_RANGE: u16 = 8;
/// `output_at` is given: where the payload starts in a separate output.
pub const LANELOCK_OP_OUTPUT_AT: u16 = 16;
/// The IV lies in the input from `iv_at`; `iv` and `iv_len` are ignored.
pub const LANELOCK_OP_IV_AT: u16 = 32;
/// The additional data lies in the input from `aad_at`; `aad` is ignored.
pub const LANELOCK_OP_AAD_AT: u16 = 64;
/// The tag lies in the output (to compute) or in the input (to verify) from `tag_at`; `tag` and
/// `tag_len` are ignored.
pub const LANELOCK_OP_TAG_AT: u16 = 128;
/// The tag is read-only: it is compared.
pub const LANELOCK_OP_TAG_CONST: u16 = 256;

/// The buffer or a range is longer than 4 GiB - 2.
pub const LANELOCK_REASON_TOO_LARGE: u8 = 1;
/// The session belongs to a different device than the queue pair.
pub const LANELOCK_REASON_FOREIGN_SESSION: u8 = 2;
/// The cipher range extends past the end of the input.
pub const LANELOCK_REASON_CIPHER_RANGE: u8 = 3;
/// The authenticated range extends past the end of the input.
pub const LANELOCK_REASON_AUTH_RANGE: u8 = 4;
/// A cipher needs an output, and there is none.
pub const LANELOCK_REASON_OUTPUT_MISSING: u8 = 5;
/// The payload does not fit the separate output.
pub const LANELOCK_REASON_OUTPUT_TOO_SHORT: u8 = 6;
/// An output offset without a separate output.
pub const LANELOCK_REASON_OUTPUT_OFFSET: u8 = 7;
/// The payload is not a multiple of the cipher's block.
pub const LANELOCK_REASON_BLOCK_MULTIPLE: u8 = 8;
/// The payload is shorter than the algorithm's minimum.
pub const LANELOCK_REASON_PAYLOAD_TOO_SHORT: u8 = 9;
/// The payload is longer than the algorithm allows under one IV.
pub const LANELOCK_REASON_PAYLOAD_TOO_LONG: u8 = 10;
/// The algorithm needs an IV, and there is none.
pub const LANELOCK_REASON_IV_MISSING: u8 = 11;
/// The algorithm takes no IV.
pub const LANELOCK_REASON_IV_UNEXPECTED: u8 = 12;
/// The IV's length is not the session's.
pub const LANELOCK_REASON_IV_LENGTH: u8 = 13;
/// The inline IV extends past the end of the input.
pub const LANELOCK_REASON_IV_RANGE: u8 = 14;
/// The algorithm takes no additional data.
pub const LANELOCK_REASON_AAD_UNEXPECTED: u8 = 15;
/// The additional data is longer than the algorithm allows.
pub const LANELOCK_REASON_AAD_TOO_LONG: u8 = 16;
/// The inline additional data extends past the end of the input.
pub const LANELOCK_REASON_AAD_RANGE: u8 = 17;
/// The algorithm needs room for a tag, or one to compare, and there is none.
pub const LANELOCK_REASON_TAG_MISSING: u8 = 18;
/// The algorithm takes no tag.
pub const LANELOCK_REASON_TAG_UNEXPECTED: u8 = 19;
/// The tag's length is not the session's.
pub const LANELOCK_REASON_TAG_LENGTH: u8 = 20;
/// The inline tag extends past the end of its buffer.
pub const LANELOCK_REASON_TAG_RANGE: u8 = 21;
/// The session computes a tag, but the one given is read-only.
pub const LANELOCK_REASON_TAG_READ_ONLY: u8 = 22;
/// The tag overlaps bytes that the operation authenticates or writes.
pub const LANELOCK_REASON_TAG_OVERLAP: u8 = 23;
/// The inline IV or additional data overlaps the payload, which is rewritten in place.
pub const LANELOCK_REASON_HEADER_OVERLAP: u8 = 24;
/// Input and output overlap without being the same bytes of the payload, or something written
/// overlaps an IV, additional data or a tag.
pub const LANELOCK_REASON_BUFFER_OVERLAP: u8 = 25;
/// The session is NULL.
pub const LANELOCK_REASON_SESSION_NULL: u8 = 128;
/// The session was freed. Detected only in debug builds of the library.
pub const LANELOCK_REASON_SESSION_FREED: u8 = 129;
/// A pointer is NULL although its length is not 0.
pub const LANELOCK_REASON_POINTER_NULL: u8 = 130;
/// A flag that the library does not know, or two that exclude each other.
pub const LANELOCK_REASON_FLAGS: u8 = 131;
/// A list of segments that is not aligned to 8 bytes.
pub const LANELOCK_REASON_ALIGNMENT: u8 = 132;
/// An output of a public-key operation overlaps other memory of it.
pub const LANELOCK_REASON_OVERLAP: u8 = 133;

/// One message of a session. `lanelock_op_in_place` and its neighbours fill it in; the library
/// changes only `status` and `reason`. It can be handed over again once the status is
/// LANELOCK_NOT_PROCESSED. Offsets and lengths are in bytes and count from the start of the input,
/// also across segments.
///
/// What it points to must not overlap what another operation of the same burst writes.
///
/// It takes two cache lines; align arrays of it to 64 bytes.
// In the order of the core's operation: reading one is loads and stores of pairs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_op {
    /// The session.
    pub session: *const lanelock_session,
    /// The input: bytes, or an array of `struct iovec` if `input_segments` is not 0.
    pub input: *mut c_void,
    /// Its length; ignored if there are segments.
    pub input_len: u32,
    /// Segments of the input; 0 for one run of bytes.
    pub input_segments: u32,
    /// The separate output, in the same form as the input.
    pub output: *mut c_void,
    /// Its length; ignored if there are segments.
    pub output_len: u32,
    /// Segments of the output; 0 for one run of bytes.
    pub output_segments: u32,
    /// The IV.
    pub iv: *const u8,
    /// Its length.
    pub iv_len: u32,
    /// Offset of an inline IV.
    pub iv_at: u32,
    /// Length of what is encrypted or decrypted.
    pub cipher_len: u32,
    /// Its offset.
    pub cipher_at: u32,
    /// Length of what a MAC, hash or chain authenticates.
    pub auth_len: u32,
    /// Its offset.
    pub auth_at: u32,
    /// The tag or digest: to write, or to compare.
    pub tag: *mut u8,
    /// Its length.
    pub tag_len: u32,
    /// Offset of an inline tag.
    pub tag_at: u32,
    /// The additional data.
    pub aad: *const u8,
    /// Its length.
    pub aad_len: u32,
    /// Offset of inline additional data.
    pub aad_at: u32,
    /// Where the payload starts in a separate output.
    pub output_at: u32,
    /// LANELOCK_OP bits.
    pub flags: u16,
    /// The result of the operation. One that is not LANELOCK_NOT_PROCESSED is left alone.
    pub status: u8,
    /// Why it was refused, if the status is LANELOCK_INVALID_ARGS.
    pub reason: u8,
    /// For the program's own use; the library ignores it.
    pub user_data: u64,
    /// Zero.
    pub reserved: u64,
}

const _: () = assert!(size_of::<lanelock_op>() == 128 && align_of::<lanelock_op>() == 8);
const _: () = assert!(cfg!(target_pointer_width = "64"), "pointers have 64 bits");

/// Why an operation was refused, as a sentence with the values involved. Writes as much of it as
/// fits to `text`, which has room for `size` bytes, with a zero byte, and returns the length of the
/// whole sentence, or a negative error; 0 if the operation was not refused. Threads: any, while
/// none writes the operation.
///
/// # Safety
/// `op` is NULL or an operation whose session and segments are as they were when it was refused;
/// `text` is NULL or valid for writes of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_op_explain(
    op: *const lanelock_op,
    text: *mut c_char,
    size: usize,
) -> isize {
    // SAFETY: the caller's promises.
    counted(|| unsafe {
        check_array(op, 1, "operation")?;
        let sentence = explained(&*op);
        if text.is_null() || size == 0 {
            return Ok(sentence.len());
        }
        if isize::try_from(size).is_err() {
            return Err(Failure::unknown("size: exceeds the address space"));
        }
        Ok(copy_text(
            &sentence,
            std::slice::from_raw_parts_mut(text, size),
        ))
    })
}

/// # Safety
/// The operation's session and segments are as they were when it was refused.
unsafe fn explained(op: &lanelock_op) -> String {
    if op.status != LANELOCK_INVALID_ARGS {
        return String::new();
    }
    let reason = InvalidReason::ALL
        .iter()
        .find(|reason| **reason as u8 == op.reason);
    let own = |text: &str| text.to_owned();
    match (reason, op.reason) {
        (_, LANELOCK_REASON_SESSION_NULL) => own("session: NULL"),
        (_, LANELOCK_REASON_SESSION_FREED) => own("session: was freed"),
        (_, LANELOCK_REASON_POINTER_NULL) => {
            own("a pointer is NULL although its length, or number of segments, is not 0")
        }
        (_, LANELOCK_REASON_FLAGS) => format!(
            "flags {:#x}: one is unknown, or two exclude each other",
            op.flags
        ),
        (_, LANELOCK_REASON_ALIGNMENT) => own("a list of segments is not aligned to 8 bytes"),
        (Some(&reason), _) => {
            let (mut spare, mut place) = (Spare::uninit(), MaybeUninit::uninit());
            // SAFETY: the caller's promise.
            match unsafe { view(op, &mut Alike::none(), &mut spare, &mut place) } {
                // SAFETY: written.
                Ok(()) => unsafe { place.assume_init_ref() }
                    .explain(reason)
                    .to_string(),
                Err(_) => format!("{reason:?}"),
            }
        }
        (None, number) => format!("reason {number}: unknown"),
    }
}

/// The core's statuses have the same numbers.
const _: () = {
    assert!(Status::NotProcessed as u8 == LANELOCK_NOT_PROCESSED);
    assert!(Status::Success as u8 == LANELOCK_SUCCESS);
    assert!(Status::AuthFailed as u8 == LANELOCK_AUTH_FAILED);
    assert!(Status::InvalidArgs as u8 == LANELOCK_INVALID_ARGS);
    assert!(Status::EngineError as u8 == LANELOCK_ENGINE_ERROR);
    assert!(InvalidReason::TooLarge as u8 == LANELOCK_REASON_TOO_LARGE);
    assert!(InvalidReason::CipherRange as u8 == LANELOCK_REASON_CIPHER_RANGE);
    assert!(InvalidReason::BlockMultiple as u8 == LANELOCK_REASON_BLOCK_MULTIPLE);
    assert!(InvalidReason::IvLength as u8 == LANELOCK_REASON_IV_LENGTH);
    assert!(InvalidReason::TagLength as u8 == LANELOCK_REASON_TAG_LENGTH);
    assert!(InvalidReason::BufferOverlap as u8 == LANELOCK_REASON_BUFFER_OVERLAP);
    assert!(InvalidReason::ALL.len() == LANELOCK_REASON_BUFFER_OVERLAP as usize);
};
