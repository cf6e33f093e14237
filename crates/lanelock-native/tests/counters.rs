//! Counters that overflow inside a message, which random IVs hardly ever do: as OpenSSL has it.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::io::IoSliceMut;

use lanelock_core::{Buffer, Cipher, Device, Op, Session, Status, Transform};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;

const LEN: usize = 1500;

/// Encrypts zeros in segments of `step` bytes.
fn encrypt(device: &Device, session: &Session, iv: &[u8; 16], step: usize) -> Vec<u8> {
    let mut data = vec![0; LEN];
    let mut segments: Vec<_> = data.chunks_mut(step).map(IoSliceMut::new).collect();
    let mut ops = [Op::new(session, Buffer::in_place(&mut segments[..])).iv(iv)];
    let _looked_at = device.queue_pair(1).process(&mut ops);
    assert_eq!(ops[0].status(), Status::Success);
    data
}

fn agree(cipher: Cipher, ivs: &[[u8; 16]]) {
    for tier in Tier::available() {
        let device = Device::builder()
            .engine(Native::with_tier(tier).unwrap())
            .engine(OpenSsl::new().unwrap())
            .build();
        let key = [0x5a; 32];
        let session = |engine| {
            let transform = Transform::encrypt(cipher, &key);
            device.session_on(engine, transform)
        };
        let Ok(native) = session("native") else {
            assert_eq!((tier, cipher), (Tier::AesNi, Cipher::ChaCha20));
            continue;
        };
        let openssl = session("openssl").unwrap();
        for iv in ivs {
            let expected = encrypt(&device, &openssl, iv, LEN);
            for step in [LEN, 640, 64, 61, 7] {
                let found = encrypt(&device, &native, iv, step);
                assert!(found == expected, "{cipher:?} {iv:02x?} {step} {tier:?}");
            }
        }
    }
}

#[test]
fn chacha20_carries_into_its_nonce() {
    let iv = |counter: u32, nonce: u8| {
        let mut iv = [nonce; 16];
        iv[..4].copy_from_slice(&counter.to_le_bytes());
        iv
    };
    let before = |blocks| u32::MAX - blocks;
    agree(
        Cipher::ChaCha20,
        &[
            iv(before(0), 0),
            iv(before(1), 0x77),
            iv(before(3), 0xff),
            iv(before(9), 1),
            iv(before(23), 1),
            iv(before(24), 1),
        ],
    );
}

#[test]
fn aes_ctr_counts_in_128_bits() {
    let ivs: Vec<_> = [
        (1_u128 << 32) - 2,
        (1 << 64) - 3,
        (1 << 96) - 9,
        u128::MAX - 5,
    ]
    .iter()
    .map(|counter| counter.to_be_bytes())
    .collect();
    agree(Cipher::AesCtr, &ivs);
}
