//! KEM: the exchanges of [`GROUPS`].

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use super::hybrid_keymgmt::refuse;
use super::output::input;
use crate::ffi::OSSL_PARAM;
use crate::ffi::boundary::{Reason, boundary, raise_as};
use crate::ffi::functions::Kem;
use crate::hybrid::{self, GROUPS, HybridKey};
use crate::provider::Provider;

/// An encapsulation or decapsulation under way.
#[derive(Clone)]
struct Context {
    group: usize,
    key: Option<Arc<HybridKey>>,
}

/// The functions of the group at `index`.
pub(crate) fn functions(index: usize) -> Kem {
    match index {
        0 => of::<0>(),
        1 => of::<1>(),
        _ => of::<2>(),
    }
}

fn of<const G: usize>() -> Kem {
    Kem {
        newctx: Some(newctx::<G>),
        encapsulate_init: Some(init),
        encapsulate: Some(encapsulate),
        decapsulate_init: Some(init),
        decapsulate: Some(decapsulate),
        freectx: Some(freectx),
        dupctx: Some(dupctx),
        ..Kem::default()
    }
}

impl Context {
    /// # Safety
    /// `raw` came from [`newctx`] or [`dupctx`], is alive and not used by anybody else.
    unsafe fn of<'c>(raw: *mut c_void) -> &'c mut Self {
        // SAFETY: the caller's; the core uses a context in one thread at a time.
        unsafe { &mut *raw.cast() }
    }

    /// The key; `None`, and an error on the queue, before there is one.
    fn key(&self) -> Option<&HybridKey> {
        if self.key.is_none() {
            let name = GROUPS[self.group].as_str();
            raise_as(Reason::MissingKey, &format!("{name}: no key was set"));
        }
        self.key.as_deref()
    }

    /// Whether `room` has place for `len` bytes; otherwise an error is on the queue.
    fn fits(&self, what: &str, len: usize, room: usize) -> bool {
        if len > room {
            let name = GROUPS[self.group].as_str();
            let message = format!("{name}: {room} bytes of room for {what}; it has {len}");
            raise_as(Reason::OutputTooShort, &message);
        }
        len <= room
    }
}

unsafe extern "C" fn newctx<const G: usize>(provctx: *mut c_void) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        if unsafe { Provider::of(provctx) }.to_make_with().is_none() {
            return std::ptr::null_mut();
        }
        let context = Context {
            group: G,
            key: None,
        };
        Box::into_raw(Box::new(context)).cast()
    })
}

/// Takes a key in, or null for the one that is there. There are no parameters.
unsafe extern "C" fn init(context: *mut c_void, key: *mut c_void, _: *const OSSL_PARAM) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, key) = unsafe { (Context::of(context), HybridKey::shared(key)) };
        context.key = key.or_else(|| context.key.take());
        c_int::from(context.key().is_some())
    })
}

unsafe extern "C" fn encapsulate(
    context: *mut c_void,
    reply: *mut c_uchar,
    reply_len: *mut usize,
    secret: *mut c_uchar,
    secret_len: *mut usize,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let context = unsafe { Context::of(context) };
        let Some(key) = context.key() else { return 0 };
        let lens = (key.group.reply_len(), key.group.secret_len());
        if reply.is_null() {
            // SAFETY: places for lengths, or null.
            unsafe {
                set_len(reply_len, lens.0);
                set_len(secret_len, lens.1);
            }
            return 1;
        }
        // SAFETY: as above; they hold how much room there is.
        let room = unsafe { (room(reply_len, lens.0), room(secret_len, lens.1)) };
        if secret.is_null()
            || !context.fits("the reply", lens.0, room.0)
            || !context.fits("the secret", lens.1, room.1)
        {
            return 0;
        }
        match hybrid::encapsulate(key) {
            Ok((their_reply, shared)) => {
                // SAFETY: the room that was just found to be there.
                unsafe {
                    put(&their_reply, reply, reply_len);
                    put(&shared, secret, secret_len);
                }
                1
            }
            Err(refused) => refuse(&refused),
        }
    })
}

unsafe extern "C" fn decapsulate(
    context: *mut c_void,
    secret: *mut c_uchar,
    secret_len: *mut usize,
    reply: *const c_uchar,
    reply_len: usize,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, reply) = unsafe { (Context::of(context), input(reply, reply_len)) };
        let Some(key) = context.key() else { return 0 };
        let len = key.group.secret_len();
        if secret.is_null() {
            // SAFETY: a place for a length, or null.
            unsafe { set_len(secret_len, len) };
            return 1;
        }
        // SAFETY: as above; it holds how much room there is.
        let room = unsafe { room(secret_len, len) };
        if !context.fits("the secret", len, room) {
            return 0;
        }
        match hybrid::decapsulate(key, reply) {
            Ok(shared) => {
                // SAFETY: the room that was just found to be there.
                unsafe { put(&shared, secret, secret_len) };
                1
            }
            Err(refused) => refuse(&refused),
        }
    })
}

unsafe extern "C" fn freectx(context: *mut c_void) {
    boundary(|| {
        if !context.is_null() {
            // SAFETY: made by `newctx` or `dupctx`, freed once.
            drop(unsafe { Box::from_raw(context.cast::<Context>()) });
        }
    })
}

unsafe extern "C" fn dupctx(context: *mut c_void) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let copy = unsafe { Context::of(context) }.clone();
        Box::into_raw(Box::new(copy)).cast()
    })
}

/// # Safety
/// `at` is null or a place for a length.
unsafe fn set_len(at: *mut usize, len: usize) {
    if !at.is_null() {
        // SAFETY: the caller's.
        unsafe { *at = len };
    }
}

/// How much room there is; `needed` if the caller does not say.
///
/// # Safety
/// As [`set_len`].
unsafe fn room(at: *const usize, needed: usize) -> usize {
    match at.is_null() {
        true => needed,
        // SAFETY: the caller's.
        false => unsafe { *at },
    }
}

/// # Safety
/// `to` has room for `bytes`; `len` is as in [`set_len`].
unsafe fn put(bytes: &[u8], to: *mut c_uchar, len: *mut usize) {
    // SAFETY: the caller's.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        set_len(len, bytes.len());
    }
}
