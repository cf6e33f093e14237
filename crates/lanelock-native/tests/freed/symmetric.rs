//! Ciphers, MACs, AEADs and chains, in both directions.

use lanelock_core::algorithm::{MAX_IV_LEN, Spec};
use lanelock_core::engine::offers;
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Buffer, Cipher, Device, Mac, Op, QueuePair, Session, Transform};
use lanelock_kernels::aes::EncryptKey;
use lanelock_testkit::freed::{Finding, Secrets, freed};
use lanelock_testkit::stack::left_on_stack;

use crate::{bytes, devices, engine};

/// Messages of a burst: alone, too few for the lanes, refilled lanes.
const BURSTS: [usize; 3] = [1, 3, 20];
const MESSAGE: usize = 208;

#[test]
fn sessions_of_every_algorithm_leave_nothing() {
    for_each_algorithm(|device, spec, seed| {
        let leaks = leaks(device, spec, seed);
        leaks.iter().map(Finding::to_string).collect()
    });
}

#[test]
fn making_a_session_leaves_no_key_on_the_stack() {
    for_each_algorithm(|device, spec, seed| {
        let key = bytes(seed, spec.key_len);
        let mac_key = bytes(1000 + seed, spec.mac_key_len);
        let mut secrets = Secrets::default();
        name_keys(&mut secrets, spec, &key, &mac_key);
        let directions = [Direction::Forward, Direction::Reverse].into_iter();
        let left = directions.filter_map(|direction| {
            let make = || device.session(Transform::new(spec.algorithm, direction, &key, &mac_key));
            let (secret, at) = left_on_stack(&mut secrets, make)?;
            Some(format!("{direction:?}: {secret}, {at} bytes below"))
        });
        left.collect()
    });
}

/// Calls `leaks` with every algorithm of each device, and a number.
///
/// # Panics
/// If it finds any.
fn for_each_algorithm(leaks: impl Fn(&Device, Spec, usize) -> Vec<String>) {
    let mut found = Vec::new();
    let mut cases = 0;
    for (name, device) in devices() {
        let capabilities = engine(&device).capabilities();
        let all = Spec::singles().into_iter().chain(Spec::chains());
        for spec in all.filter(|spec| offers(capabilities, spec.algorithm)) {
            cases += 1;
            let leaks = leaks(&device, spec, cases).into_iter();
            found.extend(leaks.map(|leak| format!("{name}, {spec}: {leak}")));
        }
    }
    assert!(
        found.is_empty(),
        "{} of {cases}:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// What is left by two sessions, the way there and back, of which one outlives its queue pair.
fn leaks(device: &Device, spec: Spec, seed: usize) -> Vec<Finding> {
    let key = bytes(seed, spec.key_len);
    let mac_key = bytes(1000 + seed, spec.mac_key_len);
    let (other, other_mac) = (
        bytes(2000 + seed, key.len()),
        bytes(3000 + seed, mac_key.len()),
    );
    let transform = |direction| Transform::new(spec.algorithm, direction, &key, &mac_key);
    let is_hash = matches!(spec.algorithm, Algorithm::Hash(_));
    let mut secrets = Secrets::default();
    name_keys(&mut secrets, spec, &key, &mac_key);
    for direction in [Direction::Forward, Direction::Reverse]
        .into_iter()
        .take(if is_hash { 0 } else { 2 })
    {
        // Session and context, as they are after an operation.
        secrets.learn(format!("what a {direction:?} session keeps"), |is_other| {
            let session = device.session(match is_other {
                false => transform(direction),
                true => Transform::new(spec.algorithm, direction, &other, &other_mac),
            });
            let (session, mut queue) = (session.unwrap(), device.queue_pair(1));
            let _may_fail_to_verify =
                process(&mut queue, &session, &mut [[5; MESSAGE]], &mut [[0; 64]]);
            (session, queue)
        });
    }
    let mut data = vec![[5; MESSAGE]; 20];
    let mut tags = vec![[0; 64]; 20];
    let run = || {
        let mut queue = device.queue_pair(1);
        let session = |direction| device.session(transform(direction)).unwrap();
        let forward = session(Direction::Forward);
        let reverse = (!is_hash).then(|| session(Direction::Reverse));
        for count in BURSTS {
            assert!(process(&mut queue, &forward, &mut data[..count], &mut tags));
            if let Some(reverse) = &reverse {
                assert!(process(&mut queue, reverse, &mut data[..count], &mut tags));
            }
        }
        drop(reverse);
        drop(queue);
        drop(forward);
    };
    freed(secrets, run).1
}

/// The forms of the keys that have names.
fn name_keys(secrets: &mut Secrets, spec: Spec, key: &[u8], mac_key: &[u8]) {
    secrets.add("the key", key);
    secrets.add("the MAC's key", mac_key);
    let (cipher, mac) = match spec.algorithm {
        Algorithm::Cipher(cipher) => (Some(cipher), None),
        Algorithm::Mac(mac) => (None, Some((mac, key))),
        Algorithm::Chain(_, cipher, mac) => (Some(cipher), Some((mac, mac_key))),
        _ => (None, None),
    };
    match cipher {
        Some(Cipher::AesXts) => key
            .chunks(key.len() / 2)
            .for_each(|key| add_aes(secrets, key)),
        _ => add_aes(secrets, key),
    }
    if let Some((mac, key)) = mac {
        add_aes(secrets, key);
        if let Mac::Hmac(_) = mac {
            for (pad, name) in [(0x36, "the inner pad"), (0x5c, "the outer pad")] {
                let padded: Vec<_> = key.iter().map(|byte| byte ^ pad).collect();
                secrets.add(name, &padded);
            }
        }
    }
}

/// The round keys of both directions, if `key` is one of AES.
fn add_aes(secrets: &mut Secrets, key: &[u8]) {
    let Some(schedule) = EncryptKey::portable(key) else {
        return;
    };
    for (round, round_key) in schedule.round_keys().iter().enumerate() {
        secrets.add(format!("round key {round}"), round_key);
        let inverse = inverse_mix_columns(round_key);
        secrets.add(format!("round key {round} for decryption"), &inverse);
    }
}

/// FIPS 197, section 5.3.3.
fn inverse_mix_columns(block: &[u8; 16]) -> [u8; 16] {
    let times = |mut byte: u8, mut factor: u8| {
        let mut product = 0;
        while factor != 0 {
            if factor & 1 == 1 {
                product ^= byte;
            }
            byte = (byte << 1) ^ ((byte >> 7) * 0x1b);
            factor >>= 1;
        }
        product
    };
    std::array::from_fn(|at| {
        let column = &block[at / 4 * 4..][..4];
        let rows = [14, 11, 13, 9].into_iter().enumerate();
        rows.fold(0, |sum, (i, factor)| {
            sum ^ times(column[(at + i) % 4], factor)
        })
    })
}

/// Runs a burst in place; whether all of it succeeded.
fn process(
    queue: &mut QueuePair,
    session: &Session,
    data: &mut [[u8; MESSAGE]],
    tags: &mut [[u8; 64]],
) -> bool {
    let iv = [3; MAX_IV_LEN];
    let mut ops: Vec<_> = data
        .iter_mut()
        .zip(tags)
        .map(|(data, tag)| {
            let mut op = Op::new(session, Buffer::in_place(data));
            if session.iv_len() > 0 {
                op = op.iv(&iv[..session.iv_len()]);
            }
            if session.tag_len() > 0 {
                op = op.tag(&mut tag[..session.tag_len()]);
            }
            op
        })
        .collect();
    queue.process(&mut ops).failed == 0
}
