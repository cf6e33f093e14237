//! Wrong RSA keys that no check of their numbers finds: no result of theirs leaves the engine.

use lanelock_core::Hash;
use lanelock_public_key::{
    EncryptionScheme, KeyReason, KeyTransform, Oaep, Pss, PublicKey, RsaNumbers, SecretKey,
    SignatureScheme,
};
use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::rsa::Rsa;

use super::{device, run};

const BITS: i32 = 1024;

/// A key, and what its public half was made of.
struct Wrong {
    secret: SecretKey,
    public: PublicKey,
    what: &'static str,
}

/// Without the factors nothing tells whether d is e's inverse.
fn exponent_with_a_flipped_bit() -> Wrong {
    let right = Rsa::generate(BITS as u32).unwrap();
    let [n, e, mut d] = [right.n(), right.e(), right.d()].map(BigNumRef::to_vec);
    let middle = d.len() / 2;
    d[middle] ^= 4;
    Wrong {
        secret: without_factors(&n, &e, &d),
        public: PublicKey::rsa(&n, &e).unwrap(),
        what: "a bit of d flipped",
    }
}

fn without_factors(n: &[u8], e: &[u8], d: &[u8]) -> SecretKey {
    let [p, q, dp, dq, qinv] = [&[][..]; 5];
    SecretKey::rsa(&RsaNumbers {
        n,
        e,
        d,
        p,
        q,
        dp,
        dq,
        qinv,
    })
    .unwrap()
}

/// The first factor is a product of two primes; all else is as if it were prime.
fn composite_factor() -> Wrong {
    let one = BigNum::from_u32(1).unwrap();
    let e = BigNum::from_u32(65537).unwrap();
    let prime = |bits| {
        let mut prime = BigNum::new().unwrap();
        prime.generate_prime(bits, false, None, None).unwrap();
        prime
    };
    let inverse = |x: &BigNum, n: &BigNum| {
        let (mut inverse, mut scratch) = (BigNum::new().unwrap(), BigNumContext::new().unwrap());
        inverse.mod_inverse(x, n, &mut scratch).ok()?;
        Some(inverse)
    };
    loop {
        let (p, q) = (&prime(BITS / 4) * &prime(BITS / 4), prime(BITS / 2));
        let n = &p * &q;
        if n.num_bits() != BITS || p.num_bits() != BITS / 2 {
            continue;
        }
        let (p1, q1) = (&p - &one, &q - &one);
        let (Some(d), Some(qinv)) = (inverse(&e, &(&p1 * &q1)), inverse(&q, &p)) else {
            continue;
        };
        let (dp, dq) = (&d % &p1, &d % &q1);
        let numbers = [&n, &e, &d, &p, &q, &dp, &dq, &qinv].map(|number| number.to_vec());
        let [n, e, d, p, q, dp, dq, qinv] = numbers.each_ref().map(|number| &number[..]);
        return Wrong {
            secret: SecretKey::rsa(&RsaNumbers {
                n,
                e,
                d,
                p,
                q,
                dp,
                dq,
                qinv,
            })
            .unwrap(),
            public: PublicKey::rsa(n, e).unwrap(),
            what: "a composite factor",
        };
    }
}

#[test]
fn signatures_of_wrong_keys_do_not_leave() {
    let device = device();
    let schemes = [
        SignatureScheme::RsaPkcs1(Hash::Sha256),
        SignatureScheme::RsaPss(Pss::of(Hash::Sha256)),
    ];
    for Wrong { secret, what, .. } in [exponent_with_a_flipped_bit(), composite_factor()] {
        for scheme in schemes {
            let sign = KeyTransform::sign(scheme, &secret);
            for transform in [sign.clone(), sign.digest()] {
                let made = run(&device, &transform, &[7; 32], &[]);
                assert_eq!(made, Err(KeyReason::Fault), "{what}, {scheme:?}");
            }
        }
    }
}

#[test]
fn plaintexts_of_wrong_keys_do_not_leave() {
    let device = device();
    let schemes = [
        EncryptionScheme::RsaRaw,
        EncryptionScheme::RsaPkcs1,
        EncryptionScheme::RsaOaep(Oaep::of(Hash::Sha256)),
    ];
    for Wrong {
        secret,
        public,
        what,
    } in [exponent_with_a_flipped_bit(), composite_factor()]
    {
        for scheme in schemes {
            let message = match scheme {
                EncryptionScheme::RsaRaw => vec![0x11; 128],
                _ => vec![0x11; 40],
            };
            let encrypt = KeyTransform::encrypt(scheme, &public);
            let decrypt = KeyTransform::decrypt(scheme, &secret);
            let (ciphertext, _) = run(&device, &encrypt, &message, &[]).unwrap();
            // What the padding of the wrong block looks like does not matter, nor does whether
            // anything was encrypted.
            for input in [ciphertext, vec![0x22; 128]] {
                let made = run(&device, &decrypt, &input, &[]);
                assert_eq!(made, Err(KeyReason::Fault), "{what}, {scheme:?}");
            }
        }
    }
}

/// The check asks for the number, whatever zeros it starts with.
#[test]
fn right_keys_without_factors_do_their_work() {
    let device = device();
    let key = Rsa::generate(BITS as u32).unwrap();
    let [n, e, d] = [key.n(), key.e(), key.d()].map(BigNumRef::to_vec);
    let (secret, public) = (without_factors(&n, &e, &d), PublicKey::rsa(&n, &e).unwrap());
    let sign = KeyTransform::sign(SignatureScheme::RsaPkcs1(Hash::Sha256), &secret);
    run(&device, &sign, b"message", &[]).unwrap();
    let encrypt = KeyTransform::encrypt(EncryptionScheme::RsaRaw, &public);
    let decrypt = KeyTransform::decrypt(EncryptionScheme::RsaRaw, &secret);
    for zeros in [1, 2, 64, 127, 128] {
        let block = [vec![0; zeros], vec![0x33; 128 - zeros]].concat();
        let (ciphertext, _) = run(&device, &encrypt, &block, &[]).unwrap();
        assert_eq!(
            run(&device, &decrypt, &ciphertext, &[]).unwrap().0,
            block,
            "{zeros}"
        );
    }
}
