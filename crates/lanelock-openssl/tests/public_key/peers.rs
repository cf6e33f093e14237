//! Public values of others, of each kind of key: what is no element of the group, or one of small
//! order, gives nothing.

use lanelock_core::Hash;
use lanelock_public_key::{
    Curve, EncryptionScheme, KeyDevice, KeyKind, KeyReason, KeyTransform, PublicKey, PublicParts,
    SecretKey, SignatureScheme,
};
use openssl::bn::{BigNum, BigNumContext};

use super::{device, pair, run};

/// The numbers of curve25519 and of its twist whose order divides 8 (RFC 7748, 6.1), with those
/// that equal one modulo p, little-endian.
fn low_order_x25519() -> Vec<Vec<u8>> {
    let decimal = [
        "0",
        "1",
        "325606250916557431795983626356110631294008115727848805560023387167927233504",
        "39382357235489614581723060781553021112529911719440698176882885853963445705823",
        "57896044618658097711785492504343953926634992332820282019728792003956564819948",
        "57896044618658097711785492504343953926634992332820282019728792003956564819949",
        "57896044618658097711785492504343953926634992332820282019728792003956564819950",
    ];
    let mut all = little_endian(
        &decimal.map(|digits| BigNum::from_dec_str(digits).unwrap()),
        32,
    );
    // The last bit is not looked at.
    for mut point in all.clone() {
        point[31] |= 0x80;
        all.push(point);
    }
    all
}

/// 0, 1, p - 1, p and p + 1 for p = 2^448 - 2^224 - 1.
fn low_order_x448() -> Vec<Vec<u8>> {
    let power = |n: i32| {
        let (mut power, one) = (BigNum::new().unwrap(), BigNum::from_u32(1).unwrap());
        power.lshift(&one, n).unwrap();
        power
    };
    let small = |n| BigNum::from_u32(n).unwrap();
    let p = &(&power(448) - &power(224)) - &small(1);
    little_endian(
        &[
            small(0),
            small(1),
            &p - &small(1),
            &p + &small(0),
            &p + &small(1),
        ],
        56,
    )
}

fn little_endian(numbers: &[BigNum], len: i32) -> Vec<Vec<u8>> {
    let bytes = numbers
        .iter()
        .map(|number| number.to_vec_padded(len).unwrap());
    bytes
        .map(|mut bytes| {
            bytes.reverse();
            bytes
        })
        .collect()
}

#[test]
fn points_of_small_order_give_no_secret() {
    let device = device();
    for (kind, points) in [
        (KeyKind::X25519, low_order_x25519()),
        (KeyKind::X448, low_order_x448()),
    ] {
        let (secret, _) = pair(&device, kind);
        let derive = KeyTransform::derive(&secret);
        for point in points {
            let refused = run(&device, &derive, &point, &[]).unwrap_err();
            // Some versions of libcrypto know the zero key before they multiply.
            let known = [KeyReason::ZeroSharedSecret, KeyReason::InvalidPeer];
            assert!(
                known.contains(&refused),
                "{kind}: {point:02x?}: {refused:?}"
            );
        }
    }
}

/// The order of each curve is prime: a point of the curve that is not at infinity has it.
#[test]
fn points_that_are_on_no_curve_are_refused() {
    let device = device();
    for curve in [Curve::P256, Curve::P384, Curve::P521] {
        let kind = KeyKind::Ec(curve);
        let (secret, public) = pair(&device, kind);
        let derive = KeyTransform::derive(&secret);
        let PublicParts::Point(point) = public.parts() else {
            panic!()
        };
        let len = curve.field_len();
        let changed = |at: usize| {
            let mut point = point.clone();
            point[at] ^= 1;
            point
        };
        let no_points = [
            changed(len),
            changed(2 * len),
            // At infinity, if anything.
            [&[4][..], &vec![0; 2 * len]].concat(),
            // Not below the prime.
            [&[4][..], &vec![0xff; 2 * len]].concat(),
            [&[2][..], &vec![0xff; len]].concat(),
            // Hybrid, and of no form.
            [&[6 | point[2 * len] & 1][..], &point[1..]].concat(),
            [&[5][..], &point[1..]].concat(),
        ];
        for peer in &no_points {
            let refused = run(&device, &derive, peer, &[]).unwrap_err();
            assert_eq!(refused, KeyReason::InvalidPeer, "{kind}: {peer:02x?}");
        }
        let infinity = run(&device, &derive, &[0], &[]).unwrap_err();
        assert_eq!(infinity, KeyReason::PeerLength);
        for no_point in &no_points[..4] {
            let key = PublicKey::ec(curve, no_point).unwrap();
            let scheme = SignatureScheme::Ecdsa(Hash::Sha256);
            let refused = device.key_session(&KeyTransform::verify(scheme, &key));
            assert!(
                refused.unwrap_err().to_string().contains("not a point"),
                "{kind}"
            );
        }
    }
}

