//! ML-KEM (FIPS 203).

use lanelock_kernels::Machine;
use lanelock_kernels::public_key::ml_kem::{
    Decapsulation, Encapsulation, Generation, Parameters, SECRET, decapsulate_many,
    encapsulate_many, generate_many, is_decapsulation_key, is_encapsulation_key,
};
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession};
use lanelock_public_key::{
    Key, KeyError, KeyKind, KeyReason, KeyTransform, MlKem, Operation, PublicKey, PublicParts,
    SecretParts,
};
use zeroize::Zeroizing;

use super::session::{Input, LANES, PerLane, Prepared, Session, settle_pair};
use super::{Row, random, raw};

pub(super) const ROWS: [[Row; 3]; 3] = [
    rows(MlKem::MlKem512),
    rows(MlKem::MlKem768),
    rows(MlKem::MlKem1024),
];

/// Bytes of a ciphertext of ML-KEM-1024, and of its decapsulation key.
const MAX_CIPHERTEXT: usize = Parameters::ML_KEM_1024.ciphertext_len();
const MAX_KEY: usize = Parameters::ML_KEM_1024.decapsulation_key_len();

/// A secret key of two seeds, d and z.
const SEEDS: usize = 2 * SECRET;

/// Makes key pairs.
struct Generate(Parameters);

/// A valid encapsulation key.
struct Encapsulate {
    parameters: Parameters,
    key: Box<[u8]>,
}

/// A valid decapsulation key, expanded.
struct Decapsulate {
    parameters: Parameters,
    key: Zeroizing<Box<[u8]>>,
}

impl Generate {
    fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let parameters = parameters(transform)?;
        Ok(Session::boxed(machine, group, Self(parameters)))
    }
}

impl Prepared for Generate {
    fn lanes(_: Machine) -> usize {
        LANES
    }

    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let Some(Self(parameters)) = inputs.first().map(|input| input.key) else {
            return;
        };
        let mut seeds = Zeroizing::new([[[0; SECRET]; 2]; LANES]);
        let seeds = &mut seeds[..inputs.len()];
        if let Err(reason) = random::fill(seeds.as_flattened_mut().as_flattened_mut()) {
            return batch.for_each(|mut op| op.fail(reason));
        }
        let len = parameters.decapsulation_key_len();
        let mut keys = Zeroizing::new([[0; MAX_KEY]; LANES]);
        let mut jobs: PerLane<_> = seeds
            .iter()
            .zip(keys.iter_mut())
            .map(|([d, z], key)| Generation {
                d,
                z,
                decapsulation_key: &mut key[..len],
            })
            .collect();
        generate_many(machine, *parameters, &mut jobs);
        for (index, job) in jobs.iter().enumerate() {
            let public = parameters.encapsulation_key_of(job.decapsulation_key);
            settle_pair(&mut batch.get(index), job.decapsulation_key, public);
        }
    }
}

impl Encapsulate {
    fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let parameters = parameters(transform)?;
        let Key::Public(key) = transform.key() else {
            return Err(raw::mismatch(transform));
        };
        let PublicParts::Raw(bytes) = key.parts() else {
            return Err(raw::mismatch(transform));
        };
        if bytes.len() != parameters.encapsulation_key_len() {
            return Err(raw::mismatch(transform));
        }
        if !is_encapsulation_key(parameters, bytes) {
            let why = "a coefficient is not below 3329 (FIPS 203, section 7.2)";
            return Err(KeyError::refused(key.kind(), why));
        }
        let key = bytes.to_vec().into_boxed_slice();
        Ok(Session::boxed(machine, group, Self { parameters, key }))
    }
}

