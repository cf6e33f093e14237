//! libcrypto as an application uses it: library contexts, keys, operations.

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::ptr::NonNull;

use openssl_sys as sys;
use openssl_sys::{EVP_MD_CTX, EVP_PKEY, EVP_PKEY_CTX, OSSL_LIB_CTX, OSSL_PARAM, OSSL_PROVIDER};

pub const LANELOCK: &CStr = c"?provider=lanelock";
pub const DEFAULT: &CStr = c"provider=default";

unsafe extern "C" {
    fn EVP_PKEY_CTX_set_params(ctx: *mut EVP_PKEY_CTX, params: *const OSSL_PARAM) -> c_int;
    fn EVP_PKEY_generate(ctx: *mut EVP_PKEY_CTX, key: *mut *mut EVP_PKEY) -> c_int;
    fn EVP_PKEY_get_utf8_string_param(
        key: *const EVP_PKEY,
        name: *const c_char,
        value: *mut c_char,
        room: usize,
        len: *mut usize,
    ) -> c_int;
    fn EVP_PKEY_todata(key: *const EVP_PKEY, select: c_int, params: *mut *mut OSSL_PARAM) -> c_int;
    fn EVP_PKEY_fromdata_init(ctx: *mut EVP_PKEY_CTX) -> c_int;
    fn EVP_PKEY_fromdata(
        ctx: *mut EVP_PKEY_CTX,
        key: *mut *mut EVP_PKEY,
        select: c_int,
        params: *mut OSSL_PARAM,
    ) -> c_int;
    fn EVP_DigestSignInit_ex(
        ctx: *mut EVP_MD_CTX,
        pkey_ctx: *mut *mut EVP_PKEY_CTX,
        digest: *const c_char,
        library: *mut OSSL_LIB_CTX,
        properties: *const c_char,
        key: *mut EVP_PKEY,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_DigestVerifyInit_ex(
        ctx: *mut EVP_MD_CTX,
        pkey_ctx: *mut *mut EVP_PKEY_CTX,
        digest: *const c_char,
        library: *mut OSSL_LIB_CTX,
        properties: *const c_char,
        key: *mut EVP_PKEY,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_CTX_new_from_pkey(
        library: *mut OSSL_LIB_CTX,
        key: *mut EVP_PKEY,
        properties: *const c_char,
    ) -> *mut EVP_PKEY_CTX;
    fn EVP_PKEY_get0_provider(key: *const EVP_PKEY) -> *const OSSL_PROVIDER;
    fn OSSL_PROVIDER_get0_name(provider: *const OSSL_PROVIDER) -> *const c_char;
    fn OSSL_PROVIDER_available(library: *mut OSSL_LIB_CTX, name: *const c_char) -> c_int;
    fn OSSL_PROVIDER_get_params(provider: *mut OSSL_PROVIDER, params: *mut OSSL_PARAM) -> c_int;
    fn EVP_MD_fetch(
        library: *mut OSSL_LIB_CTX,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut sys::EVP_MD;
    fn EVP_MD_free(digest: *mut sys::EVP_MD);
    fn OSSL_LIB_CTX_load_config(library: *mut OSSL_LIB_CTX, file: *const c_char) -> c_int;
    fn ERR_error_string_n(code: std::ffi::c_ulong, text: *mut c_char, len: usize);
    fn ERR_get_error_all(
        file: *mut *const c_char,
        line: *mut c_int,
        function: *mut *const c_char,
        data: *mut *const c_char,
        flags: *mut c_int,
    ) -> std::ffi::c_ulong;
}

/// `EVP_PKEY_KEYPAIR` of openssl/evp.h.
const KEYPAIR: c_int = 0x87;

/// Everything on this thread's error queue.
pub fn errors() -> String {
    let mut all = String::new();
    loop {
        let mut data: *const c_char = std::ptr::null();
        let (mut file, mut function) = (data, data);
        let (mut line, mut flags) = (0, 0);
        unsafe {
            let code = ERR_get_error_all(
                &raw mut file,
                &raw mut line,
                &raw mut function,
                &raw mut data,
                &raw mut flags,
            );
            if code == 0 {
                return all;
            }
            let mut text = [0; 256];
            ERR_error_string_n(code, text.as_mut_ptr(), text.len());
            all += &CStr::from_ptr(text.as_ptr()).to_string_lossy();
            if !data.is_null() {
                all += ": ";
                all += &CStr::from_ptr(data).to_string_lossy();
            }
            all.push('\n');
        }
    }
}

#[track_caller]
fn ok(result: c_int) {
    assert_eq!(result, 1, "{}", errors());
}

/// A library context with the default provider and lanelock.
pub struct Library {
    context: NonNull<OSSL_LIB_CTX>,
    providers: Vec<NonNull<OSSL_PROVIDER>>,
}

unsafe impl Send for Library {}
unsafe impl Sync for Library {}

impl Library {
    pub fn new() -> Self {
        let mut library = Self::empty();
        library.load(c"default").expect("default");
        library.load(c"lanelock").expect("lanelock");
        library
    }

    /// One that looks for modules where the module is.
    pub fn empty() -> Self {
        let module = lanelock_testkit::provider_module();
        let directory = module.parent().and_then(|directory| directory.to_str());
        let directory = CString::new(directory.expect("UTF-8")).expect("no zero in it");
        unsafe {
            let context = NonNull::new(sys::OSSL_LIB_CTX_new()).expect("a context");
            ok(sys::OSSL_PROVIDER_set_default_search_path(
                context.as_ptr(),
                directory.as_ptr(),
            ));
            Self {
                context,
                providers: Vec::new(),
            }
        }
    }

    pub fn load(&mut self, name: &CStr) -> Result<(), String> {
        let provider = unsafe { sys::OSSL_PROVIDER_load(self.context.as_ptr(), name.as_ptr()) };
        self.providers
            .push(NonNull::new(provider).ok_or_else(errors)?);
        Ok(())
    }

    /// Unloads what was loaded last.
    pub fn unload(&mut self) {
        self.unload_at(self.providers.len() - 1);
    }

    /// Unloads one by its place in the order of loading.
    pub fn unload_at(&mut self, place: usize) {
        let provider = self.providers.remove(place);
        ok(unsafe { sys::OSSL_PROVIDER_unload(provider.as_ptr()) });
    }

    /// Whether the application has a provider of this name active.
    pub fn is_available(&self, name: &CStr) -> bool {
        unsafe { OSSL_PROVIDER_available(self.as_ptr(), name.as_ptr()) == 1 }
    }

    /// Whether there is a digest of this name.
    pub fn has_digest(&self, name: &CStr, properties: &CStr) -> bool {
        unsafe {
            let digest = EVP_MD_fetch(self.as_ptr(), name.as_ptr(), properties.as_ptr());
            EVP_MD_free(digest);
            errors();
            !digest.is_null()
        }
    }

    /// `buildinfo` and `status` of the provider that was loaded at this place.
    pub fn status_of(&self, place: usize) -> (String, c_int) {
        let (mut info, mut status): (*const c_char, c_int) = (std::ptr::null(), -1);
        let param = |key: &'static CStr, data_type, data, data_size| OSSL_PARAM {
            key: key.as_ptr(),
            data_type,
            data,
            data_size,
            return_size: usize::MAX,
        };
        let mut params = [
            param(c"buildinfo", 6, (&raw mut info).cast(), 0),
            param(c"status", 1, (&raw mut status).cast(), size_of::<c_int>()),
            END,
        ];
        unsafe {
            let provider = self.providers[place].as_ptr();
            ok(OSSL_PROVIDER_get_params(provider, params.as_mut_ptr()));
            (CStr::from_ptr(info).to_string_lossy().into_owned(), status)
        }
    }

    pub fn configure(&self, file: &std::path::Path) -> Result<(), String> {
        let file = CString::new(file.to_str().expect("UTF-8")).expect("no zero in it");
        match unsafe { OSSL_LIB_CTX_load_config(self.context.as_ptr(), file.as_ptr()) } {
            1 => Ok(()),
            _ => Err(errors()),
        }
    }

    pub fn as_ptr(&self) -> *mut OSSL_LIB_CTX {
        self.context.as_ptr()
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        while !self.providers.is_empty() {
            self.unload();
        }
        unsafe { sys::OSSL_LIB_CTX_free(self.context.as_ptr()) };
    }
}

/// A key, of whichever provider.
pub struct Key<'l> {
    library: &'l Library,
    properties: &'static CStr,
    key: NonNull<EVP_PKEY>,
}

unsafe impl Send for Key<'_> {}
unsafe impl Sync for Key<'_> {}

/// A kind of key with what decides its size.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Rsa(c_uint),
    RsaPss(c_uint),
    Ec(&'static CStr),
    /// With parameters that spell the curve out, which TLS does not have.
    ExplicitEc(&'static CStr),
    Raw(&'static CStr),
}

/// A text parameter.
pub fn text(key: &'static CStr, value: &'static CStr) -> OSSL_PARAM {
    OSSL_PARAM {
        key: key.as_ptr(),
        data_type: 4,
        data: value.as_ptr().cast_mut().cast(),
        data_size: value.to_bytes().len(),
        return_size: usize::MAX,
    }
}

pub const END: OSSL_PARAM = OSSL_PARAM {
    key: std::ptr::null(),
    data_type: 0,
    data: std::ptr::null_mut(),
    data_size: 0,
    return_size: 0,
};

/// The key that `ctx`, which is freed, generates with these parameters.
fn generate(ctx: *mut EVP_PKEY_CTX, params: &[OSSL_PARAM]) -> Result<NonNull<EVP_PKEY>, String> {
    let mut key = std::ptr::null_mut();
    unsafe {
        let _done = !ctx.is_null()
            && sys::EVP_PKEY_keygen_init(ctx) == 1
            && (params[0].key.is_null() || EVP_PKEY_CTX_set_params(ctx, params.as_ptr()) == 1)
            && EVP_PKEY_generate(ctx, &raw mut key) == 1;
        sys::EVP_PKEY_CTX_free(ctx);
    }
    NonNull::new(key).ok_or_else(errors)
}

impl<'l> Key<'l> {
    #[track_caller]
    pub fn generate(library: &'l Library, kind: Kind, properties: &'static CStr) -> Self {
        Self::try_generate(library, kind, properties).unwrap_or_else(|errors| panic!("{errors}"))
    }

    pub fn try_generate(
        library: &'l Library,
        kind: Kind,
        properties: &'static CStr,
    ) -> Result<Self, String> {
        let mut bits: c_uint = 0;
        let mut number = |value: c_uint| {
            bits = value;
            OSSL_PARAM {
                key: c"bits".as_ptr(),
                data_type: 2,
                data: (&raw mut bits).cast(),
                data_size: size_of::<c_uint>(),
                return_size: usize::MAX,
            }
        };
        let (name, params) = match kind {
            Kind::Rsa(bits) => (c"RSA", [number(bits), END, END]),
            Kind::RsaPss(bits) => (c"RSA-PSS", [number(bits), END, END]),
            Kind::Ec(group) => (c"EC", [text(c"group", group), END, END]),
            Kind::ExplicitEc(group) => {
                let explicit = text(c"encoding", c"explicit");
                (c"EC", [text(c"group", group), explicit, END])
            }
            Kind::Raw(name) => (name, [END; 3]),
        };
        let (context, properties_at) = (library.as_ptr(), properties.as_ptr());
        let ctx = unsafe { sys::EVP_PKEY_CTX_new_from_name(context, name.as_ptr(), properties_at) };
        Ok(Self {
            library,
            properties,
            key: generate(ctx, &params)?,
        })
    }

    /// A new key with this one's parameters, as a server makes one for a client's.
    pub fn generate_alike(&self) -> Self {
        Self {
            library: self.library,
            properties: self.properties,
            key: generate(self.context(), &[END]).expect("generated"),
        }
    }

    /// A parameter that is a text.
    pub fn parameter(&self, name: &CStr) -> String {
        let (mut value, mut len) = ([0_u8; 64], 0);
        unsafe {
            ok(EVP_PKEY_get_utf8_string_param(
                self.key.as_ptr(),
                name.as_ptr(),
                value.as_mut_ptr().cast(),
                value.len(),
                &raw mut len,
            ));
        }
        String::from_utf8_lossy(&value[..len]).into_owned()
    }

    /// The same key in another provider, by export and import.
    pub fn in_provider(&self, name: &CStr, properties: &'static CStr) -> Self {
        let mut params = std::ptr::null_mut();
        let mut key = std::ptr::null_mut();
        unsafe {
            ok(EVP_PKEY_todata(self.key.as_ptr(), KEYPAIR, &raw mut params));
            let ctx = sys::EVP_PKEY_CTX_new_from_name(
                self.library.as_ptr(),
                name.as_ptr(),
                properties.as_ptr(),
            );
            ok(EVP_PKEY_fromdata_init(ctx));
            ok(EVP_PKEY_fromdata(ctx, &raw mut key, KEYPAIR, params));
            sys::EVP_PKEY_CTX_free(ctx);
            sys::OSSL_PARAM_free(params);
        }
        Self {
            library: self.library,
            properties,
            key: NonNull::new(key).expect("a key"),
        }
    }

    /// One made elsewhere, which is the value's from then on.
    pub fn from_raw(
        library: &'l Library,
        properties: &'static CStr,
        key: NonNull<EVP_PKEY>,
    ) -> Self {
        Self {
            library,
            properties,
            key,
        }
    }

    pub fn as_ptr(&self) -> *mut EVP_PKEY {
        self.key.as_ptr()
    }

    pub fn provider(&self) -> String {
        unsafe {
            let provider = EVP_PKEY_get0_provider(self.key.as_ptr());
            let name = OSSL_PROVIDER_get0_name(provider);
            CStr::from_ptr(name).to_string_lossy().into_owned()
        }
    }

    pub fn is_equal(&self, other: &Self) -> bool {
        unsafe { sys::EVP_PKEY_eq(self.key.as_ptr(), other.key.as_ptr()) == 1 }
    }

    /// Signs a message; `digest` is empty for Ed25519.
    pub fn sign(&self, scheme: &Scheme, message: &[u8]) -> Result<Vec<u8>, String> {
        unsafe {
            let ctx = sys::EVP_MD_CTX_new();
            let result = self.sign_with(ctx, scheme, message);
            sys::EVP_MD_CTX_free(ctx);
            result
        }
    }

    unsafe fn sign_with(
        &self,
        ctx: *mut EVP_MD_CTX,
        scheme: &Scheme,
        message: &[u8],
    ) -> Result<Vec<u8>, String> {
        let params = scheme.params();
        let mut len = 0;
        unsafe {
            let done = EVP_DigestSignInit_ex(
                ctx,
                std::ptr::null_mut(),
                scheme.digest(),
                self.library.as_ptr(),
                self.properties.as_ptr(),
                self.key.as_ptr(),
                params.as_ptr(),
            ) == 1
                && sys::EVP_DigestSign(
                    ctx,
                    std::ptr::null_mut(),
                    &raw mut len,
                    message.as_ptr(),
                    message.len(),
                ) == 1;
            let mut signature = vec![0; len];
            let done = done
                && sys::EVP_DigestSign(
                    ctx,
                    signature.as_mut_ptr(),
                    &raw mut len,
                    message.as_ptr(),
                    message.len(),
                ) == 1;
            signature.truncate(len);
            if done { Ok(signature) } else { Err(errors()) }
        }
    }

    pub fn verify(&self, scheme: &Scheme, message: &[u8], signature: &[u8]) -> bool {
        let params = scheme.params();
        unsafe {
            let ctx = sys::EVP_MD_CTX_new();
            ok(EVP_DigestVerifyInit_ex(
                ctx,
                std::ptr::null_mut(),
                scheme.digest(),
                self.library.as_ptr(),
                self.properties.as_ptr(),
                self.key.as_ptr(),
                params.as_ptr(),
            ));
            let verdict = sys::EVP_DigestVerify(
                ctx,
                signature.as_ptr(),
                signature.len(),
                message.as_ptr(),
                message.len(),
            );
            sys::EVP_MD_CTX_free(ctx);
            errors();
            verdict == 1
        }
    }

    pub fn context(&self) -> *mut EVP_PKEY_CTX {
        unsafe {
            let properties = self.properties.as_ptr();
            EVP_PKEY_CTX_new_from_pkey(self.library.as_ptr(), self.key.as_ptr(), properties)
        }
    }

    pub fn derive(&self, peer: &Self) -> Result<Vec<u8>, String> {
        let mut len = 0;
        unsafe {
            let ctx = self.context();
            let done = sys::EVP_PKEY_derive_init(ctx) == 1
                && sys::EVP_PKEY_derive_set_peer(ctx, peer.key.as_ptr()) == 1
                && sys::EVP_PKEY_derive(ctx, std::ptr::null_mut(), &raw mut len) == 1;
            let mut secret = vec![0; len];
            let done = done && sys::EVP_PKEY_derive(ctx, secret.as_mut_ptr(), &raw mut len) == 1;
            secret.truncate(len);
            sys::EVP_PKEY_CTX_free(ctx);
            if done { Ok(secret) } else { Err(errors()) }
        }
    }

    /// Encrypts or decrypts with the padding of this number.
    pub fn crypt(&self, decrypt: bool, padding: c_int, input: &[u8]) -> Result<Vec<u8>, String> {
        let (init, run): (
            unsafe extern "C" fn(_) -> _,
            unsafe extern "C" fn(_, _, _, _, _) -> _,
        ) = match decrypt {
            true => (sys::EVP_PKEY_decrypt_init, sys::EVP_PKEY_decrypt),
            false => (sys::EVP_PKEY_encrypt_init, sys::EVP_PKEY_encrypt),
        };
        let mut len = 0;
        unsafe {
            let ctx = self.context();
            let (data, size) = (input.as_ptr(), input.len());
            let done = init(ctx) == 1
                && sys::EVP_PKEY_CTX_set_rsa_padding(ctx, padding) == 1
                && run(ctx, std::ptr::null_mut(), &raw mut len, data, size) == 1;
            let mut output = vec![0; len];
            let done = done && run(ctx, output.as_mut_ptr(), &raw mut len, data, size) == 1;
            output.truncate(len);
            sys::EVP_PKEY_CTX_free(ctx);
            if done { Ok(output) } else { Err(errors()) }
        }
    }

    /// Decrypts OAEP into `room` bytes; the library and reason of each error if that fails.
    pub fn decrypt_oaep(&self, input: &[u8], room: usize) -> Result<Vec<u8>, Vec<(u64, u64)>> {
        let (mut output, mut len) = (vec![0; room], room);
        unsafe {
            let ctx = self.context();
            ok(sys::EVP_PKEY_decrypt_init(ctx));
            ok(sys::EVP_PKEY_CTX_set_rsa_padding(ctx, 4));
            let at = output.as_mut_ptr();
            let done = sys::EVP_PKEY_decrypt(ctx, at, &raw mut len, input.as_ptr(), input.len());
            sys::EVP_PKEY_CTX_free(ctx);
            if done == 1 {
                output.truncate(len);
                return Ok(output);
            }
            let codes = std::iter::from_fn(|| match sys::ERR_get_error() {
                0 => None,
                code => Some((code >> 23 & 0xff, code & 0x7f_ffff)),
            });
            Err(codes.collect())
        }
    }

    /// Signs a digest, without saying which hash it is of unless `digest` does.
    pub fn sign_digest(&self, input: &[u8]) -> Result<Vec<u8>, String> {
        let mut len = 0;
        unsafe {
            let ctx = self.context();
            let (data, size) = (input.as_ptr(), input.len());
            let done = sys::EVP_PKEY_sign_init(ctx) == 1
                && sys::EVP_PKEY_sign(ctx, std::ptr::null_mut(), &raw mut len, data, size) == 1;
            let mut output = vec![0; len];
            let done =
                done && sys::EVP_PKEY_sign(ctx, output.as_mut_ptr(), &raw mut len, data, size) == 1;
            output.truncate(len);
            sys::EVP_PKEY_CTX_free(ctx);
            if done { Ok(output) } else { Err(errors()) }
        }
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        unsafe { sys::EVP_PKEY_free(self.key.as_ptr()) };
    }
}

/// How a message is signed.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    /// The hash that the key's own algorithm takes: PKCS #1 v1.5 or ECDSA.
    Hash(&'static CStr),
    /// PSS with a salt as long as the hash.
    Pss(&'static CStr),
    /// Ed25519.
    Pure,
}

impl Scheme {
    fn digest(&self) -> *const c_char {
        match self {
            Self::Hash(name) | Self::Pss(name) => name.as_ptr(),
            Self::Pure => std::ptr::null(),
        }
    }

    fn params(&self) -> [OSSL_PARAM; 3] {
        match self {
            Self::Pss(_) => [text(c"pad-mode", c"pss"), text(c"saltlen", c"digest"), END],
            _ => [END; 3],
        }
    }

    /// Whether the same message always has the same signature.
    pub fn is_deterministic(&self, kind: Kind) -> bool {
        match self {
            Self::Pure => true,
            Self::Hash(_) => matches!(kind, Kind::Rsa(_)),
            Self::Pss(_) => false,
        }
    }
}
