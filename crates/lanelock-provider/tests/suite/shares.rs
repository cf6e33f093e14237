//! Key exchange as libssl does it: with keys that come and go as byte strings.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::ptr::{NonNull, null_mut};

use openssl_sys as sys;
use openssl_sys::{EVP_PKEY, EVP_PKEY_CTX, OSSL_PARAM};

use crate::openssl::{Key, Library, errors};

unsafe extern "C" {
    fn EVP_PKEY_CTX_set_group_name(ctx: *mut EVP_PKEY_CTX, name: *const c_char) -> c_int;
    fn EVP_PKEY_set1_encoded_public_key(
        key: *mut EVP_PKEY,
        share: *const c_uchar,
        len: usize,
    ) -> c_int;
    fn EVP_PKEY_get1_encoded_public_key(key: *mut EVP_PKEY, share: *mut *mut c_uchar) -> usize;
    fn EVP_PKEY_encapsulate_init(ctx: *mut EVP_PKEY_CTX, params: *const OSSL_PARAM) -> c_int;
    fn EVP_PKEY_encapsulate(
        ctx: *mut EVP_PKEY_CTX,
        reply: *mut c_uchar,
        reply_len: *mut usize,
        secret: *mut c_uchar,
        secret_len: *mut usize,
    ) -> c_int;
    fn EVP_PKEY_decapsulate_init(ctx: *mut EVP_PKEY_CTX, params: *const OSSL_PARAM) -> c_int;
    fn EVP_PKEY_decapsulate(
        ctx: *mut EVP_PKEY_CTX,
        secret: *mut c_uchar,
        secret_len: *mut usize,
        reply: *const c_uchar,
        reply_len: usize,
    ) -> c_int;
    fn EVP_PKEY_todata(key: *const EVP_PKEY, select: c_int, params: *mut *mut OSSL_PARAM) -> c_int;
    fn CRYPTO_free(memory: *mut c_void, file: *const c_char, line: c_int);
}

impl<'l> Key<'l> {
    /// The key of a peer that sent `share`, made as a server makes it.
    pub fn of_share(
        library: &'l Library,
        (name, group): (&CStr, &CStr),
        share: &[u8],
        properties: &'static CStr,
    ) -> Result<Self, String> {
        let mut key = null_mut();
        unsafe {
            let (library, properties) = (library.as_ptr(), properties.as_ptr());
            let ctx = sys::EVP_PKEY_CTX_new_from_name(library, name.as_ptr(), properties);
            let _done = !ctx.is_null()
                && sys::EVP_PKEY_paramgen_init(ctx) == 1
                && EVP_PKEY_CTX_set_group_name(ctx, group.as_ptr()) == 1
                && sys::EVP_PKEY_paramgen(ctx, &raw mut key) == 1;
            sys::EVP_PKEY_CTX_free(ctx);
        }
        let key = Self::from_raw(library, properties, NonNull::new(key).ok_or_else(errors)?);
        key.set_share(share)?;
        Ok(key)
    }

    pub fn set_share(&self, share: &[u8]) -> Result<(), String> {
        let (at, len) = (share.as_ptr(), share.len());
        match unsafe { EVP_PKEY_set1_encoded_public_key(self.as_ptr(), at, len) } {
            1 => Ok(()),
            _ => Err(errors()),
        }
    }

    /// What a client sends.
    pub fn share(&self) -> Vec<u8> {
        let mut share = null_mut();
        unsafe {
            let len = EVP_PKEY_get1_encoded_public_key(self.as_ptr(), &raw mut share);
            assert_ne!(len, 0, "{}", errors());
            let copy = std::slice::from_raw_parts(share, len).to_vec();
            CRYPTO_free(share.cast(), std::ptr::null(), 0);
            copy
        }
    }

    /// What a server replies to the client of this key, and the secret.
    pub fn encapsulate(&self) -> Result<(Vec<u8>, Vec<u8>), String> {
        self.encapsulate_from(std::ptr::null())
    }

    /// As [`Key::encapsulate`], from this randomness in place of new.
    pub fn encapsulate_with(&self, ikme: &[u8; 32]) -> Result<(Vec<u8>, Vec<u8>), String> {
        let at = ikme.as_ptr().cast_mut().cast();
        unsafe {
            let params = [
                sys::OSSL_PARAM_construct_octet_string(c"ikme".as_ptr(), at, ikme.len()),
                sys::OSSL_PARAM_construct_end(),
            ];
            self.encapsulate_from(params.as_ptr())
        }
    }

    fn encapsulate_from(&self, params: *const OSSL_PARAM) -> Result<(Vec<u8>, Vec<u8>), String> {
        let (mut reply_len, mut secret_len) = (0, 0);
        unsafe {
            let ctx = self.context();
            let (no_reply, no_secret) = (null_mut(), null_mut());
            let (reply_at, secret_at) = (&raw mut reply_len, &raw mut secret_len);
            let done = EVP_PKEY_encapsulate_init(ctx, params) == 1
                && EVP_PKEY_encapsulate(ctx, no_reply, reply_at, no_secret, secret_at) == 1;
            let (mut reply, mut secret) = (vec![0; reply_len], vec![0; secret_len]);
            let (to, secret_to) = (reply.as_mut_ptr(), secret.as_mut_ptr());
            let done = done && EVP_PKEY_encapsulate(ctx, to, reply_at, secret_to, secret_at) == 1;
            sys::EVP_PKEY_CTX_free(ctx);
            assert!(!done || (reply.len(), secret.len()) == (reply_len, secret_len));
            if done {
                Ok((reply, secret))
            } else {
                Err(errors())
            }
        }
    }

    /// The secret that a client finds in a server's reply.
    pub fn decapsulate(&self, reply: &[u8]) -> Result<Vec<u8>, String> {
        let mut len = 0;
        unsafe {
            let ctx = self.context();
            let (at, reply_len) = (reply.as_ptr(), reply.len());
            let done = EVP_PKEY_decapsulate_init(ctx, std::ptr::null()) == 1
                && EVP_PKEY_decapsulate(ctx, null_mut(), &raw mut len, at, reply_len) == 1;
            let mut secret = vec![0; len];
            let to = secret.as_mut_ptr();
            let done = done && EVP_PKEY_decapsulate(ctx, to, &raw mut len, at, reply_len) == 1;
            sys::EVP_PKEY_CTX_free(ctx);
            if done { Ok(secret) } else { Err(errors()) }
        }
    }

    /// Whether both halves can be exported; of a public half alone without.
    pub fn export(&self, selection: c_int) -> Result<(), String> {
        let mut params = null_mut();
        match unsafe { EVP_PKEY_todata(self.as_ptr(), selection, &raw mut params) } {
            1 => {
                unsafe { sys::OSSL_PARAM_free(params) };
                Ok(())
            }
            _ => Err(errors()),
        }
    }
}
