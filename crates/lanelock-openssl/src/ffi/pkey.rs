//! `EVP_PKEY`: a key inside libcrypto.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr::{self, NonNull};

use openssl_sys as sys;
use zeroize::Zeroizing;

use super::{Failed, KeyParams, Library, check};

/// `EVP_PKEY_PUBLIC_KEY` and `EVP_PKEY_KEYPAIR` of openssl/evp.h.
const PUBLIC: c_int = 0x86;
const KEY_PAIR: c_int = 0x87;

/// Longest integer that is read from a key, in bytes: that of a modulus of 16,384 bits.
const MAX_INTEGER: usize = 2048;

/// A key.
#[derive(Debug)]
pub(crate) struct PKey(pub(super) NonNull<sys::EVP_PKEY>);

// SAFETY: an EVP_PKEY counts references atomically and locks what it caches.
unsafe impl Send for PKey {}

impl PKey {
    /// A key pair of type `name` from its components.
    pub(crate) fn pair(library: &Library, name: &CStr, parts: KeyParams) -> Result<Self, Failed> {
        Self::from_data(library, name, KEY_PAIR, parts)
    }

    /// A public key of type `name` from its components.
    pub(crate) fn public(library: &Library, name: &CStr, parts: KeyParams) -> Result<Self, Failed> {
        Self::from_data(library, name, PUBLIC, parts)
    }

    fn from_data(
        library: &Library,
        name: &CStr,
        selection: c_int,
        mut parts: KeyParams,
    ) -> Result<Self, Failed> {
        let context = PKeyContext::of_type(library, name)?;
        let mut key = ptr::null_mut();
        // SAFETY: the context is live; the array ends with its terminator and is only read; the
        // new key is owned by what is returned.
        unsafe {
            check(sys::EVP_PKEY_fromdata_init(context.as_ptr()))?;
            let made = sys::EVP_PKEY_fromdata(
                context.as_ptr(),
                &raw mut key,
                selection,
                parts.as_mut_ptr(),
            );
            check(made)?;
        }
        Self::owned(key)
    }

    pub(super) fn owned(key: *mut sys::EVP_PKEY) -> Result<Self, Failed> {
        NonNull::new(key).map(Self).ok_or_else(Failed::last)
    }

    /// Whether libcrypto finds the public half in range and in its group.
    pub(crate) fn check_public(&self, library: &Library) -> Result<(), Failed> {
        let context = PKeyContext::of_key(library, self)?;
        // SAFETY: the context is live and has a key.
        check(unsafe { sys::EVP_PKEY_public_check(context.as_ptr()) })
    }

    /// Whether libcrypto finds that the halves belong together.
    pub(crate) fn check_pair(&self, library: &Library) -> Result<(), Failed> {
        let context = PKeyContext::of_key(library, self)?;
        // SAFETY: the context is live and has a key.
        check(unsafe { EVP_PKEY_pairwise_check(context.as_ptr()) })
    }

    pub(crate) fn is_a(&self, name: &CStr) -> bool {
        // SAFETY: both are live.
        unsafe { sys::EVP_PKEY_is_a(self.0.as_ptr(), name.as_ptr()) == 1 }
    }

    /// The integer called `name`, big-endian with leading zeros; `None` if the key has none.
    pub(crate) fn integer(&self, name: &CStr) -> Option<Zeroizing<Vec<u8>>> {
        let mut buffer = Zeroizing::new(vec![0; MAX_INTEGER]);
        // libcrypto pads an unsigned integer to the room it is given, in the machine's order.
        self.get(name, 2, &mut buffer)?;
        if cfg!(target_endian = "little") {
            buffer.reverse();
        }
        Some(buffer)
    }

    /// The octet string called `name`, at most `room` bytes.
    pub(crate) fn octets(&self, name: &CStr, room: usize) -> Option<Zeroizing<Vec<u8>>> {
        let mut buffer = Zeroizing::new(vec![0; room]);
        let len = self.get(name, 5, &mut buffer)?;
        buffer.truncate(len);
        Some(buffer)
    }

    /// The name of the key's group.
    pub(crate) fn group(&self) -> Option<String> {
        let mut buffer = [0; 64];
        let len = self.get(c"group", 4, &mut buffer)?;
        String::from_utf8(buffer.get(..len)?.to_vec()).ok()
    }

    /// Whether an EC key came with a description of its curve instead of the curve's name.
    pub(crate) fn has_explicit_curve(&self) -> bool {
        let mut flag = [0; 4];
        let got = self.get(c"decoded-from-explicit", 1, &mut flag);
        got.is_some() && flag != [0; 4]
    }

    fn get(&self, name: &CStr, kind: c_uint, buffer: &mut [u8]) -> Option<usize> {
        let entry = |key, data_type, data, data_size| sys::OSSL_PARAM {
            key,
            data_type,
            data,
            data_size,
            return_size: usize::MAX,
        };
        let mut params = [
            entry(
                name.as_ptr(),
                kind,
                buffer.as_mut_ptr().cast(),
                buffer.len(),
            ),
            entry(ptr::null(), 0, ptr::null_mut(), 0),
        ];
        // SAFETY: writes at most the length given with the buffer.
        let got = check(unsafe { EVP_PKEY_get_params(self.0.as_ptr(), params.as_mut_ptr()) });
        let len = params[0].return_size;
        (got.is_ok() && len <= buffer.len()).then_some(len)
    }

