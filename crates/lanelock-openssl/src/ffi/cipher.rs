//! `EVP_CIPHER` and `EVP_CIPHER_CTX`.

use std::ffi::{CStr, c_int};
use std::ptr::{self, NonNull};

use lanelock_core::cursor::Run;
use openssl_sys as sys;

use super::{
    EVP_CIPHER_CTX_get_params, EVP_CIPHER_CTX_set_params, EVP_CipherFinal_ex, EVP_CipherInit_ex2,
    Failed, Library, Params, check,
};

/// Most bytes of one update of several: libcrypto counts in `int`. A multiple of every block.
const MAX_UPDATE: usize = 1 << 30;

/// A fetched cipher.
#[derive(Debug)]
pub(crate) struct CipherAlgorithm(NonNull<sys::EVP_CIPHER>);

// SAFETY: a fetched EVP_CIPHER is immutable but for its atomic reference count.
unsafe impl Send for CipherAlgorithm {}
// SAFETY: as above.
unsafe impl Sync for CipherAlgorithm {}

impl CipherAlgorithm {
    /// Fetches `name`; `None` if no loaded provider has it.
    pub(crate) fn fetch(library: &Library, name: &CStr) -> Option<Self> {
        // SAFETY: the library context is live, the name terminated, no properties.
        let cipher = unsafe { sys::EVP_CIPHER_fetch(library.as_ptr(), name.as_ptr(), ptr::null()) };
        NonNull::new(cipher).map(Self)
    }
}

impl Drop for CipherAlgorithm {
    fn drop(&mut self) {
        // SAFETY: owned since the fetch.
        unsafe { sys::EVP_CIPHER_free(self.0.as_ptr()) };
    }
}

/// A context keyed for one direction.
///
/// Invariant: padding is off, and only whole blocks of `block` bytes have been put in, so an
/// update writes exactly as many bytes as it reads.
#[derive(Debug)]
pub(crate) struct CipherContext {
    context: NonNull<sys::EVP_CIPHER_CTX>,
    key_len: usize,
    iv_len: usize,
    block: usize,
    encrypt: bool,
    /// One entry: the tag, whose place and length each message fills in.
    tag: Params,
}

// SAFETY: the context is reached through `&mut` alone, from one thread at a time; the parameters
// point at memory only during a call.
unsafe impl Send for CipherContext {}

