//! Bursts of whole messages, of one session or of several of a kind, which engines walk without
//! asking anything of each: as OpenSSL has them, whatever their number, lengths and layout.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::slice;

use lanelock_core::algorithm::{Algorithm, Order};
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Buffer, Cipher, Device, Hash, Mac, Op, Session, Status, Transform};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;

/// Numbers of messages around those of lanes, of a kernel call and of two.
const BURSTS: [usize; 13] = [1, 2, 4, 5, 16, 17, 31, 32, 33, 64, 65, 130, 300];

/// Sessions of a kind.
const SESSIONS: u8 = 3;

#[derive(Clone, Copy, Debug)]
enum Layout {
    InPlace,
    Separate,
    ReadOnly,
}

/// Runs one burst, messages of the sessions in turn; what came out of each, output and tag.
fn run(
    device: &Device,
    sessions: &[Session],
    layout: Layout,
    aad: &[u8],
    messages: &[Vec<u8>],
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut outputs: Vec<_> = messages.to_vec();
    let ivs: Vec<_> = (0..messages.len())
        .map(|n| vec![n.to_le_bytes()[0]; sessions[0].iv_len()])
        .collect();
    let mut tags = vec![vec![0xee; sessions[0].tag_len()]; messages.len()];
    if let Layout::Separate = layout {
        outputs.iter_mut().for_each(|output| output.fill(0xcc));
    }
    let mut ops: Vec<_> = messages
        .iter()
        .zip(&mut outputs)
        .zip(&mut tags)
        .zip(&ivs)
        .zip(sessions.iter().cycle())
        .map(|((((message, output), tag), iv), session)| {
            let buffer = match layout {
                Layout::InPlace => Buffer::in_place(output),
                Layout::Separate => Buffer::separate(message, output),
                Layout::ReadOnly => Buffer::read_only(message),
            };
            let op = Op::new(session, buffer).iv(iv).aad(aad);
            if tag.is_empty() { op } else { op.tag(tag) }
        })
        .collect();
    let mut queue_pair = device.queue_pair(1);
    let outcome = queue_pair.process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (messages.len(), 0));
    assert!(ops.iter().all(|op| op.status() == Status::Success));
    drop(ops);
    let stats = queue_pair.stats();
    let of = |counter: fn(&lanelock_core::stats::EngineStats) -> u64| -> u64 {
        stats.engines.iter().map(counter).sum()
    };
    let bytes: usize = messages.iter().map(Vec::len).sum();
    assert_eq!(of(|row| row.ops), messages.len() as u64);
    assert_eq!(of(|row| row.bytes), bytes as u64);
    outputs.into_iter().zip(tags).collect()
}

fn agree(algorithm: Algorithm, key: usize, mac_key: usize, tag: Option<usize>, block: usize) {
    for tier in Tier::available() {
        let device = Device::builder()
            .engine(Native::with_tier(tier).unwrap())
            .engine(OpenSsl::new().unwrap())
            .build();
        let sessions = ["native", "openssl"].map(|engine| {
            let session = |n: u8| {
                let (key, mac_key) = (vec![0x5a + n; key], vec![0xa5 - n; mac_key]);
                let transform = Transform::new(algorithm, Direction::Forward, &key, &mac_key);
                let transform = match tag {
                    Some(len) => transform.tag_len(len),
                    None => transform,
                };
                device.session_on(engine, transform)
            };
            (0..SESSIONS).map(session).collect::<Result<Vec<_>, _>>()
        });
        // SHA-2 is not on every tier.
        let [Ok(native), Ok(openssl)] = sessions else {
            continue;
        };
        let mac_alone = matches!(algorithm, Algorithm::Mac(_) | Algorithm::Hash(_));
        let layouts = if mac_alone {
            vec![Layout::ReadOnly, Layout::InPlace, Layout::Separate]
        } else {
            vec![Layout::InPlace, Layout::Separate]
        };
        let takes_aad = !matches!(algorithm, Algorithm::Cipher(_) | Algorithm::Hash(_));
        for (round, count) in BURSTS.into_iter().enumerate() {
            for (equal, &layout) in [false, true].into_iter().zip(layouts.iter().cycle()) {
                let messages: Vec<Vec<u8>> = (0..count)
                    .map(|n| {
                        let len = match equal {
                            true if round % 2 == 0 => 64,
                            true => 200,
                            false => (n * 37 + round * 11) % 300,
                        };
                        (0..len / block * block)
                            .map(|i| (i * 7 + n).to_le_bytes()[0])
                            .collect()
                    })
                    .collect();
                for (aad, several) in [(&[][..], 1), (b"before", 1), (&[], 3), (b"before", 3)] {
                    if !aad.is_empty() && !takes_aad {
                        continue;
                    }
                    let [found, expected] = [&native, &openssl]
                        .map(|sessions| run(&device, &sessions[..several], layout, aad, &messages));
                    assert!(
                        found == expected,
                        "{tier:?} {algorithm:?} {layout:?} {count} of {several} sessions, equal: \
                         {equal}"
                    );
                }
            }
        }
    }
}

