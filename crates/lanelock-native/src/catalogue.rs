//! What a tier offers, and the session of each algorithm.

use lanelock_core::algorithm::{MAX_TAG_LEN, Order};
use lanelock_core::engine::{Capability, EngineSession, Features};
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Algorithm, Cipher, Hash, Mac, Transform};
use lanelock_kernels::Machine;
use lanelock_kernels::hash::{Sha1, Sha224, Sha256, Sha384, Sha512};
use lanelock_kernels::keccak::{Function, Key};

use crate::aead::AeadSession;
use crate::cbc::{Cbc, CbcDecrypt, CbcEncrypt};
use crate::cbc_hmac::CbcHmac;
use crate::ccm::Ccm;
use crate::chacha::{ChaCha20, ChaCha20Poly1305};
use crate::chain::Chain;
use crate::cipher::{self, CipherSession};
use crate::cmac::Cmac;
use crate::ctr::Ctr;
use crate::ecb::{EcbDecrypt, EcbEncrypt};
use crate::feedback::{CfbDecrypt, CfbEncrypt, Feedback, Ofb};
use crate::gcm::{Gcm, Gmac};
use crate::gcm_siv::GcmSiv;
use crate::group::Group;
use crate::hash::{Digest, Hmac};
use crate::in_place;
use crate::mac::{self, MacSession};
use crate::sha3::Keccak;
use crate::shake::Shake;
use crate::siv::Siv;
use crate::tier;
use crate::xchacha::XChaCha20Poly1305;
use crate::xts::{XtsDecrypt, XtsEncrypt};

/// Algorithms that every tier has, and whether they can be half of a chain.
const AES: &[(Algorithm, bool)] = &[
    (Algorithm::Cipher(Cipher::AesCbc), true),
    (Algorithm::Cipher(Cipher::AesCtr), true),
    (Algorithm::Cipher(Cipher::AesCfb), false),
    (Algorithm::Cipher(Cipher::AesOfb), false),
    (Algorithm::Cipher(Cipher::AesEcb), false),
    (Algorithm::Cipher(Cipher::AesXts), false),
    (Algorithm::Mac(Mac::AesCmac), true),
    (Algorithm::Mac(Mac::AesGmac), false),
    (Algorithm::Aead(Aead::AesGcm), false),
    (Algorithm::Aead(Aead::AesCcm), false),
    (Algorithm::Aead(Aead::AesGcmSiv), false),
    (Algorithm::Aead(Aead::AesSiv), false),
];

const CHACHA: &[(Algorithm, bool)] = &[
    (Algorithm::Cipher(Cipher::ChaCha20), false),
    (Algorithm::Aead(Aead::ChaCha20Poly1305), false),
    (Algorithm::Aead(Aead::XChaCha20Poly1305), false),
];

const HASHES: &[Hash] = &[
    Hash::Sha1,
    Hash::Sha224,
    Hash::Sha256,
    Hash::Sha384,
    Hash::Sha512,
];

const KECCAK: &[(Algorithm, bool)] = &[
    (Algorithm::Mac(Mac::Hmac(Hash::Sha3_224)), false),
    (Algorithm::Mac(Mac::Hmac(Hash::Sha3_256)), false),
    (Algorithm::Mac(Mac::Hmac(Hash::Sha3_384)), false),
    (Algorithm::Mac(Mac::Hmac(Hash::Sha3_512)), false),
    (Algorithm::Mac(Mac::Kmac128), false),
    (Algorithm::Mac(Mac::Kmac256), false),
    (Algorithm::Hash(Hash::Sha3_224), false),
    (Algorithm::Hash(Hash::Sha3_256), false),
    (Algorithm::Hash(Hash::Sha3_384), false),
    (Algorithm::Hash(Hash::Sha3_512), false),
    (Algorithm::Hash(Hash::Shake128), false),
    (Algorithm::Hash(Hash::Shake256), false),
    (Algorithm::Hash(Hash::CShake128), false),
    (Algorithm::Hash(Hash::CShake256), false),
];

