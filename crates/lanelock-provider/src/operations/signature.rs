//! SIGNATURE: made in a batch where that is possible, otherwise by the default provider.

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::sync::Arc;

use lanelock::public_key::{EncryptionScheme, KeyJob, MessageForm, SignatureScheme};
use zeroize::Zeroizing;

use super::delegate;
use super::scheme::{self, RsaSignature};
use crate::batch::{self, NoResult};
use crate::ffi::OSSL_PARAM;
use crate::ffi::functions::Signature;
use crate::key::{Key, Use};
use crate::provider::{Provider, SIGNATURE};

/// Longest message that is held back to be hashed in lanes; what TLS signs is shorter.
const LONGEST: usize = 4096;

/// A signature under way.
struct Context {
    provider: *const Provider,
    index: usize,
    inner: *mut c_void,
    key: Option<Arc<Key>>,
    /// Inside a job, the message so far, which the default provider has not seen.
    held_back: Option<Zeroizing<Vec<u8>>>,
    /// No parameters were given that lanes do not know.
    is_plain: bool,
}

/// What is offered in front of `theirs`, the functions of algorithm `index`.
pub(crate) fn functions(index: usize, theirs: &Signature) -> Signature {
    match index {
        0 => of::<0>(theirs),
        1 => of::<1>(theirs),
        _ => of::<2>(theirs),
    }
}

fn of<const A: usize>(theirs: &Signature) -> Signature {
    Signature {
        newctx: theirs.newctx.and(Some(newctx::<A>)),
        sign_init: theirs.sign_init.and(Some(sign_init)),
        sign: theirs.sign.and(Some(sign)),
        verify_init: theirs.verify_init.and(Some(verify_init)),
        verify: theirs.verify.and(Some(verify)),
        verify_recover_init: theirs.verify_recover_init.and(Some(verify_recover_init)),
        verify_recover: theirs.verify_recover.and(Some(verify_recover)),
        digest_sign_init: theirs.digest_sign_init.and(Some(digest_sign_init)),
        digest_sign_update: theirs.digest_sign_update.and(Some(digest_sign_update)),
        digest_sign_final: theirs.digest_sign_final.and(Some(digest_sign_final)),
        digest_sign: theirs.digest_sign.and(Some(digest_sign)),
        digest_verify_init: theirs.digest_verify_init.and(Some(digest_verify_init)),
        digest_verify_update: theirs.digest_verify_update.and(Some(digest_verify_update)),
        digest_verify_final: theirs.digest_verify_final.and(Some(digest_verify_final)),
        digest_verify: theirs.digest_verify.and(Some(digest_verify)),
        freectx: Some(freectx),
        dupctx: theirs.dupctx.and(Some(dupctx)),
        get_ctx_params: theirs.get_ctx_params.and(Some(get_ctx_params)),
        gettable_ctx_params: theirs
            .gettable_ctx_params
            .and(Some(gettable_ctx_params::<A>)),
        set_ctx_params: theirs.set_ctx_params.and(Some(set_ctx_params)),
        settable_ctx_params: theirs
            .settable_ctx_params
            .and(Some(settable_ctx_params::<A>)),
        get_ctx_md_params: theirs.get_ctx_md_params.and(Some(get_ctx_md_params)),
        gettable_ctx_md_params: theirs
            .gettable_ctx_md_params
            .and(Some(gettable_ctx_md_params)),
        set_ctx_md_params: theirs.set_ctx_md_params.and(Some(set_ctx_md_params)),
        settable_ctx_md_params: theirs
            .settable_ctx_md_params
            .and(Some(settable_ctx_md_params)),
    }
}

impl Context {
    fn raw(provider: *const Provider, index: usize, inner: *mut c_void) -> *mut c_void {
        if inner.is_null() {
            return inner;
        }
        let context = Self {
            provider,
            index,
            inner,
            key: None,
            held_back: None,
            is_plain: true,
        };
        Box::into_raw(Box::new(context)).cast()
    }

    /// # Safety
    /// `raw` came from [`Context::raw`], is alive and not used by anybody else.
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

    fn theirs(&self) -> &Signature {
        &self.provider().signature[self.index]
    }

    /// A key comes in, or null for the one that is there.
    fn start(&mut self, key: *mut c_void, params: *const OSSL_PARAM, to_sign: bool) -> *mut c_void {
        // SAFETY: see `operations`.
        if let Some(key) = unsafe { Key::share(key) } {
            self.key = Some(key);
        }
        self.is_plain = true;
        self.see(params);
        self.held_back = (to_sign && batch::can_join()).then(Zeroizing::default);
        match (key.is_null(), &self.key) {
            (false, Some(key)) => key.inner,
            _ => std::ptr::null_mut(),
        }
    }

    /// Parameters are given: those of Ed25519 choose its variants.
    fn see(&mut self, params: *const OSSL_PARAM) {
        // SAFETY: an array of the core's has its terminator.
        let some = unsafe { !params.is_null() && !(*params).key.is_null() };
        self.is_plain &= !some || SIGNATURE[self.index] != c"ED25519";
    }

