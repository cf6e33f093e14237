//! PEM and DER containers of keys.

use std::ffi::c_int;
use std::ptr::{self, NonNull};

use openssl_sys as sys;
use zeroize::Zeroizing;

use super::{Failed, Library, PKey, check};

/// `EVP_PKEY_PUBLIC_KEY` and `EVP_PKEY_KEYPAIR` of openssl/evp.h.
const PUBLIC: c_int = 0x86;
const KEY_PAIR: c_int = 0x87;

impl PKey {
    /// Reads a key from PEM or DER, whichever it is; `passphrase` opens an encrypted one.
    pub(crate) fn read(
        library: &Library,
        bytes: &[u8],
        secret: bool,
        passphrase: Option<&[u8]>,
    ) -> Result<Self, Failed> {
        let mut key = ptr::null_mut();
        let selection = if secret { KEY_PAIR } else { PUBLIC };
        // SAFETY: the library context is live; no type, structure, kind or properties are asked
        // for; `key` outlives the decoder.
        let decoder = NonNull::new(unsafe {
            sys::OSSL_DECODER_CTX_new_for_pkey(
                &raw mut key,
                ptr::null(),
                ptr::null(),
                ptr::null(),
                selection,
                library.as_ptr(),
                ptr::null(),
            )
        })
        .ok_or_else(Failed::last)?;
        // Without a passphrase libcrypto would ask at the terminal.
        let passphrase = passphrase.unwrap_or(&[]);
        let (mut from, mut left) = (bytes.as_ptr(), bytes.len());
        // SAFETY: the decoder is live and freed once; reads the passphrase and the container for
        // their lengths.
        let read = unsafe {
            let ctx = decoder.as_ptr();
            let set =
                sys::OSSL_DECODER_CTX_set_passphrase(ctx, passphrase.as_ptr(), passphrase.len());
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

    /// DER of PKCS #8, unencrypted.
    pub(crate) fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, Failed> {
        // SAFETY: the key is live; null is checked.
        let info = NonNull::new(unsafe { sys::EVP_PKEY2PKCS8(self.0.as_ptr()) });
        let info = info.ok_or_else(Failed::last)?.as_ptr();
        // SAFETY: with a null output the function tells the length; `encode` gives it that much.
        let der = encode(|out| unsafe { i2d_PKCS8_PRIV_KEY_INFO(info, out) });
        // SAFETY: owned, freed once; the call wipes what it frees.
        unsafe { sys::PKCS8_PRIV_KEY_INFO_free(info) };
        der
    }

    /// DER of `SubjectPublicKeyInfo`.
    pub(crate) fn to_spki(&self) -> Result<Zeroizing<Vec<u8>>, Failed> {
        // SAFETY: as in `to_pkcs8`.
        encode(|out| unsafe { sys::i2d_PUBKEY(self.0.as_ptr(), out) })
    }
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

unsafe extern "C" {
    // Not declared by openssl-sys.
    fn i2d_PKCS8_PRIV_KEY_INFO(info: *const sys::PKCS8_PRIV_KEY_INFO, out: *mut *mut u8) -> c_int;
}
