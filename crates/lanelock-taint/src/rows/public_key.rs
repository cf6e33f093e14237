//! What works with a private key: its import, and the kernels.

use lanelock_kernels::Machine;
use lanelock_kernels::hash::{Kernels as HashKernels, Sha256};
use lanelock_kernels::public_key::curve25519::{ed25519, x25519};
use lanelock_kernels::public_key::nist::{
    AgreeJob, Curve, GenerateJob, Kernels, NonceSource, Nonces, P256, P384, PublicPoint, SignJob,
    Signature,
};
use lanelock_kernels::public_key::rsa::{
    BlindingJob, PrivateComponents, PrivateJob, PrivateKey2048, PublicComponents, make_blindings,
    private,
};
use lanelock_public_key::{self as keys, RsaNumbers, SecretKey, SecretParts};
use openssl::bn::{BigNum, BigNumContext, BigNumRef};

use super::Row;
use crate::inputs::Inputs;
use crate::tier::Tier;

/// Lanes of plain integers; the instructions of the other tier are beyond Valgrind.
const TIERS: &[Tier] = &[Tier::Portable];

/// More than fit the lanes once.
const JOBS: usize = 9;

pub fn rows() -> Vec<Row> {
    vec![
        Row::new("X25519 shared secret", TIERS, |_, inputs| {
            agree_25519(inputs)
        }),
        Row::new("X25519 public key", TIERS, |_, inputs| public_25519(inputs)),
        Row::new("Ed25519 key and signature", TIERS, |_, inputs| {
            sign_25519(inputs)
        }),
        Row::new("P-256 public key", TIERS, |_, inputs| {
            generate::<P256>(inputs)
        }),
        Row::new("P-256 shared secret", TIERS, |_, inputs| {
            agree::<P256>(inputs)
        }),
        Row::new("P-256 signature", TIERS, |_, inputs| sign::<P256>(inputs)),
        Row::new("P-384 public key", TIERS, |_, inputs| {
            generate::<P384>(inputs)
        }),
        Row::new("P-384 shared secret", TIERS, |_, inputs| {
            agree::<P384>(inputs)
        }),
        Row::new("P-384 signature", TIERS, |_, inputs| sign::<P384>(inputs)),
        Row::new("RSA-2048 key import", TIERS, |_, inputs| import_rsa(inputs)),
        Row::new("EC and DH key import", TIERS, |_, inputs| {
            import_exponents(inputs)
        }),
        Row::new("RSA-2048 private operation", TIERS, |_, inputs| {
            rsa(inputs, false)
        }),
        Row::new("RSA-2048 blinded", TIERS, |_, inputs| rsa(inputs, true)),
    ]
}

fn secret<const N: usize>(inputs: &mut Inputs) -> [u8; N] {
    inputs.secret_bytes(N).try_into().expect("as many bytes")
}

fn public_of_25519(secrets: &[x25519::SecretKey]) -> Vec<[u8; 32]> {
    let mut publics = vec![[0; 32]; secrets.len()];
    let mut jobs: Vec<_> = secrets
        .iter()
        .zip(&mut publics)
        .map(|(key, public)| x25519::PublicKey { key, public })
        .collect();
    x25519::public_keys(Machine::PORTABLE, &mut jobs);
    publics
}

fn keys_25519(inputs: &mut Inputs) -> Vec<x25519::SecretKey> {
    (0..JOBS)
        .map(|_| x25519::SecretKey::new(&secret(inputs)))
        .collect()
}

fn public_25519(inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let publics = public_of_25519(&keys_25519(inputs));
    publics.into_iter().map(Into::into).collect()
}

fn agree_25519(inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let peers = public_of_25519(&keys_25519(&mut Inputs::plain()));
    let keys = keys_25519(inputs);
    let mut shared = vec![[0; 32]; JOBS];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&peers)
        .zip(&mut shared)
        .map(|((key, peer), shared)| x25519::Agreement {
            key,
            peer,
            shared,
            agreed: false,
        })
        .collect();
    x25519::agree(Machine::PORTABLE, &mut jobs);
    assert!(jobs.iter().all(|job| job.agreed), "peers of full order");
    shared.into_iter().map(Into::into).collect()
}

