//! OAEP (RFC 8017, 7.1.2) of a block that is decrypted already.

use std::ffi::c_int;

use openssl_sys as sys;

use super::{DigestAlgorithm, Failed};

/// Hashes and label of a session.
#[derive(Debug)]
pub(crate) struct Oaep {
    hash: DigestAlgorithm,
    mgf1: DigestAlgorithm,
    label: Vec<u8>,
}

impl Oaep {
    pub(crate) fn new(hash: &DigestAlgorithm, mgf1: &DigestAlgorithm, label: &[u8]) -> Self {
        Self {
            hash: hash.clone(),
            mgf1: mgf1.clone(),
            label: label.to_vec(),
        }
    }

    /// Writes the message to the front of `out` and returns its length. Which part of the padding
    /// is wrong cannot be told from its time.
    pub(crate) fn decode(&self, block: &[u8], out: &mut [u8]) -> Result<usize, Failed> {
        let length = |bytes: &[u8]| c_int::try_from(bytes.len()).map_err(|_| Failed::MISUSE);
        let len = length(block)?;
        // SAFETY: reads block and label for their lengths, writes `out` for its own; the hashes are
        // live.
        let written = unsafe {
            RSA_padding_check_PKCS1_OAEP_mgf1(
                out.as_mut_ptr(),
                length(out)?,
                block.as_ptr(),
                len,
                len,
                self.label.as_ptr(),
                length(&self.label)?,
                self.hash.as_ptr(),
                self.mgf1.as_ptr(),
            )
        };
        usize::try_from(written).map_err(|_| Failed::last())
    }
}

unsafe extern "C" {
    // Deprecated with the rest of its header, and exported by every 3.x and 4.x. Not declared by
    // openssl-sys.
    fn RSA_padding_check_PKCS1_OAEP_mgf1(
        to: *mut u8,
        to_len: c_int,
        block: *const u8,
        block_len: c_int,
        modulus_len: c_int,
        label: *const u8,
        label_len: c_int,
        hash: *const sys::EVP_MD,
        mgf1: *const sys::EVP_MD,
    ) -> c_int;
}
