//! Sessions: a transform with its keys, prepared once.

use std::ffi::c_char;

use lanelock::algorithm::Spec;
use lanelock::transform::Direction;
use lanelock::{Session, Transform};

use crate::algorithm::{from_numbers, to_numbers};
use crate::boundary::{boundary, made};
use crate::device::{lanelock_device, small};
use crate::error::{Failure, copy_text, lanelock_error};
use crate::handle::{Handle, lend, take};
use crate::pointer::{bytes, text};
use crate::sized::{self, Sized32};

/// Encrypts, computes a tag or digest, or both.
pub const LANELOCK_FORWARD: u32 = 1;
/// Decrypts, verifies a tag, or both.
pub const LANELOCK_REVERSE: u32 = 2;

/// A transform with its keys, prepared by one engine. It is immutable: any number of threads and
/// queue pairs can use it at the same time.
#[derive(Debug)]
pub struct lanelock_session {
    pub(crate) session: Session,
}

impl Handle for lanelock_session {
    const NAME: &'static str = "session";
}

/// What a session does, and its keys. `lanelock_transform_init` fills it in; fields that it leaves
/// zero may be set afterwards.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_transform {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// LANELOCK_FORWARD or LANELOCK_REVERSE.
    pub direction: u32,
    /// The algorithm's number; a chain's cipher.
    pub algorithm: u32,
    /// A chain's MAC, else 0.
    pub mac: u32,
    /// A chain's order, else 0.
    pub order: u32,
    /// Length of every operation's IV, in bytes; 0 for the algorithm's usual one.
    pub iv_len: u32,
    /// Length of every operation's tag or digest, in bytes; 0 for the algorithm's longest (of SHAKE,
    /// cSHAKE and KMAC, the one that gives their full strength).
    pub tag_len: u32,
    /// Zero.
    pub reserved: u32,
    /// The cipher's, AEAD's or MAC's key. It is copied, and the copy is wiped when it is no longer
    /// needed.
    pub key: *const u8,
    /// Its length, in bytes.
    pub key_len: usize,
    /// The key of a chain's MAC.
    pub mac_key: *const u8,
    /// Its length, in bytes.
    pub mac_key_len: usize,
    /// Name of the engine that is to run the session; NULL lets the device choose.
    pub engine: *const c_char,
    /// The customization string of cSHAKE or KMAC, of at most 512 bytes. It is copied.
    pub customization: *const u8,
    /// Its length, in bytes; 0 for none.
    pub customization_len: usize,
}

// SAFETY: `repr(C)`, integers and pointers without padding, the size first.
unsafe impl Sized32 for lanelock_transform {
    const NAME: &'static str = "lanelock_transform";
    const FIRST: usize = 72;
}

/// The properties of a session.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_session_info {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// Length of every operation's IV, in bytes; 0 for none.
    pub iv_len: u32,
    /// Length of every operation's tag or digest, in bytes; 0 for none.
    pub tag_len: u32,
    /// Payloads are multiples of this many bytes.
    pub block: u32,
    /// Bytes of memory that the session holds.
    pub memory: u64,
    /// In addition, for each queue pair that has used the session.
    pub memory_per_queue_pair: u64,
    /// Name of the engine that runs it.
    pub engine: [c_char; 24],
    /// Name of the algorithm with its key lengths, such as "aes-128-cbc+hmac-sha1".
    pub name: [c_char; 40],
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_session_info {
    const NAME: &'static str = "lanelock_session_info";
    const FIRST: usize = 96;
}

const _: () = assert!(size_of::<lanelock_transform>() == 88);
const _: () = assert!(size_of::<lanelock_session_info>() == 96);

/// Prepares a transform. The session runs on every queue pair of its device. Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile. `transform` is NULL or valid for reads of the size that it
/// begins with, and its pointers for their lengths; `session` and `error` are NULL or valid for
/// writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_session_new(
    device: *const lanelock_device,
    transform: *const lanelock_transform,
    session: *mut *mut lanelock_session,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(session, error, || {
            let device = &lend(device)?.device;
            let from = sized::read(transform)?;
            let transform = described(&from)?;
            let session = match text(from.engine, "engine")? {
                Some(engine) => device.session_on(engine, transform),
                None => device.session(transform),
            };
            let session = session?;
            Ok(lanelock_session { session })
        })
    }
}