fn sign_25519(inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let machine = Machine::PORTABLE;
    let keys: Vec<_> = (0..JOBS)
        .map(|_| ed25519::SigningKey::new(machine, &secret(inputs)))
        .collect();
    let messages: Vec<_> = (0..JOBS).map(|n| inputs.bytes(50 * n)).collect();
    let mut signatures = vec![[0; 64]; JOBS];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&messages)
        .zip(&mut signatures)
        .map(|((key, message), signature)| ed25519::Sign {
            key,
            message,
            signature,
        })
        .collect();
    ed25519::sign(machine, &mut jobs);
    signatures.into_iter().map(Into::into).collect()
}

fn kernels<C: Curve>() -> &'static Kernels<C> {
    Kernels::new_in(Box::leak(Box::new_uninit()), Machine::PORTABLE)
}

/// Private keys, or nonces: with a zero in front, so that they are below the order.
fn numbers<C: Curve>(inputs: &mut Inputs) -> Vec<C::Number> {
    (0..JOBS)
        .map(|_| {
            let mut number = C::ZERO;
            number.as_mut()[1..].copy_from_slice(&inputs.secret_bytes(C::BYTES - 1));
            number
        })
        .collect()
}

fn points<C: Curve>(kernels: &Kernels<C>, inputs: &mut Inputs) -> Vec<PublicPoint<C>> {
    let numbers = numbers::<C>(inputs);
    let mut jobs: Vec<_> = numbers
        .iter()
        .map(|private| GenerateJob {
            private,
            public: Ok(PublicPoint::NONE),
        })
        .collect();
    kernels.generate(&mut jobs);
    jobs.into_iter()
        .map(|job| job.public.expect("a key in range"))
        .collect()
}

fn generate<C: Curve>(inputs: &mut Inputs) -> Vec<Vec<u8>> {
    points::<C>(kernels(), inputs)
        .into_iter()
        .map(|point| [point.x.as_ref(), point.y.as_ref()].concat())
        .collect()
}

fn agree<C: Curve>(inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let kernels = kernels::<C>();
    let peers = points(kernels, &mut Inputs::plain());
    let privates = numbers::<C>(inputs);
    let mut jobs: Vec<_> = privates
        .iter()
        .zip(&peers)
        .map(|(private, peer)| AgreeJob {
            private,
            peer,
            shared: Ok(C::ZERO),
        })
        .collect();
    kernels.agree(&mut jobs);
    jobs.into_iter()
        .map(|job| job.shared.expect("a point of the curve").as_ref().to_vec())
        .collect()
}

fn sign<C: Curve>(inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let privates = numbers::<C>(inputs);
    let digest: [u8; 32] = secret(inputs);
    let source = NonceSource::new(HashKernels::of(Machine::PORTABLE));
    let random = inputs.secret_bytes(32);
    let nonces: Vec<_> = privates
        .iter()
        .map(|private| Nonces::<C, Sha256>::new(&source, private, &digest, &random).draw())
        .collect();
    let mut jobs: Vec<_> = privates
        .iter()
        .zip(&nonces)
        .map(|(private, nonce)| SignJob {
            private,
            nonce,
            digest: &digest,
            signature: Ok(Signature::NONE),
        })
        .collect();
    kernels::<C>().sign(&mut jobs);
    jobs.into_iter()
        .map(|job| job.signature.expect("a nonce in range"))
        .map(|signature| [signature.r.as_ref(), signature.s.as_ref()].concat())
        .collect()
}

/// The numbers of a key as they are kept. Of p and q the bit lengths are public.
fn import_rsa(inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let numbers = Numbers::new();
    let d = inputs.hide(numbers.private_exponent);
    let [p, q, dp, dq, qinv] = numbers.secrets.map(|number| inputs.hide(number));
    // As in DER, and longer than needed.
    let padded = [vec![0], p.clone()].concat();
    let key = SecretKey::rsa(&RsaNumbers {
        n: &numbers.modulus,
        e: &[1, 0, 1],
        d: &d,
        p: &padded,
        q: &q,
        dp: &dp,
        dq: &dq,
        qinv: &qinv,
    })
    .expect("a key");
    let SecretParts::Rsa(rsa) = key.parts() else {
        panic!("RSA")
    };
    let crt = rsa.crt.as_ref().expect("with its factors");
    [&rsa.d, &crt.p, &crt.q, &crt.dp, &crt.dq, &crt.qinv]
        .map(|number| number.to_vec())
        .to_vec()
}

