//! ML-KEM on every tier of this CPU: Wycheproof's tests, many keys in one burst, changed
//! ciphertexts, keys that are none, and OpenSSL's engine where it has ML-KEM.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use lanelock_conformance::progress::Silent;
use lanelock_conformance::public_key::wycheproof;
use lanelock_core::{Device, Status};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::{
    FlushPolicy, KeyDevice, KeyError, KeyKind, KeyOp, KeyReason, KeySession, KeyTransform, MlKem,
    PublicKey, SecretKey,
};

const TIERS: [Tier; 5] = [
    Tier::Avx512,
    Tier::Avx512Bw,
    Tier::Avx2,
    Tier::AesNi,
    Tier::Portable,
];

/// More than run together.
const OPS: usize = 11;

/// Both outputs.
type Outcome = Result<(Vec<u8>, Vec<u8>), KeyReason>;

/// Runs `test` with a device of each tier that the CPU has; `portable` is one on every CPU.
fn on_every_tier(test: impl Fn(&Device, Tier)) {
    let mut tiers = 0;
    for tier in TIERS {
        let Ok(native) = Native::with_tier(tier) else {
            println!("this CPU has no {tier:?}");
            continue;
        };
        let openssl = OpenSsl::new().unwrap();
        let device = Device::builder().engine(native).engine(openssl).build();
        println!("{tier:?}");
        test(&device, tier);
        tiers += 1;
    }
    assert!(tiers > 0);
}

/// The results of one burst on `engine`, with a session for each operation.
fn burst(
    device: &Device,
    engine: &str,
    transforms: &[KeyTransform],
    inputs: &[Vec<u8>],
) -> Vec<Outcome> {
    let sessions: Vec<KeySession> = transforms
        .iter()
        .map(|transform| device.key_session_on(engine, transform).unwrap())
        .collect();
    let mut rooms: Vec<_> = sessions
        .iter()
        .zip(inputs)
        .map(|(session, input)| {
            let first = vec![0; session.output_len(input.len())];
            (first, vec![0; session.second_output_len()])
        })
        .collect();
    let mut ops: Vec<_> = sessions
        .iter()
        .zip(inputs)
        .zip(&mut rooms)
        .map(|((session, input), (first, second))| {
            let parts = lanelock_public_key::KeyParts {
                input,
                signature: &[],
                output: first,
                second,
            };
            KeyOp::of(session, parts)
        })
        .collect();
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let _each_is_looked_at = queue.process(&mut ops);
    let ends: Vec<_> = ops
        .iter()
        .map(|op| (op.status(), op.error().map(|error| error.reason())))
        .collect();
    drop(ops);
    ends.into_iter()
        .zip(rooms)
        .map(|((status, reason), room)| match reason {
            None => {
                assert_eq!(status, Status::Success);
                Ok(room)
            }
            Some(reason) => Err(reason),
        })
        .collect()
}

fn pairs(device: &Device, engine: &str, set: MlKem) -> Vec<(SecretKey, PublicKey)> {
    let kind = KeyKind::MlKem(set);
    let generate = vec![KeyTransform::generate(kind); OPS];
    let made = burst(device, engine, &generate, &vec![Vec::new(); OPS]);
    made.into_iter()
        .map(|pair| {
            let (secret, public) = pair.unwrap();
            assert_eq!(
                (secret.len(), public.len()),
                (set.secret_len(), set.public_len())
            );
            let public = PublicKey::raw(kind, &public).unwrap();
            let secret = SecretKey::raw(kind, &secret).unwrap();
            (secret.with_public(&public).unwrap(), public)
        })
        .collect()
}

/// `from` encapsulates to each key, `to` decapsulates; each third ciphertext is changed between.
fn exchange(device: &Device, set: MlKem, pairs: &[(SecretKey, PublicKey)], from: &str, to: &str) {
    let encapsulate: Vec<_> = pairs
        .iter()
        .map(|(_, public)| KeyTransform::encapsulate(public))
        .collect();
    let made = burst(device, from, &encapsulate, &vec![Vec::new(); OPS]);
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    let mut ciphertexts: Vec<_> = made
        .iter()
        .map(|(ciphertext, _)| ciphertext.clone())
        .collect();
    for (i, ciphertext) in ciphertexts.iter_mut().enumerate() {
        assert_eq!(ciphertext.len(), set.ciphertext_len());
        let len = ciphertext.len();
        if i % 3 == 1 {
            ciphertext[i * 97 % len] ^= 1;
        }
    }
    ciphertexts[4].pop();
    let decapsulate: Vec<_> = pairs
        .iter()
        .map(|(secret, _)| KeyTransform::decapsulate(secret))
        .collect();
    let found = burst(device, to, &decapsulate, &ciphertexts);
    let again = burst(device, to, &decapsulate, &ciphertexts);
    for (i, (found, again)) in found.iter().zip(&again).enumerate() {
        if i == 4 {
            assert_eq!(found.as_ref().unwrap_err(), &KeyReason::CiphertextLength);
            continue;
        }
        let (secret, _) = found.as_ref().unwrap();
        assert_eq!(secret.len(), 32);
        assert_eq!(
            i % 3 != 1,
            *secret == made[i].1,
            "{set:?}, {i}, {from} to {to}"
        );
        assert_eq!(found, again, "implicit rejection is no accident");
    }
}

