//! KEM: the exchanges of [`GROUPS`]: inside of jobs in lanes; otherwise those with the default
//! provider's keys are its own.

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use super::hybrid_keymgmt::refuse;
use super::output::input;
use crate::batch::NoResult;
use crate::ffi::OSSL_PARAM;
use crate::ffi::boundary::{Reason, boundary, raise_as};
use crate::ffi::delegate::delegate;
use crate::ffi::functions::{Kem, Table, Wrapper};
use crate::ffi::params::Reader;
use crate::hybrid::{self, GROUPS, HybridKey};
use crate::provider::Provider;

/// An encapsulation or decapsulation under way.
struct Context {
    provider: *const Provider,
    index: usize,
    key: Option<Arc<HybridKey>>,
    /// The default provider's context; null if it has none for the group.
    inner: *mut c_void,
    /// Parameters were given: the operation is the default provider's.
    has_params: bool,
}

/// What is offered for the group at `index`: in front of `theirs`, if the default provider has
/// functions for it.
pub(crate) fn functions(index: usize, theirs: &Kem) -> Kem {
    match index {
        0 => of::<0>(theirs),
        1 => of::<1>(theirs),
        2 => of::<2>(theirs),
        3 => of::<3>(theirs),
        4 => of::<4>(theirs),
        _ => of::<5>(theirs),
    }
}

fn of<const G: usize>(theirs: &Kem) -> Kem {
    let ours = Kem {
        newctx: Some(newctx::<G>),
        encapsulate_init: Some(encapsulate_init),
        encapsulate: Some(encapsulate),
        decapsulate_init: Some(decapsulate_init),
        decapsulate: Some(decapsulate),
        freectx: Some(freectx),
        dupctx: Some(dupctx),
        ..Kem::default()
    };
    match theirs.newctx {
        Some(_) => Kem {
            set_ctx_params: Some(set_ctx_params),
            gettable_ctx_params: Some(gettable_ctx_params::<G>),
            settable_ctx_params: Some(settable_ctx_params::<G>),
            get_ctx_params: Kem::forward::<Context>().get_ctx_params,
            ..ours
        }
        .among(theirs),
        None => ours,
    }
}

impl Context {
    /// # Safety
    /// `raw` came from [`newctx`] or [`dupctx`], is alive and not used by anybody else.
    unsafe fn of<'c>(raw: *mut c_void) -> &'c mut Self {
        // SAFETY: the caller's; the core uses a context in one thread at a time.
        unsafe { &mut *raw.cast() }
    }

    fn provider(&self) -> &Provider {
        // SAFETY: the core frees the provider's state after every context.
        unsafe { &*self.provider }
    }

    /// The default provider's functions.
    fn theirs(&self) -> &Kem {
        &self.provider().theirs().hybrid_kem[self.index]
    }

    /// Takes a key in, or null for the one that is there; `start` is the default provider's, for its keys.
    fn start(
        &mut self,
        key: Option<Arc<HybridKey>>,
        params: *const OSSL_PARAM,
        start: impl FnOnce(&Kem) -> Option<Init>,
    ) -> c_int {
        self.key = key.or_else(|| self.key.take());
        // SAFETY: the core's array.
        self.has_params = unsafe { Reader::new(params) }.len() != 0;
        let Some(key) = self.key() else { return 0 };
        match key.theirs() {
            Some((_, inner)) => delegate!(start(self.theirs()), self.inner, inner, params),
            None => 1,
        }
    }

    /// The key; `None`, and an error on the queue, before there is one.
    fn key(&self) -> Option<&HybridKey> {
        if self.key.is_none() {
            let name = GROUPS[self.index].as_str();
            raise_as(Reason::MissingKey, &format!("{name}: no key was set"));
        }
        self.key.as_deref()
    }

    /// Whether `room` has place for `len` bytes; otherwise an error is on the queue.
    fn fits(&self, what: &str, len: usize, room: usize) -> bool {
        if len > room {
            let name = GROUPS[self.index].as_str();
            let message = format!("{name}: {room} bytes of room for {what}; it has {len}");
            raise_as(Reason::OutputTooShort, &message);
        }
        len <= room
    }
}

/// The type of an operation's start.
type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *const OSSL_PARAM) -> c_int;

impl Wrapper for Context {
    type Table = Kem;

    unsafe fn unwrap<'w>(raw: *mut c_void) -> (&'w Kem, *mut c_void) {
        // SAFETY: the caller's.
        let context = unsafe { Self::of(raw) };
        (context.theirs(), context.inner)
    }
}

unsafe extern "C" fn newctx<const G: usize>(provctx: *mut c_void) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let provider = unsafe { Provider::of(provctx) };
        let Some(theirs) = provider.to_make_with() else {
            return std::ptr::null_mut();
        };
        let inner = match theirs.hybrid_kem[G].newctx {
            // SAFETY: their function and state.
            Some(newctx) => match unsafe { newctx(theirs.state) } {
                null if null.is_null() => return null,
                context => context,
            },
            None => std::ptr::null_mut(),
        };
        let context = Context {
            provider,
            index: G,
            key: None,
            inner,
            has_params: false,
        };
        Box::into_raw(Box::new(context)).cast()
    })
}

