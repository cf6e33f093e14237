//! Chains whose messages are alone, or much longer than the others of their burst: as the reference
//! has them, whatever the ranges and the segments.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use lanelock_conformance::message::{
    Message, Output, Padded, Part, Placement, Setup, compare, expect, process,
};
use lanelock_conformance::reference::REFERENCE;
use lanelock_core::algorithm::Order;
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Cipher, Device, Hash, Mac, QueuePair, Status};
use lanelock_native::{Native, Tier};

const TAG: usize = 12;
const IV: [u8; 16] = [7; 16];

/// A message in random ranges and segments, in place or with an output of its own.
fn message(random: &mut fastrand::Rng, order: Order) -> Message {
    let (before, after) = (random.usize(..70), random.usize(..50));
    let blocks = [random.usize(..5), random.usize(..80)][random.usize(..2)];
    let cipher = before..before + 16 * blocks;
    let total = cipher.end + after;
    let mut tag = Part::Separate(vec![0; TAG]);
    let auth = match random.usize(..4) {
        // Around the payload: an ESP header, the upper half of its sequence number.
        0 => random.usize(..before + 1)..cipher.end + random.usize(..after + 1),
        // To the end of the plaintext, with the tag and padding after it: a TLS record.
        1 if order == Order::MacThenEncrypt && cipher.len() >= 32 => {
            let end = cipher.end - TAG - random.usize(..16);
            tag = Part::Inline(end..end + TAG);
            random.usize(..before + 1)..end
        }
        // Ranges that overlap in any way.
        _ => {
            let start = random.usize(..total + 1);
            start..start + random.usize(..total - start + 1)
        }
    };
    let segment = [usize::MAX, 256, 1 + random.usize(..100)][random.usize(..3)];
    let input: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(total)
        .collect();
    let cuts: Vec<_> = input.chunks(segment).map(<[u8]>::len).collect();
    let mut message = Message {
        iv: Part::Separate(IV.to_vec()),
        aad: Part::Separate(vec![3; [0, random.usize(..40)][random.usize(..2)]]),
        tag,
        auth: Some(auth),
        placement: Placement {
            input_cuts: cuts.clone(),
            seed: random.u64(..),
            ..Placement::default()
        },
        ..Message::default()
    };
    if random.bool() {
        message.output = Output::Separate(vec![0xcc; total]);
        message.output_at = Some(cipher.start);
        message.placement.output_cuts = cuts;
    }
    Message {
        input,
        cipher: Some(cipher),
        ..message
    }
}

/// Runs a message in a burst with one short message for each of `others`; its status.
fn run(device: &Device, setup: &Setup, message: &Message, others: usize) -> Status {
    let short = Message {
        input: vec![5; 32],
        iv: Part::Separate(IV.to_vec()),
        tag: Part::Separate(vec![0; TAG]),
        ..Message::default()
    };
    let session = device.session(setup.transform()).unwrap();
    let mut burst = vec![(&session, message)];
    burst.resize(1 + others, (&session, &short));
    let mut queue: QueuePair<Padded> = device.queue_pair_of(1);
    let observed = process(&mut queue, &burst);
    for ((_, message), observed) in burst.iter().zip(&observed) {
        let expected = expect(setup, message, &REFERENCE);
        if let Some(mismatch) = compare(message, &expected, observed) {
            panic!("{mismatch}: {setup:?}, {others} others, {message:?}");
        }
    }
    expect(setup, message, &REFERENCE).status()
}

fn agree(order: Order, cipher_key: usize, hash: Hash) {
    let forward = Setup {
        algorithm: Algorithm::Chain(order, Cipher::AesCbc, Mac::Hmac(hash)),
        direction: Direction::Forward,
        key: vec![0x5a; cipher_key],
        mac_key: b"mac key".to_vec(),
        iv_len: IV.len(),
        tag_len: TAG,
        customization: Vec::new(),
    };
    let reverse = forward.with_direction(Direction::Reverse);
    let mut random = fastrand::Rng::with_seed(cipher_key as u64);
    for tier in Tier::available() {
        let native = Native::with_tier(tier).unwrap();
        let device = Device::builder().engine(native).build();
        for _ in 0..300 {
            let mut message = message(&mut random, order);
            let others = [0, 0, 3][random.usize(..3)];
            assert_eq!(run(&device, &forward, &message, others), Status::Success);

            message.protect(&forward, &REFERENCE);
            assert_eq!(run(&device, &reverse, &message, others), Status::Success);

            match (&mut message.tag, &message.auth) {
                (Part::Separate(tag), _) => tag[TAG - 1] ^= 1,
                (_, Some(auth)) => message.input[auth.start] ^= 1,
                _ => unreachable!("every message has a range to authenticate"),
            }
            assert_eq!(run(&device, &reverse, &message, others), Status::AuthFailed);
        }
    }
}

macro_rules! agree {
    ($($name:ident: $order:ident $key:literal $hash:ident)*) => {$(
        #[test]
        fn $name() {
            agree(Order::$order, $key, Hash::$hash);
        }
    )*};
}

agree!(
    aes_128_cbc_then_hmac_sha1: EncryptThenMac 16 Sha1
    aes_192_cbc_then_hmac_sha224: EncryptThenMac 24 Sha224
    aes_256_cbc_then_hmac_sha256: EncryptThenMac 32 Sha256
    hmac_sha1_then_aes_256_cbc: MacThenEncrypt 32 Sha1
    hmac_sha224_then_aes_192_cbc: MacThenEncrypt 24 Sha224
    hmac_sha256_then_aes_128_cbc: MacThenEncrypt 16 Sha256
);
