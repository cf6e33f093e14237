//! Bursts of messages in segments, some of which share lanes of a kernel: as the reference has them,
//! whatever the keys, the lengths and the splits.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use lanelock_conformance::message::{
    Message, Output, Padded, Part, Placement, Setup, compare, expect, process,
};
use lanelock_conformance::reference::REFERENCE;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Algorithm, Cipher, Device, Mac, QueuePair, Status};
use lanelock_native::{Native, Tier};

/// More than a kernel takes at a time.
const BURST: usize = 90;
/// One message of so many is in one piece.
const WHOLE: usize = 5;
/// One message of so many may be longer than all that are put together.
const LONG: usize = 31;
/// One message to open of so many is forged.
const FORGED: usize = 8;

/// A message of whole blocks, or of any length, cut at any places, in place or with an output of its
/// own that is cut elsewhere.
fn message(random: &mut fastrand::Rng, block: usize) -> Message {
    let header = random.usize(..20);
    let blocks = match random.usize(..LONG) {
        0 => 1000 + random.usize(..100),
        n => random.usize(..[4, 12, 70][n % 3]),
    };
    let len = blocks * 16 / block * block + random.usize(..16) / block * block;
    let input: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(header + len)
        .collect();
    let whole = random.usize(..WHOLE) == 0;
    let mut cuts = || {
        let most = [8, 40, 300, 1000][random.usize(..4)].max(len / 50);
        let mut left = header + len;
        let mut cuts = Vec::new();
        while left > 0 && !whole {
            cuts.push(random.usize(..=most.min(left)));
            left -= cuts[cuts.len() - 1];
        }
        cuts
    };
    let (input_cuts, output_cuts) = (cuts(), cuts());
    let mut message = Message {
        iv: Part::Separate((0..16).map(|_| random.u8(..)).collect()),
        cipher: Some(header..header + len),
        placement: Placement {
            input_cuts,
            seed: random.u64(..),
            ..Placement::default()
        },
        ..Message::default()
    };
    if random.bool() {
        message.output = Output::Separate(vec![0xcc; header + len]);
        message.output_at = Some(header);
        message.placement.output_cuts = output_cuts;
    }
    Message { input, ..message }
}

/// The same bytes and cuts for a MAC, with the tag that is right where one is verified.
fn authenticated(message: Message, setup: &Setup) -> Message {
    let mut message = Message {
        iv: Part::None,
        cipher: None,
        tag: Part::Separate(vec![0; setup.tag_len]),
        output: Output::default(),
        output_at: None,
        ..message
    };
    message.placement.output_cuts.clear();
    if setup.direction == Direction::Reverse {
        message.protect(setup, &REFERENCE);
    }
    message
}

/// The same bytes and cuts for an AEAD, with additional data before the text or of its own. Of those to
/// open some are forged.
fn sealed(message: Message, setup: &Setup, random: &mut fastrand::Rng) -> Message {
    let header = message.cipher_range().start;
    let mut message = Message {
        iv: Part::Separate((0..setup.iv_len).map(|_| random.u8(..)).collect()),
        aad: match random.bool() {
            true => Part::Inline(0..header),
            false => Part::Separate((0..random.usize(..200)).map(|_| random.u8(..)).collect()),
        },
        tag: Part::Separate(vec![0; setup.tag_len]),
        ..message
    };
    if setup.direction == Direction::Reverse {
        message.protect(setup, &REFERENCE);
        if let Part::Separate(tag) = &mut message.tag
            && random.usize(..FORGED) == 0
        {
            tag[random.usize(..setup.tag_len)] ^= 1 << random.usize(..8);
        }
    }
    message
}

