//! Keys that are none: each is refused with the reason, and an automatic choice goes no further.

use lanelock_core::Hash;
use lanelock_kernels::public_key::nist::{self, Curve as _};
use lanelock_public_key::{
    Curve, KeyDevice, KeyError, KeyKind, KeyTransform, PublicKey, SecretKey, SignatureScheme,
};

use super::{P256, P384, compressed, devices, encoded, pairs};

#[test]
fn what_is_no_key_is_refused() {
    for device in devices() {
        let refused = |transform: &KeyTransform, why: &str| {
            let error = device.key_session_on("native", transform).unwrap_err();
            assert!(
                matches!(&error, KeyError::Refused { why: said, .. } if said.contains(why)),
                "{error}"
            );
            let session = device.key_session(transform);
            assert!(session.is_err(), "an automatic choice does not go on");
        };
        for kind in [P256, P384] {
            let KeyKind::Ec(curve) = kind else {
                unreachable!("{kind}");
            };
            let pairs = pairs(&device, "openssl", kind, 2);
            let ecdsa = SignatureScheme::Ecdsa(Hash::Sha256);
            let scalar = |bytes: &[u8]| SecretKey::ec(curve, bytes, None).unwrap();
            let order = match curve {
                Curve::P256 => nist::P256::ORDER.to_vec(),
                _ => nist::P384::ORDER.to_vec(),
            };
            for high in [scalar(&order), scalar(&vec![0xff; order.len()])] {
                refused(&KeyTransform::sign(ecdsa, &high), "order");
                refused(&KeyTransform::derive(&high), "order");
            }
            let mut below = order;
            *below.last_mut().unwrap() -= 1;
            let highest = KeyTransform::derive(&scalar(&below));
            assert!(device.key_session_on("native", &highest).is_ok());
            let secret = pairs[0].0.clone();
            let (own, other) = (encoded(&pairs[0].1), encoded(&pairs[1].1));
            for (given, fits) in [
                (own.clone(), true),
                (compressed(&own), true),
                (other.clone(), false),
                (compressed(&other), false),
            ] {
                let public = PublicKey::ec(curve, &given).unwrap();
                let both = secret.clone().with_public(&public).unwrap();
                let transform = KeyTransform::derive(&both);
                match fits {
                    true => assert!(device.key_session_on("native", &transform).is_ok()),
                    false => refused(&transform, "another key"),
                }
            }
            let mut off = own;
            *off.last_mut().unwrap() ^= 1;
            let off = PublicKey::ec(curve, &off).unwrap();
            refused(&KeyTransform::verify(ecdsa, &off), "point");
            // An x below the prime and none of a point, by the parity of both.
            let no_x = (1_u8..50).find_map(|x| {
                let mut point = vec![0; 1 + curve.field_len()];
                (point[0], point[curve.field_len()]) = (2, x);
                let key = PublicKey::ec(curve, &point).unwrap();
                let transform = KeyTransform::verify(ecdsa, &key);
                let openssl = device.key_session_on("openssl", &transform);
                openssl.is_err().then_some(transform)
            });
            refused(&no_x.unwrap(), "point");
        }
        for kind in [KeyKind::X25519, KeyKind::Ed25519] {
            let pairs = pairs(&device, "openssl", kind, 2);
            let mixed = pairs[0].0.clone().with_public(&pairs[1].1).unwrap();
            let transform = match kind {
                KeyKind::X25519 => KeyTransform::derive(&mixed),
                _ => KeyTransform::sign(SignatureScheme::EdDsa, &mixed),
            };
            refused(&transform, "another key");
        }
        // y = 2 is no point's.
        let off = PublicKey::raw(KeyKind::Ed25519, &[&[2][..], &[0; 31]].concat()).unwrap();
        refused(&KeyTransform::verify(SignatureScheme::EdDsa, &off), "point");
    }
}
