//! ECDSA.

use openssl::ec::EcKey;
use openssl::ecdsa::EcdsaSig;

use super::*;

per_curve!(
    signs_for_openssl
    verifies_openssl
    refuses_what_is_no_signature
    refuses_scalars
    adds_equal_and_opposite_points
    verifies_an_x_above_n
);

/// Digests of every kind of length.
fn digest(random: &mut Random, round: usize) -> Vec<u8> {
    random.bytes([32, 48, 64, 20, 0, 1][round % 6])
}

fn signs_for_openssl<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(11);
    for round in 0..bench.rounds {
        let mut inputs = Vec::new();
        let mut keys = Vec::new();
        let mut nonces = Vec::new();
        for lane in 0..[8, 5, 12][round % 3] {
            let [d, k] = [(); 2].map(|()| bench.random(&mut random, &bench.n));
            let digest = digest(&mut random, round + lane);
            inputs.push((bench.number(&d), bench.number(&k), digest));
            keys.push(EcKey::from_public_key(&bench.group, &bench.base(&d)).unwrap());
            nonces.push(k);
        }
        let signatures = bench.sign(&inputs);
        assert_eq!(signatures.len(), inputs.len());
        for (lane, signature) in signatures.into_iter().enumerate() {
            let signature = signature.expect("all is in range");
            let [x, _] = bench.coordinates(&bench.base(&nonces[lane]));
            assert_eq!(signature.r, bench.number(&(&x % &bench.n)), "lane {lane}");
            let [r, s] = [signature.r, signature.s].map(|n| BigNum::from_slice(n.as_ref()));
            let signature = EcdsaSig::from_private_components(r.unwrap(), s.unwrap()).unwrap();
            assert!(
                signature.verify(&inputs[lane].2, &keys[lane]).unwrap(),
                "lane {lane}"
            );
        }
    }
}

/// A signature of OpenSSL's.
fn signed<C: Curve>(
    bench: &Bench<C>,
    random: &mut Random,
    digest: &[u8],
) -> (PublicPoint<C>, Signature<C>) {
    let d = bench.random(random, &bench.n);
    let point = bench.base(&d);
    let key = EcKey::from_private_components(&bench.group, &d, &point).unwrap();
    let signature = EcdsaSig::sign(digest, &key).unwrap();
    let [r, s] = [signature.r(), signature.s()].map(|n| bench.number(&n.to_owned().unwrap()));
    (bench.public(&point), Signature { r, s })
}

fn verifies_openssl<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(12);
    for round in 0..bench.rounds {
        let mut inputs = Vec::new();
        for lane in 0..[8, 5, 12][round % 3] {
            let digest = digest(&mut random, round + lane);
            let (public, signature) = signed(bench, &mut random, &digest);
            inputs.push((public, digest, signature));
        }
        assert_eq!(bench.verify(&inputs), vec![Ok(()); inputs.len()]);
    }
}

fn refuses_what_is_no_signature<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(13);
    for round in 0..bench.rounds {
        let mut inputs = Vec::new();
        let mut expected = Vec::new();
        for lane in 0..8 {
            let mut digest = random.bytes(C::BYTES);
            let (mut public, mut signature) = signed(bench, &mut random, &digest);
            let byte = random.below(C::BYTES);
            let bit = 1 << random.below(8);
            let no_scalar = bench.no_scalars()[round % 4];
            let refusal = match (lane + round) % 8 {
                0 => {
                    digest[byte] ^= bit;
                    Err(Refusal::WrongSignature)
                }
                1 => {
                    signature.s = bench.number(&integer(5));
                    Err(Refusal::WrongSignature)
                }
                2 => {
                    signature.r = bench.number(&integer(6));
                    Err(Refusal::WrongSignature)
                }
                3 => {
                    signature.r = no_scalar;
                    Err(Refusal::RRange)
                }
                4 => {
                    signature.s = no_scalar;
                    Err(Refusal::SRange)
                }
                5 => {
                    public.y.as_mut()[C::BYTES - 1] ^= 2;
                    Err(Refusal::NotOnCurve)
                }
                6 => {
                    public = bench.public(&bench.base(&integer(9)));
                    Err(Refusal::WrongSignature)
                }
                _ => Ok(()),
            };
            inputs.push((public, digest, signature));
            expected.push(refusal);
        }
        assert_eq!(bench.verify(&inputs), expected);
    }
}

