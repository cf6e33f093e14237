//! Chains whose messages are alone, or much longer than the others of their burst: as OpenSSL has
//! them, whatever the ranges and the segments.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::io::{IoSlice, IoSliceMut};

use lanelock_core::algorithm::Order;
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Buffer, Cipher, Device, Hash, Mac, Op, Session, Status, Transform};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;

/// Ranges of a message, in bytes from its start.
#[derive(Clone, Debug)]
struct Shape {
    total: usize,
    cipher: std::ops::Range<usize>,
    auth: std::ops::Range<usize>,
    /// Of a tag inside the payload.
    tag_at: Option<usize>,
    aad: usize,
    segment: usize,
    in_place: bool,
}

const TAG: usize = 12;

impl Shape {
    fn random(random: &mut fastrand::Rng, order: Order) -> Self {
        let (before, after) = (random.usize(..70), random.usize(..50));
        let blocks = [random.usize(..5), random.usize(..80)][random.usize(..2)];
        let cipher = before..before + 16 * blocks;
        let total = cipher.end + after;
        let mut tag_at = None;
        let auth = match random.usize(..4) {
            // Around the payload: an ESP header, the upper half of its sequence number.
            0 => random.usize(..before + 1)..cipher.end + random.usize(..after + 1),
            // To the end of the plaintext, with the tag and padding behind it: a TLS record.
            1 if order == Order::MacThenEncrypt && cipher.len() >= 32 => {
                let end = cipher.end - TAG - random.usize(..16);
                tag_at = Some(end);
                random.usize(..before + 1)..end
            }
            // Whatever meets whatever.
            _ => {
                let start = random.usize(..total + 1);
                start..start + random.usize(..total - start + 1)
            }
        };
        Self {
            total,
            cipher,
            auth,
            tag_at,
            aad: [0, random.usize(..40)][random.usize(..2)],
            segment: [usize::MAX, 256, 1 + random.usize(..100)][random.usize(..3)],
            in_place: random.bool(),
        }
    }
}

/// What came out: status, output, tag.
type Outcome = (Status, Vec<u8>, Vec<u8>);

/// Runs one message of `session` in a burst with one short message for each of `others`.
fn run(
    device: &Device,
    session: &Session,
    direction: Direction,
    others: usize,
    shape: &Shape,
    input: &[u8],
    tag: &[u8],
) -> Outcome {
    let (aad, iv) = (vec![3; shape.aad], [7; 16]);
    let (mut output, mut tag) = (input.to_vec(), tag.to_vec());
    if !shape.in_place {
        output.fill(0xcc);
    }
    let segment = shape.segment.min(shape.total.max(1));
    let segments: Vec<_> = input.chunks(segment).map(IoSlice::new).collect();
    let mut shorts = vec![[5_u8; 32]; others];
    let mut short_tags = vec![[0_u8; TAG]; others];
    let status = {
        let mut rest: Vec<_> = output.chunks_mut(segment).map(IoSliceMut::new).collect();
        let buffer = if shape.in_place {
            Buffer::in_place(&mut rest[..])
        } else {
            Buffer::separate(&segments[..], &mut rest[..])
        };
        let mut op = Op::new(session, buffer)
            .iv(&iv)
            .aad(&aad)
            .cipher_range(shape.cipher.clone())
            .auth_range(shape.auth.clone());
        if !shape.in_place {
            op = op.output_at(shape.cipher.start);
        }
        op = match (shape.tag_at, direction) {
            (Some(at), _) => op.tag_at(at),
            (None, Direction::Forward) => op.tag(&mut tag),
            (None, Direction::Reverse) => op.expected_tag(&tag),
        };
        let mut ops = vec![op];
        for (short, tag) in shorts.iter_mut().zip(&mut short_tags) {
            let op = Op::new(session, Buffer::in_place(&mut short[..])).iv(&iv);
            ops.push(match direction {
                Direction::Forward => op.tag(tag),
                Direction::Reverse => op.expected_tag(tag),
            });
        }
        let _looked_at = device.queue_pair(1).process(&mut ops);
        let expected = match direction {
            Direction::Forward => Status::Success,
            Direction::Reverse => Status::AuthFailed,
        };
        assert!(ops[1..].iter().all(|op| op.status() == expected));
        ops[0].status()
    };
    assert!(shorts.windows(2).all(|pair| pair[0] == pair[1]));
    (status, output, tag)
}

fn agree(order: Order, cipher_key: usize, hash: Hash) {
    let algorithm = Algorithm::Chain(order, Cipher::AesCbc, Mac::Hmac(hash));
    let mut random = fastrand::Rng::with_seed(cipher_key as u64);
    for tier in Tier::available() {
        let device = Device::builder()
            .engine(Native::with_tier(tier).unwrap())
            .engine(OpenSsl::new().unwrap())
            .build();
        let session = |engine, direction| {
            let key = vec![0x5a; cipher_key];
            let transform = Transform::new(algorithm, direction, &key, b"mac key").tag_len(TAG);
            device.session_on(engine, transform).unwrap()
        };
        let [forward, reverse] = [Direction::Forward, Direction::Reverse]
            .map(|direction| [session("native", direction), session("openssl", direction)]);
        for _ in 0..300 {
            let shape = Shape::random(&mut random, order);
            let message: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
                .take(shape.total)
                .collect();
            let others = [0, 0, 3][random.usize(..3)];
            let protect = |session: &Session| {
                let direction = Direction::Forward;
                run(
                    &device, session, direction, others, &shape, &message, &[0; TAG],
                )
            };
            let [found, expected] = [0, 1].map(|engine| protect(&forward[engine]));
            assert!(
                found == expected,
                "{tier:?} {algorithm:?} {others} {shape:?}"
            );
            let (status, output, tag) = found;
            assert_eq!(status, Status::Success, "{shape:?}");

            // What was not written is read again from where it was.
            let mut protected = message.clone();
            let payload = shape.cipher.clone();
            protected[payload.clone()].copy_from_slice(&output[payload.clone()]);
            let undo = |session: &Session, input: &[u8], tag: &[u8]| {
                run(
                    &device,
                    session,
                    Direction::Reverse,
                    others,
                    &shape,
                    input,
                    tag,
                )
            };
            let (status, output, _) = undo(&reverse[0], &protected, &tag);
            assert_eq!(status, Status::Success, "{tier:?} {algorithm:?} {shape:?}");
            let kept = shape.tag_at.map_or(payload.clone(), |at| payload.start..at);
            assert!(output[kept.clone()] == message[kept], "{shape:?}");

            let mut forged = tag.clone();
            forged[TAG - 1] ^= 1;
            if shape.tag_at.is_some() {
                protected[shape.auth.start] ^= 1;
            }
            let (status, output, _) = undo(&reverse[0], &protected, &forged);
            assert_eq!(
                status,
                Status::AuthFailed,
                "{tier:?} {algorithm:?} {shape:?}"
            );
            let untouched = if shape.in_place {
                &protected[payload.clone()]
            } else {
                &vec![0xcc; payload.len()][..]
            };
            let output = &output[payload];
            assert!(
                output == untouched || output.iter().all(|&byte| byte == 0),
                "{tier:?} {algorithm:?} {shape:?}"
            );
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