/// Frees a session and wipes its keys; NULL is allowed. Threads: any, and none may use the handle, or
/// operations of this session, meanwhile or afterwards.
///
/// # Safety
/// No thread is inside a function with this handle or an operation of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_session_free(session: *mut lanelock_session) -> i32 {
    // SAFETY: the caller's promise.
    boundary(|| unsafe { take(session) }.map(drop))
}

/// Describes a session. Set `info->size` before the call. Threads: any.
///
/// # Safety
/// No thread frees the session meanwhile; `info` is NULL or valid for reads and writes of the size
/// that it begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_session_describe(
    session: *const lanelock_session,
    info: *mut lanelock_session_info,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let session = &lend(session)?.session;
        let memory = session.memory();
        let mut value = lanelock_session_info {
            size: 0,
            iv_len: small(session.iv_len()),
            tag_len: small(session.tag_len()),
            block: small(session.algorithm().row().block),
            memory: memory.session as u64,
            memory_per_queue_pair: memory.per_queue_pair as u64,
            engine: [0; _],
            name: [0; _],
        };
        copy_text(session.engine(), &mut value.engine);
        copy_text(&session.spec().to_string(), &mut value.name);
        sized::write(&value, info)
    })
}

/// Sets the numbers of the algorithm that `name` stands for, and the length of its keys, in a
/// transform whose size is set: "aes-128-gcm", "hmac-sha256", "aes-128-cbc+hmac-sha1" (encrypts, then
/// authenticates) or "hmac-sha1+aes-128-cbc" (the other order). HMAC takes keys of any length; this
/// sets the length of its digest. Threads: any.
///
/// # Safety
/// `name` is NULL or a string; `transform` is NULL or valid for reads and writes of the size that it
/// begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_transform_name(
    transform: *mut lanelock_transform,
    name: *const c_char,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let name = text(name, "name")?.ok_or_else(|| Failure::null("name"))?;
        let mut value = sized::read(transform)?;
        let spec: Spec = name.parse().map_err(unknown_name)?;
        let numbers = to_numbers(spec.algorithm).ok_or_else(|| unknown_name(name))?;
        [value.algorithm, value.mac, value.order] = numbers;
        (value.key_len, value.mac_key_len) = (spec.key_len, spec.mac_key_len);
        sized::write(&value, transform)
    })
}

fn unknown_name(name: impl ToString) -> Failure {
    Failure::unknown(name.to_string())
}

/// # Safety
/// The pointers are valid for their lengths.
unsafe fn described(from: &lanelock_transform) -> Result<Transform, Failure> {
    let algorithm = from_numbers(from.algorithm, from.mac, from.order)?;
    let direction = match from.direction {
        LANELOCK_FORWARD => Direction::Forward,
        LANELOCK_REVERSE => Direction::Reverse,
        other => return Err(Failure::unknown(format!("direction {other}: use 1 or 2"))),
    };
    if from.reserved != 0 {
        return Err(Failure::unknown("reserved: must be 0"));
    }
    // SAFETY: the caller's promise.
    let (key, mac_key, customization) = unsafe {
        (
            bytes(from.key, from.key_len, "key")?,
            bytes(from.mac_key, from.mac_key_len, "MAC key")?,
            bytes(
                from.customization,
                from.customization_len,
                "customization string",
            )?,
        )
    };
    let mut transform =
        Transform::new(algorithm, direction, key, mac_key).customization(customization);
    if from.iv_len != 0 {
        transform = transform.iv_len(from.iv_len as usize);
    }
    if from.tag_len != 0 {
        transform = transform.tag_len(from.tag_len as usize);
    }
    Ok(transform)
}