fn refuses_scalars<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(14);
    for (i, bad) in bench.no_scalars().into_iter().enumerate() {
        let mut inputs = Vec::new();
        let mut expected = Vec::new();
        for lane in 0..8 {
            let [mut d, mut k] =
                [(); 2].map(|()| bench.number(&bench.random(&mut random, &bench.n)));
            let refusal = match (lane + i) % 4 {
                0 => {
                    d = bad;
                    Some(Refusal::PrivateKeyRange)
                }
                1 => {
                    k = bad;
                    Some(Refusal::NonceRange)
                }
                _ => None,
            };
            inputs.push((d, k, random.bytes(32)));
            expected.push(refusal);
        }
        let signatures = bench.sign(&inputs);
        let refusals: Vec<_> = signatures.into_iter().map(Result::err).collect();
        assert_eq!(refusals, expected);
    }
}

/// In verification u₁ G + u₂ Q, where the two are equal and where they are opposite; of the latter,
/// there is no signature either.
fn adds_equal_and_opposite_points<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(15);
    for _ in 0..bench.rounds {
        let [d, k] = [(); 2].map(|()| bench.random(&mut random, &bench.n));
        let [x, _] = bench.coordinates(&bench.base(&k));
        let r = &x % &bench.n;
        // With the digest e = r d, u₁ = e / s and u₂ d = r d / s.
        let e = &(&r * &d) % &bench.n;
        let equal = bench.number(&e).as_ref().to_vec();
        let opposite = bench.number(&(&bench.n - &e)).as_ref().to_vec();
        let (d_bytes, k_bytes) = (bench.number(&d), bench.number(&k));
        let signatures = bench.sign(&[
            (d_bytes, k_bytes, equal.clone()),
            (d_bytes, k_bytes, opposite.clone()),
        ]);
        let signature = signatures[0].expect("a signature");
        assert_eq!(signatures[1], Err(Refusal::NonceUnusable));
        let public = bench.public(&bench.base(&d));
        let outcomes = bench.verify(&[(public, equal, signature), (public, opposite, signature)]);
        assert_eq!(outcomes, [Ok(()), Err(Refusal::WrongSignature)]);
    }
}

/// x of the point is at least n, so that r = x − n.
fn verifies_an_x_above_n<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(16);
    let mut found = 0;
    for above in 0.. {
        let r = integer(above + 1);
        let x = &bench.n + &r;
        assert!(x < bench.p);
        let mut encoded = vec![2];
        encoded.extend_from_slice(bench.number(&x).as_ref());
        let mut context = BigNumContext::new().unwrap();
        let Ok(point) = EcPoint::from_bytes(&bench.group, &encoded, &mut context) else {
            continue;
        };
        // s R = e G + r Q, so that Q = (s R − e G) / r.
        let [s, e] = [(); 2].map(|()| bench.random(&mut random, &bench.n));
        let minus_e = &bench.n - &e;
        let right = bench.sum(&bench.multiple(&s, &point), &bench.base(&minus_e));
        let public = bench.multiple(&bench.inverse(&r), &right);
        let digest = bench.number(&e).as_ref().to_vec();
        let signature = Signature {
            r: bench.number(&r),
            s: bench.number(&s),
        };
        let outcomes = bench.verify(&[(bench.public(&public), digest, signature)]);
        assert_eq!(outcomes, [Ok(())]);
        found += 1;
        if found == bench.rounds {
            break;
        }
    }
}
