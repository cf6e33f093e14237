//! `OSSL_PARAM` arrays that own what they point at, for keys and for the settings of an operation.

use std::ffi::{CStr, c_uint};
use std::fmt;
use std::ptr;

use openssl_sys as sys;
use zeroize::Zeroizing;

/// `OSSL_PARAM` types of openssl/core.h.
const UNSIGNED_INTEGER: c_uint = 2;
const UTF8_STRING: c_uint = 4;
const OCTET_STRING: c_uint = 5;

/// A parameter array. Its memory is wiped on drop.
#[derive(Default)]
pub(crate) struct KeyParams {
    /// Each entry's memory does not move when the list grows: it is the vector's own.
    data: Vec<Zeroizing<Vec<u8>>>,
    entries: Vec<sys::OSSL_PARAM>,
}

impl KeyParams {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// An unsigned integer from its big-endian bytes.
    pub(crate) fn integer(self, key: &'static CStr, big_endian: &[u8]) -> Self {
        // libcrypto wants the machine's byte order, and at least one byte.
        let mut bytes = Zeroizing::new(big_endian.to_vec());
        if bytes.is_empty() {
            bytes.push(0);
        }
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        self.push(key, UNSIGNED_INTEGER, bytes)
    }

    /// A small number, as the C type `unsigned int`.
    pub(crate) fn number(self, key: &'static CStr, number: u32) -> Self {
        let bytes = Zeroizing::new(number.to_ne_bytes().to_vec());
        self.push(key, UNSIGNED_INTEGER, bytes)
    }

    pub(crate) fn octets(self, key: &'static CStr, octets: &[u8]) -> Self {
        self.push(key, OCTET_STRING, Zeroizing::new(octets.to_vec()))
    }

    pub(crate) fn text(self, key: &'static CStr, text: &CStr) -> Self {
        let mut bytes = Zeroizing::new(text.to_bytes_with_nul().to_vec());
        let len = text.to_bytes().len();
        let data = bytes.as_mut_ptr();
        self.entry(key, UTF8_STRING, data, len, bytes)
    }

    fn push(self, key: &'static CStr, kind: c_uint, mut bytes: Zeroizing<Vec<u8>>) -> Self {
        // An empty vector's pointer dangles, which libcrypto does not follow for a length of 0.
        let (data, len) = (bytes.as_mut_ptr(), bytes.len());
        self.entry(key, kind, data, len, bytes)
    }

    fn entry(
        mut self,
        key: &'static CStr,
        kind: c_uint,
        data: *mut u8,
        len: usize,
        owner: Zeroizing<Vec<u8>>,
    ) -> Self {
        self.entries.push(sys::OSSL_PARAM {
            key: key.as_ptr(),
            data_type: kind,
            data: data.cast(),
            data_size: len,
            return_size: usize::MAX,
        });
        self.data.push(owner);
        self
    }

    /// The array with its end, for calls that read it. The pointer is good until the next change.
    pub(super) fn as_mut_ptr(&mut self) -> *mut sys::OSSL_PARAM {
        if self.entries.last().is_none_or(|entry| !entry.key.is_null()) {
            self.entries.push(sys::OSSL_PARAM {
                key: ptr::null(),
                data_type: 0,
                data: ptr::null_mut(),
                data_size: 0,
                return_size: 0,
            });
        }
        self.entries.as_mut_ptr()
    }
}

// SAFETY: the pointers are into vectors that the value owns and that no one else reaches.
unsafe impl Send for KeyParams {}
// SAFETY: shared, it is only read.
unsafe impl Sync for KeyParams {}

impl fmt::Debug for KeyParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyParams of {} entries", self.data.len())
    }
}