#[test]
fn aes_cbc() {
    for key in [16, 24, 32] {
        agree(Algorithm::Cipher(Cipher::AesCbc), key, 0, None, 16);
    }
}

#[test]
fn aes_ctr() {
    agree(Algorithm::Cipher(Cipher::AesCtr), 16, 0, None, 1);
}

#[test]
fn aes_cmac() {
    for (key, tag) in [(16, 16), (24, 12), (32, 4)] {
        agree(Algorithm::Mac(Mac::AesCmac), key, 0, Some(tag), 1);
    }
}

#[test]
fn aes_gmac() {
    for (key, tag) in [(16, 16), (24, 12), (32, 4)] {
        agree(Algorithm::Mac(Mac::AesGmac), key, 0, Some(tag), 1);
    }
}

#[test]
fn hmac() {
    for (hash, tag) in [
        (Hash::Sha1, 12),
        (Hash::Sha256, 16),
        (Hash::Sha512, 64),
        (Hash::Sha3_224, 28),
        (Hash::Sha3_512, 20),
    ] {
        agree(Algorithm::Mac(Mac::Hmac(hash)), 20, 0, Some(tag), 1);
    }
}

#[test]
fn kmac() {
    for (mac, key, tag) in [
        (Mac::Kmac128, 32, 32),
        (Mac::Kmac128, 170, 5),
        (Mac::Kmac256, 64, 64),
    ] {
        agree(Algorithm::Mac(mac), key, 0, Some(tag), 1);
    }
}

#[test]
fn hash() {
    for hash in [Hash::Sha1, Hash::Sha224, Hash::Sha384, Hash::Sha3_256] {
        agree(Algorithm::Hash(hash), 0, 0, None, 1);
    }
}

#[test]
fn extendable() {
    for (hash, len) in [
        (Hash::Shake128, 1),
        (Hash::Shake128, 400),
        (Hash::Shake256, 136),
        (Hash::CShake128, 169),
    ] {
        agree(Algorithm::Hash(hash), 0, 0, Some(len), 1);
    }
}

#[test]
fn chains() {
    for (order, mac, mac_key, tag) in [
        (Order::EncryptThenMac, Mac::Hmac(Hash::Sha1), 20, 12),
        (Order::EncryptThenMac, Mac::AesCmac, 16, 8),
        (Order::MacThenEncrypt, Mac::Hmac(Hash::Sha256), 32, 32),
    ] {
        let algorithm = Algorithm::Chain(order, Cipher::AesCbc, mac);
        agree(algorithm, 16, mac_key, Some(tag), 16);
    }
}

#[test]
fn aes_gcm() {
    for (key, tag) in [(16, 16), (24, 12), (32, 4)] {
        agree(Algorithm::Aead(Aead::AesGcm), key, 0, Some(tag), 1);
    }
}

#[test]
fn aes_ccm() {
    for (key, tag) in [(16, 16), (24, 12), (32, 4)] {
        agree(Algorithm::Aead(Aead::AesCcm), key, 0, Some(tag), 1);
    }
}

#[test]
fn chacha20_poly1305() {
    agree(Algorithm::Aead(Aead::ChaCha20Poly1305), 32, 0, None, 1);
}

/// What a forged message leaves where its plaintext would be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Left {
    /// It was decrypted before its tag was compared.
    Zeros,
    /// It was not decrypted.
    Ciphertext,
    /// One or the other: it depends on its length.
    Either,
}

/// One forged message of a burst fails; the others are opened.
fn tells_a_forged_message_from_its_neighbours(
    algorithm: Algorithm,
    (key, mac_key): (usize, usize),
    aad: &[u8],
    left: Left,
) {
    for tier in Tier::available() {
        let device = Device::builder()
            .engine(Native::with_tier(tier).unwrap())
            .build();
        let session = |direction| {
            let (key, mac_key) = (vec![3; key], vec![5; mac_key]);
            device.session(Transform::new(algorithm, direction, &key, &mac_key))
        };
        let (Ok(seal), Ok(open)) = (session(Direction::Forward), session(Direction::Reverse))
        else {
            assert_eq!(tier, Tier::AesNi, "{algorithm:?}");
            println!("tier {} does not have {algorithm:?}", tier.name());
            continue;
        };
        let chain = matches!(algorithm, Algorithm::Chain(..));
        for len in [0, 5, 64, 100, 256, 576, 2000] {
            let len = if chain { len / 16 * 16 } else { len };
            let plain: Vec<Vec<u8>> = (0..33_u8).map(|n| vec![n; len]).collect();
            let sealed = run(
                &device,
                slice::from_ref(&seal),
                Layout::InPlace,
                aad,
                &plain,
            );
            for forged in [0, 6, 32] {
                let mut texts: Vec<_> = sealed.iter().map(|(text, _)| text.clone()).collect();
                let mut tags: Vec<_> = sealed.iter().map(|(_, tag)| tag.clone()).collect();
                *tags[forged].last_mut().unwrap() ^= 1;
                let ivs: Vec<Vec<u8>> = (0..33).map(|n| vec![n; open.iv_len()]).collect();
                let mut ops: Vec<_> = texts
                    .iter_mut()
                    .zip(&tags)
                    .zip(&ivs)
                    .map(|((text, tag), iv)| {
                        let op = Op::new(&open, Buffer::in_place(text));
                        op.iv(iv).aad(aad).expected_tag(tag)
                    })
                    .collect();
                let outcome = device.queue_pair(1).process(&mut ops);
                assert_eq!((outcome.succeeded, outcome.failed), (32, 1));
                assert_eq!(ops[forged].status(), Status::AuthFailed);
                drop(ops);
                for (n, text) in texts.iter().enumerate() {
                    let zeros = text.iter().all(|&byte| byte == 0);
                    let holds = match left {
                        _ if n != forged => *text == plain[n],
                        Left::Zeros => zeros,
                        Left::Ciphertext => *text == sealed[n].0,
                        Left::Either => zeros || *text == sealed[n].0,
                    };
                    assert!(holds, "{tier:?} {algorithm:?} {len} {n}");
                }
            }
        }
    }
}

