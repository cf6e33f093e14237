//! Public keys on lanes: Wycheproof's tests, and every operation offered against OpenSSL's engine,
//! with mixed keys, mixed verdicts, and each case in each lane.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod refused;

use lanelock_conformance::progress::Silent;
use lanelock_conformance::public_key::{KeyMessage, Random, random, samples, wycheproof};
use lanelock_core::{Device, Hash, Status};
use lanelock_native::{Digits, Native, Tier};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::engine::{KeyCapability, PublicKeyEngine};
use lanelock_public_key::{
    Curve, FlushPolicy, KeyDevice, KeyKind, KeyOp, KeyParts, KeyQueue, KeyReason, KeySpec,
    KeyTransform, MlKem, Operation, PublicKey, Scheme, SecretKey, SignatureForm, SignatureScheme,
};

const LANES: usize = 8;
const P256: KeyKind = KeyKind::Ec(Curve::P256);
const P384: KeyKind = KeyKind::Ec(Curve::P384);

/// The tiers that may have lanes for curves.
const TIERS: [Tier; 3] = [Tier::Avx512, Tier::Avx512Bw, Tier::Avx2];

/// A tier for each kind of lanes for curves, beside OpenSSL's engine; none where the CPU lacks them, by
/// the standard library's word.
fn devices() -> impl Iterator<Item = Device> {
    let mut last = Digits::Plain;
    TIERS.into_iter().filter_map(move |tier| {
        let native = Native::with_tier(tier).ok();
        let digits = native.as_ref().map_or(Digits::Plain, Native::digits);
        assert_eq!(digits, digits_of_cpu(tier), "{tier:?}");
        let native = native.filter(|_| digits > Digits::Plain && digits != last)?;
        last = digits;
        let openssl = OpenSsl::new().unwrap();
        Some(Device::builder().engine(native).engine(openssl).build())
    })
}

