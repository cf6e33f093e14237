//! RSA against the OpenSSL engine, through the device: every lane, mixed keys, mixed validity.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod wrong_keys;

use std::sync::OnceLock;
use std::time::Instant;

use lanelock_conformance::progress::Silent;
use lanelock_conformance::public_key::wycheproof;
use lanelock_core::{Device, Hash, Status};
use lanelock_native::{Digits, Native, Tier};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::{
    EncryptionScheme, FlushPolicy, KeyDevice, KeyError, KeyJob, KeyKind, KeyOp, KeyQueue,
    KeyReason, KeySession, KeyTransform, Oaep, Operation, Pss, PublicKey, RsaNumbers, SecretKey,
    SignatureScheme,
};
use openssl::bn::{BigNum, BigNumContext};
use openssl::rsa::Rsa;

const LANES: usize = 8;
const HASHES: [Hash; 5] = [
    Hash::Sha1,
    Hash::Sha224,
    Hash::Sha256,
    Hash::Sha384,
    Hash::Sha512,
];

/// Native on a tier for each kind of lanes for RSA, and OpenSSL.
fn devices() -> Vec<Device> {
    let natives = [Tier::Avx512, Tier::Avx512Bw, Tier::Avx2].map(Native::with_tier);
    let natives = natives.into_iter().flatten();
    let mut natives: Vec<_> = natives.filter(|n| n.digits() > Digits::Plain).collect();
    natives.dedup_by_key(|native| native.digits());
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        assert!(!natives.is_empty(), "this CPU has lanes for RSA");
    }
    let with_openssl = |native| {
        let openssl = OpenSsl::new().unwrap();
        Device::builder().engine(native).engine(openssl).build()
    };
    natives.into_iter().map(with_openssl).collect()
}

/// Numbers of a key: n, e, d, p, q, dp, dq, qinv.
#[derive(Clone)]
struct Numbers([Vec<u8>; 8]);

impl Numbers {
    /// Of two primes, or what is taken for primes.
    fn of(p: &BigNum, q: &BigNum, e: u32) -> Option<Self> {
        let one = BigNum::from_u32(1).unwrap();
        let e = BigNum::from_u32(e).unwrap();
        let mut context = BigNumContext::new().unwrap();
        let mut inverse = |x: &BigNum, n: &BigNum| {
            let mut inverse = BigNum::new().unwrap();
            inverse.mod_inverse(x, n, &mut context).ok()?;
            Some(inverse)
        };
        let (p1, q1) = (p - &one, q - &one);
        let d = inverse(&e, &(&p1 * &q1))?;
        let (dp, dq, qinv) = (&d % &p1, &d % &q1, inverse(q, p)?);
        let n = p * q;
        Some(Self(
            [&n, &e, &d, p, q, &dp, &dq, &qinv].map(|number| number.to_vec()),
        ))
    }

    fn generate(bits: u32, e: u32) -> Self {
        let exponent = BigNum::from_u32(e).unwrap();
        let key = Rsa::generate_with_e(bits, &exponent).unwrap();
        let [p, q] = [key.p(), key.q()].map(|prime| prime.unwrap().to_owned().unwrap());
        Self::of(&p, &q, e).unwrap()
    }

    fn secret(&self) -> SecretKey {
        self.form().unwrap()
    }

    /// The key, if these numbers have the form of one.
    fn form(&self) -> Result<SecretKey, KeyError> {
        let [n, e, d, p, q, dp, dq, qinv] = self.0.each_ref().map(|number| &number[..]);
        let numbers = RsaNumbers {
            n,
            e,
            d,
            p,
            q,
            dp,
            dq,
            qinv,
        };
        SecretKey::rsa(&numbers)
    }

    fn public(&self) -> PublicKey {
        PublicKey::rsa(&self.0[0], &self.0[1]).unwrap()
    }
}

/// Three keys of each size, with several exponents.
fn keys(bits: u32) -> &'static [Numbers] {
    static KEYS: [OnceLock<Vec<Numbers>>; 3] = [const { OnceLock::new() }; 3];
    KEYS[bits as usize / 1024 - 2].get_or_init(|| {
        let exponents = [65537, 3, 0xffff_ffff];
        exponents.map(|e| Numbers::generate(bits, e)).to_vec()
    })
}

