//! Handshakes with a TLS library that shares no code with OpenSSL or lanelock: rustls over Graviola.

use std::ffi::{c_int, c_long, c_uchar, c_void};
use std::io::{Read, Write};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use openssl_sys as sys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, Error, NamedGroup,
    ServerConfig, ServerConnection, SignatureScheme,
};

use crate::alone;
use crate::openssl::{Key, Kind, LANELOCK, Library, errors};
use crate::tls::{Context, TLS1_3, WANT_ASYNC, WANT_READ};

unsafe extern "C" {
    fn SSL_CTX_get0_certificate(context: *const sys::SSL_CTX) -> *mut sys::X509;
    fn i2d_X509(certificate: *mut sys::X509, to: *mut *mut c_uchar) -> c_int;
    fn i2d_PrivateKey(key: *const sys::EVP_PKEY, to: *mut *mut c_uchar) -> c_int;
}

/// X25519MLKEM768 of another implementation, and no other group.
fn peer() -> Arc<CryptoProvider> {
    let mut provider = rustls_graviola::default_provider();
    provider
        .kx_groups
        .retain(|group| group.name() == NamedGroup::X25519MLKEM768);
    assert_eq!(provider.kx_groups.len(), 1);
    Arc::new(provider)
}

/// Takes whatever certificate proves its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("not with TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = self.0.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

fn client() -> Connection {
    let provider = peer();
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let client = ClientConnection::new(Arc::new(config), name).expect("a client");
    client.into()
}

/// With the certificate of `context` and its key.
fn server(context: &Context, key: &Key<'_>) -> Connection {
    /// What one of OpenSSL's functions writes.
    fn der(write: impl Fn(*mut *mut c_uchar) -> c_int) -> Vec<u8> {
        let len = usize::try_from(write(null_mut())).expect("a length");
        let mut der = vec![0; len];
        let mut to = der.as_mut_ptr();
        write(&raw mut to);
        der
    }
    let certificate = unsafe { SSL_CTX_get0_certificate(context.0.as_ptr()) };
    let certificate = der(|to| unsafe { i2d_X509(certificate, to) });
    let key = der(|to| unsafe { i2d_PrivateKey(key.as_ptr(), to) });
    let key = PrivateKeyDer::try_from(key).expect("a key");
    let config = ServerConfig::builder_with_provider(peer())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.into()], key)
        .expect("a certificate");
    let server = ServerConnection::new(Arc::new(config)).expect("a server");
    server.into()
}

/// One of OpenSSL's ends of a connection, over memory.
struct End {
    ssl: NonNull<sys::SSL>,
    /// Of the end.
    reads: *mut sys::BIO,
    writes: *mut sys::BIO,
}

impl End {
    fn new(context: &Context, is_server: bool) -> Self {
        unsafe {
            let ssl = NonNull::new(sys::SSL_new(context.0.as_ptr())).expect("a connection");
            let memory = || sys::BIO_new(sys::BIO_s_mem());
            let (reads, writes) = (memory(), memory());
            // An empty one is to be asked again.
            const SET_EOF_RETURN: c_int = 130;
            for memory in [reads, writes] {
                sys::BIO_ctrl(memory, SET_EOF_RETURN, c_long::from(-1), null_mut());
            }
            sys::SSL_set_bio(ssl.as_ptr(), reads, writes);
            match is_server {
                true => sys::SSL_set_accept_state(ssl.as_ptr()),
                false => sys::SSL_set_connect_state(ssl.as_ptr()),
            }
            Self { ssl, reads, writes }
        }
    }

    /// Passes on what both ends have written.
    fn exchange(&mut self, peer: &mut Connection) {
        let mut bytes = vec![0; 1 << 16];
        let room = c_int::try_from(bytes.len()).expect("small");
        let at = bytes.as_mut_ptr().cast::<c_void>();
        while let Ok(len) = usize::try_from(unsafe { sys::BIO_read(self.writes, at, room) }) {
            let mut sent = &bytes[..len];
            while !sent.is_empty() {
                peer.read_tls(&mut sent).expect("from memory");
                peer.process_new_packets().expect("what rustls takes");
            }
            if len == 0 {
                break;
            }
        }
        let mut answer = Vec::new();
        while peer.wants_write() {
            peer.write_tls(&mut answer).expect("to memory");
        }
        let len = c_int::try_from(answer.len()).expect("small");
        let written = unsafe { sys::BIO_write(self.reads, answer.as_ptr().cast(), len) };
        assert!(written == len || len == 0);
    }

    /// Shakes hands and exchanges a word in both directions.
    fn check(mut self, mut peer: Connection) {
        for turn in 0.. {
            assert!(turn < 100, "the handshake never finishes");
            let done = unsafe { sys::SSL_do_handshake(self.ssl.as_ptr()) };
            let error = unsafe { sys::SSL_get_error(self.ssl.as_ptr(), done) };
            assert!([0, WANT_READ, WANT_ASYNC].contains(&error), "{}", errors());
            self.exchange(&mut peer);
            if done == 1 && !peer.is_handshaking() {
                break;
            }
        }
        let group = peer.negotiated_key_exchange_group();
        let group = group.map(|group| group.name());
        assert_eq!(group, Some(NamedGroup::X25519MLKEM768));
        let mut word = [0; 4];
        unsafe {
            assert_eq!(
                sys::SSL_write(self.ssl.as_ptr(), b"ping".as_ptr().cast(), 4),
                4
            )
        };
        self.exchange(&mut peer);
        peer.reader().read_exact(&mut word).expect("a word");
        assert_eq!(&word, b"ping");
        peer.writer().write_all(b"pong").expect("a word");
        self.exchange(&mut peer);
        let read = unsafe { sys::SSL_read(self.ssl.as_ptr(), word.as_mut_ptr().cast(), 4) };
        assert_eq!((read, &word), (4, b"pong"));
    }
}

impl Drop for End {
    fn drop(&mut self) {
        unsafe { sys::SSL_free(self.ssl.as_ptr()) };
    }
}

/// What Graviola needs.
fn can_run() -> bool {
    #[cfg(target_arch = "x86_64")]
    let can = is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("adx")
        && is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let can = true;
    if !can {
        eprintln!("SKIPPED: handshakes with rustls; Graviola needs AVX2, ADX and BMI2");
    }
    can
}

#[test]
fn rustls_agrees_on_x25519mlkem768_as_client_and_as_server() {
    let _alone = alone();
    if !can_run() {
        return;
    }
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-256"), LANELOCK);
    let serving = Context::server(&library, &key, Some(c"SHA256"), TLS1_3);
    let connecting = Context::client(&library, TLS1_3);
    for context in [&serving, &connecting] {
        context.set_groups(c"X25519MLKEM768").expect("a group");
    }
    for _ in 0..3 {
        End::new(&serving, true).check(client());
        End::new(&connecting, false).check(server(&serving, &key));
    }
}
