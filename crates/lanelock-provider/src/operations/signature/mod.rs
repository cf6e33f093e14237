//! SIGNATURE: made in a batch where that is possible, otherwise by the default provider.

mod held_back;
mod job;

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};

use lanelock::public_key::MessageForm;

use self::held_back::HeldBack;
use super::context::{self, Context, Operation};
use super::output::{Output, input};
use crate::algorithms::Algorithm;
use crate::combine::Group;
use crate::default_provider::{DefaultProvider, SIGNATURE};
use crate::ffi::OSSL_PARAM;
use crate::ffi::boundary::boundary;
use crate::ffi::delegate::delegate;
use crate::ffi::functions::{ContextTable, Signature, Table};
use crate::key::Key;
use crate::provider::Provider;

/// A signature under way.
#[derive(Clone, Default)]
struct Signing {
    /// Inside a job, the message so far, which the default provider has not seen.
    held_back: Option<HeldBack>,
    /// Parameters were given that choose a variant which lanes do not know.
    is_variant: bool,
}

/// What libssl tells every signature of a handshake from OpenSSL 4.0 on; it chooses no variant.
const TLS_VERSION: &CStr = c"tls-version";

impl Operation for Signing {
    type Table = Signature;

    fn choice(index: usize) -> Algorithm {
        match SIGNATURE[index].to_bytes() {
            b"RSA" => Algorithm::Rsa,
            b"ECDSA" => Algorithm::Ecdsa,
            _ => Algorithm::Ed25519,
        }
    }

    fn tables(provider: &DefaultProvider) -> &[Signature] {
        &provider.signature
    }

    fn group(index: usize, key: &Key) -> Option<Group> {
        match Self::choice(index) {
            Algorithm::Rsa => Some(Group::Rsa),
            Algorithm::Ecdsa => key.is_p384().then_some(Group::P384),
            _ => None,
        }
    }

    unsafe fn see(&mut self, index: usize, params: *const OSSL_PARAM) {
        if SIGNATURE[index] != c"ED25519" {
            return;
        }
        let mut at = params;
        // SAFETY: the caller's: an array has its terminator, and its keys have theirs.
        unsafe {
            while !at.is_null() && !(*at).key.is_null() {
                self.is_variant |= CStr::from_ptr((*at).key) != TLS_VERSION;
                at = at.add(1);
            }
        }
    }
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
    let mut ours = Signature {
        newctx: Some(newctx::<A>),
        sign_init: Some(sign_init),
        sign: Some(sign),
        verify_init: Some(verify_init),
        verify_recover_init: Some(verify_recover_init),
        digest_sign_init: Some(digest_sign_init),
        digest_sign_update: Some(digest_sign_update),
        digest_sign_final: Some(digest_sign_final),
        digest_sign: Some(digest_sign),
        digest_verify_init: Some(digest_verify_init),
        sign_message_init: Some(sign_message_init),
        verify_message_init: Some(verify_message_init),
        // It knows neither key nor provider.
        query_key_types: theirs.query_key_types,
        ..Signature::forward::<Context<Signing>>()
    };
    ours.set_common(context::common::<Signing, A>());
    ours.among(theirs)
}

unsafe extern "C" fn newctx<const A: usize>(
    provctx: *mut c_void,
    properties: *const c_char,
) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let provider = unsafe { Provider::of(provctx) };
        let Some(theirs) = provider.to_make_with() else {
            return std::ptr::null_mut();
        };
        let inner = delegate!(theirs.signature[A].newctx, theirs.state, properties);
        Context::<Signing>::adopt(provider, A, inner)
    })
}

context::starts! {
    Signing;
    sign_init();
    verify_init();
    verify_recover_init();
    verify_message_init();
    digest_verify_init(digest: *const c_char);
}

/// A signature of a message by `sign`, which elsewhere signs a digest.
unsafe extern "C" fn sign_message_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, key) = unsafe {
            let context = Context::<Signing>::of(context);
            let key = context.start(key, params);
            (context, key)
        };
        context.operation.is_variant = true;
        delegate!(
            context.theirs().sign_message_init,
            context.inner,
            key,
            params
        )
    })
}

unsafe extern "C" fn digest_sign_init(
    context: *mut c_void,
    digest: *const c_char,
    key: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, key) = unsafe {
            let context = Context::<Signing>::of(context);
            let key = context.start(key, params);
            (context, key)
        };
        context.operation.held_back = context.can_join().then(HeldBack::default);
        delegate!(
            context.theirs().digest_sign_init,
            context.inner,
            digest,
            key,
            params
        )
    })
}

unsafe extern "C" fn sign(
    context: *mut c_void,
    sig: *mut c_uchar,
    len: *mut usize,
    room: usize,
    digest: *const c_uchar,
    digest_len: usize,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, output, bytes) = unsafe {
            (
                Context::<Signing>::of(context),
                Output::new(sig, len, room),
                input(digest, digest_len),
            )
        };
        match context.sign(bytes, MessageForm::Digest, output) {
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
    })
}

unsafe extern "C" fn digest_sign_update(
    context: *mut c_void,
    data: *const c_uchar,
    len: usize,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, more) = unsafe { (Context::<Signing>::of(context), input(data, len)) };
        if let Some(message) = &mut context.operation.held_back {
            if message.extend(more) {
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
    })
}

unsafe extern "C" fn digest_sign_final(
    context: *mut c_void,
    sig: *mut c_uchar,
    len: *mut usize,
    room: usize,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, output) =
            unsafe { (Context::<Signing>::of(context), Output::new(sig, len, room)) };
        if let Some(message) = &context.operation.held_back
            && !output.is_length_only()
        {
            if let Some(done) = context.sign(message.bytes(), MessageForm::Message, output) {
                context.operation.held_back = None;
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
    })
}

unsafe extern "C" fn digest_sign(
    context: *mut c_void,
    sig: *mut c_uchar,
    len: *mut usize,
    room: usize,
    message: *const c_uchar,
    message_len: usize,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, output, bytes) = unsafe {
            (
                Context::<Signing>::of(context),
                Output::new(sig, len, room),
                input(message, message_len),
            )
        };
        if message_len <= held_back::LONGEST
            && let Some(done) = context.sign(bytes, MessageForm::Message, output)
        {
            return done;
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
    })
}

impl Context<Signing> {
    /// Signs `input` in a batch; `None` if that is to be delegated.
    fn sign(&self, input: &[u8], form: MessageForm, output: Output) -> Option<c_int> {
        self.batch(output, |key| job::make(self, key, input, form))
    }

    /// Gives the default provider what was held back from it.
    fn release(&mut self) -> c_int {
        let message = self.operation.held_back.take().unwrap_or_default();
        let bytes = message.bytes();
        if bytes.is_empty() {
            return 1;
        }
        delegate!(
            self.theirs().digest_sign_update,
            self.inner,
            bytes.as_ptr(),
            bytes.len()
        )
    }
}