/// What became of an operation.
type Outcome = Result<Vec<u8>, KeyReason>;

/// An operation to run: session, input, signature.
struct Task(KeySession, Vec<u8>, Vec<u8>);

/// Runs tasks as one burst.
fn run(queue: &mut KeyQueue, tasks: &[Task]) -> Vec<Outcome> {
    let room = |Task(session, input, _): &Task| vec![0xee; session.output_len(input.len())];
    let mut outputs: Vec<_> = tasks.iter().map(room).collect();
    let mut ops: Vec<_> = tasks
        .iter()
        .zip(&mut outputs)
        .map(
            |(Task(session, input, signature), output)| match session.spec().operation {
                Operation::Sign => KeyOp::sign(session, input, output),
                Operation::Verify => KeyOp::verify(session, input, signature),
                Operation::Encrypt => KeyOp::encrypt(session, input, output),
                _ => KeyOp::decrypt(session, input, output),
            },
        )
        .collect();
    let _each_is_looked_at = queue.process(&mut ops);
    let outcomes: Vec<Outcome> = ops
        .iter()
        .map(|op| match op.error() {
            None => {
                assert_eq!(op.status(), Status::Success);
                Ok(op.result().to_vec())
            }
            Some(error) => Err(error.reason()),
        })
        .collect();
    for (outcome, output) in outcomes.iter().zip(&outputs) {
        match outcome.as_ref().map_err(|reason| reason.status()) {
            Ok(_) => {}
            Err(Status::InvalidArgs) => assert!(output.iter().all(|&byte| byte == 0xee)),
            Err(_) => assert!(output.iter().all(|&byte| byte == 0)),
        }
    }
    outcomes
}

fn queue(device: &Device) -> KeyQueue {
    device.key_queue(1, FlushPolicy::immediate())
}

fn on(device: &Device, engine: &str, transform: &KeyTransform) -> KeySession {
    let session = device.key_session_on(engine, transform).unwrap();
    let lanes: &[usize] = if engine == "native" {
        &[4, LANES]
    } else {
        &[1]
    };
    assert!(lanes.contains(&session.lanes()), "{}", session.lanes());
    session
}

fn message(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| u8::try_from((at * 31 + seed * 7) % 251).unwrap())
        .collect()
}

/// The schemes of signatures, with salts from none to as long as fits.
fn signatures(bits: u32) -> Vec<SignatureScheme> {
    let k = bits as usize / 8;
    let mut schemes: Vec<_> = HASHES.map(SignatureScheme::RsaPkcs1).to_vec();
    for (index, hash) in HASHES.into_iter().enumerate() {
        let longest = k - hash.digest_len() - 2;
        for salt_len in [0, hash.digest_len(), longest] {
            let mgf1 = HASHES[(index + salt_len) % HASHES.len()];
            schemes.push(SignatureScheme::RsaPss(Pss {
                hash,
                mgf1,
                salt_len,
            }));
        }
    }
    schemes
}

