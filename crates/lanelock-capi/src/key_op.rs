//! Public-key operations: the record that a program keeps for each.

use std::ffi::{CStr, c_char};

use lanelock::public_key::{KeyBuffers, KeyParts, KeyReason};

use crate::handle;
use crate::key_session::lanelock_key_session;
use crate::op::{
    LANELOCK_REASON_OVERLAP, LANELOCK_REASON_POINTER_NULL, LANELOCK_REASON_SESSION_FREED,
    LANELOCK_REASON_SESSION_NULL,
};

/// The session belongs to a different device than the queue.
pub const LANELOCK_KEY_REASON_FOREIGN_SESSION: u8 = 1;
/// The session was made for another operation.
pub const LANELOCK_KEY_REASON_WRONG_OPERATION: u8 = 2;
/// The output is shorter than the longest result.
pub const LANELOCK_KEY_REASON_OUTPUT_TOO_SHORT: u8 = 3;
/// The second output is shorter than its result.
pub const LANELOCK_KEY_REASON_SECOND_TOO_SHORT: u8 = 4;
/// The length of the digest is not that of the session's hash.
pub const LANELOCK_KEY_REASON_DIGEST_LENGTH: u8 = 5;
/// The plaintext is longer than the padding leaves room for, or is not a raw block.
pub const LANELOCK_KEY_REASON_PLAINTEXT_LENGTH: u8 = 6;
/// The length of the ciphertext does not fit the key.
pub const LANELOCK_KEY_REASON_CIPHERTEXT_LENGTH: u8 = 7;
/// The length of the peer's public key is not that of keys of this kind.
pub const LANELOCK_KEY_REASON_PEER_LENGTH: u8 = 8;
/// The peer's public key is not a point of the curve, or not an element of the group.
pub const LANELOCK_KEY_REASON_INVALID_PEER: u8 = 9;
/// The shared secret is zero: the peer's public key has a small order.
pub const LANELOCK_KEY_REASON_ZERO_SECRET: u8 = 10;
/// The block is a number that is not below the modulus.
pub const LANELOCK_KEY_REASON_OUT_OF_RANGE: u8 = 11;
/// The signature is malformed, or one of its numbers is out of range.
pub const LANELOCK_KEY_REASON_MALFORMED_SIGNATURE: u8 = 12;
/// The signature does not match the key and the message.
pub const LANELOCK_KEY_REASON_WRONG_SIGNATURE: u8 = 13;
/// The ciphertext was not made with this key, or was modified.
pub const LANELOCK_KEY_REASON_WRONG_CIPHERTEXT: u8 = 14;
/// The result failed its check with the public key, and was discarded.
pub const LANELOCK_KEY_REASON_FAULT: u8 = 15;
/// The engine failed.
pub const LANELOCK_KEY_REASON_ENGINE: u8 = 16;

/// One public-key operation. `lanelock_key_op_init` and its neighbours fill it in; the library
/// changes only the results. It can be handed over again once the status is
/// LANELOCK_NOT_PROCESSED.
///
/// With LANELOCK_INVALID_ARGS nothing was written; with LANELOCK_AUTH_FAILED a signature or ciphertext
/// does not match the key; with LANELOCK_ENGINE_ERROR the outputs hold zeros.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_key_op {
    /// The session.
    pub session: *const lanelock_key_session,
    /// Message, digest, plaintext, ciphertext or peer's public key.
    pub input: *const u8,
    /// Its length, in bytes.
    pub input_len: usize,
    /// The signature to check.
    pub signature: *const u8,
    /// Its length, in bytes.
    pub signature_len: usize,
    /// Where signature, ciphertext, plaintext, shared secret or generated secret key go. It must
    /// not overlap what is read.
    pub output: *mut u8,
    /// Room there, in bytes: for the longest result, even where the result is shorter.
    pub output_len: usize,
    /// Where a generated public key, or an encapsulated secret, goes.
    pub second: *mut u8,
    /// Room there, in bytes.
    pub second_len: usize,
    /// Length of the result, in bytes; 0 unless the operation succeeded.
    pub written: usize,
    /// Length of the second result, in bytes.
    pub second_written: usize,
    /// For the program's own use; the library ignores it.
    pub user_data: u64,
    /// The result of the operation. One that is not LANELOCK_NOT_PROCESSED is left alone.
    pub status: u8,
    /// Why it did not succeed: a LANELOCK_KEY_REASON number, or a LANELOCK_REASON number from 128.
    pub reason: u8,
    /// Zero.
    pub reserved: [u8; 30],
}

const _: () = assert!(size_of::<lanelock_key_op>() == 128 && align_of::<lanelock_key_op>() == 8);

