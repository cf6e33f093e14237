//! What a session will do: an algorithm, a direction, its keys and its lengths.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::algorithm::{Aead, Algorithm, Cipher, Hash, Mac, Order};
use crate::session::SessionError;

/// Whether a session protects messages or undoes the protection.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::transform::Direction;
/// use lanelock::{Aead, Transform};
///
/// let open = Transform::open(Aead::AesGcm, &[7; 16]);
/// assert_eq!(open.direction(), Direction::Reverse);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Direction {
    /// Encrypt, compute a tag or digest, or both.
    Forward,
    /// Decrypt, verify a tag, or both.
    Reverse,
}

/// A description of a session, with its keys: the argument of [`crate::Device::session`].
///
/// The constructors copy the keys; the copies are wiped on drop. Lengths are validated when the
/// session is made.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::{Aead, Transform};
///
/// let transform = Transform::seal(Aead::AesGcm, &[0; 16]).tag_len(12);
/// assert_eq!(transform.spec().to_string(), "aes-128-gcm");
/// ```
#[derive(Clone)]
pub struct Transform {
    algorithm: Algorithm,
    direction: Direction,
    key: Zeroizing<Vec<u8>>,
    mac_key: Zeroizing<Vec<u8>>,
    iv_len: usize,
    tag_len: usize,
    customization: Vec<u8>,
}

impl Transform {
    /// Encrypts with a cipher.
    #[must_use]
    pub fn encrypt(cipher: Cipher, key: &[u8]) -> Self {
        Self::new(Algorithm::Cipher(cipher), Direction::Forward, key, &[])
    }

    /// Decrypts with a cipher.
    #[must_use]
    pub fn decrypt(cipher: Cipher, key: &[u8]) -> Self {
        Self::new(Algorithm::Cipher(cipher), Direction::Reverse, key, &[])
    }

    /// Computes a MAC's tag.
    #[must_use]
    pub fn compute(mac: Mac, key: &[u8]) -> Self {
        Self::new(Algorithm::Mac(mac), Direction::Forward, key, &[])
    }

    /// Verifies a MAC's tag.
    #[must_use]
    pub fn verify(mac: Mac, key: &[u8]) -> Self {
        Self::new(Algorithm::Mac(mac), Direction::Reverse, key, &[])
    }

    /// Computes a digest, which is written where a tag would be.
    #[must_use]
    pub fn hash(hash: Hash) -> Self {
        Self::new(Algorithm::Hash(hash), Direction::Forward, &[], &[])
    }

    /// Encrypts and authenticates with an AEAD.
    #[must_use]
    pub fn seal(aead: Aead, key: &[u8]) -> Self {
        Self::new(Algorithm::Aead(aead), Direction::Forward, key, &[])
    }

    /// Verifies and decrypts with an AEAD.
    #[must_use]
    pub fn open(aead: Aead, key: &[u8]) -> Self {
        Self::new(Algorithm::Aead(aead), Direction::Reverse, key, &[])
    }

    /// Encrypts the cipher range, then computes a tag over the authenticated range, of which the
    /// encrypted part is read as ciphertext.
    #[must_use]
    pub fn encrypt_then_mac(cipher: Cipher, key: &[u8], mac: Mac, mac_key: &[u8]) -> Self {
        let algorithm = Algorithm::Chain(Order::EncryptThenMac, cipher, mac);
        Self::new(algorithm, Direction::Forward, key, mac_key)
    }

    /// Undoes [`Transform::encrypt_then_mac`]: nothing is decrypted unless the tag matches.
    #[must_use]
    pub fn verify_then_decrypt(cipher: Cipher, key: &[u8], mac: Mac, mac_key: &[u8]) -> Self {
        let algorithm = Algorithm::Chain(Order::EncryptThenMac, cipher, mac);
        Self::new(algorithm, Direction::Reverse, key, mac_key)
    }

    /// Computes a tag over the authenticated range as plaintext, then encrypts the cipher range.
    /// A tag that lies inside the cipher range is encrypted with it, as in TLS.
    #[must_use]
    pub fn mac_then_encrypt(cipher: Cipher, key: &[u8], mac: Mac, mac_key: &[u8]) -> Self {
        let algorithm = Algorithm::Chain(Order::MacThenEncrypt, cipher, mac);
        Self::new(algorithm, Direction::Forward, key, mac_key)
    }

