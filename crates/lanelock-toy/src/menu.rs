//! Transforms that between them have every combination of parts.

use lanelock_core::{Aead, Cipher, Hash, Mac, Transform};

/// A transform with the facts that a model needs, stated here once more and not taken from the
/// core.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Makes the transform: `true` to protect, `false` to undo.
    pub make: fn(bool) -> Transform,
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
pub(crate) const KEY: [u8; 32] = *b"halves that differ, as XTS wants";
/// The MAC's key of every chain.
pub(crate) const MAC_KEY: [u8; 20] = [0x6d; 20];

const NOTHING: Item = Item {
    make: |_| Transform::hash(Hash::Sha1),
    one_way: false,
    ciphers: false,
    authenticates: false,
    aad: false,
    block: 1,
    min: 0,
    iv: 0,
    tag: 0,
    mac_first: false,
};

const CIPHER: Item = Item {
    ciphers: true,
    iv: 16,
    ..NOTHING
};

const CHAIN: Item = Item {
    authenticates: true,
    aad: true,
    tag: 12,
    ..CIPHER
};

/// Ciphers with and without blocks, IVs and a shortest payload; MACs with and without an IV; a
/// hash; AEADs; chains in both orders.
pub const MENU: &[Item] = &[
    Item {
        make: |protect| match protect {
            true => Transform::seal(Aead::AesGcm, &KEY[..16]),
            false => Transform::open(Aead::AesGcm, &KEY[..16]),
        },
        ciphers: true,
        aad: true,
        iv: 12,
        tag: 16,
        ..NOTHING
    },
    Item {
        make: |protect| {
            match protect {
                true => Transform::seal(Aead::AesCcm, &KEY[..16]),
                false => Transform::open(Aead::AesCcm, &KEY[..16]),
            }
            .iv_len(7)
            .tag_len(4)
        },
        ciphers: true,
        aad: true,
        iv: 7,
        tag: 4,
        ..NOTHING
    },
    Item {
        make: |protect| cipher(protect, Cipher::AesCbc),
        block: 16,
        ..CIPHER
    },
    Item {
        make: |protect| cipher(protect, Cipher::AesCtr),
        ..CIPHER
    },
    Item {
        make: |protect| cipher(protect, Cipher::AesEcb),
        block: 16,
        iv: 0,
        ..CIPHER
    },
    Item {
        make: |protect| match protect {
            true => Transform::encrypt(Cipher::AesXts, &KEY),
            false => Transform::decrypt(Cipher::AesXts, &KEY),
        },
        min: 16,
        ..CIPHER
    },
    Item {
        make: |_| Transform::hash(Hash::Sha1).tag_len(20),
        one_way: true,
        authenticates: true,
        tag: 20,
        ..NOTHING
    },
    Item {
        make: |protect| match protect {
            true => Transform::compute(Mac::Hmac(Hash::Sha512), &KEY),
            false => Transform::verify(Mac::Hmac(Hash::Sha512), &KEY),
        },
        authenticates: true,
        aad: true,
        tag: 64,
        ..NOTHING
    },
    Item {
        make: |protect| match protect {
            true => Transform::compute(Mac::AesGmac, &KEY[..16]).tag_len(8),
            false => Transform::verify(Mac::AesGmac, &KEY[..16]).tag_len(8),
        },
        authenticates: true,
        aad: true,
        iv: 12,
        tag: 8,
        ..NOTHING
    },
    Item {
        make: |protect| match protect {
            true => encrypt_then_mac(Cipher::AesCbc),
            false => verify_then_decrypt(Cipher::AesCbc),
        },
        block: 16,
        ..CHAIN
    },
    Item {
        make: |protect| match protect {
            true => encrypt_then_mac(Cipher::AesCtr),
            false => verify_then_decrypt(Cipher::AesCtr),
        },
        ..CHAIN
    },
    Item {
        make: |protect| match protect {
            true => mac_then_encrypt(Cipher::AesCbc),
            false => decrypt_then_verify(Cipher::AesCbc),
        },
        block: 16,
        mac_first: true,
        ..CHAIN
    },
    Item {
        make: |protect| match protect {
            true => mac_then_encrypt(Cipher::AesCtr),
            false => decrypt_then_verify(Cipher::AesCtr),
        },
        mac_first: true,
        ..CHAIN
    },
];

fn cipher(protect: bool, cipher: Cipher) -> Transform {
    if protect {
        Transform::encrypt(cipher, &KEY[..16])
    } else {
        Transform::decrypt(cipher, &KEY[..16])
    }
}

const MAC: Mac = Mac::Hmac(Hash::Sha1);

fn encrypt_then_mac(cipher: Cipher) -> Transform {
    Transform::encrypt_then_mac(cipher, &KEY[..16], MAC, &MAC_KEY).tag_len(12)
}

fn verify_then_decrypt(cipher: Cipher) -> Transform {
    Transform::verify_then_decrypt(cipher, &KEY[..16], MAC, &MAC_KEY).tag_len(12)
}

fn mac_then_encrypt(cipher: Cipher) -> Transform {
    Transform::mac_then_encrypt(cipher, &KEY[..16], MAC, &MAC_KEY).tag_len(12)
}

fn decrypt_then_verify(cipher: Cipher) -> Transform {
    Transform::decrypt_then_verify(cipher, &KEY[..16], MAC, &MAC_KEY).tag_len(12)
}
