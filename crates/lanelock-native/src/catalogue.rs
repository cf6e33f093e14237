//! What a tier offers, and the session of each algorithm.

use lanelock_core::algorithm::Order;
use lanelock_core::engine::{Capability, EngineSession, Features};
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Algorithm, Cipher, Hash, Mac, Transform};
use lanelock_kernels::Machine;
use lanelock_kernels::hash::{Sha1, Sha224, Sha256, Sha384, Sha512};

use crate::burst;
use crate::cbc::{CbcDecrypt, CbcEncrypt};
use crate::ccm::Ccm;
use crate::chacha::{ChaCha20, ChaCha20Poly1305};
use crate::chain::Chain;
use crate::cmac::Cmac;
use crate::ctr::Ctr;
use crate::ecb::{EcbDecrypt, EcbEncrypt};
use crate::gcm::{Gcm, Gmac};
use crate::gcm_siv::GcmSiv;
use crate::group::Group;
use crate::hash::{Digest, Hmac};
use crate::session::{CipherSession, TagSession};
use crate::tier;
use crate::xchacha::XChaCha20Poly1305;
use crate::xts::{XtsDecrypt, XtsEncrypt};

/// Algorithms that every tier has, and whether they can be half of a chain.
const AES: &[(Algorithm, bool)] = &[
    (Algorithm::Cipher(Cipher::AesCbc), true),
    (Algorithm::Cipher(Cipher::AesCtr), true),
    (Algorithm::Cipher(Cipher::AesEcb), false),
    (Algorithm::Cipher(Cipher::AesXts), false),
    (Algorithm::Mac(Mac::AesCmac), true),
    (Algorithm::Mac(Mac::AesGmac), false),
    (Algorithm::Aead(Aead::AesGcm), false),
    (Algorithm::Aead(Aead::AesCcm), false),
    (Algorithm::Aead(Aead::AesGcmSiv), false),
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
    aes.chain(chacha.iter().copied())
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
                Mac::Hmac(hash) => with_hash!(hash, machine, |kernels| {
                    TagSession::boxed(group, Hmac::new(kernels, key))
                }),
                Mac::AesCmac => Some(TagSession::boxed(group, Cmac::new(machine, key)?)),
                Mac::AesGmac => Some(TagSession::boxed(group, Gmac::new(machine, key)?)),
                _ => None,
            }
        }
        Algorithm::Hash(hash) => with_hash!(hash, machine, |kernels| {
            TagSession::boxed(Group::of_hash(hash), Digest::new(kernels))
        }),
        Algorithm::Aead(aead) => {
            let group = Group::of_aead(aead, key.len()).one_way(direction);
            let seal = direction == Direction::Forward;
            Some(match aead {
                Aead::AesGcm => TagSession::boxed(group, Gcm::new(machine, key, seal)?),
                Aead::AesCcm => {
                    let ccm = Ccm::new(machine, key, seal, transform.tag_length())?;
                    TagSession::boxed(group, ccm)
                }
                Aead::AesGcmSiv => TagSession::boxed(group, GcmSiv::new(machine, key, seal)?),
                Aead::ChaCha20Poly1305 => {
                    let chacha = ChaCha20Poly1305::new(tier::chacha(machine)?, key, seal)?;
                    TagSession::boxed(group, chacha)
                }
                Aead::XChaCha20Poly1305 => {
                    let xchacha = XChaCha20Poly1305::new(tier::chacha(machine)?, key, seal)?;
                    TagSession::boxed(group, xchacha)
                }
                _ => return None,
            })
        }
        Algorithm::Chain(order, cipher, mac) => {
            let group = Group::of_cipher(cipher, key.len());
            match (cipher, direction) {
                (Cipher::AesCbc, Direction::Forward) => chain(
                    machine,
                    transform,
                    group,
                    CbcEncrypt::new(machine, key)?,
                    mac,
                    order,
                ),
                (Cipher::AesCbc, Direction::Reverse) => chain(
                    machine,
                    transform,
                    group,
                    CbcDecrypt::new(machine, key)?,
                    mac,
                    order,
                ),
                (Cipher::AesCtr, _) => chain(
                    machine,
                    transform,
                    group,
                    Ctr::new(machine, key)?,
                    mac,
                    order,
                ),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The session of a chain whose cipher is keyed.
fn chain<C: burst::Cipher>(
    machine: Machine,
    transform: &Transform,
    group: Group,
    cipher: C,
    mac: Mac,
    order: Order,
) -> Option<Box<dyn EngineSession>> {
    let (key, direction) = (transform.mac_key(), transform.direction());
    let group = group.chained(Group::of_mac(mac, key.len()), order);
    match mac {
        Mac::Hmac(hash) => with_hash!(hash, machine, |kernels| {
            Chain::boxed(
                machine,
                group,
                order,
                direction,
                cipher,
                Hmac::new(kernels, key),
            )
        }),
        Mac::AesCmac => {
            let cmac = Cmac::new(machine, key)?;
            Some(Chain::boxed(machine, group, order, direction, cipher, cmac))
        }
        _ => None,
    }
}
