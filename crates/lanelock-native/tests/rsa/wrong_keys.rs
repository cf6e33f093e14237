//! Keys whose numbers do not fit each other.

use super::*;
use lanelock_public_key::KeyDevice;

/// A key whose first factor is no prime: everything but the result is as it should be.
fn composite() -> Numbers {
    let real = &keys(2048)[0].0;
    let q = BigNum::from_slice(&real[4]).unwrap();
    let two = BigNum::from_u32(2).unwrap();
    let mut p = BigNum::from_slice(&real[3]).unwrap();
    loop {
        p = &p - &two;
        if let Some(numbers) = Numbers::of(&p, &q, 65537) {
            // The modulus must not get shorter.
            assert!(numbers.0[0][0] >= 0x80);
            return numbers;
        }
    }
}

#[test]
fn a_wrong_result_is_a_fault_of_its_lane_alone() {
    for device in devices() {
        let scheme = SignatureScheme::RsaPkcs1(Hash::Sha256);
        let transform = |numbers: &Numbers| KeyTransform::sign(scheme, &numbers.secret());
        for blinding in [false, true] {
            let wrong = on(
                &device,
                "native",
                &transform(&composite()).blinding(blinding),
            );
            let right = on(
                &device,
                "native",
                &transform(&keys(2048)[0]).blinding(blinding),
            );
            let mut queue = queue(&device);
            for fault in 0..LANES {
                let tasks: Vec<_> = (0..LANES)
                    .map(|lane| {
                        let session = if lane == fault { &wrong } else { &right };
                        Task(session.clone(), message(9, lane), Vec::new())
                    })
                    .collect();
                for (lane, outcome) in run(&mut queue, &tasks).into_iter().enumerate() {
                    match lane == fault {
                        true => assert_eq!(outcome, Err(KeyReason::Fault)),
                        false => assert_eq!(outcome.unwrap().len(), 256),
                    }
                }
            }
        }
    }
}

/// Whatever engine runs an operation, alone or in lanes, and whatever is done with the result.
#[test]
fn nothing_of_a_wrong_key_leaves_any_engine() {
    for device in devices() {
        let flipped = {
            let mut numbers = keys(2048)[0].clone();
            numbers.0[3..].fill(Vec::new());
            numbers.0[2][100] ^= 4;
            numbers
        };
        let hash = Hash::Sha256;
        for wrong in [composite(), flipped] {
            let (secret, public) = (wrong.secret(), wrong.public());
            let signs = signatures(2048)
                .into_iter()
                .step_by(6)
                .map(|scheme| (KeyTransform::sign(scheme, &secret), message(9, 0)));
            let decrypts = [
                EncryptionScheme::RsaRaw,
                EncryptionScheme::RsaPkcs1,
                EncryptionScheme::RsaOaep(Oaep::of(hash)),
            ];
            let decrypts = decrypts.map(|scheme| {
                let encrypt = on(&device, "openssl", &KeyTransform::encrypt(scheme, &public));
                let plain = vec![
                    0x11;
                    if scheme == EncryptionScheme::RsaRaw {
                        256
                    } else {
                        40
                    }
                ];
                let task = Task(encrypt, plain, Vec::new());
                let ciphertext = run(&mut queue(&device), &[task]).remove(0).unwrap();
                (KeyTransform::decrypt(scheme, &secret), ciphertext)
            });
            for (transform, input) in signs.chain(decrypts) {
                let sessions = [
                    device.key_session_on("native", &transform),
                    device.key_session_on("openssl", &transform),
                    device.key_session(&transform),
                ];
                // Without the factors there are no lanes.
                let sessions: Vec<_> = sessions.into_iter().flatten().collect();
                assert_eq!(sessions.len(), if wrong.0[3].is_empty() { 2 } else { 3 });
                for session in sessions {
                    for count in [1, LANES + 1] {
                        let task = || Task(session.clone(), input.clone(), Vec::new());
                        let tasks: Vec<_> = (0..count).map(|_| task()).collect();
                        for outcome in run(&mut queue(&device), &tasks) {
                            assert_eq!(outcome, Err(KeyReason::Fault), "{session:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_no_key_is_refused_by_both_engines() {
    for device in devices() {
        let scheme = SignatureScheme::RsaPkcs1(Hash::Sha256);
        let [good, other] = [0, 1].map(|key| &keys(2048)[key].0);
        // Each number in turn is another key's; e is another one, and dp is changed in one bit.
        for index in [0, 1, 2, 3, 5, 6, 7] {
            let mut numbers = Numbers(good.clone());
            match index {
                0 => *numbers.0[0].last_mut().unwrap() ^= 2,
                1 => numbers.0[1] = vec![1, 0, 3],
                5 => *numbers.0[5].last_mut().unwrap() ^= 2,
                _ => numbers.0[index] = other[index].clone(),
            }
            let secret = match numbers.form() {
                Ok(secret) => secret,
                // Already by its form: another factor's remainder may be above this factor.
                Err(error) => {
                    assert!(matches!(error, KeyError::Refused { .. }), "{error}");
                    continue;
                }
            };
            let transform = KeyTransform::sign(scheme, &secret);
            for engine in ["native", "openssl"] {
                let refused = device.key_session_on(engine, &transform);
                let error = refused.err().map(|error| error.to_string());
                let error =
                    error.unwrap_or_else(|| panic!("{engine} took a changed number {index}"));
                assert!(error.contains("refused"), "{engine}: {error}");
            }
        }
    }
}
