//! Transforms that between them have every combination of parts.

use lanelock_core::algorithm::Order;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Algorithm, Cipher, Hash, Mac, Transform};

/// A transform with the facts that a model needs. They are the table's, which a test of the core
/// compares with the standards.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    algorithm: Algorithm,
    /// A hash, which cannot be undone.
    pub one_way: bool,
    /// It encrypts a payload.
    pub ciphers: bool,
    /// It authenticates a range.
    pub authenticates: bool,
    /// Takes additional data.
    pub aad: bool,
    /// Payloads are multiples of this.
    pub block: usize,
    /// Shortest payload.
    pub min: usize,
    /// IV length.
    pub iv: usize,
    /// Tag length.
    pub tag: usize,
    /// The MAC comes first.
    pub mac_first: bool,
}

/// The cipher's key of every item.
const KEY: [u8; 32] = *b"halves that differ, as XTS wants";
/// The MAC's key of every chain.
const MAC_KEY: [u8; 20] = [0x6d; 20];

/// Ciphers with and without blocks, IVs and a shortest payload; MACs with and without an IV; a
/// hash; AEADs; chains in both orders.
pub const MENU: &[Item] = &[
    Item::new(Algorithm::Aead(Aead::AesGcm)),
    Item::new(Algorithm::Aead(Aead::AesCcm)).iv(7).tag(4),
    Item::new(Algorithm::Cipher(Cipher::AesCbc)),
    Item::new(Algorithm::Cipher(Cipher::AesCtr)),
    Item::new(Algorithm::Cipher(Cipher::AesEcb)),
    Item::new(Algorithm::Cipher(Cipher::AesXts)),
    Item::new(Algorithm::Hash(Hash::Sha1)),
    Item::new(Algorithm::Mac(Mac::Hmac(Hash::Sha512))),
    Item::new(Algorithm::Mac(Mac::AesGmac)).tag(8),
    chain(Order::EncryptThenMac, Cipher::AesCbc),
    chain(Order::EncryptThenMac, Cipher::AesCtr),
    chain(Order::MacThenEncrypt, Cipher::AesCbc),
    chain(Order::MacThenEncrypt, Cipher::AesCtr),
];

const fn chain(order: Order, cipher: Cipher) -> Item {
    Item::new(Algorithm::Chain(order, cipher, Mac::Hmac(Hash::Sha1))).tag(12)
}

impl Item {
    const fn new(algorithm: Algorithm) -> Self {
        let row = algorithm.row();
        Self {
            algorithm,
            one_way: matches!(algorithm, Algorithm::Hash(_)),
            ciphers: row.encrypts,
            authenticates: row.authenticates,
            aad: row.max_aad > 0,
            block: row.block,
            min: row.min_payload,
            iv: row.default_iv,
            tag: row.default_tag,
            mac_first: matches!(algorithm, Algorithm::Chain(Order::MacThenEncrypt, ..)),
        }
    }

    const fn iv(self, iv: usize) -> Self {
        Self { iv, ..self }
    }

    const fn tag(self, tag: usize) -> Self {
        Self { tag, ..self }
    }

    /// The transform: to protect, or to undo.
    #[must_use]
    pub fn transform(&self, protect: bool) -> Transform {
        let row = self.algorithm.row();
        let key = match row.key.max() {
            0 => &[],
            _ if row.key.contains(16) => &KEY[..16],
            _ => &KEY[..],
        };
        let mac_key = match row.mac_key.max() {
            0 => &[],
            _ => &MAC_KEY[..],
        };
        let direction = match protect {
            true => Direction::Forward,
            false => Direction::Reverse,
        };
        Transform::new(self.algorithm, direction, key, mac_key)
            .iv_len(self.iv)
            .tag_len(self.tag)
    }
}