#[cfg(target_arch = "x86_64")]
fn digits_of_cpu(tier: Tier) -> Digits {
    use std::is_x86_feature_detected as has;
    let is_avx512 = has!("avx512vbmi2") && has!("avx512bw") && has!("vaes") && has!("gfni");
    match tier {
        Tier::Avx512 if !is_avx512 => Digits::Plain,
        Tier::Avx512Bw if !has!("avx512bw") => Digits::Plain,
        Tier::Avx512 if has!("avx512ifma") => Digits::Ifma,
        _ if has!("avxifma") => Digits::AvxIfma,
        _ if has!("avx2") && has!("fma") => Digits::Fma,
        _ => Digits::Plain,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn digits_of_cpu(_: Tier) -> Digits {
    Digits::Plain
}

fn openssl_has_ml_kem(device: &Device) -> bool {
    let generate = KeyTransform::generate(KeyKind::MlKem(MlKem::MlKem768));
    device.key_session_on("openssl", &generate).is_ok()
}

/// An operation to run, and its result.
#[derive(Clone, Debug)]
struct Case {
    transform: KeyTransform,
    input: Vec<u8>,
    signature: Vec<u8>,
}

type Outcome = Result<(Vec<u8>, Vec<u8>), KeyReason>;

impl Case {
    fn new(transform: KeyTransform, input: &[u8]) -> Self {
        Self {
            transform,
            input: input.to_vec(),
            signature: Vec::new(),
        }
    }

    fn signed(self, signature: &[u8]) -> Self {
        let signature = signature.to_vec();
        Self { signature, ..self }
    }
}

/// Runs `cases` in one burst on `engine`. What is refused must be untouched, what fails empty.
fn run(device: &Device, engine: &str, cases: &[Case]) -> Vec<Outcome> {
    let sessions: Vec<_> = cases
        .iter()
        .map(|case| device.key_session_on(engine, &case.transform).unwrap())
        .collect();
    let mut outputs: Vec<_> = sessions
        .iter()
        .zip(cases)
        .map(|(session, case)| {
            let room = session.output_len(case.input.len());
            (vec![0xee; room], vec![0xee; session.second_output_len()])
        })
        .collect();
    let mut ops: Vec<_> = sessions
        .iter()
        .zip(cases)
        .zip(&mut outputs)
        .map(|((session, case), (output, second))| {
            let parts = KeyParts {
                input: &case.input,
                signature: &case.signature,
                output,
                second,
            };
            KeyOp::of(session, parts)
        })
        .collect();
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let _each_is_looked_at = queue.process(&mut ops);
    let ends: Vec<_> = ops
        .iter()
        .map(|op| {
            let why = op.error().map(|error| error.reason());
            (op.status(), why, op.written(), op.second_written())
        })
        .collect();
    drop(ops);
    ends.into_iter()
        .zip(outputs)
        .map(|((status, why, written, more), (output, second))| {
            let Some(why) = why else {
                assert_eq!(status, Status::Success);
                return Ok((output[..written].to_vec(), second[..more].to_vec()));
            };
            assert_eq!(status, why.status());
            let left = if status == Status::InvalidArgs {
                0xee
            } else {
                0
            };
            assert!(output.iter().all(|&byte| byte == left), "{why:?}");
            Err(why)
        })
        .collect()
}

/// Runs `cases` on lanes, shifted so that each is in each lane once, in bursts of several lengths,
/// and expects what `judge` says of every result.
fn in_every_lane(device: &Device, cases: &[Case], judge: impl Fn(usize, &Outcome)) {
    for shift in 0..LANES {
        let count = cases.len() - shift % 3;
        let indices: Vec<_> = (0..count).map(|i| (i + shift) % cases.len()).collect();
        let shifted: Vec<_> = indices.iter().map(|&i| cases[i].clone()).collect();
        let outcomes = run(device, "native", &shifted);
        for (&index, outcome) in indices.iter().zip(&outcomes) {
            judge(index, outcome);
        }
    }
}

/// As OpenSSL's engine does, results and reasons alike.
fn as_openssl(device: &Device, cases: &[Case]) {
    let expected = run(device, "openssl", cases);
    assert!(expected.iter().any(Result::is_ok) && cases.len() > LANES);
    in_every_lane(device, cases, |index, outcome| {
        assert_eq!(outcome, &expected[index], "{:?}", cases[index]);
    });
}

fn pairs(
    device: &Device,
    engine: &str,
    kind: KeyKind,
    count: usize,
) -> Vec<(SecretKey, PublicKey)> {
    let cases = vec![Case::new(KeyTransform::generate(kind), &[]); count];
    let made = run(device, engine, &cases).into_iter();
    made.map(|pair| {
        let (secret, public) = pair.unwrap();
        let pair = keys(kind, &secret, &public);
        (pair.0.with_public(&pair.1).unwrap(), pair.1)
    })
    .collect()
}

fn keys(kind: KeyKind, secret: &[u8], public: &[u8]) -> (SecretKey, PublicKey) {
    match kind {
        KeyKind::Ec(curve) => (
            SecretKey::ec(curve, secret, None).unwrap(),
            PublicKey::ec(curve, public).unwrap(),
        ),
        _ => (
            SecretKey::raw(kind, secret).unwrap(),
            PublicKey::raw(kind, public).unwrap(),
        ),
    }
}

fn encoded(key: &PublicKey) -> Vec<u8> {
    use lanelock_public_key::PublicParts::{Point, Raw};
    match key.parts() {
        Point(bytes) | Raw(bytes) => bytes.clone(),
        _ => panic!("{key:?}"),
    }
}

/// SEC 1, section 2.3.3.
fn compressed(point: &[u8]) -> Vec<u8> {
    let x = &point[1..=point.len() / 2];
    [&[2 | point[point.len() - 1] & 1][..], x].concat()
}

#[test]
fn wycheproof_has_no_failure() {
    for device in devices() {
        let kinds = [KeyKind::X25519, KeyKind::Ed25519, P256, P384];
        let outcomes = wycheproof(&device, "native", |kind| kinds.contains(&kind), &Silent);
        let (mut right, mut refused) = (0, 0);
        for file in &outcomes {
            file.assert_right();
            (right, refused) = (right + file.right, refused + file.refused);
        }
        println!("{} files: {right} right, {refused} refused", outcomes.len());
        assert!(outcomes.len() >= 10 && right > 2000 && refused > 1000);
    }
}

#[test]
fn shared_secrets_are_openssl_s() {
    for device in devices() {
        for kind in [KeyKind::X25519, P256, P384] {
            let pairs = pairs(&device, "openssl", kind, 19);
            let mut cases = Vec::new();
            for (i, (secret, _)) in pairs.iter().enumerate() {
                let mut peer = encoded(&pairs[(i + 5) % pairs.len()].1);
                match (kind, i % 6) {
                    // Of small order: 0 and 1.
                    (KeyKind::X25519, 2) => peer.fill(0),
                    (KeyKind::X25519, 4) => peer = [&[1][..], &[0; 31]].concat(),
                    (KeyKind::X25519, 5) => peer[31] |= 0x80,
                    (KeyKind::X25519, _) => {}
                    (_, 1 | 3) => peer = compressed(&peer),
                    (_, 2) => *peer.last_mut().unwrap() ^= 1,
                    (_, 4) => peer[1..].fill(0xff),
                    (_, 5) => {
                        // About half of these are no point's.
                        peer = compressed(&peer);
                        *peer.last_mut().unwrap() ^= 1;
                    }
                    _ => {}
                }
                cases.push(Case::new(KeyTransform::derive(secret), &peer));
            }
            if kind != KeyKind::X25519 {
                // 6 and 7 are the hybrid form, which SEC 1 does not have.
                for tag in [0, 5, 6, 7] {
                    let mut other_tag = cases[0].clone();
                    other_tag.input[0] = tag;
                    cases.push(other_tag);
                }
            }
            as_openssl(&device, &cases);
        }
    }
}

#[test]
fn signatures_of_ed25519_are_openssl_s() {
    for device in devices() {
        let pairs = pairs(&device, "openssl", KeyKind::Ed25519, 19);
        let message = [0x5a; 300];
        let (mut sign, mut verify) = (Vec::new(), Vec::new());
        for (i, (secret, public)) in pairs.iter().enumerate() {
            let transform = KeyTransform::sign(SignatureScheme::EdDsa, secret);
            sign.push(Case::new(transform, &message[..i * 16]));
            let transform = KeyTransform::verify(SignatureScheme::EdDsa, public);
            verify.push(Case::new(transform, &message[..i * 16]));
        }
        as_openssl(&device, &sign);
        let signatures = run(&device, "openssl", &sign);
        for (i, (case, signature)) in verify.iter_mut().zip(signatures).enumerate() {
            case.signature = signature.unwrap().0;
            match i % 7 {
                1 => case.signature[i] ^= 1,
                2 => case.signature[63] |= 0x80,
                3 => case.input.push(0),
                4 => case.signature.truncate(63),
                5 => case.signature.push(0),
                _ => {}
            }
        }
        as_openssl(&device, &verify);
    }
}

/// Every hash and form, digests given and computed; then what is tampered with.
#[test]
fn signatures_of_ecdsa_are_what_openssl_accepts_and_the_other_way_round() {
    for device in devices() {
        let hashes = [
            Hash::Sha1,
            Hash::Sha224,
            Hash::Sha256,
            Hash::Sha384,
            Hash::Sha512,
        ];
        for kind in [P256, P384] {
            let pairs = pairs(&device, "openssl", kind, 20);
            let (mut sign, mut verify) = (Vec::new(), Vec::new());
            for (i, (secret, public)) in pairs.iter().enumerate() {
                let hash = hashes[i % hashes.len()];
                let scheme = SignatureScheme::Ecdsa(hash);
                let form = [SignatureForm::Der, SignatureForm::Fixed][i % 2];
                let mut transforms = [
                    KeyTransform::sign(scheme, secret),
                    KeyTransform::verify(scheme, public),
                ]
                .map(|transform| transform.signature_form(form));
                let mut input = vec![0x5a; i * 17];
                if i % 3 == 0 {
                    transforms = transforms.map(KeyTransform::digest);
                    input = vec![0xa5; hash.digest_len()];
                }
                let [signs, verifies] = transforms;
                sign.push(Case::new(signs, &input));
                verify.push(Case::new(verifies, &input));
            }
            // Whatever lane a signature is made in, OpenSSL verifies it, and no two are alike.
            let mut seen = Vec::new();
            for shift in 0..LANES {
                sign.rotate_left(1);
                verify.rotate_left(1);
                let made = run(&device, "native", &sign[shift % 3..]);
                let claims: Vec<_> = verify[shift % 3..]
                    .iter()
                    .zip(&made)
                    .map(|(case, made)| case.clone().signed(&made.as_ref().unwrap().0))
                    .collect();
                let outcomes = run(&device, "openssl", &claims);
                assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
                seen.extend(claims.into_iter().map(|claim| claim.signature));
            }
            let all = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), all, "hedged nonces");

            let signatures = run(&device, "openssl", &sign);
            for (i, (case, signature)) in verify.iter_mut().zip(signatures).enumerate() {
                case.signature = signature.unwrap().0;
                let len = case.signature.len();
                match i % 7 {
                    1 => case.signature[len - 1] ^= 1,
                    2 => case.signature.push(0),
                    3 if case.transform.form() == SignatureForm::Fixed => {
                        case.signature[..len / 2].fill(0xff);
                    }
                    3 => case.signature.truncate(1),
                    4 => case.input[0] ^= 1,
                    5 if case.transform.form() == SignatureForm::Fixed => {
                        case.signature[len / 2..].fill(0);
                    }
                    5 => case.signature = vec![0x30, 6, 2, 1, 0, 2, 1, 1],
                    _ => {}
                }
            }
            as_openssl(&device, &verify);
        }
    }
}

