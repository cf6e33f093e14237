//! The few calls of libcrypto that the habits are made of, behind owners that free.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_uint};
use std::ptr;
use std::ptr::NonNull;

use openssl_sys as sys;

/// A call failed; OpenSSL's error queue of this thread says why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

/// A fetched cipher.
#[derive(Debug)]
pub(crate) struct Cipher(NonNull<sys::EVP_CIPHER>);

/// A keyed context that encrypts.
#[derive(Debug)]
pub(crate) struct CipherContext(NonNull<sys::EVP_CIPHER_CTX>);

/// A fetched MAC.
#[derive(Debug)]
pub(crate) struct Mac(NonNull<sys::EVP_MAC>);

/// A keyed context that computes a tag.
#[derive(Debug)]
pub(crate) struct MacContext(NonNull<sys::EVP_MAC_CTX>);

// SAFETY: a context belongs to one thread at a time; what threads share is only read: `dup` takes
// the source as const.
unsafe impl Send for CipherContext {}
// SAFETY: as above.
unsafe impl Sync for CipherContext {}
// SAFETY: as above.
unsafe impl Send for MacContext {}
// SAFETY: as above.
unsafe impl Sync for MacContext {}

impl Cipher {
    /// Looks it up by name.
    pub(crate) fn fetch(name: &CStr) -> Result<Self, Failed> {
        // SAFETY: the default library context, a terminated name, no properties.
        let cipher = unsafe { sys::EVP_CIPHER_fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
        NonNull::new(cipher).map(Self).ok_or(Failed)
    }
}

impl CipherContext {
    /// A context keyed with `key`, which has the cipher's length, without padding.
    pub(crate) fn new(cipher: &Cipher, key: &[u8]) -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked.
        let context = unsafe { sys::EVP_CIPHER_CTX_new() };
        let mut this = Self(NonNull::new(context).ok_or(Failed)?);
        this.set_cipher(cipher, key)?;
        this.padding_off()?;
        Ok(this)
    }

    /// A copy with the key in it.
    pub(crate) fn dup(&self) -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked.
        let context = unsafe { sys::EVP_CIPHER_CTX_new() };
        let this = Self(NonNull::new(context).ok_or(Failed)?);
        // SAFETY: both are live; the source is only read.
        check(unsafe { sys::EVP_CIPHER_CTX_copy(this.0.as_ptr(), self.0.as_ptr()) })?;
        Ok(this)
    }

    /// Sets algorithm and key.
    pub(crate) fn set_cipher(&mut self, cipher: &Cipher, key: &[u8]) -> Result<(), Failed> {
        self.init(cipher.0.as_ptr(), key.as_ptr(), ptr::null())
    }

    /// Sets the key, of the same length as before.
    pub(crate) fn set_key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.init(ptr::null(), key.as_ptr(), ptr::null())
    }

    /// Sets the IV, which has the context's length.
    pub(crate) fn set_iv(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.init(ptr::null(), ptr::null(), iv.as_ptr())
    }

    fn init(
        &mut self,
        cipher: *const sys::EVP_CIPHER,
        key: *const u8,
        iv: *const u8,
    ) -> Result<(), Failed> {
        // SAFETY: the context is live; cipher, key and IV are null or, as the callers' contracts
        // say, live and of the lengths that the context reads.
        check(unsafe { sys::EVP_EncryptInit_ex(self.0.as_ptr(), cipher, ptr::null_mut(), key, iv) })
    }

    pub(crate) fn padding_off(&mut self) -> Result<(), Failed> {
        // SAFETY: the context is live.
        check(unsafe { sys::EVP_CIPHER_CTX_set_padding(self.0.as_ptr(), 0) })
    }

    /// Encrypts `len` bytes, whole blocks for a block mode.
    ///
    /// # Safety
    /// `input` is valid for reads and `output` for writes of `len` bytes; they are the same or do
    /// not overlap.
    pub(crate) unsafe fn update(
        &mut self,
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> Result<(), Failed> {
        let (mut written, len) = (0, c_int::try_from(len).map_err(|_| Failed)?);
        // SAFETY: the caller's contract; without padding as many bytes are written as are read.
        check(unsafe {
            sys::EVP_EncryptUpdate(self.0.as_ptr(), output, &raw mut written, input, len)
        })
    }

    /// Takes in additional data of an AEAD.
    pub(crate) fn aad(&mut self, aad: &[u8]) -> Result<(), Failed> {
        // SAFETY: no output is what marks additional data; the slice is valid for reads.
        unsafe { self.update(aad.as_ptr(), ptr::null_mut(), aad.len()) }
    }

    /// Ends an AEAD's message and writes its tag.
    pub(crate) fn tag(&mut self, tag: &mut [u8; 16]) -> Result<(), Failed> {
        let (mut rest, mut written) = ([0; 16], 0);
        // SAFETY: final writes less than a block, the control 16 bytes to a slice of 16.
        check(unsafe {
            sys::EVP_EncryptFinal_ex(self.0.as_ptr(), rest.as_mut_ptr(), &raw mut written)
        })?;
        // SAFETY: as above.
        check(unsafe {
            sys::EVP_CIPHER_CTX_ctrl(
                self.0.as_ptr(),
                sys::EVP_CTRL_GCM_GET_TAG,
                16,
                tag.as_mut_ptr().cast(),
            )
        })
    }
}

