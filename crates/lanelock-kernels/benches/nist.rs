//! Operations per second on P-256 and P-384: the kernels in full batches against OpenSSL one at a
//! time, alternating; medians and their ratio.
//!
//! `cargo bench -p lanelock-kernels --bench nist -- [P-256|P-384|all] [operation|all]`.
//! Every answer of the kernels is compared with OpenSSL's, or checked by it.
//!
//! "sign" is given its nonces; "hedged-sign" derives them by HMAC-DRBG first. OpenSSL draws its own
//! in both, and its keys in "generate". In "agree" OpenSSL has its peer's key checked beforehand,
//! the kernels check it each time.

#![allow(clippy::unwrap_used)] // a failure of OpenSSL ends the benchmark

use std::mem::MaybeUninit;
use std::time::Instant;

use lanelock_kernels::hash::{self, Sha256, Sha384};
use lanelock_kernels::public_key::nist::{
    AgreeJob, Curve, GenerateJob, Kernels, NonceSource, Nonces, P256, P384, PublicPoint, Refusal,
    SignJob, Signature, VerifyJob,
};
use lanelock_kernels::{Digits, Machine};
use openssl::bn::{BigNum, BigNumContext};
use openssl::derive::Deriver;
use openssl::ec::{EcGroup, EcKey};
use openssl::ecdsa::EcdsaSig;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private, Public};
use turns::{compare, heading};

mod turns;

const BATCH: usize = 8;

/// One key pair and what it is used on, in both worlds.
struct Lane<C: Curve> {
    private: C::Number,
    public: PublicPoint<C>,
    nonce: C::Number,
    digest: Vec<u8>,
    signature: Signature<C>,
    key: EcKey<Private>,
    public_key: EcKey<Public>,
    openssl_signature: EcdsaSig,
}

fn number<C: Curve>(value: &openssl::bn::BigNumRef) -> C::Number {
    let mut number = C::ZERO;
    let width = i32::try_from(C::BYTES).expect("small");
    let bytes = value.to_vec_padded(width).expect("it fits");
    number.as_mut().copy_from_slice(&bytes);
    number
}

fn public<C: Curve>(group: &EcGroup, key: &EcKey<Private>) -> PublicPoint<C> {
    let (mut x, mut y) = (BigNum::new().unwrap(), BigNum::new().unwrap());
    let mut context = BigNumContext::new().unwrap();
    key.public_key()
        .affine_coordinates(group, &mut x, &mut y, &mut context)
        .unwrap();
    PublicPoint {
        x: number::<C>(&x),
        y: number::<C>(&y),
    }
}

fn lane<C: Curve>(group: &EcGroup) -> Lane<C> {
    let key = EcKey::generate(group).unwrap();
    let nonce = EcKey::generate(group).unwrap();
    let mut digest = vec![0; C::BYTES];
    openssl::rand::rand_bytes(&mut digest).unwrap();
    let signature = EcdsaSig::sign(&digest, &key).unwrap();
    Lane {
        private: number::<C>(key.private_key()),
        public: public(group, &key),
        nonce: number::<C>(nonce.private_key()),
        signature: Signature {
            r: number::<C>(signature.r()),
            s: number::<C>(signature.s()),
        },
        public_key: EcKey::from_public_key(group, key.public_key()).unwrap(),
        digest,
        key,
        openssl_signature: signature,
    }
}