    /// Gives the default provider what was held back from it.
    fn release(&mut self) -> c_int {
        match self.held_back.take() {
            Some(message) if !message.is_empty() => {
                let (inner, theirs) = (self.inner, self.theirs());
                delegate!(
                    theirs.digest_sign_update,
                    inner,
                    message.as_ptr(),
                    message.len()
                )
            }
            _ => 1,
        }
    }

    /// Signs `input` in a batch.
    fn batch(&self, input: &[u8], form: MessageForm) -> Result<KeyJob<batch::Bytes>, NoResult> {
        let key = self.key.as_ref().ok_or(NoResult::Delegate)?;
        batch::run(self.provider().config.deadline, || {
            let (usage, block) = self.usage(input, form)?;
            let session = key.session(usage)?;
            let room = session.output_len(input.len());
            let input = match block {
                Block::Input => input.to_vec(),
                Block::Padded => pkcs1_block(input, room)?,
            };
            let output = Zeroizing::new(vec![0; room]);
            let make = match usage {
                Use::Decrypt(_) => KeyJob::decrypt,
                _ => KeyJob::sign,
            };
            Some(make(&session, Zeroizing::new(input), output))
        })
    }

    /// What the context is set to do.
    fn usage(&self, input: &[u8], form: MessageForm) -> Option<(Use, Block)> {
        if !self.is_plain {
            return None;
        }
        let get = self.theirs().get_ctx_params;
        // SAFETY: the functions and the context belong together.
        let scheme = unsafe {
            match self.index {
                0 => match scheme::rsa_signature(get?, self.inner)? {
                    RsaSignature::Scheme(scheme) => scheme,
                    RsaSignature::Bare => {
                        return Some((Use::Decrypt(EncryptionScheme::RsaRaw), Block::Padded));
                    }
                },
                1 => {
                    let hash = scheme::ecdsa_hash(get?, self.inner)?;
                    SignatureScheme::Ecdsa(hash.or_else(|| scheme::hash_of_len(input.len()))?)
                }
                _ => SignatureScheme::EdDsa,
            }
        };
        Some((Use::Sign(scheme, form), Block::Input))
    }

    /// Signs `input` in a batch and hands the signature over; `None` if it is to be delegated.
    ///
    /// # Safety
    /// `sig` is null or has `room` bytes, `len` a place for its length.
    unsafe fn sign_into(
        &self,
        input: &[u8],
        form: MessageForm,
        sig: *mut c_uchar,
        len: *mut usize,
        room: usize,
    ) -> Option<c_int> {
        if sig.is_null() {
            return None;
        }
        let job = match self.batch(input, form) {
            Ok(job) => job,
            Err(NoResult::Delegate) => return None,
            Err(NoResult::Cancelled) => return Some(0),
        };
        let signature = job.result();
        if signature.len() > room {
            return None;
        }
        // SAFETY: the caller's, and the check above.
        unsafe {
            std::ptr::copy_nonoverlapping(signature.as_ptr(), sig, signature.len());
            *len = signature.len();
        }
        Some(1)
    }
}

/// What is signed.
enum Block {
    Input,
    /// The input, padded to a block.
    Padded,
}

/// Block type 1 of PKCS #1 v1.5 (RFC 8017, 9.2, 3 to 5) around `input`.
fn pkcs1_block(input: &[u8], len: usize) -> Option<Vec<u8>> {
    let padding = len
        .checked_sub(input.len() + 3)
        .filter(|&padding| padding >= 8)?;
    let mut block = vec![0, 1];
    block.resize(2 + padding, 0xff);
    block.push(0);
    block.extend_from_slice(input);
    Some(block)
}

/// The bytes that the core passes.
///
/// # Safety
/// `data` has `len` bytes, or is null.
unsafe fn bytes<'b>(data: *const c_uchar, len: usize) -> &'b [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(data, len) }
}

unsafe extern "C" fn newctx<const A: usize>(
    provctx: *mut c_void,
    properties: *const c_char,
) -> *mut c_void {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let inner = delegate!(provider.signature[A].newctx, provider.inner, properties);
    Context::raw(provider, A, inner)
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
    let inner: *mut c_void = delegate!(context.theirs().dupctx, context.inner);
    if inner.is_null() {
        return inner;
    }
    let copy = Context {
        provider: context.provider,
        index: context.index,
        inner,
        key: context.key.clone(),
        held_back: context.held_back.clone(),
        is_plain: context.is_plain,
    };
    Box::into_raw(Box::new(copy)).cast()
}

unsafe extern "C" fn sign_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    let key = context.start(key, params, false);
    delegate!(context.theirs().sign_init, context.inner, key, params)
}

