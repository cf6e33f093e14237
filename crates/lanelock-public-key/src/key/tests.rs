use super::*;
use crate::algorithm::{MlDsa, MlKem};

/// 512 bits, odd; no key, but in the form of one.
const N: [u8; 64] = [0xd1; 64];
/// 256 bits each, odd.
const P: [u8; 32] = [0xf1; 32];
const Q: [u8; 32] = [0xe3; 32];

fn numbers() -> RsaNumbers<'static> {
    RsaNumbers {
        n: &N,
        e: &[1, 0, 1],
        d: &[7; 64],
        p: &P,
        q: &Q,
        dp: &[3],
        dq: &[5],
        qinv: &[9],
    }
}

fn why(result: Result<SecretKey, KeyError>) -> String {
    result.expect_err("refused").to_string()
}

#[test]
fn numbers_lose_their_leading_zeros() {
    let key = PublicKey::rsa(&[&[0, 0][..], &N].concat(), &[0, 0, 1, 0, 1]).expect("a key");
    assert_eq!(key.kind(), KeyKind::Rsa(512));
    let PublicParts::Rsa(rsa) = key.parts() else {
        panic!("RSA")
    };
    assert_eq!((&rsa.n[..], &rsa.e[..]), (&N[..], &[1, 0, 1][..]));
}

#[test]
fn degenerate_rsa_keys_are_refused_with_the_reason() {
    SecretKey::rsa(&numbers()).expect("the form of a key");
    let mut even = N;
    even[63] = 0xd0;
    for (numbers, part) in [
        (
            RsaNumbers {
                n: &even,
                ..numbers()
            },
            "modulus is even",
        ),
        (
            RsaNumbers {
                n: &N[..63],
                ..numbers()
            },
            "modulus of 504",
        ),
        (
            RsaNumbers {
                e: &[2],
                ..numbers()
            },
            "public exponent",
        ),
        (
            RsaNumbers {
                e: &[1],
                ..numbers()
            },
            "public exponent",
        ),
        (
            RsaNumbers {
                e: &[],
                ..numbers()
            },
            "public exponent",
        ),
        (RsaNumbers { e: &N, ..numbers() }, "public exponent"),
        (
            RsaNumbers {
                d: &[],
                ..numbers()
            },
            "private exponent",
        ),
        (RsaNumbers { d: &N, ..numbers() }, "private exponent"),
        (RsaNumbers { q: &P, ..numbers() }, "equal"),
        (
            RsaNumbers {
                q: &Q[1..],
                ..numbers()
            },
            "bit lengths of the factors",
        ),
        (
            RsaNumbers {
                q: &[0xe2; 32],
                ..numbers()
            },
            "factor of the modulus is even",
        ),
        (
            RsaNumbers {
                q: &[],
                ..numbers()
            },
            "give all or none",
        ),
        (
            RsaNumbers {
                p: &[],
                ..numbers()
            },
            "give all or none",
        ),
        (
            RsaNumbers {
                dp: &P,
                ..numbers()
            },
            "dp, dq or qinv",
        ),
        (
            RsaNumbers {
                dq: &[0],
                ..numbers()
            },
            "dp, dq or qinv",
        ),
    ] {
        let message = why(SecretKey::rsa(&numbers));
        assert!(message.contains(part), "{message}: expected '{part}'");
    }
}

#[test]
fn a_key_without_its_factors_is_a_key() {
    let none: &[u8] = &[];
    let key = SecretKey::rsa(&RsaNumbers {
        p: none,
        q: none,
        dp: none,
        dq: none,
        qinv: none,
        ..numbers()
    });
    let key = key.expect("n, e and d");
    let SecretParts::Rsa(rsa) = key.parts() else {
        panic!("RSA")
    };
    assert!(rsa.crt.is_none() && key.public_key().is_some());
}

#[test]
fn scalars_are_padded_to_the_field_and_zero_is_refused() {
    let key = SecretKey::ec(Curve::P256, &[7], None).expect("a scalar");
    let SecretParts::Scalar(scalar) = key.parts() else {
        panic!("a scalar")
    };
    assert_eq!((scalar.len(), scalar[31], scalar[30]), (32, 7, 0));
    let long = [&[0; 9][..], &[1; 32]].concat();
    SecretKey::ec(Curve::P256, &long, None).expect("leading zeros do not count");
    assert!(why(SecretKey::ec(Curve::P256, &[0; 32], None)).contains("scalar is 0"));
    assert_eq!(
        why(SecretKey::ec(Curve::P256, &[1; 33], None)),
        "p256: scalar of 33; allowed: at most 32 bytes"
    );
}

#[test]
fn points_are_told_by_their_first_byte() {
    let point = |bytes: &[u8]| PublicKey::ec(Curve::P384, bytes).map_err(|e| e.to_string());
    let form = |first: u8, len: usize| [&[first][..], &vec![1; len]].concat();
    point(&form(4, 96)).expect("uncompressed");
    point(&form(2, 48)).expect("compressed");
    assert!(point(&[0]).unwrap_err().contains("infinity"));
    assert!(point(&[]).unwrap_err().contains("starts with"));
    assert!(point(&form(6, 96)).unwrap_err().contains("starts with"));
    assert!(point(&form(4, 95)).unwrap_err().contains("point of 96"));
}

#[test]
fn strings_of_bytes_have_the_length_of_their_kind() {
    for (kind, public, secret) in [
        (KeyKind::X25519, 32, 32),
        (KeyKind::X448, 56, 56),
        (KeyKind::Ed25519, 32, 32),
        (KeyKind::Ed448, 57, 57),
        (KeyKind::MlKem(MlKem::MlKem768), 1184, 2400),
        (KeyKind::MlKem(MlKem::MlKem768), 1184, 64),
        (KeyKind::MlDsa(MlDsa::MlDsa65), 1952, 4032),
        (KeyKind::MlDsa(MlDsa::MlDsa65), 1952, 32),
    ] {
        PublicKey::raw(kind, &vec![1; public]).expect("public");
        SecretKey::raw(kind, &vec![1; secret]).expect("secret");
        assert!(PublicKey::raw(kind, &vec![1; public + 1]).is_err());
        assert!(why(SecretKey::raw(kind, &vec![1; secret + 1])).contains("allowed"));
    }
    assert!(why(SecretKey::raw(KeyKind::Rsa(2048), &[1; 32])).contains("not byte strings"));
}

#[test]
fn group_elements_of_small_order_are_refused() {
    let (p, q) = ([0xd3; 64], [0xe1; 20]);
    let mut last = p;
    last[63] ^= 1;
    PublicKey::dsa(&p, &q, &[2], &[2]).expect("in range");
    for y in [&[][..], &[1], &last, &p] {
        let error = PublicKey::dsa(&p, &q, &[2], y).unwrap_err().to_string();
        assert!(error.contains("public value"), "{error}");
        assert!(PublicKey::dh(&p, &[], &[2], y).is_err());
    }
    assert!(
        PublicKey::dsa(&p, &[0xe1; 21], &[2], &[2]).is_err(),
        "168 bits"
    );
    assert!(PublicKey::dh(&p, &[], &[1], &[2]).is_err(), "generator 1");
    let x = SecretKey::dh(&p, &q, &[2], &[2], &[0xe1; 20]);
    assert!(why(x).contains("secret exponent"));
}

#[test]
fn nothing_shows_a_secret() {
    let key = SecretKey::raw(KeyKind::X25519, &[0xa5; 32]).expect("a key");
    let text = format!("{key:?} {:?}", key.parts());
    assert!(!text.contains("a5") && !text.contains("165"), "{text}");
}
