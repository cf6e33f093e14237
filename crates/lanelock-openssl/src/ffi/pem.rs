//! PEM (RFC 7468), as libcrypto reads it, encrypted blocks of the older kind (RFC 1421) included.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use openssl_sys as sys;
use zeroize::Zeroizing;

use super::{Failed, check};

/// The blocks of a text, one after the other.
#[derive(Debug)]
pub(crate) struct Pem<'a> {
    bio: NonNull<sys::BIO>,
    text: PhantomData<&'a [u8]>,
}

/// What is between two lines of dashes.
#[derive(Debug)]
pub(crate) struct Block {
    /// What the first of them says after BEGIN.
    pub(crate) label: String,
    /// DER, encrypted where there is a header that says so.
    pub(crate) data: Zeroizing<Vec<u8>>,
    pub(crate) encryption: Option<Encryption>,
}

/// The header of an encrypted block.
#[derive(Debug)]
pub(crate) struct Encryption(Allocated);

/// Memory of libcrypto's.
#[derive(Debug)]
struct Allocated(NonNull<u8>, usize);

impl<'a> Pem<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Result<Self, Failed> {
        let len = c_int::try_from(text.len()).map_err(|_| Failed::MISUSE)?;
        // SAFETY: the memory is read for its length, while the text is borrowed.
        let bio = unsafe { sys::BIO_new_mem_buf(text.as_ptr().cast(), len) };
        Ok(Self {
            bio: NonNull::new(bio).ok_or_else(Failed::last)?,
            text: PhantomData,
        })
    }

    /// The next block; `None` at the end, or if it is malformed.
    pub(crate) fn next_block(&mut self) -> Option<Block> {
        let (mut label, mut header, mut data) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let mut len = 0;
        // SAFETY: the input is live; the three are allocated by the call if it succeeds.
        let read = unsafe {
            PEM_read_bio(
                self.bio.as_ptr(),
                &raw mut label,
                &raw mut header,
                &raw mut data,
                &raw mut len,
            )
        };
        check(read).ok()?;
        // SAFETY: two terminated strings, and `len` bytes.
        let (label, header, data) = unsafe {
            (
                Allocated::string(label)?,
                Allocated::string(header)?,
                Allocated(NonNull::new(data)?, usize::try_from(len).ok()?),
            )
        };
        Some(Block {
            label: String::from_utf8_lossy(label.bytes()).into_owned(),
            data: Zeroizing::new(data.bytes().to_vec()),
            encryption: (header.1 > 0).then_some(Encryption(header)),
        })
    }
}

impl Drop for Pem<'_> {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::BIO_free_all(self.bio.as_ptr()) };
    }
}

impl Encryption {
    /// Decrypts a block's data.
    pub(crate) fn open(
        &self,
        mut data: Zeroizing<Vec<u8>>,
        passphrase: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Failed> {
        let mut cipher = CipherInfo {
            cipher: ptr::null(),
            iv: [0; 16],
        };
        // SAFETY: a terminated string; the information is filled in.
        check(unsafe { PEM_get_EVP_CIPHER_INFO(self.0.0.as_ptr().cast(), &raw mut cipher) })?;
        let mut len = c_long::try_from(data.len()).map_err(|_| Failed::MISUSE)?;
        let mut passphrase = passphrase;
        // SAFETY: decrypts `len` bytes in place and leaves how many there are; the callback gets
        // the passphrase, which outlives the call.
        check(unsafe {
            PEM_do_header(
                &raw mut cipher,
                data.as_mut_ptr(),
                &raw mut len,
                Some(copy_passphrase),
                (&raw mut passphrase).cast(),
            )
        })?;
        data.truncate(usize::try_from(len).map_err(|_| Failed::MISUSE)?);
        Ok(data)
    }
}

/// Copies the passphrase, a `&[u8]` at `user`; -1 if there is no room for it.
///
/// # Safety
/// `buffer` has room for `size` bytes.
unsafe extern "C" fn copy_passphrase(
    buffer: *mut c_char,
    size: c_int,
    _writes: c_int,
    user: *mut c_void,
) -> c_int {
    // SAFETY: `Encryption::open` passes the slice's place, which lives that long.
    let passphrase = unsafe { *user.cast::<&[u8]>() };
    match (c_int::try_from(passphrase.len()), usize::try_from(size)) {
        (Ok(len), Ok(room)) if passphrase.len() <= room => {
            // SAFETY: there is room, and the two do not overlap.
            unsafe {
                ptr::copy_nonoverlapping(passphrase.as_ptr(), buffer.cast(), passphrase.len());
            }
            len
        }
        _ => -1,
    }
}

impl Allocated {
    /// # Safety
    /// `string` is null or a terminated string of libcrypto's, of which this becomes the owner.
    unsafe fn string(string: *mut c_char) -> Option<Self> {
        let start = NonNull::new(string)?;
        // SAFETY: the caller's contract.
        let len = unsafe { CStr::from_ptr(string) }.count_bytes();
        Some(Self(start.cast(), len))
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: owned, and of this length.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.1) }
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: owned; wiped before it is freed.
        unsafe { CRYPTO_clear_free(self.0.as_ptr().cast(), self.1, c"".as_ptr(), 0) };
    }
}

/// `EVP_CIPHER_INFO` of openssl/evp.h.
#[repr(C)]
struct CipherInfo {
    cipher: *const sys::EVP_CIPHER,
    iv: [u8; 16],
}

unsafe extern "C" {
    // Not declared by openssl-sys.
    fn PEM_read_bio(
        bio: *mut sys::BIO,
        label: *mut *mut c_char,
        header: *mut *mut c_char,
        data: *mut *mut u8,
        len: *mut c_long,
    ) -> c_int;
    fn PEM_get_EVP_CIPHER_INFO(header: *mut c_char, cipher: *mut CipherInfo) -> c_int;
    fn PEM_do_header(
        cipher: *mut CipherInfo,
        data: *mut u8,
        len: *mut c_long,
        callback: sys::pem_password_cb,
        user: *mut c_void,
    ) -> c_int;
    fn CRYPTO_clear_free(memory: *mut c_void, len: usize, file: *const c_char, line: c_int);
}