fn agree(algorithm: Algorithm, key_len: usize) {
    let row = algorithm.row();
    let (iv_len, tag_len) = match algorithm {
        Algorithm::Aead(Aead::XChaCha20Poly1305) => (24, 16),
        Algorithm::Aead(Aead::AesSiv) => (0, 16),
        Algorithm::Aead(_) => (12, 16),
        Algorithm::Mac(_) => (0, 16),
        _ => (16, 0),
    };
    let mut random = fastrand::Rng::with_seed(key_len as u64);
    for tier in Tier::available() {
        let native = Native::with_tier(tier).unwrap();
        let device = Device::builder().engine(native).build();
        for (direction, other) in [
            (Direction::Forward, Direction::Reverse),
            (Direction::Reverse, Direction::Forward),
        ] {
            // The other direction is another group: the burst's first does not lie side by side.
            let setups: Vec<_> = [direction, other, direction]
                .map(|direction| Setup {
                    algorithm,
                    direction,
                    key: (0..key_len).map(|_| random.u8(..)).collect(),
                    mac_key: Vec::new(),
                    iv_len,
                    tag_len,
                    customization: Vec::new(),
                })
                .into();
            let sessions: Result<Vec<_>, _> = setups
                .iter()
                .map(|setup| device.session(setup.transform()))
                .collect();
            let Ok(sessions) = sessions else {
                assert_eq!(tier, Tier::AesNi, "{algorithm:?}");
                println!("tier {} does not have {algorithm:?}", tier.name());
                continue;
            };
            let messages: Vec<_> = (0..BURST)
                .map(|n| {
                    let message = message(&mut random, row.block);
                    let setup = &setups[n % setups.len()];
                    match algorithm {
                        Algorithm::Aead(_) => sealed(message, setup, &mut random),
                        Algorithm::Mac(_) => authenticated(message, setup),
                        _ => message,
                    }
                })
                .collect();
            let burst: Vec<_> = messages
                .iter()
                .enumerate()
                .map(|(n, message)| (&sessions[n % setups.len()], message))
                .collect();
            let mut queue: QueuePair<Padded> = device.queue_pair_of(1);
            let observed = process(&mut queue, &burst);
            assert_eq!(observed.len(), BURST);
            let mut succeeded = 0;
            for (n, (message, observed)) in messages.iter().zip(&observed).enumerate() {
                let setup = &setups[n % setups.len()];
                let expected = expect(setup, message, &REFERENCE);
                succeeded += usize::from(expected.status() == Status::Success);
                if let Some(mismatch) = compare(message, &expected, observed) {
                    panic!("{mismatch}: {setup:?}, {tier:?}, {message:?}");
                }
            }
            match algorithm {
                Algorithm::Aead(_) => assert!((BURST / 2..BURST).contains(&succeeded)),
                _ => assert_eq!(succeeded, BURST),
            }
        }
    }
}

macro_rules! agree {
    ($($name:ident: $kind:ident $algorithm:ident $key:literal)*) => {$(
        #[test]
        fn $name() {
            agree(Algorithm::$kind($kind::$algorithm), $key);
        }
    )*};
}

agree!(
    aes_128_cbc: Cipher AesCbc 16
    aes_192_cbc: Cipher AesCbc 24
    aes_256_cbc: Cipher AesCbc 32
    aes_128_cfb: Cipher AesCfb 16
    aes_256_cfb: Cipher AesCfb 32
    aes_128_ofb: Cipher AesOfb 16
    aes_192_ofb: Cipher AesOfb 24
    aes_128_ctr: Cipher AesCtr 16
    aes_128_cmac: Mac AesCmac 16
    aes_192_cmac: Mac AesCmac 24
    aes_256_cmac: Mac AesCmac 32
    aes_128_gcm: Aead AesGcm 16
    aes_192_gcm: Aead AesGcm 24
    aes_256_gcm: Aead AesGcm 32
    aes_128_ccm: Aead AesCcm 16
    aes_128_gcm_siv: Aead AesGcmSiv 16
    aes_256_siv: Aead AesSiv 32
    chacha20_poly1305: Aead ChaCha20Poly1305 32
    xchacha20_poly1305: Aead XChaCha20Poly1305 32
);