unsafe extern "C" fn encapsulate_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, key) = unsafe { (Context::of(context), HybridKey::shared(key)) };
        context.start(key, params, |theirs| theirs.encapsulate_init)
    })
}

unsafe extern "C" fn decapsulate_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, key) = unsafe { (Context::of(context), HybridKey::shared(key)) };
        context.start(key, params, |theirs| theirs.decapsulate_init)
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
        // SAFETY: places that hold how much room there is, or null.
        let room = unsafe { (room(reply_len, lens.0), room(secret_len, lens.1)) };
        let has_room =
            !reply.is_null() && !secret.is_null() && lens.0 <= room.0 && lens.1 <= room.1;
        let made = match has_room && !context.has_params {
            true => hybrid::encapsulate_in_lanes(key),
            false => Err(NoResult::Delegate),
        };
        let made = match made {
            Ok(made) => Ok(made),
            Err(NoResult::Cancelled) => return 0,
            Err(NoResult::Delegate) if key.theirs().is_some() => {
                let (theirs, inner) = (context.theirs().encapsulate, context.inner);
                return delegate!(theirs, inner, reply, reply_len, secret, secret_len);
            }
            Err(NoResult::Delegate) if reply.is_null() => {
                // SAFETY: places for lengths, or null.
                unsafe {
                    set_len(reply_len, lens.0);
                    set_len(secret_len, lens.1);
                }
                return 1;
            }
            Err(NoResult::Delegate) if !has_room => {
                let _error = context.fits("the reply", lens.0, room.0)
                    && context.fits("the secret", lens.1, room.1);
                return 0;
            }
            Err(NoResult::Delegate) => hybrid::encapsulate_alone(key),
        };
        match made {
            Ok((their_reply, shared)) => {
                // SAFETY: the room that was found to be there.
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
        let (context, their_reply) = unsafe { (Context::of(context), input(reply, reply_len)) };
        let Some(key) = context.key() else { return 0 };
        let len = key.group.secret_len();
        // SAFETY: a place that holds how much room there is, or null.
        let room = unsafe { room(secret_len, len) };
        let has_room = !secret.is_null() && len <= room;
        let made = match has_room && !context.has_params {
            true => hybrid::decapsulate_in_lanes(key, their_reply),
            false => Err(NoResult::Delegate),
        };
        let made = match made {
            Ok(made) => Ok(made),
            Err(NoResult::Cancelled) => return 0,
            Err(NoResult::Delegate) if key.theirs().is_some() => {
                let (theirs, inner) = (context.theirs().decapsulate, context.inner);
                return delegate!(theirs, inner, secret, secret_len, reply, reply_len);
            }
            Err(NoResult::Delegate) if secret.is_null() => {
                // SAFETY: a place for a length, or null.
                unsafe { set_len(secret_len, len) };
                return 1;
            }
            Err(NoResult::Delegate) if !context.fits("the secret", len, room) => return 0,
            Err(NoResult::Delegate) => hybrid::decapsulate_alone(key, their_reply),
        };
        match made {
            Ok(shared) => {
                // SAFETY: the room that was found to be there.
                unsafe { put(&shared, secret, secret_len) };
                1
            }
            Err(refused) => refuse(&refused),
        }
    })
}

unsafe extern "C" fn set_ctx_params(context: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`; the core's array.
        let (context, reader) = unsafe { (Context::of(context), Reader::new(params)) };
        context.has_params |= reader.len() != 0;
        delegate!(context.theirs().set_ctx_params, context.inner, params)
    })
}

unsafe extern "C" fn gettable_ctx_params<const G: usize>(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`.
        let (theirs, inner) = unsafe { (Provider::of(provctx).theirs(), inner(context)) };
        delegate!(
            theirs.hybrid_kem[G].gettable_ctx_params,
            inner,
            theirs.state
        )
    })
}

unsafe extern "C" fn settable_ctx_params<const G: usize>(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`.
        let (theirs, inner) = unsafe { (Provider::of(provctx).theirs(), inner(context)) };
        delegate!(
            theirs.hybrid_kem[G].settable_ctx_params,
            inner,
            theirs.state
        )
    })
}

/// The default provider's context; null where the core asks about a group.
///
/// # Safety
/// `context` is null, or as [`Context::of`].
unsafe fn inner(context: *mut c_void) -> *mut c_void {
    match context.is_null() {
        true => context,
        // SAFETY: the caller's.
        false => unsafe { Context::of(context) }.inner,
    }
}

unsafe extern "C" fn freectx(context: *mut c_void) {
    boundary(|| {
        if context.is_null() {
            return;
        }
        // SAFETY: made by `newctx` or `dupctx`, freed once.
        let context = unsafe { Box::from_raw(context.cast::<Context>()) };
        if let Some(free) = context.theirs().freectx {
            // SAFETY: made by their `newctx` or `dupctx`, freed once.
            unsafe { free(context.inner) };
        }
    })
}

unsafe extern "C" fn dupctx(context: *mut c_void) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let context = unsafe { Context::of(context) };
        let mut copy = Context {
            key: context.key.clone(),
            ..*context
        };
        if !context.inner.is_null() {
            copy.inner = delegate!(context.theirs().dupctx, context.inner);
            if copy.inner.is_null() {
                return std::ptr::null_mut();
            }
        }
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