#[test]
fn wycheproof_has_no_failure() {
    on_every_tier(|device, _| {
        let served = |kind| matches!(kind, KeyKind::MlKem(_));
        let (mut right, mut refused) = (0, 0);
        for file in wycheproof(device, "native", served, &Silent) {
            file.assert_right();
            (right, refused) = (right + file.right, refused + file.refused);
        }
        assert!(
            right > 150 && refused > 0,
            "{right} right, {refused} refused"
        );
    });
}

#[test]
fn secrets_arrive_and_changed_ciphertexts_give_others() {
    on_every_tier(|device, _| {
        for &set in MlKem::ALL {
            let pairs = pairs(device, "native", set);
            exchange(device, set, &pairs, "native", "native");
        }
    });
}

#[test]
fn openssl_understands_it_and_the_other_way_round() {
    on_every_tier(|device, tier| {
        for &set in MlKem::ALL {
            let generate = KeyTransform::generate(KeyKind::MlKem(set));
            if let Err(error) = device.key_session_on("openssl", &generate) {
                assert!(matches!(error, KeyError::Unsupported { .. }), "{error}");
                println!("not run on {tier:?}: {error}");
                continue;
            }
            for maker in ["native", "openssl"] {
                let pairs = pairs(device, maker, set);
                exchange(device, set, &pairs, "native", "openssl");
                exchange(device, set, &pairs, "openssl", "native");
            }
        }
    });
}

#[test]
fn a_seed_is_the_key_that_it_expands_to() {
    on_every_tier(|device, _| {
        for &set in MlKem::ALL {
            let kind = KeyKind::MlKem(set);
            let seed: Vec<u8> = (0..64).collect();
            let secret = SecretKey::raw(kind, &seed).unwrap();
            let expected = reference(set, &seed);
            let public = PublicKey::raw(kind, &expected).unwrap();
            let decapsulate = KeyTransform::decapsulate(&secret);
            let made = burst(
                device,
                "native",
                &[KeyTransform::encapsulate(&public)],
                &[vec![]],
            );
            let (ciphertext, shared) = made[0].clone().unwrap();
            let found = burst(device, "native", &[decapsulate], &[ciphertext]);
            assert_eq!(found[0].clone().unwrap().0, shared, "{kind}");
            // The key that it expands to has this public half, and no other.
            assert!(secret.clone().with_public(&public).is_ok());
            let mut other = expected;
            other[9] ^= 1;
            let other = PublicKey::raw(kind, &other).unwrap();
            let wrong = KeyTransform::decapsulate(&secret.with_public(&other).unwrap());
            let refused = device.key_session_on("native", &wrong).unwrap_err();
            assert!(refused.to_string().contains("another key's"), "{refused}");
        }
    });
}

/// The encapsulation key of a seed, by another implementation.
fn reference(set: MlKem, seed: &[u8]) -> Vec<u8> {
    use ml_kem::{B32, EncodedSizeUser, KemCore, MlKem512, MlKem768, MlKem1024};
    fn of<K: KemCore>(seed: &[u8]) -> Vec<u8> {
        let (d, z) = seed.split_at(32);
        let [d, z] = [d, z].map(|seed| B32::try_from(seed).unwrap());
        let (_, public) = K::generate_deterministic(&d, &z);
        public.as_bytes().to_vec()
    }
    match set {
        MlKem::MlKem512 => of::<MlKem512>(seed),
        MlKem::MlKem768 => of::<MlKem768>(seed),
        MlKem::MlKem1024 => of::<MlKem1024>(seed),
    }
}

#[test]
fn what_is_no_key_is_refused() {
    on_every_tier(|device, _| {
        for &set in MlKem::ALL {
            let kind = KeyKind::MlKem(set);
            let garbage = PublicKey::raw(kind, &vec![0xff; set.public_len()]).unwrap();
            let refused = device.key_session_on("native", &KeyTransform::encapsulate(&garbage));
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("3329"), "{refused}");
            let garbage = SecretKey::raw(kind, &vec![7; set.secret_len()]).unwrap();
            let refused = device.key_session_on("native", &KeyTransform::decapsulate(&garbage));
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("its hash"), "{refused}");
        }
    });
}
