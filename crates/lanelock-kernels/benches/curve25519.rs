//! Operations per second of the curve25519 kernels in full batches, against OpenSSL one at a time.
//!
//! `cargo bench -p lanelock-kernels --bench curve25519 -- [operation|all] [jobs]`.
//! Both sides take turns; the figures are medians. Every result is compared.

#![allow(clippy::unwrap_used)] // a failure of OpenSSL ends the benchmark

use std::hint::black_box;

use lanelock_kernels::public_key::curve25519::ed25519::{
    Sign, SigningKey, Verify, VerifyingKey, sign, verify,
};
use lanelock_kernels::public_key::curve25519::x25519::{
    Agreement, PublicKey, SecretKey, agree, public_keys,
};
use lanelock_kernels::{Digits, Machine};
use openssl::derive::Deriver;
use openssl::pkey::{Id, PKey};
use openssl::sign::{Signer, Verifier};
use turns::{compare, heading};

mod turns;

/// Bytes that differ for each job.
fn bytes<const N: usize>(seed: usize) -> [u8; N] {
    let mut state = seed as u64 + 1;
    std::array::from_fn(|_| {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        state.to_be_bytes()[0]
    })
}

fn agreement(machine: Machine, count: usize) {
    let keys: Vec<_> = (0..count).map(|i| SecretKey::new(&bytes(i))).collect();
    let peers: Vec<[u8; 32]> = (0..count)
        .map(|i| {
            let key = PKey::private_key_from_raw_bytes(&bytes::<32>(i + 1000), Id::X25519);
            key.unwrap().raw_public_key().unwrap().try_into().unwrap()
        })
        .collect();
    let mut shared = vec![[0; 32]; count];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&peers)
        .zip(&mut shared)
        .map(|((key, peer), shared)| Agreement {
            key,
            peer,
            shared,
            agreed: false,
        })
        .collect();

    let their_keys: Vec<_> = (0..count)
        .map(|i| {
            (
                PKey::private_key_from_raw_bytes(&bytes::<32>(i), Id::X25519).unwrap(),
                PKey::public_key_from_raw_bytes(&peers[i], Id::X25519).unwrap(),
            )
        })
        .collect();
    let mut derivers: Vec<_> = their_keys
        .iter()
        .map(|(key, peer)| {
            let mut deriver = Deriver::new(key).unwrap();
            deriver.set_peer(peer).unwrap();
            deriver
        })
        .collect();
    let mut theirs = vec![[0; 32]; count];
    compare(
        "X25519",
        (count, || agree(machine, &mut jobs)),
        (count, || {
            for (deriver, shared) in derivers.iter_mut().zip(&mut theirs) {
                deriver.derive(shared).unwrap();
            }
        }),
    );
    assert!(jobs.iter().all(|job| job.agreed));
    assert_eq!(shared, theirs);

    let mut publics = vec![[0; 32]; count];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&mut publics)
        .map(|(key, public)| PublicKey { key, public })
        .collect();
    compare(
        "X25519 public key",
        (count, || public_keys(machine, &mut jobs)),
        (count, || {
            for (i, public) in theirs.iter_mut().enumerate() {
                let key = PKey::private_key_from_raw_bytes(&bytes::<32>(i), Id::X25519);
                *public = key.unwrap().raw_public_key().unwrap().try_into().unwrap();
            }
        }),
    );
    assert_eq!(publics, theirs);
}

/// Bytes of a signed message.
const MESSAGE: usize = 64;

fn signing(machine: Machine, count: usize) {
    let messages: Vec<[u8; MESSAGE]> = (0..count).map(bytes).collect();
    let keys: Vec<_> = (0..count)
        .map(|i| SigningKey::new(machine, &bytes(i)))
        .collect();
    let mut signatures = vec![[0; 64]; count];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&messages)
        .zip(&mut signatures)
        .map(|((key, message), signature)| Sign {
            key,
            message,
            signature,
        })
        .collect();
    let their_keys: Vec<_> = (0..count)
        .map(|i| PKey::private_key_from_raw_bytes(&bytes::<32>(i), Id::ED25519).unwrap())
        .collect();
    let mut signers: Vec<_> = their_keys
        .iter()
        .map(|key| Signer::new_without_digest(key).unwrap())
        .collect();
    let mut theirs = vec![[0; 64]; count];
    compare(
        "Ed25519 sign",
        (count, || sign(machine, &mut jobs)),
        (count, || {
            for ((signer, message), signature) in signers.iter_mut().zip(&messages).zip(&mut theirs)
            {
                signer.sign_oneshot(signature, message).unwrap();
            }
        }),
    );
    assert_eq!(signatures, theirs);

    let keys: Vec<_> = keys
        .iter()
        .map(|key| VerifyingKey::new(key.public()).unwrap())
        .collect();
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&messages)
        .zip(&signatures)
        .map(|((key, message), signature)| Verify {
            key,
            message,
            signature,
            valid: false,
        })
        .collect();
    let mut verifiers: Vec<_> = their_keys
        .iter()
        .map(|key| Verifier::new_without_digest(key).unwrap())
        .collect();
    compare(
        "Ed25519 verify",
        (count, || verify(machine, &mut jobs)),
        (count, || {
            for ((verifier, message), signature) in
                verifiers.iter_mut().zip(&messages).zip(&signatures)
            {
                assert!(verifier.verify_oneshot(signature, message).unwrap());
            }
        }),
    );
    assert!(jobs.iter().all(|job| job.valid));

    let seed = bytes(0);
    let ours = || {
        black_box(SigningKey::new(machine, black_box(&seed)));
    };
    let theirs = || {
        black_box(PKey::private_key_from_raw_bytes(black_box(&seed), Id::ED25519).unwrap());
    };
    compare("Ed25519 private key", (1, ours), (1, theirs));
    let public = *SigningKey::new(machine, &seed).public();
    let ours = || {
        black_box(VerifyingKey::new(black_box(&public)));
    };
    let theirs = || {
        black_box(PKey::public_key_from_raw_bytes(black_box(&public), Id::ED25519).unwrap());
    };
    compare("Ed25519 public key", (1, ours), (1, theirs));
}

/// Whether argument `index` is absent, "all", or `name`.
fn selected(index: usize, name: &str) -> bool {
    std::env::args()
        .filter(|a| a != "--bench")
        .nth(index)
        .is_none_or(|a| a == "all" || a.eq_ignore_ascii_case(name))
}

fn main() {
    let machine = Machine::best();
    assert!(
        machine.digits() > Digits::Plain,
        "the CPU has registers of digits"
    );
    let count = std::env::args()
        .filter(|a| a != "--bench")
        .nth(2)
        .map_or(32, |n| n.parse().expect("a number of jobs"));
    heading(&format!("{count} jobs"), "OpenSSL/s");
    if selected(1, "x25519") {
        agreement(machine, count);
    }
    if selected(1, "ed25519") {
        signing(machine, count);
    }
}