unsafe extern "C" fn sign(
    context: *mut c_void,
    sig: *mut c_uchar,
    len: *mut usize,
    room: usize,
    digest: *const c_uchar,
    digest_len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    // SAFETY: as above.
    let done = unsafe {
        let digest = bytes(digest, digest_len);
        context.sign_into(digest, MessageForm::Digest, sig, len, room)
    };
    match done {
        Some(done) => done,
        None => delegate!(
            context.theirs().sign,
            context.inner,
            sig,
            len,
            room,
            digest,
            digest_len
        ),
    }
}

unsafe extern "C" fn verify_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    let key = context.start(key, params, false);
    delegate!(context.theirs().verify_init, context.inner, key, params)
}

unsafe extern "C" fn verify(
    context: *mut c_void,
    sig: *const c_uchar,
    sig_len: usize,
    digest: *const c_uchar,
    digest_len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(
        context.theirs().verify,
        context.inner,
        sig,
        sig_len,
        digest,
        digest_len
    )
}

unsafe extern "C" fn verify_recover_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    let key = context.start(key, params, false);
    delegate!(
        context.theirs().verify_recover_init,
        context.inner,
        key,
        params
    )
}

unsafe extern "C" fn verify_recover(
    context: *mut c_void,
    out: *mut c_uchar,
    len: *mut usize,
    room: usize,
    sig: *const c_uchar,
    sig_len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(
        context.theirs().verify_recover,
        context.inner,
        out,
        len,
        room,
        sig,
        sig_len
    )
}

unsafe extern "C" fn digest_sign_init(
    context: *mut c_void,
    digest: *const c_char,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    let key = context.start(key, params, true);
    delegate!(
        context.theirs().digest_sign_init,
        context.inner,
        digest,
        key,
        params
    )
}

unsafe extern "C" fn digest_sign_update(
    context: *mut c_void,
    data: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    if let Some(message) = &mut context.held_back {
        if message.len() + len <= LONGEST {
            // SAFETY: see `operations`.
            message.extend_from_slice(unsafe { bytes(data, len) });
            return 1;
        }
        if context.release() != 1 {
            return 0;
        }
    }
    delegate!(
        context.theirs().digest_sign_update,
        context.inner,
        data,
        len
    )
}

unsafe extern "C" fn digest_sign_final(
    context: *mut c_void,
    sig: *mut c_uchar,
    len: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    if let Some(message) = &context.held_back
        && !sig.is_null()
    {
        // SAFETY: see `operations`.
        let done = unsafe { context.sign_into(message, MessageForm::Message, sig, len, room) };
        if let Some(done) = done {
            context.held_back = None;
            return done;
        }
        if context.release() != 1 {
            return 0;
        }
    }
    delegate!(
        context.theirs().digest_sign_final,
        context.inner,
        sig,
        len,
        room
    )
}

unsafe extern "C" fn digest_sign(
    context: *mut c_void,
    sig: *mut c_uchar,
    len: *mut usize,
    room: usize,
    message: *const c_uchar,
    message_len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    if message_len <= LONGEST {
        // SAFETY: as above.
        let done = unsafe {
            let message = bytes(message, message_len);
            context.sign_into(message, MessageForm::Message, sig, len, room)
        };
        if let Some(done) = done {
            return done;
        }
    }
    delegate!(
        context.theirs().digest_sign,
        context.inner,
        sig,
        len,
        room,
        message,
        message_len
    )
}

unsafe extern "C" fn digest_verify_init(
    context: *mut c_void,
    digest: *const c_char,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    let key = context.start(key, params, false);
    delegate!(
        context.theirs().digest_verify_init,
        context.inner,
        digest,
        key,
        params
    )
}

unsafe extern "C" fn digest_verify_update(
    context: *mut c_void,
    data: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(
        context.theirs().digest_verify_update,
        context.inner,
        data,
        len
    )
}

unsafe extern "C" fn digest_verify_final(
    context: *mut c_void,
    sig: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(
        context.theirs().digest_verify_final,
        context.inner,
        sig,
        len
    )
}

unsafe extern "C" fn digest_verify(
    context: *mut c_void,
    sig: *const c_uchar,
    len: usize,
    message: *const c_uchar,
    message_len: usize,
) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(
        context.theirs().digest_verify,
        context.inner,
        sig,
        len,
        message,
        message_len
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

unsafe extern "C" fn gettable_ctx_params<const A: usize>(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let inner = Context::inner_of(context);
    delegate!(
        provider.signature[A].gettable_ctx_params,
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
        provider.signature[A].settable_ctx_params,
        inner,
        provider.inner
    )
}

unsafe extern "C" fn get_ctx_md_params(context: *mut c_void, params: *mut OSSL_PARAM) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(context.theirs().get_ctx_md_params, context.inner, params)
}

unsafe extern "C" fn gettable_ctx_md_params(context: *mut c_void) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(context.theirs().gettable_ctx_md_params, context.inner)
}

unsafe extern "C" fn set_ctx_md_params(context: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(context.theirs().set_ctx_md_params, context.inner, params)
}

unsafe extern "C" fn settable_ctx_md_params(context: *mut c_void) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let context = unsafe { Context::of(context) };
    delegate!(context.theirs().settable_ctx_md_params, context.inner)
}