/// What the number of a reason means, in general: a static string. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn lanelock_key_reason(reason: u8) -> *const c_char {
    let text: &CStr = match reason {
        0 => c"nothing was wrong",
        LANELOCK_KEY_REASON_FOREIGN_SESSION => {
            c"session: made by a different device than the queue"
        }
        LANELOCK_KEY_REASON_WRONG_OPERATION => c"operation: the session was made for another one",
        LANELOCK_KEY_REASON_OUTPUT_TOO_SHORT => c"output: shorter than the longest result",
        LANELOCK_KEY_REASON_SECOND_TOO_SHORT => c"second output: shorter than its result",
        LANELOCK_KEY_REASON_DIGEST_LENGTH => {
            c"digest: its length is not that of the session's hash"
        }
        LANELOCK_KEY_REASON_PLAINTEXT_LENGTH => c"plaintext: its length does not fit the padding",
        LANELOCK_KEY_REASON_CIPHERTEXT_LENGTH => c"ciphertext: its length does not fit the key",
        LANELOCK_KEY_REASON_PEER_LENGTH => c"peer's public key: wrong length for its kind",
        LANELOCK_KEY_REASON_INVALID_PEER => c"peer's public key: not a valid key",
        LANELOCK_KEY_REASON_ZERO_SECRET => c"peer's public key: has a small order",
        LANELOCK_KEY_REASON_OUT_OF_RANGE => c"input: must be a number below the modulus",
        LANELOCK_KEY_REASON_MALFORMED_SIGNATURE => c"signature: malformed or out of range",
        LANELOCK_KEY_REASON_WRONG_SIGNATURE => c"signature: does not match this key and message",
        LANELOCK_KEY_REASON_WRONG_CIPHERTEXT => c"ciphertext: not made with this key, or modified",
        LANELOCK_KEY_REASON_FAULT => c"fault: the result failed its check with the public key",
        LANELOCK_KEY_REASON_ENGINE => c"engine: failed",
        LANELOCK_REASON_SESSION_NULL => c"session: NULL",
        LANELOCK_REASON_SESSION_FREED => c"session: was freed",
        LANELOCK_REASON_POINTER_NULL => c"a pointer is NULL although its length is not 0",
        LANELOCK_REASON_OVERLAP => c"an output overlaps other memory of the operation",
        _ => c"a number that this library does not know",
    };
    text.as_ptr()
}

/// The numbers of [`KeyReason`] from 1.
pub(crate) fn number_of(reason: KeyReason) -> u8 {
    reason as u8 + 1
}

const _: () = {
    let first = KeyReason::ForeignSession as u8 + 1;
    let last = KeyReason::Engine as u8 + 1;
    assert!(first == LANELOCK_KEY_REASON_FOREIGN_SESSION && last == LANELOCK_KEY_REASON_ENGINE);
    let invalid_peer = KeyReason::InvalidPeer as u8 + 1;
    assert!(invalid_peer == LANELOCK_KEY_REASON_INVALID_PEER);
    let wrong_signature = KeyReason::WrongSignature as u8 + 1;
    assert!(wrong_signature == LANELOCK_KEY_REASON_WRONG_SIGNATURE);
};

/// Memory of a C program: as long as an operation belongs to a queue, so does this.
#[derive(Debug)]
pub(crate) struct Memory {
    base: *mut u8,
    len: usize,
}

// SAFETY: memory that nobody else uses meanwhile, whichever thread has the queue.
unsafe impl Send for Memory {}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: not null, and valid for reads, said the caller of `memory`.
        unsafe { std::slice::from_raw_parts(self.base, self.len) }
    }
}

impl AsMut<[u8]> for Memory {
    /// Asked for outputs alone.
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `as_ref`; outputs are valid for writes and overlap nothing, as checked.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.len) }
    }
}

impl lanelock_key_op {
    /// What it points to, or the number of the reason why that is refused.
    ///
    /// # Safety
    /// As for `lanelock_key_process`, as long as the result is used.
    pub(crate) unsafe fn memory(&self) -> Result<KeyBuffers<Memory>, u8> {
        if self.session.is_null() {
            return Err(LANELOCK_REASON_SESSION_NULL);
        }
        if handle::check(self.session).is_err() {
            return Err(LANELOCK_REASON_SESSION_FREED);
        }
        let all = [
            (self.input.cast_mut(), self.input_len),
            (self.signature.cast_mut(), self.signature_len),
            (self.output, self.output_len),
            (self.second, self.second_len),
        ];
        let too_long = |len: usize| isize::try_from(len).is_err();
        if all
            .iter()
            .any(|&(base, len)| len != 0 && (base.is_null() || too_long(len)))
        {
            return Err(LANELOCK_REASON_POINTER_NULL);
        }
        let [input, signature, output, second] = all;
        let pairs = [
            (output, input),
            (output, signature),
            (output, second),
            (second, input),
            (second, signature),
        ];
        if pairs.iter().any(|&(a, b)| meet(a, b)) {
            return Err(LANELOCK_REASON_OVERLAP);
        }
        let [input, signature, output, second] = all.map(|(base, len)| {
            let base = if len == 0 {
                std::ptr::dangling_mut()
            } else {
                base
            };
            Some(Memory { base, len })
        });
        Ok(KeyBuffers {
            input,
            signature,
            output,
            second,
        })
    }
}

/// The same memory for an operation that runs at once.
///
/// # Safety
/// As for `lanelock_key_process`, for `'a`.
pub(crate) unsafe fn parts<'a>(buffers: KeyBuffers<Memory>) -> KeyParts<'a> {
    let part = |memory: Option<Memory>| {
        let memory = memory.expect("`memory` gives all");
        (memory.base, memory.len)
    };
    let (input, signature) = (part(buffers.input), part(buffers.signature));
    let (output, second) = (part(buffers.output), part(buffers.second));
    // SAFETY: the caller's promise; outputs overlap nothing, as checked.
    unsafe {
        KeyParts {
            input: std::slice::from_raw_parts(input.0, input.1),
            signature: std::slice::from_raw_parts(signature.0, signature.1),
            output: std::slice::from_raw_parts_mut(output.0, output.1),
            second: std::slice::from_raw_parts_mut(second.0, second.1),
        }
    }
}

fn meet(a: (*mut u8, usize), b: (*mut u8, usize)) -> bool {
    let (start, other) = (a.0 as usize, b.0 as usize);
    a.1 != 0 && b.1 != 0 && start < other.saturating_add(b.1) && other < start.saturating_add(a.1)
}