    /// Undoes [`Transform::mac_then_encrypt`]; if the tag does not match, the decrypted bytes are
    /// zeroed. Padding is up to the caller: a protocol that checks it must not reveal whether the
    /// padding or the tag was wrong (RFC 7366 is the remedy).
    #[must_use]
    pub fn decrypt_then_verify(cipher: Cipher, key: &[u8], mac: Mac, mac_key: &[u8]) -> Self {
        let algorithm = Algorithm::Chain(Order::MacThenEncrypt, cipher, mac);
        Self::new(algorithm, Direction::Reverse, key, mac_key)
    }

    /// A transform from its parts, for programs that choose the algorithm at run time. Only chains
    /// use `mac_key`. The reverse of a hash is refused when the session is made.
    #[must_use]
    pub fn new(algorithm: Algorithm, direction: Direction, key: &[u8], mac_key: &[u8]) -> Self {
        let row = algorithm.row();
        Self {
            algorithm,
            direction,
            key: Zeroizing::new(key.to_vec()),
            mac_key: Zeroizing::new(mac_key.to_vec()),
            iv_len: row.default_iv,
            tag_len: row.default_tag,
            customization: Vec::new(),
        }
    }

    /// Sets the IV length, in bytes, where the algorithm leaves a choice (GCM, CCM, GMAC, SIV).
    #[must_use]
    pub fn iv_len(mut self, len: usize) -> Self {
        self.iv_len = len;
        self
    }

    /// Sets the tag or digest length, in bytes. The default is the longest; for SHAKE and
    /// cSHAKE [`Hash::digest_len`], for KMAC [`Mac::tag_len`].
    #[must_use]
    pub fn tag_len(mut self, len: usize) -> Self {
        self.tag_len = len;
        self
    }

    /// Sets the customization string of cSHAKE or KMAC (SP 800-185), up to 512 bytes, which keeps
    /// apart what one key is used for. It is not secret. The default is the empty string.
    ///
    /// ```
    /// # use lanelock_core as lanelock;
    /// use lanelock::{Mac, Transform};
    ///
    /// let transform = Transform::compute(Mac::Kmac128, &[7; 16]).customization(b"cookies");
    /// assert_eq!(transform.customization_string(), b"cookies");
    /// ```
    #[must_use]
    pub fn customization(mut self, string: &[u8]) -> Self {
        self.customization = string.to_vec();
        self
    }

    /// The algorithm family.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The algorithm with its key lengths.
    #[must_use]
    pub fn spec(&self) -> crate::algorithm::Spec {
        crate::algorithm::Spec {
            algorithm: self.algorithm,
            key_len: self.key.len(),
            mac_key_len: self.mac_key.len(),
        }
    }

    /// Whether it protects messages or opens them.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The cipher's, AEAD's or MAC's key; for an engine.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The key of a chain's MAC; for an engine.
    #[must_use]
    pub fn mac_key(&self) -> &[u8] {
        &self.mac_key
    }

    /// IV length of every operation, in bytes; 0 for none.
    #[must_use]
    pub fn iv_length(&self) -> usize {
        self.iv_len
    }

    /// Tag or digest length of every operation, in bytes; 0 for none.
    #[must_use]
    pub fn tag_length(&self) -> usize {
        self.tag_len
    }

    /// The customization string of every operation; empty for none.
    #[must_use]
    pub fn customization_string(&self) -> &[u8] {
        &self.customization
    }

    /// Checks keys and lengths against the algorithm.
    ///
    /// # Errors
    /// [`SessionError::Length`] names the first field that is wrong, what was given and what is
    /// allowed; [`SessionError::Unsupported`] a combination that does not exist;
    /// [`SessionError::WeakKey`] a key that the standard forbids.
    pub fn validate(&self) -> Result<(), SessionError> {
        let unsupported = |why: &str| {
            Err(SessionError::Unsupported {
                what: self.spec(),
                why: why.to_owned(),
            })
        };
        match self.algorithm {
            Algorithm::Hash(_) if self.direction == Direction::Reverse => {
                return unsupported("a hash session cannot verify: compute the digest and compare");
            }
            Algorithm::Mac(Mac::Hmac(hash)) | Algorithm::Chain(_, _, Mac::Hmac(hash))
                if !hash.has_hmac() =>
            {
                return unsupported("HMAC is offered over MD5, SHA-1, SHA-2 and SHA-3");
            }
            Algorithm::Chain(_, _, mac) if !mac.chains() => {
                return unsupported("a chain's MAC is an HMAC or AES-CMAC");
            }
            _ => {}
        }
        let row = self.algorithm.row();
        for (field, given, allowed) in [
            ("key", self.key.len(), row.key),
            ("MAC key", self.mac_key.len(), row.mac_key),
            ("IV", self.iv_len, row.iv),
            ("tag", self.tag_len, row.tag),
            (
                "customization string",
                self.customization.len(),
                row.customization,
            ),
        ] {
            if !allowed.contains(given) {
                return Err(SessionError::Length {
                    what: self.spec(),
                    field,
                    given,
                    allowed,
                });
            }
        }
        self.check_key()
    }