    /// Replaces the public half of a key that keeps its group; refuses a value outside the group.
    pub(crate) fn set_public(&mut self, encoded: &[u8]) -> Result<(), Failed> {
        // SAFETY: reads `encoded.len()` bytes.
        check(unsafe {
            EVP_PKEY_set1_encoded_public_key(self.0.as_ptr(), encoded.as_ptr(), encoded.len())
        })
    }
}

impl Drop for PKey {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::EVP_PKEY_free(self.0.as_ptr()) };
    }
}

/// An operation on a key, initialised once.
#[derive(Debug)]
pub(crate) struct PKeyContext(NonNull<sys::EVP_PKEY_CTX>);

// SAFETY: the context is reached through `&mut` alone once it is initialised, from one thread at a
// time.
unsafe impl Send for PKeyContext {}

/// What a check of a signature found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Right,
    Wrong,
    /// libcrypto could not read it.
    Malformed,
}

type Init = unsafe extern "C" fn(*mut sys::EVP_PKEY_CTX, *const sys::OSSL_PARAM) -> c_int;

impl PKeyContext {
    /// A context without a key, to make one of type `name`.
    pub(super) fn of_type(library: &Library, name: &CStr) -> Result<Self, Failed> {
        // SAFETY: the library context is live, the name terminated, no properties.
        let context = unsafe {
            sys::EVP_PKEY_CTX_new_from_name(library.as_ptr(), name.as_ptr(), ptr::null())
        };
        NonNull::new(context).map(Self).ok_or_else(Failed::last)
    }

    /// Whether there is a type called `name`.
    pub(crate) fn has_type(library: &Library, name: &CStr) -> bool {
        Self::generator(library, name, KeyParams::new()).is_ok()
    }

    fn of_key(library: &Library, key: &PKey) -> Result<Self, Failed> {
        // SAFETY: both are live; the context takes a reference to the key; no properties.
        let context =
            unsafe { EVP_PKEY_CTX_new_from_pkey(library.as_ptr(), key.0.as_ptr(), ptr::null()) };
        NonNull::new(context).map(Self).ok_or_else(Failed::last)
    }

    fn initialised(
        library: &Library,
        key: &PKey,
        init: Init,
        mut settings: KeyParams,
    ) -> Result<Self, Failed> {
        let context = Self::of_key(library, key)?;
        // SAFETY: the context is live; the array ends with its terminator and is only read.
        check(unsafe { init(context.as_ptr(), settings.as_mut_ptr()) })?;
        Ok(context)
    }

    pub(crate) fn signer(library: &Library, key: &PKey, set: KeyParams) -> Result<Self, Failed> {
        Self::initialised(library, key, EVP_PKEY_sign_init_ex, set)
    }

    pub(crate) fn verifier(library: &Library, key: &PKey, set: KeyParams) -> Result<Self, Failed> {
        Self::initialised(library, key, EVP_PKEY_verify_init_ex, set)
    }

    pub(crate) fn encrypter(library: &Library, key: &PKey, set: KeyParams) -> Result<Self, Failed> {
        Self::initialised(library, key, EVP_PKEY_encrypt_init_ex, set)
    }

    pub(crate) fn decrypter(library: &Library, key: &PKey, set: KeyParams) -> Result<Self, Failed> {
        Self::initialised(library, key, EVP_PKEY_decrypt_init_ex, set)
    }

    pub(crate) fn deriver(library: &Library, key: &PKey, set: KeyParams) -> Result<Self, Failed> {
        Self::initialised(library, key, EVP_PKEY_derive_init_ex, set)
    }

    pub(crate) fn encapsulator(library: &Library, key: &PKey) -> Result<Self, Failed> {
        Self::initialised(
            library,
            key,
            sys::EVP_PKEY_encapsulate_init,
            KeyParams::new(),
        )
    }

    pub(crate) fn decapsulator(library: &Library, key: &PKey) -> Result<Self, Failed> {
        Self::initialised(
            library,
            key,
            sys::EVP_PKEY_decapsulate_init,
            KeyParams::new(),
        )
    }

    /// A context that generates keys of type `name`.
    pub(crate) fn generator(
        library: &Library,
        name: &CStr,
        mut settings: KeyParams,
    ) -> Result<Self, Failed> {
        let context = Self::of_type(library, name)?;
        // SAFETY: the context is live; the array ends with its terminator and is only read.
        unsafe {
            check(sys::EVP_PKEY_keygen_init(context.as_ptr()))?;
            check(sys::EVP_PKEY_CTX_set_params(
                context.as_ptr(),
                settings.as_mut_ptr(),
            ))?;
        }
        Ok(context)
    }

    pub(crate) fn sign(&mut self, digest: &[u8], out: &mut [u8]) -> Result<usize, Failed> {
        // SAFETY: the function's contract is that of `run`.
        unsafe { self.run(sys::EVP_PKEY_sign, digest, out) }
    }