/// `$body` with `$kernels` for the hash, if the tier has it.
macro_rules! with_hash {
    ($hash:expr, $machine:expr, |$kernels:ident| $body:expr) => {
        match $hash {
            Hash::Sha1 => tier::hash::<Sha1>($machine).map(|$kernels| $body),
            Hash::Sha224 => tier::hash::<Sha224>($machine).map(|$kernels| $body),
            Hash::Sha256 => tier::hash::<Sha256>($machine).map(|$kernels| $body),
            Hash::Sha384 => tier::hash::<Sha384>($machine).map(|$kernels| $body),
            Hash::Sha512 => tier::hash::<Sha512>($machine).map(|$kernels| $body),
            _ => None,
        }
    };
}

/// One row for each algorithm that the tier has.
pub(crate) fn capabilities(machine: Machine) -> Vec<Capability> {
    let aes = AES.iter().copied();
    let hashes = HASHES
        .iter()
        .copied()
        .filter(|&hash| with_hash!(hash, machine, |_kernels| ()).is_some());
    let macs = hashes
        .clone()
        .map(|hash| (Algorithm::Mac(Mac::Hmac(hash)), true));
    let hashes = hashes.map(|hash| (Algorithm::Hash(hash), false));
    let chacha: &[_] = if tier::chacha(machine).is_some() {
        CHACHA
    } else {
        &[]
    };
    let keccak: &[_] = if tier::keccak(machine).is_some() {
        KECCAK
    } else {
        &[]
    };
    aes.chain(chacha.iter().copied())
        .chain(keccak.iter().copied())
        .chain(macs)
        .chain(hashes)
        .map(|(algorithm, chains)| {
            let features = Features {
                chains,
                ..Features::default()
            };
            Capability::standard(algorithm, features)
        })
        .collect()
}

