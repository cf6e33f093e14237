//! TLS handshakes in asynchronous mode, both ends in this process.

use std::ffi::{c_char, c_int, c_long};
use std::ptr::{NonNull, null_mut};

use openssl_sys as sys;
use openssl_sys::{OSSL_LIB_CTX, SSL, SSL_CTX, X509};

use crate::openssl::{Key, Kind, LANELOCK, Library, errors};
use crate::{alone, descriptors};
use lanelock_testkit::has_lanes;

unsafe extern "C" {
    fn SSL_CTX_new_ex(
        library: *mut OSSL_LIB_CTX,
        properties: *const c_char,
        method: *const sys::SSL_METHOD,
    ) -> *mut SSL_CTX;
    fn X509_new_ex(library: *mut OSSL_LIB_CTX, properties: *const c_char) -> *mut X509;
    fn EVP_MD_fetch(
        library: *mut OSSL_LIB_CTX,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut sys::EVP_MD;
    fn EVP_MD_free(digest: *mut sys::EVP_MD);
    fn BIO_new_bio_pair(
        one: *mut *mut sys::BIO,
        one_size: usize,
        other: *mut *mut sys::BIO,
        other_size: usize,
    ) -> c_int;
}

const SET_MIN_PROTO_VERSION: c_int = 123;
const SET_MAX_PROTO_VERSION: c_int = 124;
const GET_NEGOTIATED_GROUP: c_int = 134;
const SET_MODE: c_int = 33;
const MODE_ASYNC: c_long = 0x100;
pub(crate) const WANT_ASYNC: c_int = 9;
pub(crate) const WANT_READ: c_int = 2;
pub(crate) const TLS1_2: c_long = 0x303;
pub(crate) const TLS1_3: c_long = 0x304;
pub(crate) const SET_GROUPS_LIST: c_int = 92;
pub(crate) const NID_X25519: c_long = 1034;
/// X25519MLKEM768: the number of TLS, marked as one that has no NID.
const HYBRID: c_long = 0x0100_0000 | 0x11ec;

/// What two ends with libssl's own preferences agree on.
fn usual_group(version: c_long) -> c_long {
    match version {
        TLS1_3 if unsafe { sys::OpenSSL_version_num() } >= 0x3050_0000 => HYBRID,
        _ => NID_X25519,
    }
}

pub(crate) struct Context(pub(crate) NonNull<SSL_CTX>);

impl Context {
    pub(crate) fn new(library: &Library, method: *const sys::SSL_METHOD, version: c_long) -> Self {
        unsafe {
            let context = SSL_CTX_new_ex(library.as_ptr(), LANELOCK.as_ptr(), method);
            let context = NonNull::new(context).unwrap_or_else(|| panic!("{}", errors()));
            sys::SSL_CTX_ctrl(context.as_ptr(), SET_MIN_PROTO_VERSION, version, null_mut());
            sys::SSL_CTX_ctrl(context.as_ptr(), SET_MAX_PROTO_VERSION, version, null_mut());
            Self(context)
        }
    }

    pub(crate) fn server(
        library: &Library,
        key: &Key<'_>,
        digest: Option<&std::ffi::CStr>,
        version: c_long,
    ) -> Self {
        let context = Self::new(library, unsafe { sys::TLS_server_method() }, version);
        unsafe {
            let certificate = X509_new_ex(library.as_ptr(), LANELOCK.as_ptr());
            sys::X509_gmtime_adj(sys::X509_getm_notBefore(certificate), 0);
            sys::X509_gmtime_adj(sys::X509_getm_notAfter(certificate), 3600);
            assert_eq!(sys::X509_set_pubkey(certificate, key.as_ptr()), 1);
            let fetch = |name: &std::ffi::CStr| {
                EVP_MD_fetch(library.as_ptr(), name.as_ptr(), std::ptr::null())
            };
            let digest = digest.map_or(null_mut(), fetch);
            assert!(
                sys::X509_sign(certificate, key.as_ptr(), digest) > 0,
                "{}",
                errors()
            );
            EVP_MD_free(digest);
            let raw = context.0.as_ptr();
            assert_eq!(
                sys::SSL_CTX_use_certificate(raw, certificate),
                1,
                "{}",
                errors()
            );
            assert_eq!(
                sys::SSL_CTX_use_PrivateKey(raw, key.as_ptr()),
                1,
                "{}",
                errors()
            );
            sys::SSL_CTX_ctrl(raw, SET_MODE, MODE_ASYNC, null_mut());
            sys::X509_free(certificate);
        }
        context
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { sys::SSL_CTX_free(self.0.as_ptr()) };
    }
}

/// A client and a server that talk to each other.
pub(crate) struct Connection {
    pub(crate) client: NonNull<SSL>,
    pub(crate) server: NonNull<SSL>,
}

impl Connection {
    pub(crate) fn new(client: &Context, server: &Context) -> Self {
        unsafe {
            let (mut one, mut other) = (null_mut(), null_mut());
            assert_eq!(BIO_new_bio_pair(&raw mut one, 0, &raw mut other, 0), 1);
            let client = NonNull::new(sys::SSL_new(client.0.as_ptr())).expect("a client");
            let server = NonNull::new(sys::SSL_new(server.0.as_ptr())).expect("a server");
            sys::SSL_set_bio(client.as_ptr(), one, one);
            sys::SSL_set_bio(server.as_ptr(), other, other);
            sys::SSL_set_connect_state(client.as_ptr());
            sys::SSL_set_accept_state(server.as_ptr());
            Self { client, server }
        }
    }

    /// What a step of one end waits for; 0 if its handshake is done.
    pub(crate) fn step(end: NonNull<SSL>) -> c_int {
        unsafe {
            let result = sys::SSL_do_handshake(end.as_ptr());
            match result {
                1 => 0,
                _ => sys::SSL_get_error(end.as_ptr(), result),
            }
        }
    }

    pub(crate) fn group(&self) -> c_long {
        unsafe { sys::SSL_ctrl(self.client.as_ptr(), GET_NEGOTIATED_GROUP, 0, null_mut()) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        unsafe {
            sys::SSL_free(self.server.as_ptr());
            sys::SSL_free(self.client.as_ptr());
        }
    }
}

#[test]
fn handshakes_pause_finish_and_use_the_usual_group() {
    let _alone = alone();
    let library = Library::new();
    // The engines keep some of their own, from the first round on.
    let mut kept = Vec::new();
    for (kind, digest) in [
        (Kind::Rsa(2048), Some(c"SHA256")),
        (Kind::Ec(c"P-256"), Some(c"SHA256")),
        (Kind::Raw(c"ED25519"), None),
    ] {
        for version in [TLS1_2, TLS1_3] {
            let key = Key::generate(&library, kind, LANELOCK);
            let server = Context::server(&library, &key, digest, version);
            let client = Context::new(&library, unsafe { sys::TLS_client_method() }, version);
            let connections: Vec<_> = (0..12).map(|_| Connection::new(&client, &server)).collect();
            let mut paused = 0;
            let mut turns = 0;
            loop {
                let mut done = true;
                for connection in &connections {
                    for end in [connection.client, connection.server] {
                        match Connection::step(end) {
                            0 => {}
                            WANT_ASYNC => {
                                paused += 1;
                                done = false;
                            }
                            WANT_READ => done = false,
                            other => panic!("{kind:?}: error {other}: {}", errors()),
                        }
                    }
                }
                turns += 1;
                assert!(turns < 100, "{kind:?} never finishes");
                if done {
                    break;
                }
            }
            if has_lanes() {
                assert!(paused > 0, "{kind:?} {version:x}");
            }
            for connection in &connections {
                let expected = usual_group(version);
                assert_eq!(connection.group(), expected, "{kind:?} {version:x}");
            }
            drop(connections);
            kept.push(descriptors());
        }
    }
    assert!(kept.iter().all(|&count| count == kept[0]), "{kept:?}");
}