/// OpenSSL takes each generated pair apart and compares its halves when a session is made.
#[test]
fn generated_pairs_are_keys() {
    for device in devices() {
        for kind in [KeyKind::X25519, KeyKind::Ed25519, P256, P384] {
            let mut seen = Vec::new();
            for count in [1, 7, 8, 11] {
                for (secret, public) in pairs(&device, "native", kind, count) {
                    let transform = match kind {
                        KeyKind::Ed25519 => KeyTransform::sign(SignatureScheme::EdDsa, &secret),
                        _ => KeyTransform::derive(&secret),
                    };
                    for engine in ["openssl", "native"] {
                        device.key_session_on(engine, &transform).unwrap();
                    }
                    seen.push(encoded(&public));
                }
            }
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), 27, "{kind}");
        }
    }
}

#[test]
fn as_many_run_in_lockstep_as_a_register_has_digits() {
    for tier in TIERS {
        let Ok(native) = Native::with_tier(tier) else {
            continue;
        };
        let lanes = match native.digits() {
            Digits::Plain => continue,
            Digits::Fma | Digits::AvxIfma => 4,
            Digits::Ifma => 8,
        };
        let device = Device::builder().engine(native).build();
        let lanes_of = |kind| {
            let session = device.key_session(&KeyTransform::generate(kind));
            session.unwrap().lanes()
        };
        for kind in [KeyKind::X25519, KeyKind::Ed25519, P256, P384] {
            assert_eq!(lanes_of(kind), lanes, "{kind} on {tier:?}");
        }
        assert_eq!(lanes_of(KeyKind::MlKem(MlKem::MlKem768)), LANES);
    }
}

