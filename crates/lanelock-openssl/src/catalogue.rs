//! What OpenSSL calls the algorithms, and which of them the loaded libcrypto has.

use std::ffi::CStr;
use std::sync::OnceLock;

use lanelock_core::engine::{Capability, Features};
use lanelock_core::{Aead, Algorithm, Cipher, Hash, Mac};

use crate::ffi::{self, CipherAlgorithm, DigestAlgorithm, Library, MacAlgorithm, RawDigest};

/// Ciphers by family and key length. Triple DES is always keyed with 24 bytes; ECB contexts serve
/// the counter mode and the residual blocks.
const CIPHERS: &[(Cipher, usize, &CStr)] = &[
    (Cipher::AesCbc, 16, c"AES-128-CBC"),
    (Cipher::AesCbc, 24, c"AES-192-CBC"),
    (Cipher::AesCbc, 32, c"AES-256-CBC"),
    (Cipher::AesCtr, 16, c"AES-128-CTR"),
    (Cipher::AesCtr, 24, c"AES-192-CTR"),
    (Cipher::AesCtr, 32, c"AES-256-CTR"),
    (Cipher::AesCfb, 16, c"AES-128-CFB"),
    (Cipher::AesCfb, 24, c"AES-192-CFB"),
    (Cipher::AesCfb, 32, c"AES-256-CFB"),
    (Cipher::AesOfb, 16, c"AES-128-OFB"),
    (Cipher::AesOfb, 24, c"AES-192-OFB"),
    (Cipher::AesOfb, 32, c"AES-256-OFB"),
    (Cipher::AesEcb, 16, c"AES-128-ECB"),
    (Cipher::AesEcb, 24, c"AES-192-ECB"),
    (Cipher::AesEcb, 32, c"AES-256-ECB"),
    (Cipher::AesXts, 32, c"AES-128-XTS"),
    (Cipher::AesXts, 64, c"AES-256-XTS"),
    (Cipher::TripleDesCbc, 24, c"DES-EDE3-CBC"),
    (Cipher::TripleDesCtr, 24, c"DES-EDE3-ECB"),
    (Cipher::ChaCha20, 32, c"ChaCha20"),
    (Cipher::CamelliaCbc, 16, c"CAMELLIA-128-CBC"),
    (Cipher::CamelliaCbc, 24, c"CAMELLIA-192-CBC"),
    (Cipher::CamelliaCbc, 32, c"CAMELLIA-256-CBC"),
];

/// What only the legacy provider has.
const LEGACY: &[(Cipher, usize, &CStr)] = &[
    (Cipher::DesCbc, 8, c"DES-CBC"),
    (Cipher::DesDocsis, 8, c"DES-ECB"),
];

const AEADS: &[(Aead, usize, &CStr)] = &[
    (Aead::AesGcm, 16, c"AES-128-GCM"),
    (Aead::AesGcm, 24, c"AES-192-GCM"),
    (Aead::AesGcm, 32, c"AES-256-GCM"),
    (Aead::AesCcm, 16, c"AES-128-CCM"),
    (Aead::AesCcm, 24, c"AES-192-CCM"),
    (Aead::AesCcm, 32, c"AES-256-CCM"),
    (Aead::AesGcmSiv, 16, c"AES-128-GCM-SIV"),
    (Aead::AesGcmSiv, 32, c"AES-256-GCM-SIV"),
    (Aead::ChaCha20Poly1305, 32, c"ChaCha20-Poly1305"),
    (Aead::XChaCha20Poly1305, 32, c"ChaCha20-Poly1305"),
];

const HASHES: &[(Hash, &CStr)] = &[
    (Hash::Md5, c"MD5"),
    (Hash::Sha1, c"SHA1"),
    (Hash::Sha224, c"SHA2-224"),
    (Hash::Sha256, c"SHA2-256"),
    (Hash::Sha384, c"SHA2-384"),
    (Hash::Sha512, c"SHA2-512"),
    (Hash::Sha3_224, c"SHA3-224"),
    (Hash::Sha3_256, c"SHA3-256"),
    (Hash::Sha3_384, c"SHA3-384"),
    (Hash::Sha3_512, c"SHA3-512"),
    (Hash::Shake128, c"SHAKE-128"),
    (Hash::Shake256, c"SHAKE-256"),
    // cSHAKE of a message that begins with its customization.
    (Hash::CShake128, c"KECCAK-KMAC-128"),
    (Hash::CShake256, c"KECCAK-KMAC-256"),
    (Hash::Blake2b512, c"BLAKE2B-512"),
    (Hash::Blake2s256, c"BLAKE2S-256"),
];

