//! `BIGNUM` and curve arithmetic, for checks that are made once for each key.

use std::ffi::c_int;
use std::ptr::{self, NonNull};

use lanelock_public_key::Curve;
use openssl_sys as sys;

use super::{Failed, check};

/// `BN_FLG_CONSTTIME` of openssl/bn.h.
const CONSTANT_TIME: c_int = 4;

/// `POINT_CONVERSION_UNCOMPRESSED` of openssl/ec.h.
const UNCOMPRESSED: sys::point_conversion_form_t =
    sys::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;

/// A non-negative number, wiped on drop, whose operations are told to take constant time unless it
/// says otherwise.
#[derive(Debug)]
pub(crate) struct Number(NonNull<sys::BIGNUM>);

// SAFETY: plain memory, reached through `&mut` alone or read.
unsafe impl Send for Number {}

impl Number {
    pub(super) fn new() -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked.
        let number = NonNull::new(unsafe { sys::BN_new() }).ok_or_else(Failed::last)?;
        // SAFETY: the number is live.
        unsafe { sys::BN_set_flags(number.as_ptr(), CONSTANT_TIME) };
        Ok(Self(number))
    }

    pub(crate) fn from_bytes(big_endian: &[u8]) -> Result<Self, Failed> {
        let number = Self::new()?;
        let len = c_int::try_from(big_endian.len()).map_err(|_| Failed::MISUSE)?;
        // SAFETY: reads `len` bytes into the live number.
        let read = unsafe { sys::BN_bin2bn(big_endian.as_ptr(), len, number.0.as_ptr()) };
        if read.is_null() {
            return Err(Failed::last());
        }
        Ok(number)
    }

    /// A copy for powers whose exponent is public: told to take constant time, libcrypto hides the
    /// exponent, and a short one takes five times as long.
    pub(super) fn for_public_exponent(&self) -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked. Unlike `new`, this sets no flag.
        let copy = Self(NonNull::new(unsafe { sys::BN_new() }).ok_or_else(Failed::last)?);
        // SAFETY: both are live; the flag is not copied.
        match unsafe { BN_copy(copy.as_ptr(), self.as_ptr()) }.is_null() {
            true => Err(Failed::last()),
            false => Ok(copy),
        }
    }

    /// This number less `other`, which is not above it.
    pub(crate) fn minus(&self, other: &Self) -> Result<Self, Failed> {
        let difference = Self::new()?;
        // SAFETY: all are live.
        check(unsafe { sys::BN_sub(difference.as_ptr(), self.as_ptr(), other.as_ptr()) })?;
        Ok(difference)
    }

    pub(crate) fn times(&self, other: &Self) -> Result<Self, Failed> {
        let (product, scratch) = (Self::new()?, Scratch::new()?);
        // SAFETY: all are live.
        check(unsafe {
            sys::BN_mul(
                product.0.as_ptr(),
                self.0.as_ptr(),
                other.0.as_ptr(),
                scratch.0.as_ptr(),
            )
        })?;
        Ok(product)
    }

    pub(crate) fn modulo(&self, modulus: &Self) -> Result<Self, Failed> {
        let (rest, scratch) = (Self::new()?, Scratch::new()?);
        // SAFETY: all are live.
        check(unsafe {
            sys::BN_nnmod(
                rest.0.as_ptr(),
                self.0.as_ptr(),
                modulus.0.as_ptr(),
                scratch.0.as_ptr(),
            )
        })?;
        Ok(rest)
    }

    pub(crate) fn equals(&self, other: &Self) -> bool {
        // SAFETY: both are live.
        unsafe { sys::BN_cmp(self.0.as_ptr(), other.0.as_ptr()) == 0 }
    }

    /// Whether it is the square of a number other than 0, modulo the odd prime `p`.
    pub(crate) fn is_square_modulo(&self, p: &Self) -> Result<bool, Failed> {
        let scratch = Scratch::new()?;
        // SAFETY: all are live.
        let symbol = unsafe { BN_kronecker(self.as_ptr(), p.as_ptr(), scratch.as_ptr()) };
        match symbol {
            -1..=1 => Ok(symbol == 1),
            _ => Err(Failed::last()),
        }
    }

    fn is_below(&self, other: &Self) -> bool {
        // SAFETY: both are live.
        unsafe { sys::BN_cmp(self.0.as_ptr(), other.0.as_ptr()) < 0 }
    }

    pub(super) fn as_ptr(&self) -> *mut sys::BIGNUM {
        self.0.as_ptr()
    }

    fn to_bytes(&self, len: usize) -> Result<Vec<u8>, Failed> {
        let mut bytes = vec![0; len];
        let room = c_int::try_from(len).map_err(|_| Failed::MISUSE)?;
        // SAFETY: writes `room` bytes.
        let written = unsafe { sys::BN_bn2binpad(self.0.as_ptr(), bytes.as_mut_ptr(), room) };
        if written < 0 {
            return Err(Failed::last());
        }
        Ok(bytes)
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::BN_clear_free(self.0.as_ptr()) };
    }
}

