use super::{decrypt_block, encrypt_block};
use crate::Machine;
use crate::aes::EncryptKey;

fn sequence<const N: usize>() -> [u8; N] {
    core::array::from_fn(|i| u8::try_from(i).unwrap())
}

/// FIPS 197, appendix C.
#[test]
fn encrypts_and_decrypts_the_examples_of_fips_197() {
    let plaintext: [u8; 16] = core::array::from_fn(|i| u8::try_from(i * 0x11).unwrap());
    let examples = [
        (16, 0x69c4e0d86a7b0430d8cdb78070b4c55a_u128),
        (24, 0xdda97ca4864cdfe06eaf70a0ec0d7191),
        (32, 0x8ea2b7ca516745bfeafc49904b496089),
    ];
    for (bytes, ciphertext) in examples {
        let key = EncryptKey::portable(&sequence::<32>()[..bytes]).unwrap();
        assert_eq!(
            u128::from_be_bytes(encrypt_block(&key, plaintext)),
            ciphertext
        );
        assert_eq!(decrypt_block(&key, ciphertext.to_be_bytes()), plaintext);
    }
}

/// FIPS 197, appendix A: the last word of each schedule.
#[test]
fn expands_the_keys_of_fips_197() {
    let keys: [(&[u8], u32); 3] = [
        (
            &0x2b7e151628aed2a6abf7158809cf4f3c_u128.to_be_bytes(),
            0xb6630ca6,
        ),
        (
            &[
                0x8e, 0x73, 0xb0, 0xf7, 0xda, 0x0e, 0x64, 0x52, 0xc8, 0x10, 0xf3, 0x2b, 0x80, 0x90,
                0x79, 0xe5, 0x62, 0xf8, 0xea, 0xd2, 0x52, 0x2c, 0x6b, 0x7b,
            ],
            0x01002202,
        ),
        (
            &[
                0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d,
                0x77, 0x81, 0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3,
                0x09, 0x14, 0xdf, 0xf4,
            ],
            0x706c631e,
        ),
    ];
    for (key, last_word) in keys {
        let schedule = EncryptKey::portable(key).unwrap();
        let last = schedule.round_keys().last().unwrap();
        assert_eq!(last[12..], last_word.to_be_bytes());
    }
    assert!(EncryptKey::portable(&[0; 20]).is_none());
}

#[test]
fn every_tier_expands_keys_like_the_reference() {
    for machine in Machine::all() {
        for bytes in [16, 24, 32] {
            for seed in 0..50_u8 {
                let key: [u8; 32] = core::array::from_fn(|i| {
                    seed.wrapping_mul(151).wrapping_add(sequence::<32>()[i] * 7)
                });
                let fast = EncryptKey::new(machine, &key[..bytes]).unwrap();
                let portable = EncryptKey::portable(&key[..bytes]).unwrap();
                assert_eq!(fast.round_keys(), portable.round_keys());
            }
        }
    }
}