#[test]
fn aeads_tell_a_forged_message_from_its_neighbours() {
    for (aead, key, left) in [
        (Aead::AesGcm, 16, Left::Zeros),
        (Aead::AesCcm, 16, Left::Zeros),
        (Aead::AesGcmSiv, 16, Left::Zeros),
        (Aead::ChaCha20Poly1305, 32, Left::Either),
        (Aead::XChaCha20Poly1305, 32, Left::Either),
    ] {
        let algorithm = Algorithm::Aead(aead);
        tells_a_forged_message_from_its_neighbours(algorithm, (key, 0), b"before", left);
    }
}

#[test]
fn macs_tell_a_forged_message_from_its_neighbours() {
    for (mac, key) in [
        (Mac::AesGmac, 16),
        (Mac::AesCmac, 16),
        (Mac::Hmac(Hash::Sha256), 32),
    ] {
        for tier in Tier::available() {
            let device = Device::builder()
                .engine(Native::with_tier(tier).unwrap())
                .build();
            let key = vec![3; key];
            let sessions = [Transform::compute(mac, &key), Transform::verify(mac, &key)];
            // SHA-2 is not on every tier.
            let [Ok(compute), Ok(verify)] = sessions.map(|it| device.session(it)) else {
                assert_eq!(mac, Mac::Hmac(Hash::Sha256), "{tier:?}");
                continue;
            };
            for (count, len, aad) in [
                (1_usize, 5, &b""[..]),
                (1, 64, b"before"),
                (2, 0, b""),
                (5, 1000, b""),
                (5, 16, b"before"),
                (33, 64, b""),
                (300, 20, b""),
            ] {
                let texts: Vec<_> = (0..count).map(|n| vec![n.to_le_bytes()[0]; len]).collect();
                let read = Layout::ReadOnly;
                let computed = run(&device, slice::from_ref(&compute), read, aad, &texts);
                let ivs: Vec<_> = (0..count)
                    .map(|n| vec![n.to_le_bytes()[0]; verify.iv_len()])
                    .collect();
                for forged in [None, Some(0), Some(count - 1)] {
                    let mut tags: Vec<_> = computed.iter().map(|(_, tag)| tag.clone()).collect();
                    if let Some(forged) = forged {
                        *tags[forged].last_mut().unwrap() ^= 1;
                    }
                    let mut ops: Vec<_> = texts
                        .iter()
                        .zip(&tags)
                        .zip(&ivs)
                        .map(|((text, tag), iv)| {
                            let op = Op::new(&verify, Buffer::read_only(text));
                            op.iv(iv).aad(aad).expected_tag(tag)
                        })
                        .collect();
                    let failed = device.queue_pair(1).process(&mut ops).failed;
                    assert_eq!(failed, usize::from(forged.is_some()));
                    for (n, op) in ops.iter().enumerate() {
                        let status = match forged {
                            Some(forged) if forged == n => Status::AuthFailed,
                            _ => Status::Success,
                        };
                        assert_eq!(
                            op.status(),
                            status,
                            "{tier:?} {mac:?} {count} of {len}: {n}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn chains_tell_a_forged_message_from_its_neighbours() {
    for (order, left) in [
        (Order::EncryptThenMac, Left::Ciphertext),
        (Order::MacThenEncrypt, Left::Zeros),
    ] {
        for (cipher, mac, mac_key) in [
            (Cipher::AesCbc, Mac::Hmac(Hash::Sha1), 20),
            (Cipher::AesCtr, Mac::AesCmac, 16),
        ] {
            let algorithm = Algorithm::Chain(order, cipher, mac);
            tells_a_forged_message_from_its_neighbours(algorithm, (16, mac_key), b"", left);
        }
    }
}
