//! The native engine through a queue pair: sessions, grouping, chains, and verdicts, which become
//! public where a tag is compared.

use lanelock_core::algorithm::Spec;
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Buffer, Device, Op, Session, Status, Transform};
use lanelock_native::Native;

use super::Row;
use crate::inputs::{Inputs, Message};
use crate::tier::Tier;

/// What needs AES alone runs on the tier of that name too.
const AES: &[Tier] = &[Tier::Portable, Tier::AesNi, Tier::Avx2, Tier::Avx512];
const WIDE: &[Tier] = &[Tier::Portable, Tier::Avx2, Tier::Avx512Bw, Tier::Avx512];

const ALGORITHMS: [(&str, &[Tier]); 15] = [
    ("aes-128-cbc+hmac-sha1", WIDE),
    ("aes-256-cbc+hmac-sha256", WIDE),
    ("aes-128-ctr+hmac-sha512", WIDE),
    ("aes-128-cbc+aes-128-cmac", AES),
    ("hmac-sha1+aes-128-cbc", WIDE),
    ("hmac-sha256+aes-256-ctr", WIDE),
    ("hmac-sha384", WIDE),
    ("hmac-sha3-256", WIDE),
    ("kmac128", WIDE),
    ("aes-256-cmac", AES),
    ("aes-256-gcm", AES),
    ("aes-128-ccm", AES),
    ("aes-256-gcm-siv", AES),
    ("chacha20-poly1305", WIDE),
    ("xchacha20-poly1305", WIDE),
];

pub fn rows() -> Vec<Row> {
    let row = |(name, tiers): (&'static str, _)| {
        let spec: Spec = name.parse().expect("a name of an algorithm");
        [
            Row::new(format!("protect {name}"), tiers, move |tier, inputs| {
                protect(tier, inputs, spec)
            }),
            Row::new(format!("undo    {name}"), tiers, move |tier, inputs| {
                undo(tier, inputs, spec)
            }),
        ]
    };
    ALGORITHMS.into_iter().flat_map(row).collect()
}

fn device(tier: Tier) -> Device {
    let tier = tier
        .machine()
        .expect("a tier of the row that can run")
        .tier();
    let native = Native::with_tier(tier).expect("a tier of the row that can run");
    Device::builder().engine(native).build()
}

/// A message whose key is the cipher's, then the MAC's.
fn session(device: &Device, spec: Spec, direction: Direction, message: &Message) -> Session {
    let (key, mac_key) = message.key.split_at(spec.key_len);
    let transform = Transform::new(spec.algorithm, direction, key, mac_key);
    device.session(transform).expect("the tier has it")
}

/// Runs the messages as one burst, each in its own session.
fn process(
    device: &Device,
    sessions: &[Session],
    burst: &mut [Message],
    tags: &mut [Vec<u8>],
) -> Vec<Status> {
    // As long as the longest.
    let ivs: Vec<_> = burst.iter().map(|m| [m.iv, m.iv].concat()).collect();
    let mut ops: Vec<_> = burst
        .iter_mut()
        .zip(&ivs)
        .zip(sessions)
        .zip(tags)
        .map(|(((message, iv), session), tag)| {
            let is_mac = matches!(session.algorithm(), Algorithm::Mac(_));
            let buffer = match is_mac {
                true => Buffer::read_only(&message.data[..]),
                false => Buffer::in_place(&mut message.data[..]),
            };
            let mut op = Op::new(session, buffer).aad(&message.aad);
            if session.iv_len() > 0 {
                op = op.iv(&iv[..session.iv_len()]);
            }
            match session.direction() {
                Direction::Forward => op.tag(tag),
                Direction::Reverse => op.expected_tag(tag),
            }
        })
        .collect();
    let _counted_below = device.queue_pair(1).process(&mut ops);
    ops.iter().map(Op::status).collect()
}

fn protect(tier: Tier, inputs: &mut Inputs, spec: Spec) -> Vec<Vec<u8>> {
    let mut outputs = Vec::new();
    for mut burst in bursts(inputs, spec) {
        let tags = protected(&device(tier), spec, &mut burst);
        outputs.extend(tags);
        if !matches!(spec.algorithm, Algorithm::Mac(_)) {
            outputs.extend(burst.into_iter().map(|message| message.data));
        }
    }
    outputs
}

fn bursts(inputs: &mut Inputs, spec: Spec) -> Vec<Vec<Message>> {
    inputs.bursts(spec.key_len + spec.mac_key_len, 16, 16)
}

fn protected(device: &Device, spec: Spec, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let sessions: Vec<_> = burst
        .iter()
        .map(|message| session(device, spec, Direction::Forward, message))
        .collect();
    let mut tags: Vec<_> = sessions.iter().map(|s| vec![0; s.tag_len()]).collect();
    let statuses = process(device, &sessions, burst, &mut tags);
    assert!(statuses.iter().all(|status| *status == Status::Success));
    tags
}

/// Protects in public, then undoes it with secret keys; one tag in three is wrong.
fn undo(tier: Tier, inputs: &mut Inputs, spec: Spec) -> Vec<Vec<u8>> {
    let device = device(tier);
    let mut outputs = Vec::new();
    for mut burst in bursts(&mut Inputs::plain(), spec) {
        let mut tags = protected(&device, spec, &mut burst);
        tags.iter_mut().step_by(3).for_each(|tag| tag[0] ^= 0x80);
        for message in &mut burst {
            message.key = inputs.hide(std::mem::take(&mut message.key));
        }
        let sessions: Vec<_> = burst
            .iter()
            .map(|message| session(&device, spec, Direction::Reverse, message))
            .collect();
        let statuses = process(&device, &sessions, &mut burst, &mut tags);
        for (i, (message, status)) in burst.into_iter().zip(statuses).enumerate() {
            let right = [Status::AuthFailed, Status::Success][usize::from(i % 3 != 0)];
            assert_eq!(status, right, "verdict of message {i}");
            // A MAC has the verdict alone; its key stands for the output.
            if matches!(spec.algorithm, Algorithm::Mac(_)) {
                outputs.push(message.key);
            } else if status == Status::Success {
                outputs.push(message.data);
            }
        }
    }
    outputs
}