    /// Refuses keys that an algorithm's standard forbids.
    fn check_key(&self) -> Result<(), SessionError> {
        let xts = matches!(
            self.algorithm,
            Algorithm::Cipher(Cipher::AesXts) | Algorithm::Chain(_, Cipher::AesXts, _)
        );
        let (data, tweak) = self.key.split_at(self.key.len() / 2);
        if xts && bool::from(data.ct_eq(tweak)) {
            // FIPS 140-3 implementation guidance C.I: equal halves lose the mode's security.
            let why = "the two halves of an XTS key must differ";
            return Err(SessionError::WeakKey {
                what: self.spec(),
                why,
            });
        }
        Ok(())
    }
}

/// Shows everything but the keys.
impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transform")
            .field("spec", &self.spec())
            .field("direction", &self.direction)
            .field("iv_len", &self.iv_len)
            .field("tag_len", &self.tag_len)
            .field("customization", &self.customization)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(transform: &Transform) -> String {
        transform.validate().unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_length_is_named_with_what_is_allowed() {
        assert_eq!(
            message(&Transform::encrypt(Cipher::AesCbc, &[0; 15])),
            "aes-cbc: key of 15 bytes; allowed: 16, 24 or 32"
        );
        assert_eq!(
            message(&Transform::seal(Aead::AesCcm, &[0; 16]).tag_len(5)),
            "aes-128-ccm: tag of 5 bytes; allowed: 4 to 16 in steps of 2"
        );
        assert_eq!(
            message(&Transform::seal(Aead::AesCcm, &[0; 16]).iv_len(14)),
            "aes-128-ccm: IV of 14 bytes; allowed: 7 to 13"
        );
        assert_eq!(
            message(&Transform::encrypt(Cipher::AesEcb, &[0; 16]).iv_len(16)),
            "aes-128-ecb: IV of 16 bytes; allowed: 0"
        );
        assert_eq!(
            message(&Transform::compute(Mac::Hmac(Hash::Sha1), &[])),
            "hmac-sha1: key of 0 bytes; allowed: 1 to 65535"
        );
        let customized = Transform::hash(Hash::CShake256).customization(&[0; 513]);
        assert_eq!(
            message(&customized),
            "cshake256: customization string of 513 bytes; allowed: 0 to 512"
        );
        let customized = Transform::compute(Mac::Hmac(Hash::Sha1), &[0]).customization(b"a");
        assert_eq!(
            message(&customized),
            "hmac-sha1: customization string of 1 bytes; allowed: 0"
        );
    }

    #[test]
    fn defaults_are_valid_for_every_named_algorithm() {
        use crate::algorithm::Spec;
        for spec in Spec::singles().into_iter().chain(Spec::chains()) {
            let key: Vec<u8> = (0..=255).cycle().take(spec.key_len).collect();
            let mac_key = vec![9; spec.mac_key_len];
            Transform::new(spec.algorithm, Direction::Forward, &key, &mac_key)
                .validate()
                .unwrap();
        }
    }

    #[test]
    fn an_xts_key_of_equal_halves_is_refused() {
        assert_eq!(
            message(&Transform::encrypt(Cipher::AesXts, &[7; 32])),
            "aes-128-xts: key refused: the two halves of an XTS key must differ"
        );
    }

    #[test]
    fn debug_does_not_show_keys() {
        let text = format!("{:?}", Transform::encrypt(Cipher::AesCbc, &[0xa5; 16]));
        assert!(!text.contains("165") && !text.contains("a5"), "{text}");
    }
}
