//! KEYEXCH: shared secrets of curves that have lanes in a batch, everything else by the default
//! provider.

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use lanelock::public_key::KeyJob;
use zeroize::Zeroizing;

use super::{delegate, scheme};
use crate::batch::{self, NoResult};
use crate::ffi::OSSL_PARAM;
use crate::ffi::functions::Keyexch;
use crate::key::{Key, Use};
use crate::provider::{KEYEXCH, Provider};

/// A key exchange under way.
struct Context {
    provider: *const Provider,
    index: usize,
    inner: *mut c_void,
    key: Option<Arc<Key>>,
    peer: Option<Arc<Key>>,
}

/// What is offered in front of `theirs`, the functions of algorithm `index`.
pub(crate) fn functions(index: usize, theirs: &Keyexch) -> Keyexch {
    match index {
        0 => of::<0>(theirs),
        _ => of::<1>(theirs),
    }
}

fn of<const A: usize>(theirs: &Keyexch) -> Keyexch {
    Keyexch {
        newctx: theirs.newctx.and(Some(newctx::<A>)),
        init: theirs.init.and(Some(init)),
        derive: theirs.derive.and(Some(derive)),
        set_peer: theirs.set_peer.and(Some(set_peer)),
        freectx: Some(freectx),
        dupctx: theirs.dupctx.and(Some(dupctx)),
        set_ctx_params: theirs.set_ctx_params.and(Some(set_ctx_params)),
        settable_ctx_params: theirs
            .settable_ctx_params
            .and(Some(settable_ctx_params::<A>)),
        get_ctx_params: theirs.get_ctx_params.and(Some(get_ctx_params)),
        gettable_ctx_params: theirs
            .gettable_ctx_params
            .and(Some(gettable_ctx_params::<A>)),
    }
}

impl Context {
    fn into_raw(self) -> *mut c_void {
        if self.inner.is_null() {
            return self.inner;
        }
        Box::into_raw(Box::new(self)).cast()
    }

    /// # Safety
    /// `raw` came from [`Context::into_raw`], is alive and not used by anybody else.
    unsafe fn of<'c>(raw: *mut c_void) -> &'c mut Self {
        // SAFETY: the caller's; the core uses a context in one thread at a time.
        unsafe { &mut *raw.cast() }
    }

    /// The default provider's context; null for none, where the core asks about an algorithm.
    fn inner_of(raw: *mut c_void) -> *mut c_void {
        match raw.is_null() {
            true => raw,
            // SAFETY: see `operations`.
            false => unsafe { Self::of(raw) }.inner,
        }
    }

    fn provider(&self) -> &Provider {
        // SAFETY: the core frees the provider's state after every context.
        unsafe { &*self.provider }
    }

    fn theirs(&self) -> &Keyexch {
        &self.provider().keyexch[self.index]
    }

    fn batch(&self) -> Result<KeyJob<batch::Bytes>, NoResult> {
        let (Some(key), Some(peer)) = (&self.key, &self.peer) else {
            return Err(NoResult::Delegate);
        };
        batch::run(self.provider().config.deadline, || {
            if KEYEXCH[self.index] == c"ECDH" {
                let get = self.theirs().get_ctx_params?;
                // SAFETY: the functions and the context belong together.
                unsafe { scheme::is_bare(get, self.inner) }.then_some(())?;
            }
            let session = key.session(Use::Derive)?;
            let peer = Zeroizing::new(peer.public_bytes()?);
            let secret = Zeroizing::new(vec![0; session.output_len(peer.len())]);
            Some(KeyJob::derive(&session, peer, secret))
        })
    }
}

unsafe extern "C" fn newctx<const A: usize>(provctx: *mut c_void) -> *mut c_void {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let context = Context {
        provider,
        index: A,
        inner: delegate!(provider.keyexch[A].newctx, provider.inner),
        key: None,
        peer: None,
    };
    context.into_raw()
}

unsafe extern "C" fn freectx(context: *mut c_void) {
    if context.is_null() {
        return;
    }
    // SAFETY: see `operations`; freed once.
    let context = unsafe { Box::from_raw(context.cast::<Context>()) };
    if let Some(free) = context.theirs().freectx {
        // SAFETY: as above.
        unsafe { free(context.inner) };
    }
}

unsafe extern "C" fn dupctx(context: *mut c_void) -> *mut c_void {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    let copy = Context {
        provider: context.provider,
        index: context.index,
        inner: delegate!(context.theirs().dupctx, context.inner),
        key: context.key.clone(),
        peer: context.peer.clone(),
    };
    copy.into_raw()
}

unsafe extern "C" fn init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let (context, key) = unsafe { (Context::of(context), Key::share(key)) };
    let inner = key.as_ref().map_or(std::ptr::null_mut(), |key| key.inner);
    context.key = key;
    context.peer = None;
    delegate!(context.theirs().init, context.inner, inner, params)
}

unsafe extern "C" fn set_peer(context: *mut c_void, peer: *mut c_void) -> c_int {
    // SAFETY: see `operations`.
    let (context, peer) = unsafe { (Context::of(context), Key::share(peer)) };
    let inner = peer
        .as_ref()
        .map_or(std::ptr::null_mut(), |peer| peer.inner);
    context.peer = peer;
    delegate!(context.theirs().set_peer, context.inner, inner)
}

unsafe extern "C" fn derive(
    context: *mut c_void,
    secret: *mut c_uchar,
    len: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    if !secret.is_null() {
        match context.batch() {
            Ok(job) if job.result().len() <= room => {
                let result = job.result();
                // SAFETY: `room` bytes and a place for their number.
                unsafe {
                    std::ptr::copy_nonoverlapping(result.as_ptr(), secret, result.len());
                    *len = result.len();
                }
                return 1;
            }
            Ok(_) | Err(NoResult::Delegate) => {}
            Err(NoResult::Cancelled) => return 0,
        }
    }
    delegate!(context.theirs().derive, context.inner, secret, len, room)
}

unsafe extern "C" fn get_ctx_params(context: *mut c_void, params: *mut OSSL_PARAM) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(context.theirs().get_ctx_params, context.inner, params)
}

unsafe extern "C" fn set_ctx_params(context: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(context.theirs().set_ctx_params, context.inner, params)
}

unsafe extern "C" fn gettable_ctx_params<const A: usize>(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let inner = Context::inner_of(context);
    delegate!(
        provider.keyexch[A].gettable_ctx_params,
        inner,
        provider.inner
    )
}

unsafe extern "C" fn settable_ctx_params<const A: usize>(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let inner = Context::inner_of(context);
    delegate!(
        provider.keyexch[A].settable_ctx_params,
        inner,
        provider.inner
    )
}
