//! Parameter arrays: what a key exports, what a context says of itself.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;

use super::{OSSL_PARAM, kind};

/// What ends an array, and what an unset entry's size is (`OSSL_PARAM_UNMODIFIED`).
pub(crate) const END: OSSL_PARAM = OSSL_PARAM {
    key: std::ptr::null(),
    data_type: 0,
    data: std::ptr::null_mut(),
    data_size: 0,
    return_size: 0,
};
const UNMODIFIED: usize = usize::MAX;

/// An array that somebody else made, to read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader(*const OSSL_PARAM);

impl Reader {
    /// # Safety
    /// `params` is null or a terminated array, valid while the reader and what it gives are used.
    pub(crate) unsafe fn new(params: *const OSSL_PARAM) -> Self {
        Self(params)
    }

    fn find(self, key: &CStr) -> Option<&'static OSSL_PARAM> {
        let mut at = self.0;
        if at.is_null() {
            return None;
        }
        // SAFETY: the array has its terminator, keys are terminated strings (`Reader::new`). The
        // reference is used only inside this module's functions.
        unsafe {
            while !(*at).key.is_null() {
                if CStr::from_ptr((*at).key) == key {
                    return Some(&*at);
                }
                at = at.add(1);
            }
        }
        None
    }

    fn bytes(param: &OSSL_PARAM) -> &[u8] {
        if param.data.is_null() {
            return &[];
        }
        // SAFETY: an entry's data has its size (`Reader::new`).
        unsafe { std::slice::from_raw_parts(param.data.cast(), param.data_size) }
    }

    /// A string of bytes.
    pub(crate) fn octets(&self, key: &CStr) -> Option<&[u8]> {
        let param = self.find(key)?;
        (param.data_type == kind::OCTET_STRING).then(|| Self::bytes(param))
    }

    /// A text.
    pub(crate) fn text(&self, key: &CStr) -> Option<&str> {
        let param = self.find(key)?;
        let bytes = match param.data_type {
            kind::UTF8_STRING => Self::bytes(param),
            kind::UTF8_PTR if !param.data.is_null() => {
                // SAFETY: the entry's data is a pointer to a terminated string, or null.
                let text: *const std::ffi::c_char = unsafe { *param.data.cast() };
                if text.is_null() {
                    return None;
                }
                // SAFETY: as above.
                unsafe { CStr::from_ptr(text) }.to_bytes()
            }
            _ => return None,
        };
        let bytes = bytes.split(|&byte| byte == 0).next()?;
        std::str::from_utf8(bytes).ok()
    }

    /// The digits of an unsigned number, least first on this (little-endian) machine.
    pub(crate) fn digits(&self, key: &CStr) -> Option<&[u8]> {
        let param = self.find(key)?;
        (param.data_type == kind::UNSIGNED_INTEGER).then(|| Self::bytes(param))
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        let (mut at, mut len) = (self.0, 0);
        // SAFETY: as in `find`.
        unsafe {
            while !at.is_null() && !(*at).key.is_null() {
                (at, len) = (at.add(1), len + 1);
            }
        }
        len
    }

    /// Whether there is an entry of this name.
    pub(crate) fn has(&self, key: &CStr) -> bool {
        self.find(key).is_some()
    }
}

/// An array of `N - 1` entries to be filled by a context's or key's `get_params`.
pub(crate) struct Request<const N: usize>([OSSL_PARAM; N], usize);

impl<const N: usize> Request<N> {
    pub(crate) fn new() -> Self {
        Self([END; N], 0)
    }

    fn push(mut self, key: &'static CStr, data_type: u32, data: *mut u8, len: usize) -> Self {
        assert!(self.1 + 1 < N, "the last entry ends the array");
        self.0[self.1] = OSSL_PARAM {
            key: key.as_ptr(),
            data_type,
            data: data.cast(),
            data_size: len,
            return_size: UNMODIFIED,
        };
        self.1 += 1;
        self
    }

    /// Asks for a number; `value` stays borrowed in the eyes of whoever fills the array.
    pub(crate) fn int(self, key: &'static CStr, value: &mut c_int) -> Self {
        let data = std::ptr::from_mut(value).cast();
        self.push(key, kind::INTEGER, data, size_of::<c_int>())
    }

    /// Asks for a text, terminated.
    pub(crate) fn text(self, key: &'static CStr, value: &mut [u8]) -> Self {
        self.push(key, kind::UTF8_STRING, value.as_mut_ptr(), value.len())
    }

    /// Asks for bytes.
    pub(crate) fn octets(self, key: &'static CStr, value: &mut [u8]) -> Self {
        self.push(key, kind::OCTET_STRING, value.as_mut_ptr(), value.len())
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut OSSL_PARAM {
        self.0.as_mut_ptr()
    }

    /// Length of what was written to entry `index`; `None` if nothing was.
    pub(crate) fn written(&self, index: usize) -> Option<usize> {
        let len = self.0[index].return_size;
        (len != UNMODIFIED).then_some(len)
    }
}

/// An array of `N - 1` entries to be read by an import.
pub(crate) struct Given<'d, const N: usize>(Request<N>, PhantomData<&'d [u8]>);

impl<'d, const N: usize> Given<'d, N> {
    pub(crate) fn new() -> Self {
        Self(Request::new(), PhantomData)
    }

    fn push(self, key: &'static CStr, data_type: u32, data: &'d [u8]) -> Self {
        // It is only read.
        let at = data.as_ptr().cast_mut();
        Self(self.0.push(key, data_type, at, data.len()), PhantomData)
    }

    /// A string of bytes.
    pub(crate) fn octets(self, key: &'static CStr, value: &'d [u8]) -> Self {
        self.push(key, kind::OCTET_STRING, value)
    }

    /// A text.
    pub(crate) fn text(self, key: &'static CStr, value: &'static CStr) -> Self {
        self.push(key, kind::UTF8_STRING, value.to_bytes())
    }

    /// An unsigned number by its digits, least first on this (little-endian) machine.
    pub(crate) fn digits(self, key: &'static CStr, value: &'d [u8]) -> Self {
        self.push(key, kind::UNSIGNED_INTEGER, value)
    }

    pub(crate) fn as_ptr(&self) -> *const OSSL_PARAM {
        self.0.0.as_ptr()
    }
}