impl Mac {
    /// Looks it up by name.
    pub(crate) fn fetch(name: &CStr) -> Result<Self, Failed> {
        // SAFETY: the default library context, a terminated name, no properties.
        let mac = unsafe { sys::EVP_MAC_fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
        NonNull::new(mac).map(Self).ok_or(Failed)
    }
}

impl MacContext {
    /// A context keyed with `key`, over `underlying`: the name of a parameter and its value.
    pub(crate) fn new(mac: &Mac, key: &[u8], underlying: (&CStr, &CStr)) -> Result<Self, Failed> {
        // SAFETY: the MAC is live; null is checked.
        let context = unsafe { sys::EVP_MAC_CTX_new(mac.0.as_ptr()) };
        let mut this = Self(NonNull::new(context).ok_or(Failed)?);
        this.set_key(key, underlying)?;
        Ok(this)
    }

    /// A copy with the key in it.
    pub(crate) fn dup(&self) -> Result<Self, Failed> {
        // SAFETY: the source is live and only read; null is checked.
        let context = unsafe { sys::EVP_MAC_CTX_dup(self.0.as_ptr()) };
        NonNull::new(context).map(Self).ok_or(Failed)
    }

    /// Sets what is underneath, which looks it up by name, and the key.
    pub(crate) fn set_key(
        &mut self,
        key: &[u8],
        (parameter, name): (&CStr, &CStr),
    ) -> Result<(), Failed> {
        let entry = |key, data_type, data, data_size| sys::OSSL_PARAM {
            key,
            data_type,
            data,
            data_size,
            return_size: usize::MAX,
        };
        let (text, len) = (name.as_ptr().cast_mut().cast(), name.to_bytes().len());
        let params = [
            entry(parameter.as_ptr(), UTF8_STRING, text, len),
            entry(ptr::null(), 0, ptr::null_mut(), 0),
        ];
        // SAFETY: the parameters hold terminated strings that outlive the call, which reads them;
        // the key is valid for its length and the context is live.
        check(unsafe {
            sys::EVP_MAC_init(self.0.as_ptr(), key.as_ptr(), key.len(), params.as_ptr())
        })
    }

    /// Starts a message from the keyed state.
    pub(crate) fn restart(&mut self) -> Result<(), Failed> {
        // SAFETY: the context is live; no key and no parameters keep those it has.
        check(unsafe { sys::EVP_MAC_init(self.0.as_ptr(), ptr::null(), 0, ptr::null()) })
    }

    /// Takes in `data`.
    pub(crate) fn update(&mut self, data: &[u8]) -> Result<(), Failed> {
        // SAFETY: the slice is valid for reads.
        check(unsafe { sys::EVP_MAC_update(self.0.as_ptr(), data.as_ptr(), data.len()) })
    }

    /// Ends the message and writes its tag to the start of `tag`.
    pub(crate) fn tag(&mut self, tag: &mut [u8; 64]) -> Result<(), Failed> {
        let mut len = 0;
        // SAFETY: the call writes at most the 64 bytes that it is told.
        check(unsafe {
            sys::EVP_MAC_final(self.0.as_ptr(), tag.as_mut_ptr(), &raw mut len, tag.len())
        })
    }
}

/// `OSSL_PARAM_UTF8_STRING` of openssl/core.h.
const UTF8_STRING: c_uint = 4;

fn check(result: c_int) -> Result<(), Failed> {
    if result == 1 { Ok(()) } else { Err(Failed) }
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: owned since the fetch.
        unsafe { sys::EVP_CIPHER_free(self.0.as_ptr()) };
    }
}

impl Drop for CipherContext {
    fn drop(&mut self) {
        // SAFETY: owned since it was made.
        unsafe { sys::EVP_CIPHER_CTX_free(self.0.as_ptr()) };
    }
}

impl Drop for Mac {
    fn drop(&mut self) {
        // SAFETY: owned since the fetch.
        unsafe { sys::EVP_MAC_free(self.0.as_ptr()) };
    }
}

impl Drop for MacContext {
    fn drop(&mut self) {
        // SAFETY: owned since it was made.
        unsafe { sys::EVP_MAC_CTX_free(self.0.as_ptr()) };
    }
}
