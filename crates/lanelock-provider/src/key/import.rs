//! A key's numbers, by way of the default provider's export.

use std::ffi::{CStr, c_int, c_void};

use lanelock::public_key::{Curve, KeyKind, RsaNumbers, SecretKey};
use zeroize::Zeroizing;

use super::Key;
use crate::ffi::params::{Reader, Request};
use crate::ffi::{OSSL_PARAM, SELECT_KEYPAIR, SELECT_PARAMETERS};
use crate::provider::KEYMGMT;

/// The secret key; `None` for a kind without lanes, or a key without its secret half.
pub(super) fn secret(key: &Key) -> Option<SecretKey> {
    let export = key.functions().export?;
    let mut parse = Parse {
        name: KEYMGMT[key.index()],
        secret: None,
    };
    // SAFETY: a key of these functions; the callback gets what it takes.
    let _one_on_success = unsafe {
        export(
            key.inner,
            SELECT_KEYPAIR | SELECT_PARAMETERS,
            Some(exported),
            std::ptr::from_mut(&mut parse).cast(),
        )
    };
    parse.secret
}

struct Parse {
    name: &'static CStr,
    secret: Option<SecretKey>,
}

unsafe extern "C" fn exported(params: *const OSSL_PARAM, parse: *mut c_void) -> c_int {
    // SAFETY: `secret` passed it, and the array lasts for this call.
    let (parse, reader) = unsafe { (&mut *parse.cast::<Parse>(), Reader::new(params)) };
    parse.secret = match parse.name.to_bytes() {
        b"RSA" | b"RSA-PSS" => rsa(&reader),
        b"EC" => ec(&reader),
        b"ED25519" => raw(KeyKind::Ed25519, &reader),
        b"X25519" => raw(KeyKind::X25519, &reader),
        _ => None,
    };
    1
}

fn rsa(reader: &Reader) -> Option<SecretKey> {
    // A third factor makes a key of another form (RFC 8017, 3.2).
    if reader.has(c"rsa-factor3") {
        return None;
    }
    let number = |name| reader.digits(name).map(big_endian);
    let (n, e, d) = (number(c"n")?, number(c"e")?, number(c"d")?);
    let (p, q) = (number(c"rsa-factor1")?, number(c"rsa-factor2")?);
    let (dp, dq) = (number(c"rsa-exponent1")?, number(c"rsa-exponent2")?);
    let qinv = number(c"rsa-coefficient1")?;
    let numbers = RsaNumbers {
        n: &n,
        e: &e,
        d: &d,
        p: &p,
        q: &q,
        dp: &dp,
        dq: &dq,
        qinv: &qinv,
    };
    SecretKey::rsa(&numbers).ok()
}

fn ec(reader: &Reader) -> Option<SecretKey> {
    let curve = match reader.text(c"group")? {
        "prime256v1" | "P-256" => Curve::P256,
        "secp384r1" | "P-384" => Curve::P384,
        _ => return None,
    };
    let scalar = big_endian(reader.digits(c"priv")?);
    // Exported numbers are padded to the order's length.
    SecretKey::ec(curve, &scalar, reader.octets(c"pub")).ok()
}

fn raw(kind: KeyKind, reader: &Reader) -> Option<SecretKey> {
    SecretKey::raw(kind, reader.octets(c"priv")?).ok()
}

fn big_endian(digits: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(digits.iter().rev().copied().collect())
}

/// The public key as peers send it.
pub(super) fn public_bytes(key: &Key) -> Option<Vec<u8>> {
    // Room for an uncompressed point of P-521.
    let mut room = [0; 133];
    let mut request = Request::<2>::new().octets(c"encoded-pub-key", &mut room);
    let get_params = key.functions().get_params?;
    // SAFETY: a key of these functions, and a terminated array.
    if unsafe { get_params(key.inner, request.as_mut_ptr()) } != 1 {
        return None;
    }
    let len = request.written(0)?;
    room.get(..len).map(<[u8]>::to_vec)
}