impl Prepared for Encapsulate {
    fn lanes(_: Machine) -> usize {
        LANES
    }

    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let Some(&Self { parameters, .. }) = inputs.first().map(|input| input.key) else {
            return;
        };
        let mut randomness = Zeroizing::new([[0; SECRET]; LANES]);
        let randomness = &mut randomness[..inputs.len()];
        if let Err(reason) = random::fill(randomness.as_flattened_mut()) {
            return batch.for_each(|mut op| op.fail(reason));
        }
        let len = parameters.ciphertext_len();
        let mut ciphertexts = [[0; MAX_CIPHERTEXT]; LANES];
        let mut secrets = Zeroizing::new([[0; SECRET]; LANES]);
        let outputs = ciphertexts.iter_mut().zip(secrets.iter_mut());
        let mut jobs: PerLane<_> = inputs
            .iter()
            .zip(&*randomness)
            .zip(outputs)
            .map(
                |((input, randomness), (ciphertext, secret))| Encapsulation {
                    key: &input.key.key,
                    randomness,
                    ciphertext: &mut ciphertext[..len],
                    secret,
                    is_valid: false,
                },
            )
            .collect();
        encapsulate_many(machine, parameters, &mut jobs);
        for (index, job) in jobs.iter().enumerate() {
            let mut op = batch.get(index);
            // Keys were checked when their sessions were opened.
            if !job.is_valid {
                op.fail(KeyReason::Engine);
                continue;
            }
            let (ciphertext, secret) = op.outputs();
            ciphertext[..len].copy_from_slice(job.ciphertext);
            secret[..SECRET].copy_from_slice(job.secret);
            op.succeed_both(len, SECRET);
        }
    }
}

impl Decapsulate {
    fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let parameters = parameters(transform)?;
        let Key::Secret(given) = transform.key() else {
            return Err(raw::mismatch(transform));
        };
        let SecretParts::Raw(bytes) = given.parts() else {
            return Err(raw::mismatch(transform));
        };
        let mut key =
            Zeroizing::new(vec![0; parameters.decapsulation_key_len()].into_boxed_slice());
        if let Some((d, z)) = seeds(bytes) {
            let decapsulation_key = &mut key;
            let job = Generation {
                d,
                z,
                decapsulation_key,
            };
            generate_many(machine, parameters, &mut [job]);
        } else if bytes.len() == key.len() {
            key.copy_from_slice(bytes);
            if !is_decapsulation_key(machine, parameters, &key) {
                let why =
                    "its hash of the encapsulation key is another key's (FIPS 203, section 7.3)";
                return Err(KeyError::refused(given.kind(), why));
            }
        } else {
            return Err(raw::mismatch(transform));
        }
        let public = parameters.encapsulation_key_of(&key);
        match given.public_key().as_ref().map(PublicKey::parts) {
            Some(PublicParts::Raw(half)) if half[..] != *public => Err(KeyError::refused(
                given.kind(),
                "the public half is another key's",
            )),
            _ => Ok(Session::boxed(machine, group, Self { parameters, key })),
        }
    }
}

impl Prepared for Decapsulate {
    fn lanes(_: Machine) -> usize {
        LANES
    }

    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let Some(&Self { parameters, .. }) = inputs.first().map(|input| input.key) else {
            return;
        };
        let mut secrets = Zeroizing::new([[0; SECRET]; LANES]);
        let mut jobs: PerLane<_> = inputs
            .iter()
            .zip(secrets.iter_mut())
            .map(|(input, secret)| Decapsulation {
                key: &input.key.key,
                ciphertext: input.bytes,
                secret,
            })
            .collect();
        decapsulate_many(machine, parameters, &mut jobs);
        for (index, job) in jobs.iter().enumerate() {
            let mut op = batch.get(index);
            op.output()[..SECRET].copy_from_slice(job.secret);
            op.succeed(SECRET);
        }
    }
}

const fn rows(set: MlKem) -> [Row; 3] {
    let kind = KeyKind::MlKem(set);
    [
        Row::plain(Operation::Generate, kind, Generate::open),
        Row::plain(Operation::Encapsulate, kind, Encapsulate::open),
        Row::plain(Operation::Decapsulate, kind, Decapsulate::open),
    ]
}

fn parameters(transform: &KeyTransform) -> Result<Parameters, KeyError> {
    match transform.spec().kind {
        KeyKind::MlKem(MlKem::MlKem512) => Ok(Parameters::ML_KEM_512),
        KeyKind::MlKem(MlKem::MlKem768) => Ok(Parameters::ML_KEM_768),
        KeyKind::MlKem(MlKem::MlKem1024) => Ok(Parameters::ML_KEM_1024),
        _ => Err(raw::mismatch(transform)),
    }
}

/// The two seeds of a secret key that consists of them.
fn seeds(bytes: &[u8]) -> Option<(&[u8; SECRET], &[u8; SECRET])> {
    let (d, z) = bytes.split_first_chunk()?;
    let z = (bytes.len() == SEEDS).then(|| z.first_chunk())??;
    Some((d, z))
}