fn measure<C: Curve, A: hash::Algorithm>(
    nid: Nid,
    machine: Machine,
    hash_kernels: &'static hash::Kernels<A>,
) {
    let group = EcGroup::from_curve_name(nid).unwrap();
    let place = Box::leak(Box::new(MaybeUninit::<Kernels<C>>::uninit()));
    let start = Instant::now();
    let kernels = &*Kernels::new_in(place, machine);
    println!("{} multiples in {:?}", C::NAME, start.elapsed());
    let lanes: Vec<Lane<C>> = (0..BATCH).map(|_| lane(&group)).collect();
    let other = EcKey::generate(&group).unwrap();
    let peer: PublicPoint<C> = public(&group, &other);
    let name = |operation: &str| format!("{} {operation}", C::NAME);
    let refused = Refusal::WrongSignature;

    if selected(2, "generate") {
        let run = || {
            let mut jobs: [_; BATCH] = std::array::from_fn(|i| GenerateJob {
                private: &lanes[i].private,
                public: Err(refused),
            });
            kernels.generate(&mut jobs);
            for (job, lane) in jobs.iter().zip(&lanes) {
                assert_eq!(job.public, Ok(lane.public));
            }
        };
        let theirs = || drop(EcKey::generate(&group).unwrap());
        compare(&name("generate"), (BATCH, run), (1, theirs));
    }

    if selected(2, "agree") {
        let (ours, theirs) = (
            PKey::from_ec_key(other.clone()).unwrap(),
            lanes
                .iter()
                .map(|l| PKey::from_ec_key(l.key.clone()).unwrap()),
        );
        let theirs: Vec<_> = theirs.collect();
        let mut derivers: Vec<_> = theirs
            .iter()
            .map(|key| {
                let mut deriver = Deriver::new(key).unwrap();
                deriver.set_peer(&ours).unwrap();
                deriver
            })
            .collect();
        let expected: Vec<_> = derivers
            .iter_mut()
            .map(|deriver| deriver.derive_to_vec().unwrap())
            .collect();
        let run = || {
            let mut jobs: [_; BATCH] = std::array::from_fn(|i| AgreeJob {
                private: &lanes[i].private,
                peer: &peer,
                shared: Err(refused),
            });
            kernels.agree(&mut jobs);
            for (job, expected) in jobs.iter().zip(&expected) {
                assert_eq!(job.shared.as_ref().expect("agreed").as_ref(), expected);
            }
        };
        let mut shared = vec![0; C::BYTES];
        let mut i = 0;
        let theirs = || {
            derivers[i % BATCH].derive(&mut shared).unwrap();
            assert_eq!(shared, expected[i % BATCH]);
            i += 1;
        };
        compare(&name("agree"), (BATCH, run), (1, theirs));
    }

    let sign = |nonces: &[C::Number; BATCH]| -> [Signature<C>; BATCH] {
        let mut jobs: [_; BATCH] = std::array::from_fn(|i| SignJob {
            private: &lanes[i].private,
            nonce: &nonces[i],
            digest: &lanes[i].digest,
            signature: Err(refused),
        });
        kernels.sign(&mut jobs);
        jobs.map(|job| job.signature.expect("signed"))
    };
    let check = |signatures: &[Signature<C>; BATCH]| {
        for (signature, lane) in signatures.iter().zip(&lanes) {
            let [r, s] = [signature.r, signature.s].map(|n| BigNum::from_slice(n.as_ref()));
            let signature = EcdsaSig::from_private_components(r.unwrap(), s.unwrap()).unwrap();
            assert!(signature.verify(&lane.digest, &lane.public_key).unwrap());
        }
    };
    let mut i = 0;
    let mut openssl_sign = || {
        let lane = &lanes[i % BATCH];
        std::hint::black_box(EcdsaSig::sign(&lane.digest, &lane.key).unwrap());
        i += 1;
    };
    if selected(2, "sign") {
        let nonces = std::array::from_fn(|i| lanes[i].nonce);
        let expected = sign(&nonces);
        check(&expected);
        let run = || assert_eq!(sign(&nonces), expected);
        compare(&name("sign"), (BATCH, run), (1, &mut openssl_sign));
    }
    if selected(2, "hedged-sign") {
        let hedged = || {
            let random = [7; 32];
            let source = NonceSource::new(hash_kernels);
            std::array::from_fn(|i| {
                let Lane {
                    private, digest, ..
                } = &lanes[i];
                Nonces::<C, A>::new(&source, private, digest, &random).draw()
            })
        };
        let expected = sign(&hedged());
        check(&expected);
        let run = || assert_eq!(sign(&hedged()), expected);
        compare(&name("hedged-sign"), (BATCH, run), (1, &mut openssl_sign));
    }

    if selected(2, "verify") {
        let run = || {
            let mut jobs: [_; BATCH] = std::array::from_fn(|i| VerifyJob {
                public: &lanes[i].public,
                digest: &lanes[i].digest,
                signature: &lanes[i].signature,
                outcome: Err(refused),
            });
            kernels.verify(&mut jobs);
            assert!(jobs.iter().all(|job| job.outcome.is_ok()));
        };
        let mut i = 0;
        let theirs = || {
            let lane = &lanes[i % BATCH];
            let valid = lane
                .openssl_signature
                .verify(&lane.digest, &lane.public_key);
            assert!(valid.unwrap());
            i += 1;
        };
        compare(&name("verify"), (BATCH, run), (1, theirs));
    }
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
    if machine.digits() == Digits::Plain {
        println!("this CPU has no registers of digits");
        return;
    }
    heading(&format!("{BATCH} jobs"), "OpenSSL/s");
    if selected(1, P256::NAME) {
        let kernels = hash::Kernels::<Sha256>::of(machine);
        measure::<P256, Sha256>(Nid::X9_62_PRIME256V1, machine, kernels);
    }
    if selected(1, P384::NAME) {
        let kernels = hash::Kernels::<Sha384>::of(machine);
        measure::<P384, Sha384>(Nid::SECP384R1, machine, kernels);
    }
}