#[test]
fn what_has_no_lanes_is_another_engine_s() {
    for device in devices() {
        let key = SecretKey::ec(Curve::P384, &[7], None).unwrap();
        let sha3 = KeyTransform::sign(SignatureScheme::Ecdsa(Hash::Sha3_256), &key);
        assert_eq!(device.key_session(&sha3).unwrap().engine(), "openssl");
        // Its digest is as good as any.
        let given = device.key_session(&sha3.digest()).unwrap();
        assert_eq!(given.engine(), "native");
        let p521 = device.key_session(&KeyTransform::generate(KeyKind::Ec(Curve::P521)));
        assert_eq!(p521.unwrap().engine(), "openssl");
        let p256 = device.key_session(&KeyTransform::generate(P256)).unwrap();
        assert_eq!(p256.engine(), "native");
    }
}

#[test]
fn tiers_without_digits_have_ml_kem_alone() {
    for tier in [Tier::AesNi, Tier::Portable] {
        if let Ok(native) = Native::with_tier(tier) {
            let rows = native.public_key().unwrap().capabilities();
            let is_ml_kem = |row: &KeyCapability| matches!(row.spec.kind, KeyKind::MlKem(_));
            assert!(rows.len() == 9 && rows.iter().all(is_ml_kem), "{tier:?}");
        }
    }
}