/// Every algorithm, fetched once. `None` in a row: this libcrypto lacks it.
#[derive(Debug)]
pub(crate) struct Catalogue {
    ciphers: Vec<Option<CipherAlgorithm>>,
    /// Fetched when one of them is asked for.
    legacy: OnceLock<Vec<Option<CipherAlgorithm>>>,
    aeads: Vec<Option<CipherAlgorithm>>,
    hashes: Vec<Option<DigestAlgorithm>>,
    hmac: Option<MacAlgorithm>,
    poly1305: Option<MacAlgorithm>,
    kmac128: Option<MacAlgorithm>,
    kmac256: Option<MacAlgorithm>,
    library: &'static Library,
}

impl Catalogue {
    pub(crate) fn new() -> Result<Self, String> {
        let library = Library::shared()?;
        let cipher = |name| CipherAlgorithm::fetch(library, name);
        Ok(Self {
            ciphers: CIPHERS.iter().map(|row| cipher(row.2)).collect(),
            legacy: OnceLock::new(),
            aeads: AEADS.iter().map(|row| cipher(row.2)).collect(),
            hashes: HASHES
                .iter()
                .map(|row| DigestAlgorithm::fetch(library, row.1))
                .collect(),
            hmac: MacAlgorithm::fetch(library, c"HMAC"),
            poly1305: MacAlgorithm::fetch(library, c"POLY1305"),
            kmac128: MacAlgorithm::fetch(library, c"KMAC-128"),
            kmac256: MacAlgorithm::fetch(library, c"KMAC-256"),
            library,
        })
    }

    /// One row for each algorithm family of which a member is there.
    pub(crate) fn capabilities(&self) -> Vec<Capability> {
        let ciphers = Cipher::ALL
            .iter()
            .filter(|&&c| self.has_cipher(c))
            .map(|&c| {
                let features = Features {
                    chains: true,
                    gathers_segments: c == Cipher::AesXts,
                    ..Features::default()
                };
                (Algorithm::Cipher(c), features)
            });
        let macs = Mac::ALL.iter().filter(|&&m| self.has_mac(m)).map(|&m| {
            let features = Features {
                chains: m.chains(),
                allocates: match m {
                    Mac::Hmac(hash) => restart_allocates(hash),
                    Mac::Kmac128 | Mac::Kmac256 => true,
                    _ => false,
                },
                rekeys: m == Mac::Poly1305,
                ..Features::default()
            };
            (Algorithm::Mac(m), features)
        });
        let hashes = HASHES
            .iter()
            .filter(|row| self.hash(row.0).is_some())
            .map(|row| {
                let allocates = restart_allocates(row.0);
                (
                    Algorithm::Hash(row.0),
                    Features {
                        allocates,
                        ..Features::default()
                    },
                )
            });
        let aeads = Aead::ALL.iter().filter(|&&a| self.has_aead(a)).map(|&a| {
            (
                Algorithm::Aead(a),
                Features {
                    gathers_segments: matches!(a, Aead::AesCcm | Aead::AesGcmSiv),
                    allocates: a == Aead::AesGcmSiv,
                    rekeys: matches!(a, Aead::XChaCha20Poly1305 | Aead::AesGcmSiv),
                    ..Features::default()
                },
            )
        });
        ciphers
            .chain(macs)
            .chain(hashes)
            .chain(aeads)
            .map(|(algorithm, features)| Capability::standard(algorithm, features))
            .collect()
    }

    /// Whether [`Catalogue::capabilities`] has the algorithm, a chain's halves. Looks no further
    /// than it must.
    pub(crate) fn offers(&self, algorithm: Algorithm) -> bool {
        match algorithm {
            Algorithm::Cipher(cipher) => self.has_cipher(cipher),
            Algorithm::Mac(mac) => self.has_mac(mac),
            Algorithm::Hash(hash) => self.hash(hash).is_some(),
            Algorithm::Aead(aead) => self.has_aead(aead),
            Algorithm::Chain(_, cipher, mac) => {
                mac.chains() && self.has_mac(mac) && self.has_cipher(cipher)
            }
            _ => false,
        }
    }