/// SM2 sends a point with each ciphertext.
#[test]
fn points_on_no_curve_are_refused_in_sm2() {
    let device = device();
    let (secret, public) = pair(&device, KeyKind::Ec(Curve::Sm2));
    let scheme = EncryptionScheme::Sm2;
    let encrypt = KeyTransform::encrypt(scheme, &public);
    let (ciphertext, _) = run(&device, &encrypt, b"message", &[]).unwrap();
    // The sequence's header, then x, whose own header tells its length.
    let x_len = usize::from(ciphertext[3]);
    let mut other_y = ciphertext.clone();
    other_y[4 + x_len + 2 + 9] ^= 1;
    for wrong in [other_y, {
        let mut other_x = ciphertext.clone();
        other_x[4 + 9] ^= 1;
        other_x
    }] {
        let refused = run(
            &device,
            &KeyTransform::decrypt(scheme, &secret),
            &wrong,
            &[],
        );
        assert_eq!(refused.unwrap_err(), KeyReason::WrongCiphertext);
    }
    let off = PublicKey::ec(Curve::Sm2, &[&[4][..], &[1; 64]].concat()).unwrap();
    for transform in [
        KeyTransform::encrypt(scheme, &off),
        KeyTransform::verify(SignatureScheme::Sm2, &off),
    ] {
        let refused = device.key_session(&transform).unwrap_err();
        assert!(refused.to_string().contains("not a point"), "{refused}");
    }
}

/// Nothing secret meets these keys: what is no point verifies nothing. (Small orders: see the
/// promises in SECURITY.md.)
#[test]
fn strings_that_are_no_points_verify_nothing() {
    let device = device();
    for (kind, len) in [(KeyKind::Ed25519, 32), (KeyKind::Ed448, 57)] {
        let (secret, _) = pair(&device, kind);
        let sign = KeyTransform::sign(SignatureScheme::EdDsa, &secret);
        let (signature, _) = run(&device, &sign, b"message", &[]).unwrap();
        for no_point in [vec![0xff; len], [&[2][..], &vec![0; len - 1]].concat()] {
            let key = PublicKey::raw(kind, &no_point).unwrap();
            let verify = KeyTransform::verify(SignatureScheme::EdDsa, &key);
            let Ok(_session) = device.key_session(&verify) else {
                continue;
            };
            assert!(
                run(&device, &verify, b"message", &signature).is_err(),
                "{kind}"
            );
        }
        // S plus the order is another number for the same.
        let public = device.public_key(&secret).unwrap();
        let verify = KeyTransform::verify(SignatureScheme::EdDsa, &public);
        let mut above = signature.clone();
        above[len..].fill(0xff);
        assert!(run(&device, &verify, b"message", &above).is_err(), "{kind}");
    }
}

/// A public value outside the subgroup, an order that is none of the group's, and a secret exponent
/// of another public value.
#[test]
fn dsa_keys_are_of_their_group() {
    let device = device();
    let dsa = openssl::dsa::Dsa::generate(1024).unwrap();
    let [p, q, g, y, x] = [dsa.p(), dsa.q(), dsa.g(), dsa.pub_key(), dsa.priv_key()]
        .map(openssl::bn::BigNumRef::to_vec);
    let scheme = SignatureScheme::Dsa(Hash::Sha256);
    let verify = |q: &[u8], y: &[u8]| {
        let key = PublicKey::dsa(&p, q, &g, y).unwrap();
        device
            .key_session(&KeyTransform::verify(scheme, &key))
            .map(|_| ())
    };
    verify(&q, &y).unwrap();
    let mut minus_y = BigNum::new().unwrap();
    let (own_y, prime) = (
        BigNum::from_slice(&y).unwrap(),
        BigNum::from_slice(&p).unwrap(),
    );
    minus_y.checked_sub(&prime, &own_y).unwrap();
    verify(&q, &minus_y.to_vec()).unwrap_err();
    let mut other_q = q.clone();
    *other_q.last_mut().unwrap() ^= 2;
    verify(&other_q, &y).unwrap_err();

    let mut squared = BigNum::new().unwrap();
    let mut scratch = BigNumContext::new().unwrap();
    squared.mod_sqr(&own_y, &prime, &mut scratch).unwrap();
    let mixed = SecretKey::dsa(&p, &q, &g, &squared.to_vec(), &x).unwrap();
    device
        .key_session(&KeyTransform::sign(scheme, &mixed))
        .unwrap_err();
}

/// An own public value outside the subgroup is found when a session is made.
#[test]
fn diffie_hellman_keys_are_of_their_group() {
    let device = device();
    let dh = openssl::dh::Dh::get_2048_256().unwrap();
    let [p, q, g] =
        [dh.prime_p(), dh.prime_q().unwrap(), dh.generator()].map(openssl::bn::BigNumRef::to_vec);
    let outside = SecretKey::dh(&p, &q, &g, &[2], &[7]).unwrap();
    device
        .key_session(&KeyTransform::derive(&outside))
        .unwrap_err();
}

/// What a public operation costs is bounded, whatever the exponent.
#[test]
fn long_public_exponents_of_long_moduli_are_refused() {
    let device = device();
    let scheme = SignatureScheme::RsaPkcs1(Hash::Sha256);
    let verify = |modulus_len: usize, exponent_len: usize| {
        let (n, e) = (vec![0xff; modulus_len], vec![0x7f; exponent_len]);
        let key = PublicKey::rsa(&n, &e).unwrap();
        device.key_session(&KeyTransform::verify(scheme, &key))
    };
    for served in [(384, 384), (385, 8), (2048, 8)] {
        verify(served.0, served.1).unwrap();
    }
    for refused in [(385, 9), (2048, 2047)] {
        let error = verify(refused.0, refused.1).unwrap_err();
        assert!(error.to_string().contains("public exponent"), "{error}");
    }
}