#[test]
fn random_operations_are_as_on_openssl() {
    for device in devices() {
        let run = Random {
            engine: "native",
            reference: "openssl",
            bursts: 6,
            seed: 4,
        };
        let outcomes = random(&device, run, &Silent).unwrap();
        assert!(outcomes.len() > 40, "{}", outcomes.len());
        for outcome in &outcomes {
            assert!(outcome.failures.is_empty(), "{:#?}", outcome.failures);
            if outcome.name.starts_with("ml-kem") && outcome.skips() > 0 {
                // OpenSSL has it from 3.5 on; `ml_kem.rs` does without.
                assert!(!openssl_has_ml_kem(&device), "{:?}", outcome.skipped);
                continue;
            }
            assert_eq!(
                outcome.skips(),
                0,
                "{}: {:?}",
                outcome.name,
                outcome.skipped
            );
            assert!(outcome.right > 0, "{}", outcome.name);
        }
        let refused: usize = outcomes.iter().map(|outcome| outcome.refused).sum();
        assert!(refused > 50, "{refused}");
    }
}

/// Each queue has blindings of its own; everything else of a session is shared.
#[test]
fn one_session_serves_many_queues_on_several_threads() {
    for device in devices() {
        let rsa = SignatureScheme::RsaPkcs1(Hash::Sha256);
        let sign = |kind, scheme| (Operation::Sign, kind, Scheme::Signature(scheme));
        let specs = [
            sign(KeyKind::Rsa(2048), rsa),
            sign(KeyKind::Ed25519, SignatureScheme::EdDsa),
            (Operation::Derive, KeyKind::X25519, Scheme::Plain),
            (Operation::Derive, P384, Scheme::Plain),
        ];
        for (operation, kind, scheme) in specs {
            let spec = KeySpec {
                operation,
                kind,
                scheme,
            };
            let samples = samples(&device, "openssl", spec, LANES).unwrap();
            let session = |sample: &KeyMessage| device.key_session(sample.transform()).unwrap();
            let sessions: Vec<_> = samples.iter().map(session).collect();
            let run = |queue: &mut KeyQueue, count: usize| -> Vec<Vec<u8>> {
                let parts = samples.iter().zip(&sessions).take(count);
                let mut rooms: Vec<_> = parts.clone().map(|(s, session)| s.room(session)).collect();
                let mut ops: Vec<_> = parts
                    .zip(&mut rooms)
                    .map(|((sample, session), (output, second))| sample.op(session, output, second))
                    .collect();
                assert_eq!(queue.process(&mut ops).succeeded, count, "{spec}");
                ops.iter().map(|op| op.result().to_vec()).collect()
            };
            let queue = || device.key_queue(1, FlushPolicy::default());
            let expected = run(&mut queue(), LANES);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let (run, queue, expected) = (&run, &queue, &expected);
                    scope.spawn(move || {
                        let mut queues = [queue(), queue()];
                        for round in 0..24 {
                            let count = 1 + (round + thread) % LANES;
                            let found = run(&mut queues[round % 2], count);
                            assert_eq!(found, expected[..count], "{spec}");
                        }
                    });
                }
            });
        }
    }
}
