//! The table of algorithms: a row for each family. Names, validation, what engines offer and what
//! tests and tools enumerate derive from it.

use super::row::{AEAD, CIPHER, HASH, HMAC, MAC, Row};
use crate::sizes;
use crate::sizes::Sizes;

/// Makes an enum of the families of one kind, the list of all, and the look-up of a row.
macro_rules! families {
    (
        $(#[$about:meta])*
        pub enum $Kind:ident: $Row:ty {
            $($(#[$doc:meta])* $Family:ident = $row:expr,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum $Kind {
            $($(#[$doc])* $Family,)+
        }

        impl $Kind {
            /// Every family of this kind.
            pub const ALL: &'static [Self] = &[$(Self::$Family),+];

            pub(super) const fn facts(self) -> $Row {
                match self {
                    $(Self::$Family => const { $row },)+
                }
            }
        }
    };
}

families! {
    /// A cipher family; the key's length selects the member.
    ///
    /// ```
    /// # use lanelock_core as lanelock;
    /// use lanelock::{Cipher, Transform};
    ///
    /// let spec = Transform::encrypt(Cipher::AesCbc, &[0; 24]).spec();
    /// assert_eq!(spec.to_string(), "aes-192-cbc");
    /// assert_eq!(Cipher::AesCbc.key_sizes().to_string(), "16, 24 or 32");
    /// ```
    pub enum Cipher: Row {
        /// AES in cipher block chaining mode (NIST SP 800-38A, 6.2), without padding.
        AesCbc = Row {
            name: "aes-cbc",
            members: &["aes-128-cbc", "aes-192-cbc", "aes-256-cbc"],
            key: sizes![16, 24, 32],
            block: 16,
            ..CIPHER
        },
        /// AES in counter mode (NIST SP 800-38A, 6.5); the IV is the whole first counter block and
        /// is incremented as a 128-bit big-endian number.
        AesCtr = Row {
            name: "aes-ctr",
            members: &["aes-128-ctr", "aes-192-ctr", "aes-256-ctr"],
            key: sizes![16, 24, 32],
            ..CIPHER
        },
        /// AES in cipher feedback mode with 128-bit segments (NIST SP 800-38A, 6.3); the last segment
        /// may be shorter.
        AesCfb = Row {
            name: "aes-cfb",
            members: &["aes-128-cfb", "aes-192-cfb", "aes-256-cfb"],
            key: sizes![16, 24, 32],
            ..CIPHER
        },
        /// AES in output feedback mode (NIST SP 800-38A, 6.4). Never reuse an IV under one key.
        AesOfb = Row {
            name: "aes-ofb",
            members: &["aes-128-ofb", "aes-192-ofb", "aes-256-ofb"],
            key: sizes![16, 24, 32],
            ..CIPHER
        },
        /// AES in electronic codebook mode (NIST SP 800-38A, 6.1).
        AesEcb = Row {
            name: "aes-ecb",
            members: &["aes-128-ecb", "aes-192-ecb", "aes-256-ecb"],
            key: sizes![16, 24, 32],
            iv: Sizes::NONE,
            default_iv: 0,
            block: 16,
            ..CIPHER
        },
        /// AES-XTS (IEEE 1619, NIST SP 800-38E) with ciphertext stealing; one operation is one data
        /// unit, and the IV is its tweak. The key is two AES keys.
        AesXts = Row {
            name: "aes-xts",
            members: &["aes-128-xts", "aes-256-xts"],
            key: sizes![32, 64],
            min_payload: 16,
            // 2^20 blocks in one data unit: IEEE 1619, 5.1.
            max_payload: Some(16 << 20),
            ..CIPHER
        },
        /// AES-CBC with residual block termination (DOCSIS Baseline Privacy): any length.
        AesDocsis = Row {
            name: "aes-docsis",
            members: &["aes-128-docsis", "aes-256-docsis"],
            key: sizes![16, 32],
            ..CIPHER
        },
        /// Triple DES (NIST SP 800-67) in CBC mode; a key of 16 bytes is two-key triple DES.
        TripleDesCbc = Row {
            name: "3des-cbc",
            members: &["3des-2key-cbc", "3des-cbc"],
            key: sizes![16, 24],
            block: 8,
            ..DES
        },
        /// Triple DES in counter mode; the IV is a 64-bit big-endian counter block.
        TripleDesCtr = Row {
            name: "3des-ctr",
            members: &["3des-2key-ctr", "3des-ctr"],
            key: sizes![16, 24],
            ..DES
        },
        /// Single DES in CBC mode.
        DesCbc = Row {
            name: "des-cbc",
            key: sizes![8],
            block: 8,
            ..DES
        },
        /// Single DES-CBC with residual block termination (DOCSIS Baseline Privacy): any length.
        DesDocsis = Row {
            name: "des-docsis",
            key: sizes![8],
            ..DES
        },
        /// ChaCha20 (RFC 8439, 2.4); the IV is the 32-bit little-endian counter, then the nonce. A
        /// counter that wraps carries into the nonce's first word, as in OpenSSL: a 64-bit counter.
        ChaCha20 = Row {
            name: "chacha20",
            key: sizes![32],
            native_block: 64,
            ..CIPHER
        },
        /// Camellia (RFC 3713) in CBC mode.
        CamelliaCbc = Row {
            name: "camellia-cbc",
            members: &["camellia-128-cbc", "camellia-192-cbc", "camellia-256-cbc"],
            key: sizes![16, 24, 32],
            block: 16,
            ..CIPHER
        },
    }
}

/// What the modes of DES have in common.
const DES: Row = Row {
    iv: sizes![8],
    default_iv: 8,
    native_block: 8,
    ..CIPHER
};

/// A MAC family.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::{Hash, Mac, Transform};
///
/// let spec = Transform::compute(Mac::Hmac(Hash::Sha256), b"any length").spec();
/// assert_eq!(spec.to_string(), "hmac-sha256");
/// assert_eq!(Mac::AesCmac.tag_sizes().max(), 16);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Mac {
    /// HMAC (RFC 2104, FIPS 198-1) over a hash with [`Hash::has_hmac`].
    Hmac(Hash),
    /// AES-CMAC (RFC 4493, NIST SP 800-38B).
    AesCmac,
    /// AES-GMAC (NIST SP 800-38D): GCM over additional data alone. Never reuse an IV.
    AesGmac,
    /// Poly1305 (RFC 8439, 2.5). Its key is for one message: a session that authenticates two
    /// messages with it reveals the key, so make a session per message or use an AEAD.
    Poly1305,
    /// KMAC128 (NIST SP 800-185, section 4), with an optional customization string
    /// ([`crate::Transform::customization`]). The length of the tag is authenticated too: a shorter
    /// tag is not a prefix of a longer one.
    Kmac128,
    /// KMAC256 (NIST SP 800-185, section 4): as [`Mac::Kmac128`].
    Kmac256,
}

impl Mac {
    /// Every MAC, HMAC once for each hash that has it.
    pub const ALL: &'static [Self] = &[
        Self::Hmac(Hash::Md5),
        Self::Hmac(Hash::Sha1),
        Self::Hmac(Hash::Sha224),
        Self::Hmac(Hash::Sha256),
        Self::Hmac(Hash::Sha384),
        Self::Hmac(Hash::Sha512),
        Self::Hmac(Hash::Sha3_224),
        Self::Hmac(Hash::Sha3_256),
        Self::Hmac(Hash::Sha3_384),
        Self::Hmac(Hash::Sha3_512),
        Self::AesCmac,
        Self::AesGmac,
        Self::Poly1305,
        Self::Kmac128,
        Self::Kmac256,
    ];

    pub(super) const fn facts(self) -> Row {
        match self {
            Self::Hmac(hash) => hash.facts().hmac,
            Self::AesCmac => Row {
                name: "aes-cmac",
                members: &["aes-128-cmac", "aes-192-cmac", "aes-256-cmac"],
                key: sizes![16, 24, 32],
                ..MAC
            },
            Self::AesGmac => Row {
                name: "aes-gmac",
                members: &["aes-128-gmac", "aes-192-gmac", "aes-256-gmac"],
                key: sizes![16, 24, 32],
                iv: sizes![1..=128],
                default_iv: 12,
                ..MAC
            },
            Self::Poly1305 => Row {
                name: "poly1305",
                key: sizes![32],
                tag: sizes![16],
                ..MAC
            },
            Self::Kmac128 => Row {
                name: "kmac128",
                default_tag: 32,
                ..KMAC
            },
            Self::Kmac256 => Row {
                name: "kmac256",
                default_tag: 64,
                ..KMAC
            },
        }
    }
}

/// What both KMACs have in common. Keys, customization strings and tags have no bound in SP 800-185;
/// these are OpenSSL's, and that of a tag which is compared.
const KMAC: Row = Row {
    key: sizes![4..=512],
    tag: sizes![4..=64],
    customization: sizes![0..=512],
    ..MAC
};

/// A hash's row, and that of HMAC over it.
#[derive(Clone, Copy)]
pub(super) struct HashRow {
    pub(super) digest: Row,
    pub(super) hmac: Row,
    /// Whether HMAC is offered over it. Its row has lengths anyway, for a transform that is refused.
    pub(super) has_hmac: bool,
}

/// The rows of a hash by its name and the length of its digest; a session may ask for a prefix.
macro_rules! hash {
    ($name:literal, $len:literal) => {
        HashRow {
            digest: Row {
                name: $name,
                tag: sizes![1..=$len],
                default_tag: $len,
                ..HASH
            },
            hmac: Row {
                name: concat!("hmac-", $name),
                tag: sizes![4..=$len],
                default_tag: $len,
                ..HMAC
            },
            has_hmac: true,
        }
    };
}

/// The rows of an extendable-output function; the length is the one that gives its full strength
/// (FIPS 202, A.1).
macro_rules! extendable {
    ($name:literal, $len:literal) => {
        HashRow {
            digest: Row {
                tag: sizes![1..=65535],
                ..hash!($name, $len).digest
            },
            has_hmac: false,
            ..hash!($name, $len)
        }
    };
}

/// The rows of an extendable-output function with a customization string.
macro_rules! customizable {
    ($name:literal, $len:literal) => {
        HashRow {
            digest: Row {
                customization: sizes![0..=512],
                ..extendable!($name, $len).digest
            },
            ..extendable!($name, $len)
        }
    };
}

families! {
    /// A hash or extendable-output function.
    ///
    /// ```
    /// # use lanelock_core as lanelock;
    /// use lanelock::Hash;
    ///
    /// assert_eq!(Hash::Sha256.digest_len(), 32);
    /// assert!(Hash::Shake128.is_xof());
    /// ```
    pub enum Hash: HashRow {
        /// MD5 (RFC 1321).
        Md5 = hash!("md5", 16),
        /// SHA-1 (FIPS 180-4).
        Sha1 = hash!("sha1", 20),
        /// SHA-224 (FIPS 180-4).
        Sha224 = hash!("sha224", 28),
        /// SHA-256 (FIPS 180-4).
        Sha256 = hash!("sha256", 32),
        /// SHA-384 (FIPS 180-4).
        Sha384 = hash!("sha384", 48),
        /// SHA-512 (FIPS 180-4).
        Sha512 = hash!("sha512", 64),
        /// SHA3-224 (FIPS 202).
        Sha3_224 = hash!("sha3-224", 28),
        /// SHA3-256 (FIPS 202).
        Sha3_256 = hash!("sha3-256", 32),
        /// SHA3-384 (FIPS 202).
        Sha3_384 = hash!("sha3-384", 48),
        /// SHA3-512 (FIPS 202).
        Sha3_512 = hash!("sha3-512", 64),
        /// SHAKE128 (FIPS 202): the digest length is the session's.
        Shake128 = extendable!("shake128", 32),
        /// SHAKE256 (FIPS 202): the digest length is the session's.
        Shake256 = extendable!("shake256", 64),
        /// cSHAKE128 (NIST SP 800-185, section 3): SHAKE128 with a customization string
        /// ([`crate::Transform::customization`]), and SHAKE128 itself without one. The function name,
        /// which is NIST's to give, is empty.
        CShake128 = customizable!("cshake128", 32),
        /// cSHAKE256 (NIST SP 800-185, section 3): as [`Hash::CShake128`].
        CShake256 = customizable!("cshake256", 64),
        /// BLAKE2b with 64 bytes of output (RFC 7693).
        Blake2b512 = HashRow { has_hmac: false, ..hash!("blake2b-512", 64) },
        /// BLAKE2s with 32 bytes of output (RFC 7693).
        Blake2s256 = HashRow { has_hmac: false, ..hash!("blake2s-256", 32) },
    }
}

families! {
    /// An AEAD family; the key's length selects the member.
    ///
    /// ```
    /// # use lanelock_core as lanelock;
    /// use lanelock::{Aead, Transform};
    ///
    /// let spec = Transform::seal(Aead::ChaCha20Poly1305, &[0; 32]).spec();
    /// assert_eq!(spec.to_string(), "chacha20-poly1305");
    /// assert_eq!(Aead::AesGcm.default_iv_len(), 12);
    /// ```
    pub enum Aead: Row {
        /// AES-GCM (NIST SP 800-38D). Never reuse an IV under one key.
        AesGcm = Row {
            name: "aes-gcm",
            members: &["aes-128-gcm", "aes-192-gcm", "aes-256-gcm"],
            key: sizes![16, 24, 32],
            iv: sizes![1..=128],
            tag: sizes![4..=16],
            ..AEAD
        },
        /// AES-CCM (NIST SP 800-38C, RFC 3610). Never reuse a nonce under one key.
        AesCcm = Row {
            name: "aes-ccm",
            members: &["aes-128-ccm", "aes-192-ccm", "aes-256-ccm"],
            key: sizes![16, 24, 32],
            iv: sizes![7..=13],
            tag: sizes![4..=16; 2],
            max_payload: Some(ONE_CALL),
            // The length goes into the 15 - n bytes that a nonce of n leaves: SP 800-38C, A.1.
            max_payload_by_iv: &[(12, (1 << 24) - 1), (13, u16::MAX as u32)],
            ..AEAD
        },
        /// AES-GCM-SIV (RFC 8452): a nonce that is used twice reveals whether messages are equal, and
        /// nothing else.
        AesGcmSiv = Row {
            name: "aes-gcm-siv",
            members: &["aes-128-gcm-siv", "aes-256-gcm-siv"],
            key: sizes![16, 32],
            max_payload: Some(ONE_CALL),
            ..AEAD
        },
        /// AES-SIV (RFC 5297). The key is an AES-CMAC key followed by an AES-CTR key. The tag is
        /// the synthetic IV: in RFC 5297's output, the 16 bytes in front of the ciphertext.
        ///
        /// It authenticates one component of additional data (empty if there is none), then the
        /// nonce, if the session has an IV ([`crate::Transform::iv_len`]), then the plaintext.
        /// Without a nonce, or with one that is used twice, it reveals which messages are equal in
        /// all of these, and nothing else.
        AesSiv = Row {
            name: "aes-siv",
            members: &["aes-128-siv", "aes-192-siv", "aes-256-siv"],
            key: sizes![32, 48, 64],
            iv: sizes![0..=128],
            default_iv: 0,
            ..AEAD
        },
        /// ChaCha20-Poly1305 (RFC 8439). Never reuse a nonce under one key.
        ChaCha20Poly1305 = Row {
            name: "chacha20-poly1305",
            key: sizes![32],
            ..AEAD
        },
        /// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03, 2): the nonce of 24 bytes is long enough
        /// to be drawn at random.
        XChaCha20Poly1305 = Row {
            name: "xchacha20-poly1305",
            key: sizes![32],
            iv: sizes![24],
            default_iv: 24,
            ..AEAD
        },
    }
}

/// Longest message of an algorithm that OpenSSL takes in one call, whose length is an `int`. A bound
/// is the same for all engines.
const ONE_CALL: u32 = i32::MAX.unsigned_abs();
