//! ASYM_CIPHER: RSA decryption in a batch where that is possible, everything else by the default
//! provider.

use std::ffi::{c_int, c_uchar, c_void};

use lanelock::public_key::{EncryptionScheme, KeyJob};
use zeroize::Zeroizing;

use super::context::{self, Context, Operation};
use super::output::{Output, input};
use super::scheme::{self, RsaDecryption};
use crate::algorithms::Algorithm;
use crate::batch::Bytes;
use crate::combine::Group;
use crate::default_provider::DefaultProvider;
use crate::ffi::OSSL_PARAM;
use crate::ffi::boundary::boundary;
use crate::ffi::delegate::delegate;
use crate::ffi::functions::{AsymCipher, ContextTable, Table};
use crate::key::{Key, Use};
use crate::provider::Provider;

/// An encryption or decryption under way.
#[derive(Clone, Default)]
struct Cipher {
    /// A label was given, which lanes do not know.
    is_labelled: bool,
}

impl Operation for Cipher {
    type Table = AsymCipher;

    fn choice(_: usize) -> Algorithm {
        Algorithm::Rsa
    }

    fn tables(provider: &DefaultProvider) -> &[AsymCipher] {
        &provider.asym_cipher
    }

    fn group(_: usize, _: &Key) -> Option<Group> {
        Some(Group::Rsa)
    }

    unsafe fn see(&mut self, _: usize, params: *const OSSL_PARAM) {
        if !params.is_null() {
            // SAFETY: the caller's.
            let label =
                unsafe { openssl_sys::OSSL_PARAM_locate_const(params, c"oaep-label".as_ptr()) };
            self.is_labelled |= !label.is_null();
        }
    }
}

/// What is offered in front of `theirs`; there is one algorithm.
pub(crate) fn functions(_: usize, theirs: &AsymCipher) -> AsymCipher {
    let mut ours = AsymCipher {
        newctx: Some(newctx),
        encrypt_init: Some(encrypt_init),
        decrypt_init: Some(decrypt_init),
        decrypt: Some(decrypt),
        ..AsymCipher::forward::<Context<Cipher>>()
    };
    ours.set_common(context::common::<Cipher, 0>());
    ours.among(theirs)
}

unsafe extern "C" fn newctx(provctx: *mut c_void) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let provider = unsafe { Provider::of(provctx) };
        let Some(theirs) = provider.to_make_with() else {
            return std::ptr::null_mut();
        };
        let inner = delegate!(theirs.asym_cipher[0].newctx, theirs.state);
        Context::<Cipher>::adopt(provider, 0, inner)
    })
}

context::starts! { Cipher; encrypt_init(); decrypt_init(); }

unsafe extern "C" fn decrypt(
    context: *mut c_void,
    out: *mut c_uchar,
    len: *mut usize,
    room: usize,
    ciphertext: *const c_uchar,
    ciphertext_len: usize,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, output, bytes) = unsafe {
            (
                Context::<Cipher>::of(context),
                Output::new(out, len, room),
                input(ciphertext, ciphertext_len),
            )
        };
        match context.batch(output, |key| job(context, key, bytes, output.room())) {
            Some(done) => done,
            None => delegate!(
                context.theirs().decrypt,
                context.inner,
                out,
                len,
                room,
                ciphertext,
                ciphertext_len
            ),
        }
    })
}

fn job(
    context: &Context<Cipher>,
    key: &Key,
    ciphertext: &[u8],
    room: usize,
) -> Option<KeyJob<Bytes>> {
    let get = context.theirs().get_ctx_params?;
    // SAFETY: the functions and the context belong together.
    let scheme = match unsafe { scheme::rsa_decryption(get, context.inner) }? {
        RsaDecryption::Raw => EncryptionScheme::RsaRaw,
        RsaDecryption::Oaep(_) if context.operation.is_labelled => return None,
        RsaDecryption::Oaep(oaep) => EncryptionScheme::RsaOaep(oaep),
    };
    let session = key.session(Use::Decrypt(scheme))?;
    // The default provider wants room for a whole block, however short the message is.
    let needed = session.output_len(ciphertext.len());
    if room < needed.max(ciphertext.len()) {
        return None;
    }
    let output = Zeroizing::new(vec![0; needed]);
    let ciphertext = Zeroizing::new(ciphertext.to_vec());
    Some(KeyJob::decrypt(&session, ciphertext, output))
}
