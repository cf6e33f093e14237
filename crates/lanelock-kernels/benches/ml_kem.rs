//! Operations per second of ML-KEM, many at a time, against the `ml-kem` crate one at a time.
//!
//! `cargo bench -p lanelock-kernels --bench ml_kem -- [jobs]`; `LANELOCK_TIER` names a tier.
//! Both sides take turns; the figures are medians. Every result is compared.

#![allow(clippy::unwrap_used)] // a failure of the other side ends the benchmark

use std::hint::black_box;

use lanelock_kernels::public_key::ml_kem::{
    Decapsulation, Encapsulation, Generation, Parameters, decapsulate_many, encapsulate_many,
    generate_many,
};
use lanelock_kernels::{Machine, Tier};
use ml_kem::array::Array;
use ml_kem::kem::Decapsulate;
use ml_kem::{
    B32, EncapsulateDeterministic, EncodedSizeUser, KemCore, MlKem512, MlKem768, MlKem1024,
};
use turns::{compare, heading};

mod turns;

fn all<K: KemCore>(machine: Machine, parameters: Parameters, jobs: usize)
where
    K::EncapsulationKey:
        EncapsulateDeterministic<Array<u8, K::CiphertextSize>, Array<u8, K::SharedKeySize>>,
{
    let seeds: Vec<[u8; 32]> = (0..jobs).map(|i| [i.to_le_bytes()[0]; 32]).collect();
    let others: Vec<_> = seeds.iter().map(|seed| B32::from(*seed)).collect();
    let name = |what| format!("{} {what}", parameters.name());

    let mut keys = vec![vec![0; parameters.decapsulation_key_len()]; jobs];
    let mut pairs: Vec<_> = others
        .iter()
        .map(|seed| K::generate_deterministic(seed, seed))
        .collect();
    compare(
        &name("generate"),
        (jobs, || {
            let mut jobs: Vec<_> = seeds
                .iter()
                .zip(&mut keys)
                .map(|(seed, key)| Generation {
                    d: seed,
                    z: seed,
                    decapsulation_key: key,
                })
                .collect();
            generate_many(machine, parameters, &mut jobs);
        }),
        (jobs, || {
            for (seed, pair) in others.iter().zip(&mut pairs) {
                *pair = K::generate_deterministic(seed, seed);
            }
        }),
    );
    for (key, (private, _)) in keys.iter().zip(&pairs) {
        assert_eq!(key[..], private.as_bytes()[..]);
    }

    let mut ciphertexts = vec![vec![0; parameters.ciphertext_len()]; jobs];
    let mut secrets = vec![[0; 32]; jobs];
    let mut sent = Vec::new();
    compare(
        &name("encapsulate"),
        (jobs, || {
            let mut jobs: Vec<_> = keys
                .iter()
                .zip(&seeds)
                .zip(ciphertexts.iter_mut().zip(&mut secrets))
                .map(|((key, randomness), (ciphertext, secret))| Encapsulation {
                    key: parameters.encapsulation_key_of(key),
                    randomness,
                    ciphertext,
                    secret,
                    is_valid: false,
                })
                .collect();
            encapsulate_many(machine, parameters, &mut jobs);
        }),
        (jobs, || {
            sent.clear();
            for ((_, key), m) in pairs.iter().zip(&others) {
                sent.push(key.encapsulate_deterministic(m).ok().unwrap());
            }
        }),
    );
    for ((ciphertext, secret), (other, shared)) in ciphertexts.iter().zip(&secrets).zip(&sent) {
        assert!(ciphertext[..] == other[..] && secret[..] == shared[..]);
    }

    let mut found = vec![[0; 32]; jobs];
    compare(
        &name("decapsulate"),
        (jobs, || {
            let mut jobs: Vec<_> = keys
                .iter()
                .zip(&ciphertexts)
                .zip(&mut found)
                .map(|((key, ciphertext), secret)| Decapsulation {
                    key,
                    ciphertext,
                    secret,
                })
                .collect();
            decapsulate_many(machine, parameters, &mut jobs);
        }),
        (jobs, || {
            for ((key, _), (ciphertext, _)) in pairs.iter().zip(&sent) {
                black_box(key.decapsulate(ciphertext).ok().unwrap());
            }
        }),
    );
    assert_eq!(found, secrets);
}

fn main() {
    let jobs = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next()
        .unwrap_or(8);
    let machine = match std::env::var("LANELOCK_TIER") {
        Ok(name) => Machine::of_tier(Tier::from_name(&name).unwrap()).unwrap(),
        Err(_) => Machine::best(),
    };
    println!("{machine}");
    heading(&format!("{jobs} jobs"), "ml-kem/s");
    all::<MlKem512>(machine, Parameters::ML_KEM_512, jobs);
    all::<MlKem768>(machine, Parameters::ML_KEM_768, jobs);
    all::<MlKem1024>(machine, Parameters::ML_KEM_1024, jobs);
}