/// The session of `transform`; `None` if the tier does not have it.
pub(crate) fn open(machine: Machine, transform: &Transform) -> Option<Box<dyn EngineSession>> {
    let (key, direction) = (transform.key(), transform.direction());
    match transform.algorithm() {
        Algorithm::Cipher(cipher) => {
            let one_way = Group::of_cipher(cipher, key.len()).one_way(direction);
            Some(match (cipher, direction) {
                (Cipher::AesCbc, Direction::Forward) => {
                    CipherSession::boxed(one_way, CbcEncrypt::new(machine, key)?)
                }
                (Cipher::AesCbc, Direction::Reverse) => {
                    CipherSession::boxed(one_way, CbcDecrypt::new(machine, key)?)
                }
                (Cipher::AesCtr, _) => {
                    let both_ways = Group::of_cipher(cipher, key.len());
                    CipherSession::boxed(both_ways, Ctr::new(machine, key)?)
                }
                (Cipher::AesCfb, Direction::Forward) => {
                    CipherSession::boxed(one_way, Feedback::<CfbEncrypt>::new(machine, key)?)
                }
                (Cipher::AesCfb, Direction::Reverse) => {
                    CipherSession::boxed(one_way, Feedback::<CfbDecrypt>::new(machine, key)?)
                }
                (Cipher::AesOfb, _) => {
                    let both_ways = Group::of_cipher(cipher, key.len());
                    CipherSession::boxed(both_ways, Feedback::<Ofb>::new(machine, key)?)
                }
                (Cipher::AesEcb, Direction::Forward) => {
                    CipherSession::boxed(one_way, EcbEncrypt::new(machine, key)?)
                }
                (Cipher::AesEcb, Direction::Reverse) => {
                    CipherSession::boxed(one_way, EcbDecrypt::new(machine, key)?)
                }
                (Cipher::AesXts, Direction::Forward) => {
                    CipherSession::boxed(one_way, XtsEncrypt::new(machine, key)?)
                }
                (Cipher::AesXts, Direction::Reverse) => {
                    CipherSession::boxed(one_way, XtsDecrypt::new(machine, key)?)
                }
                (Cipher::ChaCha20, _) => {
                    let both_ways = Group::of_cipher(cipher, key.len());
                    CipherSession::boxed(both_ways, ChaCha20::new(tier::chacha(machine)?, key)?)
                }
                _ => return None,
            })
        }
        Algorithm::Mac(mac) => {
            let group = Group::of_mac(mac, key.len());
            match mac {
                Mac::Hmac(Hash::Sha3_224) => {
                    sha3_hmac::<28>(machine, group, Function::SHA3_224, key)
                }
                Mac::Hmac(Hash::Sha3_256) => {
                    sha3_hmac::<32>(machine, group, Function::SHA3_256, key)
                }
                Mac::Hmac(Hash::Sha3_384) => {
                    sha3_hmac::<48>(machine, group, Function::SHA3_384, key)
                }
                Mac::Hmac(Hash::Sha3_512) => {
                    sha3_hmac::<64>(machine, group, Function::SHA3_512, key)
                }
                Mac::Kmac128 => kmac(machine, group, Function::CSHAKE128, transform),
                Mac::Kmac256 => kmac(machine, group, Function::CSHAKE256, transform),
                Mac::Hmac(hash) => with_hash!(hash, machine, |kernels| {
                    MacSession::boxed(group, Hmac::new(kernels, key))
                }),
                Mac::AesCmac => Some(MacSession::boxed(group, Cmac::new(machine, key)?)),
                Mac::AesGmac => Some(MacSession::boxed(group, Gmac::new(machine, key)?)),
                _ => None,
            }
        }
        Algorithm::Hash(hash) => {
            let group = Group::of_hash(hash);
            match hash {
                Hash::Sha3_224 => sha3_digest::<28>(machine, group, Function::SHA3_224),
                Hash::Sha3_256 => sha3_digest::<32>(machine, group, Function::SHA3_256),
                Hash::Sha3_384 => sha3_digest::<48>(machine, group, Function::SHA3_384),
                Hash::Sha3_512 => sha3_digest::<64>(machine, group, Function::SHA3_512),
                Hash::Shake128 | Hash::CShake128 | Hash::Shake256 | Hash::CShake256 => {
                    shake(machine, hash, transform.customization_string())
                }
                _ => with_hash!(hash, machine, |kernels| {
                    MacSession::boxed(group, Digest::new(kernels))
                }),
            }
        }
        Algorithm::Aead(aead) => {
            let group = Group::of_aead(aead, key.len()).one_way(direction);
            let seal = direction == Direction::Forward;
            Some(match aead {
                Aead::AesGcm => {
                    in_place::boxed(group, Gcm::new(machine, key, seal)?, transform.iv_length())
                }
                Aead::AesCcm => {
                    let ccm = Ccm::new(machine, key, seal, transform.tag_length())?;
                    AeadSession::boxed(group, ccm)
                }
                Aead::AesGcmSiv => AeadSession::boxed(group, GcmSiv::new(machine, key, seal)?),
                Aead::AesSiv => {
                    let nonce = transform.iv_length() > 0;
                    AeadSession::boxed(group, Siv::new(machine, key, seal, nonce)?)
                }
                Aead::ChaCha20Poly1305 => {
                    let chacha = ChaCha20Poly1305::new(tier::chacha(machine)?, key, seal)?;
                    AeadSession::boxed(group, chacha)
                }
                Aead::XChaCha20Poly1305 => {
                    let xchacha = XChaCha20Poly1305::new(tier::chacha(machine)?, key, seal)?;
                    AeadSession::boxed(group, xchacha)
                }
                _ => return None,
            })
        }
        Algorithm::Chain(order, cipher, mac) => chain(machine, transform, order, cipher, mac),
        _ => None,
    }
}

/// [`open`] for a chain of these.
pub(crate) fn chain(
    machine: Machine,
    transform: &Transform,
    order: Order,
    cipher: Cipher,
    mac: Mac,
) -> Option<Box<dyn EngineSession>> {
    let (key, mac_key) = (transform.key(), transform.mac_key());
    let direction = transform.direction();
    let halves = Halves {
        machine,
        group: Group::of_cipher(cipher, key.len())
            .chained(Group::of_mac(mac, mac_key.len()), order),
        order,
        direction,
        mac,
        mac_key,
    };
    match (cipher, direction) {
        (Cipher::AesCbc, Direction::Forward) => halves.with_cbc(CbcEncrypt::new(machine, key)?),
        (Cipher::AesCbc, Direction::Reverse) => halves.with_cbc(CbcDecrypt::new(machine, key)?),
        (Cipher::AesCtr, _) => halves.with_ctr(Ctr::new(machine, key)?),
        _ => None,
    }
}