/// A scalar of a curve and an exponent of a group, each long enough to lose a zero.
fn import_exponents(inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let prime = Numbers::new().modulus; // odd, and as long as one
    let order = [0xff; 32];
    let mut secret = || [vec![0], inputs.secret_bytes(32)].concat();
    let scalar = SecretKey::ec(keys::Curve::P256, &secret(), None);
    let exponent = SecretKey::dh(&prime, &order, &[2], &[4], &secret());
    [scalar, exponent]
        .map(|key| match key.expect("in range").parts() {
            SecretParts::Scalar(number) | SecretParts::Exponent(_, number) => number.to_vec(),
            _ => panic!("a number"),
        })
        .to_vec()
}

/// Under a key of which all but the modulus and its exponent is secret. Results are what they are
/// without blinding, whatever is drawn for it.
fn rsa(inputs: &mut Inputs, blinded: bool) -> Vec<Vec<u8>> {
    let numbers = Numbers::new();
    let [p, q, dp, dq, coefficient] = numbers.secrets.map(|number| inputs.hide(number));
    let key = PrivateKey2048::new(PrivateComponents {
        public: PublicComponents {
            modulus: &numbers.modulus,
            exponent: &[1, 0, 1],
        },
        primes: [&p, &q],
        exponents: [&dp, &dq],
        coefficient: &coefficient,
    })
    .expect("a key");
    let machine = Machine::PORTABLE;
    let messages: Vec<_> = (0..2)
        .map(|_| [vec![0], inputs.secret_bytes(255)].concat())
        .collect();
    let random: Vec<[[u8; 65]; 4]> = messages
        .iter()
        .map(|_| [(); 4].map(|()| secret(inputs)))
        .collect();
    let mut blindings: Vec<_> = random
        .iter()
        .map(|random| BlindingJob {
            key: &key,
            random,
            made: None,
        })
        .collect();
    if blinded {
        make_blindings(machine, &mut blindings);
    }
    let mut outputs = vec![vec![0; 256]; messages.len()];
    let mut jobs: Vec<_> = messages
        .iter()
        .zip(&mut outputs)
        .zip(&mut blindings)
        .map(|((input, output), blinding)| PrivateJob {
            key: &key,
            blinding: blinding.made.as_mut(),
            input,
            output,
            result: Ok(()),
        })
        .collect();
    private(machine, &mut jobs);
    assert!(jobs.iter().all(|job| job.result.is_ok()), "no fault");
    outputs
}

/// A key of this check alone.
struct Numbers {
    modulus: Vec<u8>,
    /// As long as the modulus.
    private_exponent: Vec<u8>,
    /// p, q, the exponents modulo each less one, and 1/q modulo p.
    secrets: [Vec<u8>; 5],
}

impl Numbers {
    fn new() -> Self {
        let [p, q] = [P, Q].map(|prime| BigNum::from_hex_str(prime).expect("digits"));
        let one = BigNum::from_u32(1).expect("a number");
        let e = BigNum::from_u32(65537).expect("a number");
        let [dp, dq] = [&p, &q].map(|prime| inverse(&e, &(prime - &one)));
        let d = inverse(&e, &(&(&p - &one) * &(&q - &one)));
        let coefficient = inverse(&q, &p);
        Self {
            modulus: (&p * &q).to_vec(),
            private_exponent: d.to_vec_padded(256).expect("below the modulus"),
            secrets: [p, q, dp, dq, coefficient]
                .map(|number| number.to_vec_padded(128).expect("half as long")),
        }
    }
}

fn inverse(number: &BigNumRef, modulus: &BigNumRef) -> BigNum {
    let mut context = BigNumContext::new().expect("a context");
    let mut inverse = BigNum::new().expect("a number");
    inverse
        .mod_inverse(number, modulus, &mut context)
        .expect("it has an inverse");
    inverse
}

/// A prime.
const P: &str = "\
    f3fc7d8ef8c0ce981140f047406d6d903b4ebbe5c6891a563924a0a352154101f8d04ec5589fcfc347087d\
    d203b320495608e2e71511de70c95a0a63f2f4028266c3d2321b3a650537349547773029d1b92a64786401\
    4d1949d5d67e8c815b7d9203eb3e39ab591b10aadd52b95da9410815b0cd98ced1f6d1e6756006064a3f";

/// Another.
const Q: &str = "\
    e84792c41b3b09fe1615d0464cab27ec763d1ff1d86edd08e36b6f6f82ca918ced9f6c94e0b1e4dad23b2b\
    521bf44369ca222c99105fc2909f97c1c578648c1c0123f294ac00c41a0217c1c16d9df56048e752f43ede\
    b08008596e9d5d46019b9a66fac5221268342069054ac415b48ff34b9b709ccd62b41d3239825d09f5a9";
