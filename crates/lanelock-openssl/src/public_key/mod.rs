//! Public keys through `EVP_PKEY`.
//!
//! Each queue keeps a key of its own for each session, and one context that was initialised with
//! all its settings; an operation is then one call, two where a message is hashed or a peer's key
//! is set. libcrypto itself protects private keys in most ways: RSA's base is blinded, ECDSA and
//! DSA draw each nonce from random bytes hashed with key and digest. But it does not always check
//! an RSA result: never with a key without factors, and otherwise only before it repeats the
//! computation without the CRT. So each result is checked here, which costs a public operation.
//!
//! RSA decryption first decrypts and checks a block, and then looks at its padding. For PKCS #1
//! v1.5 this crate has implicit rejection of its own: libcrypto has it only from 3.2 on, and what
//! earlier versions reveal about a malformed block is an oracle.

mod agree;
mod container;
mod encrypt;
mod export;
mod fault;
mod form;
mod generate;
mod import;
mod names;
mod session;
mod sign;
mod subgroup;

use std::sync::Arc;

use lanelock_core::Hash;
use lanelock_public_key::engine::{KeyCapability, KeyEngine, KeyEngineSession, KeyReader};
use lanelock_public_key::{
    Curve, EncryptionScheme, KeyError, KeyKind, KeySpec, KeyTransform, MlDsa, MlKem, Oaep,
    Operation, Pss, PublicKey, Scheme, SecretKey, SignatureScheme,
};

use crate::catalogue::Catalogue;
use crate::ffi::{ErrorMark, PKeyContext};
use session::OpenSslKeySession;

/// The public-key half of the engine.
pub(crate) struct PublicKeys {
    catalogue: Arc<Catalogue>,
}

impl PublicKeys {
    /// What libcrypto has.
    pub(crate) fn new(catalogue: Arc<Catalogue>) -> Self {
        Self { catalogue }
    }
}

impl KeyEngine for PublicKeys {
    fn capabilities(&self) -> Vec<KeyCapability> {
        let _mark = ErrorMark::set();
        let library = self.catalogue.library();
        let has =
            |kind| names::key_type(kind).is_some_and(|name| PKeyContext::has_type(library, name));
        let kinds = kinds().into_iter().filter(|&kind| has(kind));
        kinds.flat_map(rows).collect()
    }

    fn open(&self, transform: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let _mark = ErrorMark::set();
        let kind = transform.spec().kind;
        let Some(name) = names::key_type(kind) else {
            return Err(import::lacks(kind));
        };
        if !PKeyContext::has_type(self.catalogue.library(), name) && !is_dsa(kind) {
            return Err(import::lacks(kind));
        }
        if let (KeyKind::Dh(bits), Operation::Generate) = (kind, transform.spec().operation)
            && names::ffdhe(bits).is_none()
        {
            let why =
                "Diffie-Hellman keys can be generated with 2048, 3072, 4096, 6144 or 8192 bits";
            return Err(KeyError::unsupported(transform.spec(), why));
        }
        Ok(Box::new(OpenSslKeySession::open(
            &self.catalogue,
            transform,
        )?))
    }

    fn keys(&self) -> Option<&dyn KeyReader> {
        Some(self)
    }
}

impl KeyReader for PublicKeys {
    fn read_secret(&self, bytes: &[u8], passphrase: Option<&[u8]>) -> Result<SecretKey, KeyError> {
        let _mark = ErrorMark::set();
        let library = self.catalogue.library();
        export::secret(&container::secret(library, bytes, passphrase)?)
    }

    fn read_public(&self, bytes: &[u8]) -> Result<PublicKey, KeyError> {
        let _mark = ErrorMark::set();
        export::public(&container::public(self.catalogue.library(), bytes)?)
    }

    fn public_of(&self, key: &SecretKey) -> Result<PublicKey, KeyError> {
        let _mark = ErrorMark::set();
        import::public_of(self.catalogue.library(), key)
    }
}

/// DSA keys can be used although libcrypto generates none without parameters.
fn is_dsa(kind: KeyKind) -> bool {
    matches!(kind, KeyKind::Dsa(_))
}

/// The usual sizes of each kind, for tables.
fn kinds() -> Vec<KeyKind> {
    let rsa = [2048, 3072, 4096].map(KeyKind::Rsa).into_iter();
    let ec = Curve::ALL.iter().map(|&curve| KeyKind::Ec(curve));
    let rest = [
        KeyKind::X25519,
        KeyKind::X448,
        KeyKind::Ed25519,
        KeyKind::Ed448,
        KeyKind::Dh(2048),
        KeyKind::Dsa(2048),
    ];
    let kem = MlKem::ALL.iter().map(|&set| KeyKind::MlKem(set));
    let dsa = MlDsa::ALL.iter().map(|&set| KeyKind::MlDsa(set));
    rsa.chain(ec).chain(rest).chain(kem).chain(dsa).collect()
}

/// What is offered for a kind, one row for each operation and padding.
fn rows(kind: KeyKind) -> Vec<KeyCapability> {
    use Operation as Op;
    let hash = Hash::Sha256;
    let signature = |scheme| {
        [Op::Sign, Op::Verify]
            .map(|operation| (operation, Scheme::Signature(scheme)))
            .to_vec()
    };
    let encryption = |scheme| {
        [Op::Encrypt, Op::Decrypt]
            .map(|operation| (operation, Scheme::Encryption(scheme)))
            .to_vec()
    };
    let plain = |operations: &[Op]| -> Vec<_> {
        operations
            .iter()
            .map(|&operation| (operation, Scheme::Plain))
            .collect()
    };
    let uses = match kind {
        KeyKind::Rsa(_) => [
            signature(SignatureScheme::RsaPkcs1(hash)),
            signature(SignatureScheme::RsaPss(Pss::of(hash))),
            encryption(EncryptionScheme::RsaPkcs1),
            encryption(EncryptionScheme::RsaOaep(Oaep::of(hash))),
            encryption(EncryptionScheme::RsaRaw),
            plain(&[Op::Generate]),
        ]
        .concat(),
        KeyKind::Ec(Curve::Sm2) => [
            signature(SignatureScheme::Sm2),
            encryption(EncryptionScheme::Sm2),
            plain(&[Op::Generate]),
        ]
        .concat(),
        KeyKind::Ec(_) => [
            signature(SignatureScheme::Ecdsa(hash)),
            plain(&[Op::Derive, Op::Generate]),
        ]
        .concat(),
        KeyKind::Ed25519 | KeyKind::Ed448 => {
            [signature(SignatureScheme::EdDsa), plain(&[Op::Generate])].concat()
        }
        KeyKind::Dsa(_) => signature(SignatureScheme::Dsa(hash)),
        KeyKind::MlDsa(_) => [signature(SignatureScheme::MlDsa), plain(&[Op::Generate])].concat(),
        KeyKind::MlKem(_) => plain(&[Op::Generate, Op::Encapsulate, Op::Decapsulate]),
        _ => plain(&[Op::Derive, Op::Generate]),
    };
    uses.into_iter()
        .map(|(operation, scheme)| KeyCapability {
            spec: KeySpec {
                operation,
                kind,
                scheme,
            },
            lanes: 1,
        })
        .collect()
}