impl CipherContext {
    /// A context for messages that start with an IV of `iv_len` bytes; for AEADs this sets the
    /// nonce length. CCM needs to know the tag length, too, before its key.
    pub(crate) fn new(
        algorithm: &CipherAlgorithm,
        encrypt: bool,
        key: &[u8],
        iv_len: usize,
        ccm_tag_len: Option<usize>,
    ) -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked.
        let context =
            NonNull::new(unsafe { sys::EVP_CIPHER_CTX_new() }).ok_or_else(Failed::last)?;
        let mut this = Self {
            context,
            key_len: key.len(),
            iv_len,
            block: 1,
            encrypt,
            tag: Params::new().octets(c"tag", ptr::null_mut(), 0),
        };
        let (ctx, cipher) = (this.context.as_ptr(), algorithm.0.as_ptr());
        let (null, direction) = (ptr::null(), c_int::from(encrypt));
        // SAFETY: both objects are live; there is no key or IV yet.
        check(unsafe { EVP_CipherInit_ex2(ctx, cipher, null, null, direction, null.cast()) })?;
        // SAFETY: `cipher` is live.
        let (key_len, own_iv_len, block) = unsafe {
            (
                sys::EVP_CIPHER_get_key_length(cipher),
                sys::EVP_CIPHER_get_iv_length(cipher),
                sys::EVP_CIPHER_get_block_size(cipher),
            )
        };
        if usize::try_from(key_len) != Ok(key.len()) {
            return Err(Failed::MISUSE);
        }
        this.block = usize::try_from(block).map_err(|_| Failed::MISUSE)?.max(1);
        // CCM reports 12 as its own length and starts with 7 (OpenSSL 3.0 to 4.0): always set it.
        if ccm_tag_len.is_some() || usize::try_from(own_iv_len) != Ok(iv_len) {
            this.control(sys::EVP_CTRL_GCM_SET_IVLEN, iv_len)?;
        }
        if let Some(len) = ccm_tag_len {
            this.control(sys::EVP_CTRL_GCM_SET_TAG, len)?;
        }
        // SAFETY: `key` has the length that the cipher reads, checked above.
        check(unsafe {
            EVP_CipherInit_ex2(ctx, ptr::null(), key.as_ptr(), null, direction, null.cast())
        })?;
        // Only where there could be padding: a context that has it off sets it off again with
        // each IV.
        if this.block > 1 {
            // SAFETY: the context is initialised. Returns 1 always.
            check(unsafe { sys::EVP_CIPHER_CTX_set_padding(ctx, 0) })?;
        }
        Ok(this)
    }

    fn control(&mut self, kind: c_int, len: usize) -> Result<(), Failed> {
        let len = c_int::try_from(len).map_err(|_| Failed::MISUSE)?;
        // SAFETY: these controls take a length and, here, no data.
        check(unsafe {
            sys::EVP_CIPHER_CTX_ctrl(self.context.as_ptr(), kind, len, ptr::null_mut())
        })
    }

    /// Starts a message: the IV alone is set, the key schedule stays.
    #[inline]
    pub(crate) fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        if iv.len() != self.iv_len {
            return Err(Failed::MISUSE);
        }
        let ctx = self.context.as_ptr();
        // SAFETY: the context is keyed, and `iv` has the bytes that it reads, checked above.
        check(unsafe {
            EVP_CipherInit_ex2(ctx, ptr::null(), ptr::null(), iv.as_ptr(), -1, ptr::null())
        })
    }

    /// Starts a message under a key of its own.
    #[inline]
    pub(crate) fn start_with_key(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        if (key.len(), iv.len()) != (self.key_len, self.iv_len) {
            return Err(Failed::MISUSE);
        }
        let ctx = self.context.as_ptr();
        // SAFETY: the context is initialised; `key` and `iv` have the bytes that it reads, checked
        // above.
        check(unsafe {
            EVP_CipherInit_ex2(ctx, ptr::null(), key.as_ptr(), iv.as_ptr(), -1, ptr::null())
        })
    }

    /// Sets the tag that the message just started must have.
    #[inline]
    pub(crate) fn expect_tag(&mut self, tag: &[u8]) -> Result<(), Failed> {
        self.tag.point(tag.as_ptr().cast_mut(), tag.len());
        // SAFETY: the parameter's data is valid for reads of its length, and only read.
        check(unsafe { EVP_CIPHER_CTX_set_params(self.context.as_ptr(), self.tag.as_ptr()) })
    }

    /// Announces the length of a CCM message.
    #[inline]
    pub(crate) fn announce(&mut self, len: usize) -> Result<(), Failed> {
        let len = c_int::try_from(len).map_err(|_| Failed::MISUSE)?;
        let mut written = 0;
        let (ctx, none) = (self.context.as_ptr(), ptr::null_mut());
        // SAFETY: without input and output the call only notes the length.
        check(unsafe { sys::EVP_CipherUpdate(ctx, none, &raw mut written, ptr::null(), len) })
    }

    /// Adds additional data, of which CCM takes one piece of at most [`MAX_UPDATE`] bytes.
    #[inline]
    pub(crate) fn aad(&mut self, data: &[u8]) -> Result<(), Failed> {
        let (data, later) = data.split_at(data.len().min(MAX_UPDATE));
        let len = c_int::try_from(data.len()).map_err(|_| Failed::MISUSE)?;
        let mut written = 0;
        let (ctx, none) = (self.context.as_ptr(), ptr::null_mut());
        // SAFETY: reads `len` bytes of `data`; without output nothing is written.
        check(unsafe { sys::EVP_CipherUpdate(ctx, none, &raw mut written, data.as_ptr(), len) })?;
        if later.is_empty() {
            return Ok(());
        }
        self.aad(later)
    }

    /// Encrypts or decrypts the run's input into its output. A run that is not a multiple of the
    /// cipher's block fails, untouched.
    #[inline]
    pub(crate) fn update(&mut self, run: &mut Run<'_>) -> Result<(), Failed> {
        if !run.len().is_multiple_of(self.block) {
            return Err(Failed::MISUSE);
        }
        let mut done = 0;
        loop {
            let len = (run.len() - done).min(MAX_UPDATE);
            let (input, output) = (
                run.input().wrapping_add(done),
                run.output().wrapping_add(done),
            );
            self.update_raw(output, input, len)?;
            done += len;
            if done == run.len() {
                return Ok(());
            }
        }
    }

    /// Encrypts or decrypts a whole message in one update: of an algorithm without blocks, and of
    /// at most `c_int::MAX` bytes.
    #[inline]
    pub(crate) fn update_whole(&mut self, run: &mut Run<'_>) -> Result<(), Failed> {
        if self.block != 1 {
            return Err(Failed::MISUSE);
        }
        self.update_raw(run.output(), run.input(), run.len())
    }

    /// Encrypts or decrypts `data` in place; of the block's multiple, or it fails.
    #[inline]
    pub(crate) fn update_slice(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        self.update(&mut Run::in_place(data))
    }

    #[inline]
    fn update_raw(&mut self, output: *mut u8, input: *const u8, len: usize) -> Result<(), Failed> {
        let len = c_int::try_from(len).map_err(|_| Failed::MISUSE)?;
        let mut written = 0;
        let ctx = self.context.as_ptr();
        // SAFETY: `update` and `update_whole` pass pointers valid for `len` bytes, alike or disjoint, and whole
        // blocks, of which as many are written (the type's invariant).
        check(unsafe {
            if self.encrypt {
                sys::EVP_EncryptUpdate(ctx, output, &raw mut written, input, len)
            } else {
                sys::EVP_DecryptUpdate(ctx, output, &raw mut written, input, len)
            }
        })?;
        if written == len {
            Ok(())
        } else {
            Err(Failed::MISUSE)
        }
    }

    /// Ends a message of an AEAD; when decrypting, fails if the tag does not match.
    #[inline]
    pub(crate) fn finish(&mut self) -> Result<(), Failed> {
        let (mut written, mut nothing) = (0, [0_u8; 64]);
        let ctx = self.context.as_ptr();
        // SAFETY: at most a block is written, and nothing is left of a stream.
        check(unsafe { EVP_CipherFinal_ex(ctx, nothing.as_mut_ptr(), &raw mut written) })
    }

    /// Reads the tag of the message just encrypted, `tag.len()` bytes of it.
    #[inline]
    pub(crate) fn tag(&mut self, tag: &mut [u8]) -> Result<(), Failed> {
        self.tag.point(tag.as_mut_ptr(), tag.len());
        // SAFETY: the parameter's data is valid for writes of its length.
        check(unsafe { EVP_CIPHER_CTX_get_params(self.context.as_ptr(), self.tag.as_mut_ptr()) })
    }
}

impl Drop for CipherContext {
    fn drop(&mut self) {
        // SAFETY: owned. Frees and wipes the key schedule.
        unsafe { sys::EVP_CIPHER_CTX_free(self.context.as_ptr()) };
    }
}
