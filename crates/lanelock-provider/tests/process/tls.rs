//! TLS handshakes in asynchronous mode, both ends in this process.

use std::ffi::{c_char, c_int, c_long};
use std::ptr::{NonNull, null_mut};

use openssl_sys as sys;
use openssl_sys::{OSSL_LIB_CTX, SSL, SSL_CTX, X509};

use crate::generation::in_lanes;
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

/// The groups that combine ML-KEM with a curve, by their numbers.
const HYBRIDS: [(&std::ffi::CStr, c_long); 3] = [
    (c"X25519MLKEM768", HYBRID),
    (c"SecP256r1MLKEM768", 0x0100_0000 | 0x11eb),
    (c"SecP384r1MLKEM1024", 0x0100_0000 | 0x11ed),
];

/// What two ends with libssl's own preferences agree on.
fn usual_group(version: c_long) -> c_long {
    match version {
        TLS1_3 if unsafe { sys::OpenSSL_version_num() } >= 0x3050_0000 => HYBRID,
        _ => NID_X25519,
    }
}

pub(crate) struct Context(pub(crate) NonNull<SSL_CTX>);

impl Context {
    pub(crate) fn client(library: &Library, version: c_long) -> Self {
        Self::new(library, unsafe { sys::TLS_client_method() }, version)
    }

    /// The groups that are offered or taken, the preferred first.
    pub(crate) fn set_groups(&self, list: &std::ffi::CStr) -> Result<(), String> {
        let list = list.as_ptr().cast_mut().cast();
        match unsafe { sys::SSL_CTX_ctrl(self.0.as_ptr(), SET_GROUPS_LIST, 0, list) } {
            1 => Ok(()),
            _ => Err(errors()),
        }
    }

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
            // Version 3, which rustls wants.
            assert_eq!(sys::X509_set_version(certificate, 2), 1);
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

/// Shakes the hands of all; how often one of them paused.
fn drive(connections: &[Connection], what: &str) -> usize {
    let (mut paused, mut turns) = (0, 0);
    loop {
        let mut done = true;
        for connection in connections {
            for end in [connection.client, connection.server] {
                match Connection::step(end) {
                    0 => {}
                    WANT_ASYNC => {
                        paused += 1;
                        done = false;
                    }
                    WANT_READ => done = false,
                    other => panic!("{what}: error {other}: {}", errors()),
                }
            }
        }
        turns += 1;
        assert!(turns < 100, "{what} never finishes");
        if done {
            return paused;
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
            let encapsulations = in_lanes("ml-kem-768-encapsulate");
            let paused = drive(&connections, &format!("{kind:?}"));
            if has_lanes() {
                assert!(paused > 0, "{kind:?} {version:x}");
            }
            let encapsulated = in_lanes("ml-kem-768-encapsulate") - encapsulations;
            let has_exchange = has_lanes() && usual_group(version) == HYBRID;
            assert_eq!(encapsulated > 0, has_exchange, "{kind:?} {version:x}");
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

#[test]
fn handshakes_agree_on_groups_with_ml_kem_that_are_asked_for() {
    let _alone = alone();
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-256"), LANELOCK);
    let server = Context::server(&library, &key, Some(c"SHA256"), TLS1_3);
    let client = Context::client(&library, TLS1_3);
    unsafe { sys::SSL_CTX_ctrl(client.0.as_ptr(), SET_MODE, MODE_ASYNC, null_mut()) };
    for (name, number) in HYBRIDS {
        for end in [&server, &client] {
            end.set_groups(name).expect("a group");
        }
        for count in [1, 12] {
            let connections: Vec<_> = (0..count)
                .map(|_| Connection::new(&client, &server))
                .collect();
            let paused = drive(&connections, &format!("{name:?}"));
            // A handshake by itself has its two ends for company, which is none.
            assert!(paused > 0 || count == 1 || !has_lanes(), "{name:?}");
            for connection in &connections {
                assert_eq!(connection.group(), number, "{name:?}");
            }
        }
    }
}

/// Before 3.5, libssl's own list has no group of a module's: a server that is told of none answers a
/// client that prefers one by asking for another.
#[test]
fn a_server_that_is_told_of_no_groups_has_those_of_libssl() {
    let _alone = alone();
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-256"), LANELOCK);
    let server = Context::server(&library, &key, Some(c"SHA256"), TLS1_3);
    let client = Context::client(&library, TLS1_3);
    client.set_groups(c"X25519MLKEM768:X25519").expect("groups");
    let connections = [Connection::new(&client, &server)];
    drive(&connections, "a hello that is retried");
    assert_eq!(connections[0].group(), usual_group(TLS1_3));
}

/// Without the groups of ML-KEM among its algorithms, the module offers neither keys nor groups.
#[test]
fn groups_with_ml_kem_can_be_left_out() {
    let _alone = alone();
    let has_theirs = unsafe { sys::OpenSSL_version_num() } >= 0x3050_0000;
    for (line, is_ours) in [
        ("algorithms = rsa x25519 ecdh", false),
        ("algorithms = ml-kem", true),
    ] {
        let file = crate::configuration::file(line);
        let library = Library::empty();
        let configured = library.configure(&file);
        std::fs::remove_file(&file).expect("removed");
        configured.expect("configured");
        for (name, _) in HYBRIDS {
            let name = Kind::Raw(name);
            let key = Key::try_generate(&library, name, c"provider=lanelock");
            assert_eq!(key.is_ok(), is_ours, "{line}");
            let client = Context::client(&library, TLS1_3);
            let Kind::Raw(list) = name else { continue };
            let set = client.set_groups(list);
            assert_eq!(set.is_ok(), is_ours || has_theirs, "{line}: {set:?}");
        }
    }
}