fn sign_and_verify(bits: u32) {
    for device in devices() {
        let mut queue = queue(&device);
        let mut signed = Vec::new();
        // Bursts of every length, whose lanes have other keys and schemes each.
        for (index, scheme) in signatures(bits).into_iter().enumerate() {
            let numbers = &keys(bits)[index % 3];
            let digests = index % 4 == 3;
            let form = |transform: KeyTransform| match digests {
                true => transform.digest(),
                false => transform,
            };
            let sign = form(KeyTransform::sign(scheme, &numbers.secret()));
            let verify = form(KeyTransform::verify(scheme, &numbers.public()));
            let text = match digests {
                true => message(scheme.hash().unwrap().digest_len(), index),
                false => message(index * 37, index),
            };
            signed.push((scheme, sign, verify, text));
        }
        let mut start = 0;
        let mut verified = Vec::new();
        for len in (1..=LANES).cycle() {
            let burst = &signed[start..signed.len().min(start + len)];
            if burst.is_empty() {
                break;
            }
            start += burst.len();
            let tasks = |engine| -> Vec<Task> {
                let task = |(_, sign, _, text): &(_, _, _, Vec<u8>)| {
                    Task(on(&device, engine, sign), text.clone(), Vec::new())
                };
                burst.iter().map(task).collect()
            };
            let native = run(&mut queue, &tasks("native"));
            let openssl = run(&mut queue, &tasks("openssl"));
            for (((scheme, _, verify, text), native), openssl) in
                burst.iter().zip(native).zip(openssl)
            {
                let (native, openssl) = (native.unwrap(), openssl.unwrap());
                if let SignatureScheme::RsaPkcs1(_) = scheme {
                    assert_eq!(native, openssl, "{scheme:?}");
                }
                let checked = Task(on(&device, "openssl", verify), text.clone(), native);
                assert_eq!(run(&mut queue, &[checked]), [Ok(Vec::new())], "{scheme:?}");
                verified.push((verify.clone(), text.clone(), openssl));
            }
        }
        // OpenSSL's signatures, with one of each eight spoilt in one of five ways.
        for spoilt in 0..LANES {
            let window = verified.iter().cycle().skip(spoilt * 5).take(LANES);
            let tasks: Vec<Task> = window
                .enumerate()
                .map(|(lane, (verify, text, signature))| {
                    let (mut text, mut signature) = (text.clone(), signature.clone());
                    if lane == spoilt {
                        match spoilt % 5 {
                            0 => signature[bits as usize / 16] ^= 4,
                            1 => signature = vec![0xff; signature.len()],
                            2 => signature.push(0),
                            3 => {
                                signature.remove(0);
                            }
                            _ if text.is_empty() => signature[0] ^= 1,
                            _ => text[0] ^= 1,
                        }
                    }
                    Task(on(&device, "native", verify), text, signature)
                })
                .collect();
            for (lane, outcome) in run(&mut queue, &tasks).into_iter().enumerate() {
                let expected = match (lane == spoilt, spoilt % 5) {
                    (false, _) => Ok(Vec::new()),
                    (true, 1..=3) => Err(KeyReason::MalformedSignature),
                    (true, _) => Err(KeyReason::WrongSignature),
                };
                assert_eq!(outcome, expected, "lane {lane} with {spoilt} spoilt");
            }
        }
    }
}

#[test]
fn signatures_of_2048_bits() {
    sign_and_verify(2048);
}

#[test]
fn signatures_of_3072_bits() {
    sign_and_verify(3072);
}

#[test]
fn signatures_of_4096_bits() {
    sign_and_verify(4096);
}

fn encryptions() -> Vec<(EncryptionScheme, &'static [u8])> {
    let mut schemes = vec![
        (EncryptionScheme::RsaPkcs1, &b""[..]),
        (EncryptionScheme::RsaRaw, b""),
    ];
    for (index, hash) in HASHES.into_iter().enumerate() {
        let mgf1 = HASHES[(index + 2) % HASHES.len()];
        schemes.push((EncryptionScheme::RsaOaep(Oaep { hash, mgf1 }), b"label"));
        schemes.push((EncryptionScheme::RsaOaep(Oaep::of(hash)), b""));
    }
    schemes
}