    fn legacy(&self) -> &[Option<CipherAlgorithm>] {
        self.legacy.get_or_init(|| {
            let library = Library::legacy();
            let fetch = |name| CipherAlgorithm::fetch(library?, name);
            LEGACY.iter().map(|row| fetch(row.2)).collect()
        })
    }

    pub(crate) fn library(&self) -> &Library {
        self.library
    }

    pub(crate) fn cipher(&self, family: Cipher, key_len: usize) -> Option<&CipherAlgorithm> {
        let at = |rows: &[(Cipher, usize, &CStr)]| {
            rows.iter()
                .position(|row| (row.0, row.1) == (family, key_len))
        };
        match at(CIPHERS) {
            Some(at) => self.ciphers[at].as_ref(),
            None => self.legacy()[at(LEGACY)?].as_ref(),
        }
    }

    pub(crate) fn aead(&self, family: Aead, key_len: usize) -> Option<&CipherAlgorithm> {
        let at = AEADS
            .iter()
            .position(|row| (row.0, row.1) == (family, key_len))?;
        self.aeads[at].as_ref()
    }

    pub(crate) fn hash(&self, hash: Hash) -> Option<&DigestAlgorithm> {
        self.hashes[HASHES.iter().position(|row| row.0 == hash)?].as_ref()
    }

    pub(crate) fn hmac(&self) -> Option<&MacAlgorithm> {
        self.hmac.as_ref()
    }

    pub(crate) fn poly1305(&self) -> Option<&MacAlgorithm> {
        self.poly1305.as_ref()
    }

    pub(crate) fn kmac(&self, mac: Mac) -> Option<&MacAlgorithm> {
        match mac {
            Mac::Kmac128 => self.kmac128.as_ref(),
            Mac::Kmac256 => self.kmac256.as_ref(),
            _ => None,
        }
    }

    fn has_cipher(&self, cipher: Cipher) -> bool {
        match cipher {
            Cipher::AesDocsis => self.has_cipher(Cipher::AesCbc) && self.has_cipher(Cipher::AesEcb),
            Cipher::DesCbc => self.cipher(Cipher::DesCbc, 8).is_some(),
            Cipher::DesDocsis => {
                self.has_cipher(Cipher::DesCbc) && self.cipher(Cipher::DesDocsis, 8).is_some()
            }
            _ => CIPHERS
                .iter()
                .zip(&self.ciphers)
                .any(|(row, c)| row.0 == cipher && c.is_some()),
        }
    }

    fn has_mac(&self, mac: Mac) -> bool {
        match mac {
            Mac::Hmac(hash) => self.hmac.is_some() && self.hash(hash).is_some(),
            Mac::AesCmac => self.has_cipher(Cipher::AesCbc),
            Mac::AesGmac => self.has_aead(Aead::AesGcm),
            Mac::Poly1305 => self.poly1305.is_some(),
            Mac::Kmac128 | Mac::Kmac256 => self.kmac(mac).is_some(),
            _ => false,
        }
    }

    fn has_aead(&self, aead: Aead) -> bool {
        let is_there = || {
            let mut rows = AEADS.iter().zip(&self.aeads);
            rows.any(|(row, a)| row.0 == aead && a.is_some())
        };
        match aead {
            // Its keys are derived with the cipher.
            Aead::XChaCha20Poly1305 => self.has_cipher(Cipher::ChaCha20) && is_there(),
            Aead::AesSiv => self.has_cipher(Cipher::AesCbc) && self.has_cipher(Cipher::AesCtr),
            _ => is_there(),
        }
    }
}

/// OpenSSL's name of a hash.
pub(crate) fn hash_name(hash: Hash) -> Option<&'static CStr> {
    HASHES.iter().find(|row| row.0 == hash).map(|row| row.1)
}

/// Whether restarting `hash` allocates: before 3.5 an EVP digest gets a new state.
fn restart_allocates(hash: Hash) -> bool {
    RawDigest::new(hash).is_none() && ffi::version_number() < (3, 5)
}