fn sha3_digest<const DIGEST: usize>(
    machine: Machine,
    group: Group,
    function: Function,
) -> Option<Box<dyn EngineSession>> {
    let digest = Keccak::<DIGEST>::digest(tier::keccak(machine)?, function);
    Some(MacSession::boxed(group, digest))
}

fn sha3_hmac<const DIGEST: usize>(
    machine: Machine,
    group: Group,
    function: Function,
    key: &[u8],
) -> Option<Box<dyn EngineSession>> {
    let machine = tier::keccak(machine)?;
    let hmac = Keccak::<DIGEST>::keyed(machine, Key::hmac(machine, function, key));
    Some(MacSession::boxed(group, hmac))
}

fn kmac(
    machine: Machine,
    group: Group,
    function: Function,
    transform: &Transform,
) -> Option<Box<dyn EngineSession>> {
    let machine = tier::keccak(machine)?;
    let key = Key::kmac(
        machine,
        function,
        transform.key(),
        transform.customization_string(),
        transform.tag_length(),
    );
    Some(MacSession::boxed(
        group,
        Keccak::<MAX_TAG_LEN>::keyed(machine, key),
    ))
}

/// SHAKE, and cSHAKE, which is SHAKE without a customization string and then runs with it.
fn shake(machine: Machine, hash: Hash, customization: &[u8]) -> Option<Box<dyn EngineSession>> {
    let machine = tier::keccak(machine)?;
    let (shake, plain, customized) = match hash {
        Hash::Shake128 | Hash::CShake128 => {
            (Hash::Shake128, Function::SHAKE128, Function::CSHAKE128)
        }
        _ => (Hash::Shake256, Function::SHAKE256, Function::CSHAKE256),
    };
    Some(match customization {
        [] => Shake::boxed(Group::of_hash(shake), machine, plain, None),
        string => {
            let key = Key::cshake(machine, customized, b"", string);
            Shake::boxed(Group::of_hash(hash), machine, customized, Some(key))
        }
    })
}

/// What is known of a chain before its cipher is keyed.
struct Halves<'t> {
    machine: Machine,
    group: Group,
    order: Order,
    direction: Direction,
    mac: Mac,
    mac_key: &'t [u8],
}

impl Halves<'_> {
    fn with_cbc<C: Cbc>(&self, cipher: C) -> Option<Box<dyn EngineSession>> {
        match self.mac {
            Mac::Hmac(hash) => with_hash!(hash, self.machine, |kernels| {
                CbcHmac::boxed(
                    self.machine,
                    self.chain(cipher, Hmac::new(kernels, self.mac_key)),
                )
            }),
            Mac::AesCmac => Some(Box::new(self.chain(cipher, self.cmac()?))),
            _ => None,
        }
    }

    fn with_ctr(&self, cipher: Ctr) -> Option<Box<dyn EngineSession>> {
        Some(match self.mac {
            Mac::Hmac(hash) => with_hash!(hash, self.machine, |kernels| {
                let chain = self.chain(cipher, Hmac::new(kernels, self.mac_key));
                Box::new(chain) as Box<dyn EngineSession>
            })?,
            Mac::AesCmac => Box::new(self.chain(cipher, self.cmac()?)),
            _ => return None,
        })
    }

    fn cmac(&self) -> Option<Cmac> {
        Cmac::new(self.machine, self.mac_key)
    }

    fn chain<C: cipher::Cipher, M: mac::Mac>(&self, cipher: C, mac: M) -> Chain<C, M> {
        Chain::new(self.group, self.order, self.direction, cipher, mac)
    }
}