fn encrypt_and_decrypt(bits: u32) {
    for device in devices() {
        let (mut queue, k) = (queue(&device), bits as usize / 8);
        let mut cases = Vec::new();
        for (index, (scheme, label)) in encryptions().into_iter().enumerate() {
            let numbers = &keys(bits)[index % 3];
            let labelled = |transform: KeyTransform| match label {
                b"" => transform,
                label => transform.context(label),
            };
            let encrypt = labelled(KeyTransform::encrypt(scheme, &numbers.public()));
            let decrypt = labelled(KeyTransform::decrypt(scheme, &numbers.secret()));
            let longest = decrypt.output_len(k);
            let lens: &[usize] = match scheme {
                EncryptionScheme::RsaRaw => &[k],
                _ => &[0, 1, longest / 2, longest],
            };
            for &len in lens {
                let mut text = message(len, len);
                if len == k {
                    text[0] = 0; // below the modulus
                }
                cases.push((encrypt.clone(), decrypt.clone(), text));
            }
        }
        for burst in cases.chunks(LANES - 1) {
            for [encrypts, decrypts] in [["native", "openssl"], ["openssl", "native"]] {
                let tasks: Vec<_> = burst
                    .iter()
                    .map(|(encrypt, _, text)| {
                        Task(on(&device, encrypts, encrypt), text.clone(), Vec::new())
                    })
                    .collect();
                let ciphertexts = run(&mut queue, &tasks);
                let tasks: Vec<_> = burst
                    .iter()
                    .zip(ciphertexts)
                    .map(|((_, decrypt, _), ciphertext)| {
                        Task(
                            on(&device, decrypts, decrypt),
                            ciphertext.unwrap(),
                            Vec::new(),
                        )
                    })
                    .collect();
                for ((_, decrypt, text), outcome) in burst.iter().zip(run(&mut queue, &tasks)) {
                    assert_eq!(outcome.as_ref(), Ok(text), "{}", decrypt.spec());
                }
            }
        }
        // Whatever is decrypted, both engines say the same, in every lane.
        for shift in 0..LANES {
            let window = cases.iter().cycle().skip(shift * 3).take(LANES);
            let tasks = |engine| -> Vec<Task> {
                let tasks = window.clone().enumerate();
                tasks
                    .map(|(lane, (_, decrypt, _))| {
                        let mut block = message(k, lane * 3 + shift);
                        block[0] = match lane == shift {
                            true => 0xff,
                            false => 1,
                        };
                        if lane == shift {
                            block[1..9].fill(0xff);
                        }
                        Task(on(&device, engine, decrypt), block, Vec::new())
                    })
                    .collect()
            };
            let native = run(&mut queue, &tasks("native"));
            assert_eq!(native, run(&mut queue, &tasks("openssl")));
            assert_eq!(native[shift], Err(KeyReason::OutOfRange));
        }
    }
}

#[test]
fn encryption_of_2048_bits() {
    encrypt_and_decrypt(2048);
}

#[test]
fn encryption_of_3072_bits() {
    encrypt_and_decrypt(3072);
}

#[test]
fn encryption_of_4096_bits() {
    encrypt_and_decrypt(4096);
}

#[test]
fn a_raw_block_above_the_modulus_is_refused_in_its_lane_alone() {
    for device in devices() {
        let scheme = EncryptionScheme::RsaRaw;
        let encrypt = KeyTransform::encrypt(scheme, &keys(2048)[0].public());
        for bad in 0..LANES {
            let tasks: Vec<_> = (0..LANES)
                .map(|lane| {
                    let byte = if lane == bad { 0xff } else { 1 };
                    let session = on(&device, "native", &encrypt);
                    Task(session, vec![byte; 256], Vec::new())
                })
                .collect();
            for (lane, outcome) in run(&mut queue(&device), &tasks).iter().enumerate() {
                match lane == bad {
                    true => assert_eq!(outcome, &Err(KeyReason::OutOfRange)),
                    false => assert_eq!(outcome.as_ref().unwrap().len(), 256),
                }
            }
        }
    }
}

#[test]
fn blindings_are_renewed_and_change_no_signature() {
    for device in devices() {
        let scheme = SignatureScheme::RsaPkcs1(Hash::Sha256);
        let [one, other] = [0, 1].map(|key| KeyTransform::sign(scheme, &keys(2048)[key].secret()));
        let [bare, blinded] = [one.clone().blinding(false), one].map(|transform| {
            let session = on(&device, "native", &transform);
            (session.memory().per_queue_pair, session)
        });
        // Eight pairs of two numbers of four blocks of ten digits.
        assert!(bare.0 == 0 && blinded.0 >= 8 * 2 * 4 * 80, "{}", blinded.0);
        let mixed = on(&device, "native", &other);
        let text = message(60, 1);
        let task = |session: &KeySession| Task(session.clone(), text.clone(), Vec::new());
        let expected = run(&mut queue(&device), &[task(&bare.1), task(&mixed)]);
        let mut queues = [queue(&device), queue(&device)];
        // More than 8 · 32 uses on either queue, in bursts of every length.
        for round in 0..140 {
            let is_mixed = |lane| round % 3 == 0 && lane == round / 3 % (round % LANES + 1);
            let tasks: Vec<_> = (0..=round % LANES)
                .map(|lane| task(if is_mixed(lane) { &mixed } else { &blinded.1 }))
                .collect();
            let outcomes = run(&mut queues[round % 2], &tasks);
            for (lane, outcome) in outcomes.into_iter().enumerate() {
                let key = usize::from(is_mixed(lane));
                assert_eq!(outcome, expected[key], "round {round}, lane {lane}");
            }
        }
    }
}

