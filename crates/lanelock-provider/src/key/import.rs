//! A key's numbers, by way of the default provider's export and import.

use std::ffi::{CStr, c_int, c_void};

use lanelock::public_key::{Curve, KeyKind, RsaNumbers, SecretKey};
use zeroize::Zeroizing;

use super::Key;
use crate::default_provider::KEYMGMT;
use crate::ffi::boundary::boundary;
use crate::ffi::functions::Keymgmt;
use crate::ffi::params::{Given, Reader, Request};
use crate::ffi::{OSSL_PARAM, SELECT_KEYPAIR, SELECT_PARAMETERS};
use crate::spare::Pair;

/// The secret key: `None` for a kind without lanes, or a key without its secret half. A session
/// computes the public half anew to compare it with one that is given `with_public`.
///
/// # Errors
/// The default provider does not export it, this time.
pub(super) fn secret(key: &Key, with_public: bool) -> Result<Option<SecretKey>, NotExported> {
    let export = key.functions().export.ok_or(NotExported)?;
    let mut parse = Parse {
        name: KEYMGMT[key.index()],
        with_public,
        secret: Err(NotExported),
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
    with_public: bool,
    secret: Result<Option<SecretKey>, NotExported>,
}

/// No key was seen.
pub(super) struct NotExported;

unsafe extern "C" fn exported(params: *const OSSL_PARAM, parse: *mut c_void) -> c_int {
    boundary(|| {
        // SAFETY: `secret` passed it, and the array lasts for this call.
        let (parse, reader) = unsafe { (&mut *parse.cast::<Parse>(), Reader::new(params)) };
        parse.secret = Ok(match parse.name.to_bytes() {
            b"RSA" | b"RSA-PSS" => rsa(&reader),
            b"EC" => ec(&reader, parse.with_public),
            b"ED25519" => raw(KeyKind::Ed25519, &reader),
            b"X25519" => raw(KeyKind::X25519, &reader),
            _ => None,
        });
        1
    })
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

fn ec(reader: &Reader, with_public: bool) -> Option<SecretKey> {
    let curve = curve(reader.text(c"group")?)?;
    let scalar = big_endian(reader.digits(c"priv")?);
    // Exported numbers are padded to the order's length.
    let public = reader.octets(c"pub").filter(|_| with_public);
    SecretKey::ec(curve, &scalar, public).ok()
}

/// A curve that has lanes, by libcrypto's names for it.
pub(crate) fn curve(group: &str) -> Option<Curve> {
    match group {
        "prime256v1" | "P-256" => Some(Curve::P256),
        "secp384r1" | "P-384" => Some(Curve::P384),
        _ => None,
    }
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

/// The name of an EC key's group, if keys generated in it are written as all are by default: by that
/// name, and with uncompressed points.
pub(super) fn plain_group(key: &Key) -> Option<String> {
    let (mut group, mut encoding, mut form) = ([0; 64], [0; 64], [0; 64]);
    let mut request = Request::<4>::new()
        .text(c"group", &mut group)
        .text(c"encoding", &mut encoding)
        .text(c"point-format", &mut form);
    let get_params = key.functions().get_params?;
    // SAFETY: as above.
    if unsafe { get_params(key.inner, request.as_mut_ptr()) } != 1 {
        return None;
    }
    let text = |text| CStr::from_bytes_until_nul(text).ok()?.to_str().ok();
    let is_plain = text(&encoding)? == "named_curve" && text(&form)? == "uncompressed";
    is_plain.then_some(text(&group)?.to_owned())
}

/// The default provider's key of a generated pair.
pub(super) fn pair(theirs: &Keymgmt, state: *mut c_void, pair: &Pair) -> Option<*mut c_void> {
    let digits = big_endian(&pair.secret);
    let raw = Given::<4>::new().octets(c"pub", &pair.public);
    let params = match pair.kind {
        KeyKind::Ec(Curve::P256) => raw.text(c"group", c"prime256v1").digits(c"priv", &digits),
        KeyKind::Ec(Curve::P384) => raw.text(c"group", c"secp384r1").digits(c"priv", &digits),
        KeyKind::X25519 => raw.octets(c"priv", &pair.secret),
        _ => return None,
    };
    let (new, import, free) = (theirs.new?, theirs.import?, theirs.free?);
    let selection = SELECT_KEYPAIR | SELECT_PARAMETERS;
    // SAFETY: a key of these functions, and a terminated array that lasts for the call.
    unsafe {
        let key = new(state);
        if key.is_null() {
            return None;
        }
        if import(key, selection, params.as_ptr()) == 1 {
            return Some(key);
        }
        free(key);
    }
    None
}
