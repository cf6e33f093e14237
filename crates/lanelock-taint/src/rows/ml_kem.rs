//! ML-KEM: seeds, randomness and decapsulation keys are secret, encapsulation keys and ciphertexts
//! are not, nor is the seed of the matrix wherever it lies.

use lanelock_kernels::Machine;
use lanelock_kernels::public_key::ml_kem::{
    Decapsulation, Encapsulation, Generation, Parameters, decapsulate_many, encapsulate_many,
    generate_many, is_decapsulation_key,
};

use super::Row;
use crate::inputs::Inputs;
use crate::tier::Tier;

const TIERS: &[Tier] = &[Tier::Portable, Tier::Avx2, Tier::Avx512Bw, Tier::Avx512];

/// More than fit a batch.
const JOBS: usize = 9;

pub fn rows() -> Vec<Row> {
    let row = |what, parameters: Parameters, run: Run| {
        let name = format!("{} {what}", parameters.name());
        Row::new(name, TIERS, move |tier, inputs| {
            run(
                tier.machine().expect("a tier of the row that can run"),
                parameters,
                inputs,
            )
        })
    };
    let rows = |parameters| {
        [
            row("key pair", parameters, generate),
            row("encapsulation", parameters, encapsulate),
            row("decapsulation", parameters, decapsulate),
        ]
    };
    Parameters::ALL.into_iter().flat_map(rows).collect()
}

type Run = fn(Machine, Parameters, &mut Inputs) -> Vec<Vec<u8>>;

fn seeds(mut seed: impl FnMut() -> Vec<u8>) -> Vec<[u8; 32]> {
    (0..JOBS)
        .map(|_| seed().try_into().expect("32 bytes"))
        .collect()
}

fn keys(machine: Machine, parameters: Parameters, d: &[[u8; 32]], z: &[[u8; 32]]) -> Vec<Vec<u8>> {
    let mut keys = vec![vec![0; parameters.decapsulation_key_len()]; JOBS];
    let mut jobs: Vec<_> = d
        .iter()
        .zip(z)
        .zip(&mut keys)
        .map(|((d, z), key)| Generation {
            d,
            z,
            decapsulation_key: key,
        })
        .collect();
    generate_many(machine, parameters, &mut jobs);
    keys
}

/// Ciphertexts and secrets.
fn sent(
    machine: Machine,
    parameters: Parameters,
    keys: &[Vec<u8>],
    randomness: &[[u8; 32]],
) -> (Vec<Vec<u8>>, Vec<[u8; 32]>) {
    let mut ciphertexts = vec![vec![0; parameters.ciphertext_len()]; JOBS];
    let mut secrets = vec![[0; 32]; JOBS];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(randomness)
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
    (ciphertexts, secrets)
}

fn generate(machine: Machine, parameters: Parameters, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let [d, z] = [0, 1].map(|_| seeds(|| inputs.secret_bytes(32)));
    let mut keys = keys(machine, parameters, &d, &z);
    // The seed of the matrix was made public.
    let end = parameters.decapsulation_key_len() - 64;
    keys.iter_mut()
        .for_each(|key| drop(key.drain(end - 32..end)));
    keys
}

fn encapsulate(machine: Machine, parameters: Parameters, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let [d, z] = [0, 1].map(|_| seeds(|| inputs.bytes(32)));
    let keys = keys(machine, parameters, &d, &z);
    let randomness = seeds(|| inputs.secret_bytes(32));
    let (ciphertexts, secrets) = sent(machine, parameters, &keys, &randomness);
    let secrets = secrets.into_iter().map(|secret| secret.to_vec());
    ciphertexts.into_iter().chain(secrets).collect()
}

/// One ciphertext in three is not valid.
fn decapsulate(machine: Machine, parameters: Parameters, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let [d, z, m] = [0, 1, 2].map(|_| seeds(|| inputs.bytes(32)));
    let keys = keys(machine, parameters, &d, &z);
    let (mut ciphertexts, _) = sent(machine, parameters, &keys, &m);
    ciphertexts.iter_mut().step_by(3).for_each(|c| c[7] ^= 1);
    let keys: Vec<_> = keys.into_iter().map(|key| inputs.hide(key)).collect();
    let mut secrets = vec![[0; 32]; JOBS];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&ciphertexts)
        .zip(&mut secrets)
        .map(|((key, ciphertext), secret)| {
            assert!(is_decapsulation_key(machine, parameters, key));
            Decapsulation {
                key,
                ciphertext,
                secret,
            }
        })
        .collect();
    decapsulate_many(machine, parameters, &mut jobs);
    secrets.into_iter().map(|secret| secret.to_vec()).collect()
}