#[test]
fn what_has_no_lanes_goes_to_openssl() {
    for device in devices() {
        let pkcs1 = SignatureScheme::RsaPkcs1(Hash::Sha256);
        let sign = |numbers: &Numbers| KeyTransform::sign(pkcs1, &numbers.secret());
        let good = keys(2048)[0].clone();
        let without_factors = {
            let mut numbers = good.clone();
            numbers.0[3..].fill(Vec::new());
            numbers
        };
        let prime = |bits: i32| {
            let mut prime = BigNum::new().unwrap();
            prime.generate_prime(bits, false, None, None).unwrap();
            prime
        };
        let uneven = loop {
            match Numbers::of(&prime(1100), &prime(948), 65537) {
                Some(numbers) if numbers.0[0][0] >= 0x80 => break numbers,
                _ => {}
            }
        };
        let wide_exponent = PublicKey::rsa(&good.0[0], &[1, 0, 0, 0, 1]).unwrap();
        let sha3 = SignatureScheme::RsaPkcs1(Hash::Sha3_256);
        let cases = [
            (sign(&without_factors), "without the factors"),
            (sign(&uneven), "half as many bits"),
            (sign(&Numbers::generate(1024, 65537)), "no lanes for it"),
            (KeyTransform::verify(pkcs1, &wide_exponent), "2^32"),
            (KeyTransform::sign(sha3, &good.secret()), "Sha3_256"),
        ];
        for (transform, why) in cases {
            let refused = device.key_session_on("native", &transform).unwrap_err();
            assert!(matches!(refused, KeyError::Unsupported { .. }), "{refused}");
            assert!(refused.to_string().contains(why), "{refused}");
            assert_eq!(device.key_session(&transform).unwrap().engine(), "openssl");
        }
        let session = device.key_session(&sign(&good)).unwrap();
        assert_eq!(session.engine(), "native");
    }
}

#[test]
fn who_runs_one_batch_at_a_time_runs_whole_passes() {
    for device in devices() {
        let good = Numbers::generate(2048, 65537);
        let pkcs1 = SignatureScheme::RsaPkcs1(Hash::Sha256);
        let sign = device.key_session(&KeyTransform::sign(pkcs1, &good.secret()));
        let verify = device.key_session(&KeyTransform::verify(pkcs1, &good.public()));
        let (sign, verify) = (sign.unwrap(), verify.unwrap());
        let mut queue = device.key_queue(32, FlushPolicy::default());
        let now = Instant::now();
        let mut ran = |job: &dyn Fn() -> KeyJob, count| {
            for _ in 0..count {
                queue.enqueue(job(), now).unwrap();
            }
            queue.poll_one(now, Some(0))
        };
        let lanes = sign.lanes();
        // Each of the two primes has a lane.
        let signed = || KeyJob::sign(&sign, b"message".to_vec(), vec![0; 256]);
        assert_eq!(ran(&signed, lanes / 2 + 1), lanes / 2);
        assert_eq!(ran(&signed, lanes - 1), lanes, "all that wait");
        let verified = || KeyJob::verify(&verify, b"message".to_vec(), vec![0; 256]);
        assert_eq!(ran(&verified, lanes - 1), lanes - 1);
    }
}

#[test]
fn wycheproof_has_no_failure_and_skips_only_what_has_no_lanes() {
    for device in devices() {
        let wanted = |kind| matches!(kind, KeyKind::Rsa(_));
        let outcomes = wycheproof(&device, "native", wanted, &Silent);
        let (mut ran, mut operations) = (0, 0);
        for file in &outcomes {
            file.assert_right();
            let has_no_lanes =
                |why: &String| why.starts_with("no lanes") || why.starts_with("hash ");
            let skipped = file.skipped.keys();
            assert!(
                skipped
                    .clone()
                    .all(|why| has_no_lanes(why) || why == "not asked for")
            );
            if file.operations > 0 {
                ran += file.right + file.refused;
            }
            operations += file.operations;
        }
        assert!(ran > 5000, "{ran} tests");
        let transform = KeyTransform::generate(KeyKind::X25519);
        let lanes = device.key_session_on("native", &transform).unwrap().lanes();
        assert!(operations >= 5000 * lanes as u64, "{operations} operations");
        println!("{ran} tests, {operations} operations");
    }
}
