//! The vectors that NIST's ACVP server publishes for FIPS 203; `acvp.txt` names their source.

use lanelock_jobs::testing::hex;
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::ml_kem::Parameters;
use openssl::hash::{MessageDigest, hash};

use super::{Seeds, decapsulate, encapsulate, generate};

/// Those of one kind and parameter set: what its line has after the two.
fn lines(kind: &str, parameters: Parameters) -> Vec<Vec<Vec<u8>>> {
    let set = parameters.name().trim_start_matches("ML-KEM-");
    let fields = |line: &'static str| line.split_whitespace();
    include_str!("acvp.txt")
        .lines()
        .filter(|line| fields(line).take(2).eq([kind, set]))
        .map(|line| fields(line).skip(2).map(hex).collect())
        .collect()
}

fn digest(bytes: &[u8]) -> Vec<u8> {
    hash(MessageDigest::sha3_256(), bytes).unwrap().to_vec()
}

fn array(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().unwrap()
}

/// All of a set in one call, so that each is in another lane.
pub(super) fn acvp(machine: Machine) {
    for parameters in Parameters::ALL {
        let vectors = lines("generate", parameters);
        assert_eq!(vectors.len(), 25);
        let seeds: Vec<_> = vectors
            .iter()
            .map(|vector| Seeds {
                d: array(&vector[0]),
                z: array(&vector[1]),
                m: [0; 32],
            })
            .collect();
        for (vector, key) in vectors.iter().zip(generate(machine, parameters, &seeds)) {
            let public = parameters.encapsulation_key_of(&key);
            assert_eq!([digest(public), digest(&key)], vector[2..]);
        }

        let vectors = lines("encapsulate", parameters);
        assert_eq!(vectors.len(), 25);
        let keys: Vec<_> = vectors.iter().map(|vector| &vector[0][..]).collect();
        let randomness: Vec<_> = vectors.iter().map(|vector| array(&vector[1])).collect();
        let found = encapsulate(machine, parameters, &keys, &randomness);
        for (vector, found) in vectors.iter().zip(found) {
            let (ciphertext, secret) = found.unwrap();
            assert_eq!([digest(&ciphertext), secret.to_vec()], vector[2..]);
        }

        // Five of ten ciphertexts in each set are not what was sent: implicit rejection.
        let key = lines("key", parameters).remove(0).remove(0);
        let vectors = lines("decapsulate", parameters);
        assert_eq!(vectors.len(), 10);
        let ciphertexts: Vec<_> = vectors.iter().map(|vector| &vector[0][..]).collect();
        let found = decapsulate(machine, parameters, &[&key[..]; 10], &ciphertexts);
        for (vector, secret) in vectors.iter().zip(found) {
            assert_eq!(secret[..], vector[1]);
        }
    }
}
