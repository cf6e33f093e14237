//! DER of keys.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::ptr::{self, NonNull};

use openssl_sys as sys;
use zeroize::Zeroizing;

use super::{Failed, Library, PKey, check};

/// `EVP_PKEY_PUBLIC_KEY` and `EVP_PKEY_KEYPAIR` of openssl/evp.h.
const PUBLIC: c_int = 0x86;
const KEY_PAIR: c_int = 0x87;

impl PKey {
    /// Reads a key from DER of this structure; no passphrase is tried on an encrypted key.
    pub(crate) fn read(
        library: &Library,
        der: &[u8],
        structure: &CStr,
        secret: bool,
    ) -> Result<Self, Failed> {
        let mut key = ptr::null_mut();
        let selection = if secret { KEY_PAIR } else { PUBLIC };
        // SAFETY: the library context is live, the names end; no kind or properties are asked for;
        // `key` outlives the decoder.
        let decoder = NonNull::new(unsafe {
            sys::OSSL_DECODER_CTX_new_for_pkey(
                &raw mut key,
                c"DER".as_ptr(),
                structure.as_ptr(),
                ptr::null(),
                selection,
                library.as_ptr(),
                ptr::null(),
            )
        })
        .ok_or_else(Failed::last)?;
        let (mut from, mut left) = (der.as_ptr(), der.len());
        // SAFETY: the decoder is live and freed once; reads the DER for its length.
        let read = unsafe {
            let ctx = decoder.as_ptr();
            // Without a callback libcrypto would ask for a passphrase at the terminal.
            let no_data = ptr::null_mut();
            let set = sys::OSSL_DECODER_CTX_set_passphrase_cb(ctx, Some(no_passphrase), no_data);
            let read = if set == 1 {
                sys::OSSL_DECODER_from_data(ctx, &raw mut from, &raw mut left)
            } else {
                0
            };
            sys::OSSL_DECODER_CTX_free(ctx);
            read
        };
        let key = NonNull::new(key).map(Self);
        check(read)?;
        key.ok_or(Failed::MISUSE)
    }

    /// The DER of PKCS #8 that is encrypted in `der`, which determines the cost.
    pub(crate) fn open_pkcs8(
        library: &Library,
        der: &[u8],
        passphrase: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Failed> {
        let der_len = c_long::try_from(der.len()).map_err(|_| Failed::MISUSE)?;
        let len = c_int::try_from(passphrase.len()).map_err(|_| Failed::MISUSE)?;
        let mut from = der.as_ptr();
        // SAFETY: reads the DER for its length; null is checked.
        let sealed = unsafe { d2i_X509_SIG(ptr::null_mut(), &raw mut from, der_len) };
        let sealed = NonNull::new(sealed).ok_or_else(Failed::last)?.as_ptr();
        // SAFETY: both are live; reads the passphrase for its length; no properties. What was read
        // is freed once.
        let info = unsafe {
            let (context, secret) = (library.as_ptr(), passphrase.as_ptr().cast());
            let info = PKCS8_decrypt_ex(sealed, secret, len, context, ptr::null());
            X509_SIG_free(sealed);
            info
        };
        let info = NonNull::new(info).ok_or_else(Failed::last)?;
        encode_pkcs8(info)
    }

    /// DER of PKCS #8, unencrypted.
    pub(crate) fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, Failed> {
        // SAFETY: the key is live; null is checked.
        let info = NonNull::new(unsafe { sys::EVP_PKEY2PKCS8(self.0.as_ptr()) });
        encode_pkcs8(info.ok_or_else(Failed::last)?)
    }

    /// DER of `SubjectPublicKeyInfo`.
    pub(crate) fn to_spki(&self) -> Result<Zeroizing<Vec<u8>>, Failed> {
        // SAFETY: as in `to_pkcs8`.
        encode(|out| unsafe { sys::i2d_PUBKEY(self.0.as_ptr(), out) })
    }
}

/// Takes the key that `info` owns.
fn encode_pkcs8(info: NonNull<sys::PKCS8_PRIV_KEY_INFO>) -> Result<Zeroizing<Vec<u8>>, Failed> {
    let info = info.as_ptr();
    // SAFETY: with a null output the function tells the length; `encode` gives it that much.
    let der = encode(|out| unsafe { i2d_PKCS8_PRIV_KEY_INFO(info, out) });
    // SAFETY: owned, freed once; the call wipes what it frees.
    unsafe { sys::PKCS8_PRIV_KEY_INFO_free(info) };
    der
}

/// Says that there is no passphrase.
unsafe extern "C" fn no_passphrase(
    _buffer: *mut c_char,
    _room: usize,
    _len: *mut usize,
    _params: *const sys::OSSL_PARAM,
    _user: *mut c_void,
) -> c_int {
    0
}

/// Calls an `i2d` function twice: for the length, and for the bytes.
fn encode(i2d: impl Fn(*mut *mut u8) -> c_int) -> Result<Zeroizing<Vec<u8>>, Failed> {
    let len = usize::try_from(i2d(ptr::null_mut())).map_err(|_| Failed::last())?;
    let mut der = Zeroizing::new(vec![0; len]);
    let mut out = der.as_mut_ptr();
    if usize::try_from(i2d(&raw mut out)) != Ok(len) {
        return Err(Failed::last());
    }
    Ok(der)
}

/// `X509_SIG`: an algorithm and what it encrypts.
#[repr(C)]
struct X509Sig {
    _private: [u8; 0],
}

unsafe extern "C" {
    // Not declared by openssl-sys.
    fn i2d_PKCS8_PRIV_KEY_INFO(info: *const sys::PKCS8_PRIV_KEY_INFO, out: *mut *mut u8) -> c_int;
    fn d2i_X509_SIG(old: *mut *mut X509Sig, from: *mut *const u8, len: c_long) -> *mut X509Sig;
    fn X509_SIG_free(sealed: *mut X509Sig);
    fn PKCS8_decrypt_ex(
        sealed: *const X509Sig,
        passphrase: *const c_char,
        len: c_int,
        library: *mut sys::OSSL_LIB_CTX,
        properties: *const c_char,
    ) -> *mut sys::PKCS8_PRIV_KEY_INFO;
}
