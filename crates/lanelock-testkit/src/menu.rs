//! Sessions that between them have every combination of parts.

use std::sync::LazyLock;

use lanelock_core::algorithm::Order;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Algorithm, Cipher, Hash, Mac};

use crate::message::Setup;

/// Ciphers with and without blocks, IVs and a shortest payload; MACs with and without an IV; a
/// hash; AEADs; chains in both orders. All of them protect.
pub static MENU: LazyLock<Vec<Setup>> = LazyLock::new(|| {
    vec![
        setup(Algorithm::Aead(Aead::AesGcm)),
        Setup {
            iv_len: 7,
            tag_len: 4,
            ..setup(Algorithm::Aead(Aead::AesCcm))
        },
        setup(Algorithm::Cipher(Cipher::AesCbc)),
        setup(Algorithm::Cipher(Cipher::AesCtr)),
        setup(Algorithm::Cipher(Cipher::AesEcb)),
        setup(Algorithm::Cipher(Cipher::AesXts)),
        setup(Algorithm::Hash(Hash::Sha1)),
        setup(Algorithm::Mac(Mac::Hmac(Hash::Sha512))),
        Setup {
            tag_len: 8,
            ..setup(Algorithm::Mac(Mac::AesGmac))
        },
        chain(Order::EncryptThenMac, Cipher::AesCbc),
        chain(Order::EncryptThenMac, Cipher::AesCtr),
        chain(Order::MacThenEncrypt, Cipher::AesCbc),
        chain(Order::MacThenEncrypt, Cipher::AesCtr),
    ]
});

fn chain(order: Order, cipher: Cipher) -> Setup {
    Setup {
        tag_len: 12,
        ..setup(Algorithm::Chain(order, cipher, Mac::Hmac(Hash::Sha1)))
    }
}

/// A session with a key of 16 bytes where that is allowed, else of 32, and the usual lengths.
fn setup(algorithm: Algorithm) -> Setup {
    let row = algorithm.row();
    let key: &[u8] = match row.key.max() {
        0 => &[],
        _ if row.key.contains(16) => b"halves that diff",
        _ => b"halves that differ, as XTS wants",
    };
    let mac_key: &[u8] = match row.mac_key.max() {
        0 => &[],
        _ => &[0x6d; 20],
    };
    Setup {
        algorithm,
        direction: Direction::Forward,
        key: key.to_vec(),
        mac_key: mac_key.to_vec(),
        iv_len: row.default_iv,
        tag_len: row.default_tag,
        customization: Vec::new(),
    }
}