/// `BN_CTX`: room for what a calculation needs in between.
#[derive(Debug)]
pub(super) struct Scratch(NonNull<sys::BN_CTX>);

impl Scratch {
    pub(super) fn new() -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked.
        NonNull::new(unsafe { sys::BN_CTX_new() })
            .map(Self)
            .ok_or_else(Failed::last)
    }

    pub(super) fn as_ptr(&self) -> *mut sys::BN_CTX {
        self.0.as_ptr()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::BN_CTX_free(self.0.as_ptr()) };
    }
}

/// A curve's group.
pub(crate) struct CurveGroup {
    group: NonNull<sys::EC_GROUP>,
    curve: Curve,
}

impl CurveGroup {
    /// The group; fails for curves that this libcrypto lacks.
    pub(crate) fn new(curve: Curve) -> Result<Self, Failed> {
        let id = match curve {
            Curve::P256 => sys::NID_X9_62_prime256v1,
            Curve::P384 => sys::NID_secp384r1,
            Curve::P521 => sys::NID_secp521r1,
            Curve::Sm2 => 1172, // NID_sm2 of openssl/obj_mac.h
            _ => return Err(Failed::MISUSE),
        };
        // SAFETY: any number may be asked for; null is checked.
        let group = NonNull::new(unsafe { sys::EC_GROUP_new_by_curve_name(id) });
        let group = group.ok_or_else(Failed::last)?;
        Ok(Self { group, curve })
    }

    /// The order, big-endian.
    pub(crate) fn order(&self) -> Result<Vec<u8>, Failed> {
        self.order_number()?.to_bytes(self.curve.field_len())
    }

    /// The public point of `scalar`, uncompressed; `None` if the scalar is not below the order.
    pub(crate) fn public_of(&self, scalar: &[u8]) -> Result<Option<Vec<u8>>, Failed> {
        let scalar = Number::from_bytes(scalar)?;
        if !scalar.is_below(&self.order_number()?) {
            return Ok(None);
        }
        let group = self.group.as_ptr();
        let scratch = Scratch::new()?;
        let point = Point::new(self)?;
        // SAFETY: all are live; with the generator alone the multiplication takes constant time.
        check(unsafe {
            sys::EC_POINT_mul(
                group,
                point.0.as_ptr(),
                scalar.0.as_ptr(),
                ptr::null(),
                ptr::null(),
                scratch.0.as_ptr(),
            )
        })?;
        let mut encoded = vec![0; 1 + 2 * self.curve.field_len()];
        let (to, room) = (encoded.as_mut_ptr(), encoded.len());
        // SAFETY: writes at most `room` bytes.
        let len = unsafe {
            sys::EC_POINT_point2oct(
                group,
                point.0.as_ptr(),
                UNCOMPRESSED,
                to,
                room,
                scratch.0.as_ptr(),
            )
        };
        if len != room {
            return Err(Failed::last());
        }
        Ok(Some(encoded))
    }

    fn order_number(&self) -> Result<Number, Failed> {
        let order = Number::new()?;
        // SAFETY: both are live; no scratch is needed.
        check(unsafe {
            sys::EC_GROUP_get_order(self.group.as_ptr(), order.0.as_ptr(), ptr::null_mut())
        })?;
        Ok(order)
    }
}

impl Drop for CurveGroup {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::EC_GROUP_free(self.group.as_ptr()) };
    }
}

struct Point(NonNull<sys::EC_POINT>);

impl Point {
    fn new(group: &CurveGroup) -> Result<Self, Failed> {
        // SAFETY: the group is live; null is checked.
        NonNull::new(unsafe { sys::EC_POINT_new(group.group.as_ptr()) })
            .map(Self)
            .ok_or_else(Failed::last)
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::EC_POINT_free(self.0.as_ptr()) };
    }
}

unsafe extern "C" {
    // Not declared by openssl-sys.
    fn BN_copy(to: *mut sys::BIGNUM, from: *const sys::BIGNUM) -> *mut sys::BIGNUM;
    fn BN_kronecker(
        number: *const sys::BIGNUM,
        modulus: *const sys::BIGNUM,
        scratch: *mut sys::BN_CTX,
    ) -> c_int;
}
