//! Signatures of messages with an algorithm that was fetched (EVP_PKEY_sign_message_init(3)).

use std::ffi::{CStr, c_char, c_int};

use openssl_sys as sys;
use openssl_sys::{EVP_PKEY_CTX, OSSL_LIB_CTX, OSSL_PARAM};

use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library, errors};

enum Signature {}

unsafe extern "C" {
    fn EVP_SIGNATURE_fetch(
        library: *mut OSSL_LIB_CTX,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut Signature;
    fn EVP_SIGNATURE_free(signature: *mut Signature);
}

type Init = unsafe extern "C" fn(*mut EVP_PKEY_CTX, *mut Signature, *const OSSL_PARAM) -> c_int;

/// A function that is there from OpenSSL 3.4 on.
fn newer(name: &CStr) -> Option<Init> {
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut libc::c_void, Init>(found) })
}

#[test]
fn messages_are_signed_and_verified_as_by_the_default_provider() {
    let functions = (
        newer(c"EVP_PKEY_sign_message_init"),
        newer(c"EVP_PKEY_verify_message_init"),
    );
    let (Some(sign_init), Some(verify_init)) = functions else {
        eprintln!("SKIPPED: EVP_PKEY_sign_message_init; libcrypto has it from 3.4 on");
        return;
    };
    let library = Library::new();
    let kind = Kind::Raw(c"ED25519");
    let message = b"a message";
    let mut signatures = Vec::new();
    let key = Key::generate(&library, kind, LANELOCK);
    assert_eq!(key.provider(), "lanelock");
    for (key, properties) in [
        (&key, LANELOCK),
        (&key.in_provider(c"ED25519", DEFAULT), DEFAULT),
    ] {
        unsafe {
            let name = c"ED25519".as_ptr();
            let signature = EVP_SIGNATURE_fetch(library.as_ptr(), name, properties.as_ptr());
            assert!(!signature.is_null(), "{}", errors());
            let (mut made, mut len) = ([0; 64], 64);
            let ctx = key.context();
            assert_eq!(
                sign_init(ctx, signature, std::ptr::null()),
                1,
                "{}",
                errors()
            );
            let (at, size) = (message.as_ptr(), message.len());
            let done = sys::EVP_PKEY_sign(ctx, made.as_mut_ptr(), &raw mut len, at, size);
            assert_eq!((done, len), (1, 64), "{}", errors());
            sys::EVP_PKEY_CTX_free(ctx);
            for (text, expected) in [(message.as_slice(), 1), (b"another", 0)] {
                let ctx = key.context();
                assert_eq!(
                    verify_init(ctx, signature, std::ptr::null()),
                    1,
                    "{}",
                    errors()
                );
                let verdict =
                    sys::EVP_PKEY_verify(ctx, made.as_ptr(), len, text.as_ptr(), text.len());
                assert_eq!(verdict, expected);
                errors();
                sys::EVP_PKEY_CTX_free(ctx);
            }
            EVP_SIGNATURE_free(signature);
            signatures.push(made);
        }
    }
    assert_eq!(signatures[0], signatures[1]);
}
