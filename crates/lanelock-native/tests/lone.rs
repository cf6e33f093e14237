//! Bursts of one, which run on a path of their own: sealed and opened as OpenSSL has them, whatever
//! the lengths of message, additional data, IV and tag; a forged one is refused.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use lanelock_core::algorithm::Algorithm;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Buffer, Device, Hash, Mac, Op, QueuePair, Session, Status, Transform};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;

#[derive(Clone)]
struct Message {
    text: Vec<u8>,
    aad: Vec<u8>,
    iv: Vec<u8>,
    tag: Vec<u8>,
}

impl Message {
    /// Runs it alone. Its text becomes what the operation leaves in the output.
    fn run(
        &mut self,
        queue: &mut QueuePair,
        session: &Session,
        direction: Direction,
        separate: bool,
    ) -> Status {
        let (input, mut output) = (self.text.clone(), vec![0xcc; self.text.len()]);
        let buffer = if separate {
            Buffer::separate(&input, &mut output)
        } else {
            Buffer::in_place(&mut self.text)
        };
        let op = Op::new(session, buffer).iv(&self.iv).aad(&self.aad);
        let mut ops = [match direction {
            Direction::Forward => op.tag(&mut self.tag),
            Direction::Reverse => op.expected_tag(&self.tag),
        }];
        let outcome = queue.process(&mut ops);
        let status = ops[0].status();
        let succeeded = usize::from(status == Status::Success);
        assert_eq!(outcome.succeeded, succeeded);
        assert_eq!(outcome.failed, 1 - succeeded);
        if separate {
            self.text = output;
        }
        status
    }
}

/// What a session of each direction makes of messages; `writes`: it has a text.
fn agree(algorithm: Algorithm, key: usize, iv: usize, tag: usize, writes: bool) {
    let mut random = fastrand::Rng::with_seed(18);
    let key: Vec<u8> = (0..key).map(|_| random.u8(..)).collect();
    for tier in Tier::available() {
        let device = Device::builder()
            .engine(Native::with_tier(tier).unwrap())
            .engine(OpenSsl::new().unwrap())
            .build();
        let session = |engine, direction| {
            let transform = Transform::new(algorithm, direction, &key, &[]).tag_len(tag);
            let transform = if iv == 0 {
                transform
            } else {
                transform.iv_len(iv)
            };
            device.session_on(engine, transform)
        };
        let (Ok(seal), Ok(open)) = (
            session("native", Direction::Forward),
            session("native", Direction::Reverse),
        ) else {
            println!("tier {} does not have {algorithm:?}", tier.name());
            continue;
        };
        let reference = session("openssl", Direction::Forward).unwrap();
        let mut queue: QueuePair = device.queue_pair(1);
        for len in (0..=300).chain([
            447, 448, 449, 511, 512, 513, 575, 576, 959, 960, 961, 1500, 5000,
        ]) {
            for aad in [0, 1, 12, 16, 17, 64, 112, 113, 700] {
                // Lengths beyond a few registers take the same way whatever comes before.
                if !writes && aad > 0 || len % 16 > 1 && aad > 17 {
                    continue;
                }
                let mut bytes = |len| (0..len).map(|_| random.u8(..)).collect::<Vec<u8>>();
                let plain = Message {
                    text: bytes(len),
                    aad: bytes(aad),
                    iv: bytes(seal.iv_len()),
                    tag: vec![0xee; tag],
                };
                let separate = writes && len % 2 == 1;
                let what = format!("{tier:?} {algorithm:?}: {len} bytes, {aad} before");
                let [mut sealed, mut expected] = [plain.clone(), plain.clone()];
                for (message, session) in [(&mut sealed, &seal), (&mut expected, &reference)] {
                    let status = message.run(&mut queue, session, Direction::Forward, separate);
                    assert_eq!(status, Status::Success, "{what}");
                }
                assert!(sealed.text == expected.text, "text of {what}");
                assert_eq!(sealed.tag, expected.tag, "tag of {what}");

                let mut opened = sealed.clone();
                let status = opened.run(&mut queue, &open, Direction::Reverse, separate);
                assert_eq!(status, Status::Success, "{what}");
                assert!(opened.text == plain.text, "opened text of {what}");

                let mut forged = sealed.clone();
                let parts = [&mut forged.tag, &mut forged.text, &mut forged.aad];
                let mut parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                let part = random.usize(..parts.len());
                let at = random.usize(..parts[part].len());
                parts[part][at] ^= 1 << random.u8(..8);
                let before = forged.text.clone();
                let status = forged.run(&mut queue, &open, Direction::Reverse, separate);
                assert_eq!(status, Status::AuthFailed, "forged {what}");
                if writes {
                    // Not decrypted, or wiped.
                    let untouched = if separate { vec![0xcc; len] } else { before };
                    let is_wiped = forged.text.iter().all(|&byte| byte == 0);
                    assert!(is_wiped || forged.text == untouched, "left of {what}");
                }
            }
        }
    }
}

#[test]
fn aes_gcm() {
    for (key, iv, tag) in [(16, 12, 16), (24, 12, 12), (32, 12, 4), (16, 16, 16)] {
        agree(Algorithm::Aead(Aead::AesGcm), key, iv, tag, true);
    }
}

#[test]
fn chacha20_poly1305() {
    agree(Algorithm::Aead(Aead::ChaCha20Poly1305), 32, 12, 16, true);
}

#[test]
fn aes_ccm() {
    agree(Algorithm::Aead(Aead::AesCcm), 16, 12, 16, true);
}

#[test]
fn aes_gmac() {
    for (key, tag) in [(16, 16), (24, 12), (32, 4)] {
        agree(Algorithm::Mac(Mac::AesGmac), key, 12, tag, false);
    }
}

#[test]
fn aes_cmac() {
    for (key, tag) in [(16, 16), (32, 4)] {
        agree(Algorithm::Mac(Mac::AesCmac), key, 0, tag, false);
    }
}

#[test]
fn hmac() {
    for (hash, tag) in [
        (Hash::Sha1, 12),
        (Hash::Sha256, 32),
        (Hash::Sha512, 64),
        (Hash::Sha3_256, 32),
    ] {
        agree(Algorithm::Mac(Mac::Hmac(hash)), 20, 0, tag, false);
    }
}
