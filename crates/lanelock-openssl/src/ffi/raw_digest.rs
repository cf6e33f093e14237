//! MD5, SHA-1 and SHA-2 through libcrypto's own functions, whose state is a public plain struct.
//!
//! Their state can be saved and copied like any value, where `EVP_MD_CTX` allocates for each copy
//! and, before 3.5, for each restart. Deprecated in favour of EVP, but exported by every 3.x and 4.x.

use std::ffi::{c_int, c_void};

use lanelock_core::Hash;
use lanelock_core::algorithm::MAX_TAG_LEN;
use openssl_sys as sys;
use zeroize::Zeroize;

/// A hash's running state; wiped on drop, as an HMAC's is derived from its key.
#[derive(Clone)]
pub(crate) struct RawDigest {
    state: State,
    calls: &'static Calls,
}

/// Room for the largest of `MD5_CTX`, `SHA_CTX`, `SHA256_CTX` and `SHA512_CTX`. Aligned to cache
/// lines, as its place among them would otherwise decide how long a short message takes.
#[derive(Clone)]
#[repr(C, align(64))]
struct State([u64; 28]);

const _: () = assert!(size_of::<sys::SHA512_CTX>() <= size_of::<State>());
const _: () = assert!(size_of::<sys::SHA256_CTX>() <= size_of::<State>());
const _: () = assert!(size_of::<sys::SHA_CTX>() <= size_of::<State>());

/// One hash's functions. Each returns 1: they cannot fail.
struct Calls {
    hash: Hash,
    block_len: usize,
    init: unsafe extern "C" fn(*mut c_void) -> c_int,
    update: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int,
    finish: unsafe extern "C" fn(*mut u8, *mut c_void) -> c_int,
}

macro_rules! calls {
    ($($hash:ident $block_len:literal $init:ident $update:ident $finish:ident)*) => {
        &[$(Calls {
            hash: Hash::$hash,
            block_len: $block_len,
            init: $init,
            update: $update,
            finish: $finish,
        }),*]
    };
}

static TABLE: &[Calls] = calls! {
    Md5 64 MD5_Init MD5_Update MD5_Final
    Sha1 64 SHA1_Init SHA1_Update SHA1_Final
    Sha224 64 SHA224_Init SHA256_Update SHA224_Final
    Sha256 64 SHA256_Init SHA256_Update SHA256_Final
    Sha384 128 SHA384_Init SHA512_Update SHA384_Final
    Sha512 128 SHA512_Init SHA512_Update SHA512_Final
};

impl RawDigest {
    /// The initial state of `hash`; `None` for hashes without such functions.
    pub(crate) fn new(hash: Hash) -> Option<Self> {
        let calls = TABLE.iter().find(|calls| calls.hash == hash)?;
        let mut this = Self {
            state: State([0; 28]),
            calls,
        };
        // SAFETY: the state has room for this hash's struct, which the call fills in.
        unsafe { (calls.init)(this.as_ptr()) };
        Some(this)
    }

    /// Length of the blocks that are compressed, in bytes.
    pub(crate) fn block_len(&self) -> usize {
        self.calls.block_len
    }

    /// Returns to the state of `saved`, a state of the same hash.
    #[inline]
    pub(crate) fn restore(&mut self, saved: &Self) {
        debug_assert_eq!(self.calls.hash, saved.calls.hash);
        self.state.0 = saved.state.0;
        self.calls = saved.calls;
    }

    /// Adds to the message.
    #[inline]
    pub(crate) fn update(&mut self, data: &[u8]) {
        let update = self.calls.update;
        // SAFETY: the state was initialised for this hash; reads `data.len()` bytes.
        unsafe { update(self.as_ptr(), data.as_ptr().cast(), data.len()) };
    }

    /// Ends the message and writes its digest to the front of `digest`.
    #[inline]
    pub(crate) fn finish(&mut self, digest: &mut [u8; MAX_TAG_LEN]) {
        let finish = self.calls.finish;
        // SAFETY: the state was initialised for this hash, and no digest is longer than 64 bytes.
        unsafe { finish(digest.as_mut_ptr(), self.as_ptr()) };
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.state.0.as_mut_ptr().cast()
    }
}

impl Drop for RawDigest {
    fn drop(&mut self) {
        self.state.0.zeroize();
    }
}

unsafe extern "C" {
    fn MD5_Init(state: *mut c_void) -> c_int;
    fn MD5_Update(state: *mut c_void, data: *const c_void, len: usize) -> c_int;
    fn MD5_Final(digest: *mut u8, state: *mut c_void) -> c_int;
    fn SHA1_Init(state: *mut c_void) -> c_int;
    fn SHA1_Update(state: *mut c_void, data: *const c_void, len: usize) -> c_int;
    fn SHA1_Final(digest: *mut u8, state: *mut c_void) -> c_int;
    fn SHA224_Init(state: *mut c_void) -> c_int;
    fn SHA224_Final(digest: *mut u8, state: *mut c_void) -> c_int;
    fn SHA256_Init(state: *mut c_void) -> c_int;
    fn SHA256_Update(state: *mut c_void, data: *const c_void, len: usize) -> c_int;
    fn SHA256_Final(digest: *mut u8, state: *mut c_void) -> c_int;
    fn SHA384_Init(state: *mut c_void) -> c_int;
    fn SHA384_Final(digest: *mut u8, state: *mut c_void) -> c_int;
    fn SHA512_Init(state: *mut c_void) -> c_int;
    fn SHA512_Update(state: *mut c_void, data: *const c_void, len: usize) -> c_int;
    fn SHA512_Final(digest: *mut u8, state: *mut c_void) -> c_int;
}
