//! The server under load, as a client sees it: where it is and what it has to answer.

use std::net::SocketAddr;
use std::sync::Arc;

use clap::ValueEnum;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConfig, ClientConnection, Resumption};
use rustls::crypto::SupportedKxGroup;
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    DigitallySignedStruct, Error, HandshakeKind, NamedGroup, SignatureScheme,
    SupportedProtocolVersion, version,
};

use super::opening::Protocol;

/// Versions of TLS.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Version {
    #[value(name = "1.2")]
    Tls12,
    #[value(name = "1.3")]
    Tls13,
}

/// Groups of the key exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Group {
    X25519,
    /// With ML-KEM-768, in TLS 1.3.
    #[value(name = "x25519mlkem768")]
    X25519MlKem768,
}

impl Group {
    /// Its name in servers' configurations.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::X25519 => "X25519",
            Self::X25519MlKem768 => "X25519MLKEM768",
        }
    }

    /// What a server is to be told, before its other groups; `None` if it takes the group as it is.
    pub(super) const fn list(self) -> Option<&'static str> {
        match self {
            Self::X25519 => None,
            Self::X25519MlKem768 => Some("X25519MLKEM768:X25519"),
        }
    }

    const fn number(self) -> NamedGroup {
        match self {
            Self::X25519 => NamedGroup::X25519,
            Self::X25519MlKem768 => NamedGroup::X25519MLKEM768,
        }
    }

    /// Whether the client can use it on this CPU: Graviola, which has ML-KEM, needs more than others.
    pub(super) fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        let has_features = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("adx")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq");
        #[cfg(not(target_arch = "x86_64"))]
        let has_features = true;
        self == Self::X25519 || has_features
    }
}

/// Address, and the answers that count as right.
///
/// The client is rustls: it shares no code with the server, and no provider of OpenSSL's can be
/// in its way. It costs a third of what OpenSSL's own client does.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) protocol: Protocol,
    pub(super) group: Group,
    config: Arc<ClientConfig>,
}

impl Version {
    /// Its number.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        }
    }

    const fn supported(self) -> &'static SupportedProtocolVersion {
        match self {
            Self::Tls12 => &version::TLS12,
            Self::Tls13 => &version::TLS13,
        }
    }
}

impl Target {
    /// A server at `address` that speaks `version` and shows `certificate` (DER).
    ///
    /// Handshakes are ephemeral over `group` with AES-128-GCM. The certificate has to be the
    /// expected one, and the server has to prove that it owns the key.
    pub(super) fn new(
        address: SocketAddr,
        version: Version,
        group: Group,
        certificate: Vec<u8>,
    ) -> Result<Self, Error> {
        let mut suites = ring::default_provider();
        // In TLS 1.2 the groups are also those that the certificate's key may be of.
        let exchange: &dyn SupportedKxGroup = match group {
            Group::X25519 => ring::kx_group::X25519,
            Group::X25519MlKem768 => rustls_graviola::kx::X25519MLKEM768,
        };
        suites.kx_groups = vec![
            exchange,
            ring::kx_group::SECP256R1,
            ring::kx_group::SECP384R1,
        ];
        suites.cipher_suites = vec![
            ring::cipher_suite::TLS13_AES_128_GCM_SHA256,
            ring::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            ring::cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        ];
        let suites = Arc::new(suites);
        let expected = Expected {
            certificate: certificate.into(),
            suites: Arc::clone(&suites),
        };
        let mut config = ClientConfig::builder_with_provider(suites)
            .with_protocol_versions(&[version.supported()])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(expected))
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        config.enable_sni = false;
        Ok(Self {
            address,
            protocol: Protocol::Tls,
            group,
            config: Arc::new(config),
        })
    }

    /// The same server, if it speaks this protocol.
    pub(super) fn speaking(self, protocol: Protocol) -> Self {
        Self { protocol, ..self }
    }

    /// A client that has yet to say hello.
    pub(super) fn client(&self) -> Result<ClientConnection, Error> {
        let name = ServerName::IpAddress(self.address.ip().into());
        ClientConnection::new(Arc::clone(&self.config), name)
    }
}

/// Checks that a completed handshake was a full one over `expected`, without a second ClientHello.
pub(super) fn check(client: &ClientConnection, expected: Group) -> Result<(), String> {
    let kind = client.handshake_kind();
    if kind != Some(HandshakeKind::Full) {
        return Err(format!("not a full handshake without a retry: {kind:?}"));
    }
    let group = client.negotiated_key_exchange_group();
    match group.map(|group| group.name()) {
        Some(group) if group == expected.number() => Ok(()),
        other => Err(format!(
            "a key exchange over {other:?}, not {}",
            expected.name()
        )),
    }
}

/// The certificate that a server has to show.
#[derive(Debug)]
struct Expected {
    certificate: CertificateDer<'static>,
    suites: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Expected {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _stapled: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match *shown == self.certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(Error::General(
                "the server presented an unexpected certificate".to_owned(),
            )),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.suites.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.suites.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.suites.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
