//! Powers modulo an odd number with one exponent.

use std::ffi::c_int;
use std::ptr::NonNull;

use openssl_sys as sys;

use super::number::{Number, Scratch};
use super::{Failed, check};

/// Raises numbers to one public exponent modulo one odd number. The time depends on the exponent,
/// and on no number but by how many words it has.
#[derive(Debug)]
pub(crate) struct Power {
    modulus: Number,
    exponent: Number,
    montgomery: Montgomery,
    scratch: Scratch,
}

// SAFETY: what it owns is reached through `&mut` alone once it is made.
unsafe impl Send for Power {}

impl Power {
    pub(crate) fn new(modulus: &Number, exponent: &Number) -> Result<Self, Failed> {
        let (modulus, exponent) = (
            modulus.for_public_exponent()?,
            exponent.for_public_exponent()?,
        );
        let scratch = Scratch::new()?;
        Ok(Self {
            montgomery: Montgomery::new(&modulus, &scratch)?,
            modulus,
            exponent,
            scratch,
        })
    }

    /// `base` to the exponent.
    pub(crate) fn of(&mut self, base: &Number) -> Result<Number, Failed> {
        let (power, base) = (Number::new()?, base.for_public_exponent()?);
        // SAFETY: all are live, and the Montgomery form is this modulus's. A base that is not below
        // it is reduced first.
        check(unsafe {
            BN_mod_exp_mont(
                power.as_ptr(),
                base.as_ptr(),
                self.exponent.as_ptr(),
                self.modulus.as_ptr(),
                self.scratch.as_ptr(),
                self.montgomery.0.as_ptr(),
            )
        })?;
        Ok(power)
    }
}

/// `BN_MONT_CTX`.
#[derive(Debug)]
struct Montgomery(NonNull<BN_MONT_CTX>);

impl Montgomery {
    /// Fails unless the modulus is odd.
    fn new(modulus: &Number, scratch: &Scratch) -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked.
        let this = Self(NonNull::new(unsafe { BN_MONT_CTX_new() }).ok_or_else(Failed::last)?);
        // SAFETY: all are live.
        check(unsafe { BN_MONT_CTX_set(this.0.as_ptr(), modulus.as_ptr(), scratch.as_ptr()) })?;
        Ok(this)
    }
}

impl Drop for Montgomery {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { BN_MONT_CTX_free(self.0.as_ptr()) };
    }
}

#[repr(C)]
struct BN_MONT_CTX {
    _private: [u8; 0],
}

unsafe extern "C" {
    // Not declared by openssl-sys.
    fn BN_MONT_CTX_new() -> *mut BN_MONT_CTX;
    fn BN_MONT_CTX_set(
        montgomery: *mut BN_MONT_CTX,
        modulus: *const sys::BIGNUM,
        scratch: *mut sys::BN_CTX,
    ) -> c_int;
    fn BN_MONT_CTX_free(montgomery: *mut BN_MONT_CTX);
    fn BN_mod_exp_mont(
        power: *mut sys::BIGNUM,
        base: *const sys::BIGNUM,
        exponent: *const sys::BIGNUM,
        modulus: *const sys::BIGNUM,
        scratch: *mut sys::BN_CTX,
        montgomery: *mut BN_MONT_CTX,
    ) -> c_int;
}
