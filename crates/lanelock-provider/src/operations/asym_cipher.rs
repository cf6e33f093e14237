//! ASYM_CIPHER: RSA decryption in a batch where that is possible, everything else by the default
//! provider.

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use lanelock::public_key::{EncryptionScheme, KeyJob};
use zeroize::Zeroizing;

use super::delegate;
use super::scheme::{self, RsaDecryption};
use crate::batch::{self, NoResult};
use crate::ffi::OSSL_PARAM;
use crate::ffi::functions::AsymCipher;
use crate::key::{Key, Use};
use crate::provider::Provider;

/// An encryption or decryption under way.
struct Context {
    provider: *const Provider,
    inner: *mut c_void,
    key: Option<Arc<Key>>,
    /// A label was given, or a parameter that lanes do not know.
    is_labelled: bool,
}

/// What is offered in front of `theirs`; there is one algorithm.
pub(crate) fn functions(_: usize, theirs: &AsymCipher) -> AsymCipher {
    AsymCipher {
        newctx: theirs.newctx.and(Some(newctx)),
        encrypt_init: theirs.encrypt_init.and(Some(encrypt_init)),
        encrypt: theirs.encrypt.and(Some(encrypt)),
        decrypt_init: theirs.decrypt_init.and(Some(decrypt_init)),
        decrypt: theirs.decrypt.and(Some(decrypt)),
        freectx: Some(freectx),
        dupctx: theirs.dupctx.and(Some(dupctx)),
        get_ctx_params: theirs.get_ctx_params.and(Some(get_ctx_params)),
        gettable_ctx_params: theirs.gettable_ctx_params.and(Some(gettable_ctx_params)),
        set_ctx_params: theirs.set_ctx_params.and(Some(set_ctx_params)),
        settable_ctx_params: theirs.settable_ctx_params.and(Some(settable_ctx_params)),
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

    fn theirs(&self) -> &AsymCipher {
        &self.provider().asym_cipher[0]
    }

    fn start(&mut self, key: *mut c_void, params: *const OSSL_PARAM) -> *mut c_void {
        // SAFETY: see `operations`.
        self.key = unsafe { Key::share(key) };
        self.is_labelled = false;
        self.see(params);
        self.key
            .as_ref()
            .map_or(std::ptr::null_mut(), |key| key.inner)
    }

    fn see(&mut self, params: *const OSSL_PARAM) {
        if !params.is_null() {
            // SAFETY: an array of the core's.
            let label =
                unsafe { openssl_sys::OSSL_PARAM_locate_const(params, c"oaep-label".as_ptr()) };
            self.is_labelled |= !label.is_null();
        }
    }

    fn batch(&self, input: &[u8]) -> Result<KeyJob<batch::Bytes>, NoResult> {
        let key = self.key.as_ref().ok_or(NoResult::Delegate)?;
        batch::run(self.provider().config.deadline, || {
            let get = self.theirs().get_ctx_params?;
            // SAFETY: the functions and the context belong together.
            let scheme = match unsafe { scheme::rsa_decryption(get, self.inner) }? {
                RsaDecryption::Raw => EncryptionScheme::RsaRaw,
                RsaDecryption::Oaep(_) if self.is_labelled => return None,
                RsaDecryption::Oaep(oaep) => EncryptionScheme::RsaOaep(oaep),
            };
            let session = key.session(Use::Decrypt(scheme))?;
            let output = Zeroizing::new(vec![0; session.output_len(input.len())]);
            Some(KeyJob::decrypt(
                &session,
                Zeroizing::new(input.to_vec()),
                output,
            ))
        })
    }
}

unsafe extern "C" fn newctx(provctx: *mut c_void) -> *mut c_void {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let context = Context {
        provider,
        inner: delegate!(provider.asym_cipher[0].newctx, provider.inner),
        key: None,
        is_labelled: false,
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
        inner: delegate!(context.theirs().dupctx, context.inner),
        key: context.key.clone(),
        is_labelled: context.is_labelled,
    };
    copy.into_raw()
}

unsafe extern "C" fn encrypt_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    let key = context.start(key, params);
    delegate!(context.theirs().encrypt_init, context.inner, key, params)
}

unsafe extern "C" fn encrypt(
    context: *mut c_void,
    out: *mut c_uchar,
    len: *mut usize,
    room: usize,
    input: *const c_uchar,
    input_len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(
        context.theirs().encrypt,
        context.inner,
        out,
        len,
        room,
        input,
        input_len
    )
}

unsafe extern "C" fn decrypt_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    let key = context.start(key, params);
    delegate!(context.theirs().decrypt_init, context.inner, key, params)
}

unsafe extern "C" fn decrypt(
    context: *mut c_void,
    out: *mut c_uchar,
    len: *mut usize,
    room: usize,
    input: *const c_uchar,
    input_len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    if !out.is_null() && !input.is_null() {
        // SAFETY: as above.
        let ciphertext = unsafe { std::slice::from_raw_parts(input, input_len) };
        match context.batch(ciphertext) {
            Ok(job) if job.result().len() <= room => {
                let plaintext = job.result();
                // SAFETY: `room` bytes and a place for their number.
                unsafe {
                    std::ptr::copy_nonoverlapping(plaintext.as_ptr(), out, plaintext.len());
                    *len = plaintext.len();
                }
                return 1;
            }
            Ok(_) | Err(NoResult::Delegate) => {}
            Err(NoResult::Cancelled) => return 0,
        }
    }
    delegate!(
        context.theirs().decrypt,
        context.inner,
        out,
        len,
        room,
        input,
        input_len
    )
}

unsafe extern "C" fn get_ctx_params(context: *mut c_void, params: *mut OSSL_PARAM) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(context.theirs().get_ctx_params, context.inner, params)
}

unsafe extern "C" fn set_ctx_params(context: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    context.see(params);
    delegate!(context.theirs().set_ctx_params, context.inner, params)
}

unsafe extern "C" fn gettable_ctx_params(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let inner = Context::inner_of(context);
    delegate!(
        provider.asym_cipher[0].gettable_ctx_params,
        inner,
        provider.inner
    )
}

unsafe extern "C" fn settable_ctx_params(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let inner = Context::inner_of(context);
    delegate!(
        provider.asym_cipher[0].settable_ctx_params,
        inner,
        provider.inner
    )
}