    pub(crate) fn encrypt(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, Failed> {
        // SAFETY: as for `sign`.
        unsafe { self.run(sys::EVP_PKEY_encrypt, input, out) }
    }

    pub(crate) fn decrypt(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, Failed> {
        // SAFETY: as for `sign`.
        unsafe { self.run(sys::EVP_PKEY_decrypt, input, out) }
    }

    pub(crate) fn verify(&mut self, digest: &[u8], signature: &[u8]) -> Verdict {
        // SAFETY: reads both for their lengths.
        let result = unsafe {
            sys::EVP_PKEY_verify(
                self.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                digest.as_ptr(),
                digest.len(),
            )
        };
        Verdict::of(result)
    }

    /// Sets the peer's key, without checking more than its own setter did.
    pub(crate) fn set_peer(&mut self, peer: &PKey) -> Result<(), Failed> {
        // SAFETY: both are live; the context takes a reference.
        check(unsafe { sys::EVP_PKEY_derive_set_peer_ex(self.as_ptr(), peer.0.as_ptr(), 0) })
    }

    pub(crate) fn derive(&mut self, out: &mut [u8]) -> Result<usize, Failed> {
        let mut len = out.len();
        // SAFETY: writes at most `len` bytes.
        check(unsafe { sys::EVP_PKEY_derive(self.as_ptr(), out.as_mut_ptr(), &raw mut len) })?;
        Ok(len)
    }

    pub(crate) fn generate(&mut self) -> Result<PKey, Failed> {
        let mut key = ptr::null_mut();
        // SAFETY: the new key is owned by what is returned.
        check(unsafe { sys::EVP_PKEY_generate(self.as_ptr(), &raw mut key) })?;
        PKey::owned(key)
    }

    /// Writes a ciphertext and a shared secret; returns their lengths.
    pub(crate) fn encapsulate(
        &mut self,
        ciphertext: &mut [u8],
        secret: &mut [u8],
    ) -> Result<(usize, usize), Failed> {
        let (mut first, mut second) = (ciphertext.len(), secret.len());
        // SAFETY: each output is written for at most the length given with it.
        check(unsafe {
            sys::EVP_PKEY_encapsulate(
                self.as_ptr(),
                ciphertext.as_mut_ptr(),
                &raw mut first,
                secret.as_mut_ptr(),
                &raw mut second,
            )
        })?;
        Ok((first, second))
    }

    pub(crate) fn decapsulate(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, Failed> {
        // SAFETY: as for `sign`.
        unsafe { self.run(sys::EVP_PKEY_decapsulate, input, out) }
    }

    /// # Safety
    /// `call` reads its input for the length given, and writes at most the length that it is given
    /// by its third argument, where it leaves how much it wrote.
    unsafe fn run(
        &mut self,
        call: unsafe extern "C" fn(
            *mut sys::EVP_PKEY_CTX,
            *mut u8,
            *mut usize,
            *const u8,
            usize,
        ) -> c_int,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Failed> {
        let mut len = out.len();
        let (to, from) = (out.as_mut_ptr(), input.as_ptr());
        // SAFETY: the caller's contract.
        check(unsafe { call(self.as_ptr(), to, &raw mut len, from, input.len()) })?;
        Ok(len)
    }

    fn as_ptr(&self) -> *mut sys::EVP_PKEY_CTX {
        self.0.as_ptr()
    }
}

impl Drop for PKeyContext {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::EVP_PKEY_CTX_free(self.0.as_ptr()) };
    }
}

impl Verdict {
    pub(super) fn of(result: c_int) -> Self {
        if result == 1 {
            return Self::Right;
        }
        if result == 0 {
            Self::Wrong
        } else {
            Self::Malformed
        }
    }
}

unsafe extern "C" {
    // Public since OpenSSL 3.0; openssl-sys does not declare them.
    fn EVP_PKEY_CTX_new_from_pkey(
        library: *mut sys::OSSL_LIB_CTX,
        key: *mut sys::EVP_PKEY,
        properties: *const c_char,
    ) -> *mut sys::EVP_PKEY_CTX;
    fn EVP_PKEY_sign_init_ex(ctx: *mut sys::EVP_PKEY_CTX, params: *const sys::OSSL_PARAM) -> c_int;
    fn EVP_PKEY_verify_init_ex(
        ctx: *mut sys::EVP_PKEY_CTX,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_encrypt_init_ex(
        ctx: *mut sys::EVP_PKEY_CTX,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_decrypt_init_ex(
        ctx: *mut sys::EVP_PKEY_CTX,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_derive_init_ex(
        ctx: *mut sys::EVP_PKEY_CTX,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_pairwise_check(ctx: *mut sys::EVP_PKEY_CTX) -> c_int;
    fn EVP_PKEY_get_params(key: *const sys::EVP_PKEY, params: *mut sys::OSSL_PARAM) -> c_int;
    fn EVP_PKEY_set1_encoded_public_key(
        key: *mut sys::EVP_PKEY,
        encoded: *const u8,
        len: usize,
    ) -> c_int;
}
