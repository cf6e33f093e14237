//! Public keys and shared secrets.

use super::*;

per_curve!(generates_as_openssl decompresses_as_openssl agrees_as_openssl multiplies_edge_scalars refuses_keys refuses_peers);

fn generates_as_openssl<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(1);
    for count in [1, 7, 8, 9, 27].into_iter().take(bench.rounds) {
        let scalars: Vec<_> = (0..count)
            .map(|_| bench.random(&mut random, &bench.n))
            .collect();
        let private: Vec<_> = scalars.iter().map(|d| bench.number(d)).collect();
        let expected = scalars.iter().map(|d| Ok(bench.public(&bench.base(d))));
        assert_eq!(bench.generate(&private), expected.collect::<Vec<_>>());
    }
}

fn decompresses_as_openssl<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(3);
    let (mut given, mut expected) = (Vec::new(), Vec::new());
    for i in 0..4 * bench.rounds + 3 {
        // Every other x is some point's; of the rest about a half are.
        let x = if i % 2 == 0 {
            let d = bench.random(&mut random, &bench.n);
            bench.coordinates(&bench.base(&d))[0].to_owned().unwrap()
        } else {
            bench.random(&mut random, &bench.p)
        };
        let x = bench.number(&x);
        let y_is_odd = i % 3 == 0;
        let mut encoded = vec![2 + u8::from(y_is_odd)];
        encoded.extend_from_slice(x.as_ref());
        let mut context = BigNumContext::new().unwrap();
        let point = EcPoint::from_bytes(&bench.group, &encoded, &mut context);
        given.push((x, y_is_odd));
        expected.push(match point {
            Ok(point) => Ok(bench.public(&point)),
            Err(_) => Err(Refusal::NotOnCurve),
        });
    }
    assert!(expected.contains(&Err(Refusal::NotOnCurve)));
    for x in [
        bench.number(&bench.p),
        bench.number(&(&bench.p + &integer(5))),
    ] {
        given.push((x, false));
        expected.push(Err(Refusal::CoordinateRange));
    }
    let job = |(x, y_is_odd)| DecompressJob {
        x,
        y_is_odd,
        point: Err(Refusal::WrongSignature),
    };
    let mut jobs: Vec<_> = given.iter().map(|(x, odd)| job((x, *odd))).collect();
    bench.kernels.decompress(&mut jobs);
    let points: Vec<_> = jobs.into_iter().map(|job| job.point).collect();
    assert_eq!(points, expected);
}

fn agrees_as_openssl<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(2);
    for round in 0..bench.rounds {
        let count = [8, 3, 17][round % 3];
        let mut private = Vec::new();
        let mut peers = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..count {
            let [d, e] = [(); 2].map(|()| bench.random(&mut random, &bench.n));
            let peer = bench.base(&e);
            let [x, _] = bench.coordinates(&bench.multiple(&d, &peer));
            private.push(bench.number(&d));
            peers.push(bench.public(&peer));
            expected.push(Ok(bench.number(&x)));
        }
        assert_eq!(bench.agree(&private, &peers), expected);
    }
}

fn multiplies_edge_scalars<C: Curve>(bench: &Bench<C>) {
    let step = 20 / bench.rounds;
    let scalars: Vec<_> = bench.scalars().into_iter().step_by(step).collect();
    let private: Vec<_> = scalars.iter().map(|d| bench.number(d)).collect();
    let expected = scalars.iter().map(|d| bench.public(&bench.base(d)));
    let expected: Vec<_> = expected.collect();
    let generated: Vec<_> = expected.iter().copied().map(Ok).collect();
    assert_eq!(bench.generate(&private), generated);
    // The base point as a peer's, and another one.
    let generator = bench.public(&bench.base(&integer(1)));
    let agreed: Vec<_> = expected.iter().map(|point| Ok(point.x)).collect();
    let peers = vec![generator; private.len()];
    assert_eq!(bench.agree(&private, &peers), agreed);
    let other = bench.base(&integer(77));
    let agreed = scalars.iter().map(|d| {
        let [x, _] = bench.coordinates(&bench.multiple(d, &other));
        Ok(bench.number(&x))
    });
    let agreed: Vec<_> = agreed.collect();
    let peers = vec![bench.public(&other); private.len()];
    assert_eq!(bench.agree(&private, &peers), agreed);
}

fn refuses_keys<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(3);
    let peer = bench.base(&bench.random(&mut random, &bench.n));
    for (i, bad) in bench.no_scalars().into_iter().enumerate() {
        let scalars: Vec<_> = (0..8)
            .map(|_| bench.random(&mut random, &bench.n))
            .collect();
        // Every lane in turn, two of them.
        let lanes = [2 * i, 2 * i + 1];
        let place = |lane: usize, good| if lanes.contains(&lane) { bad } else { good };
        let private = scalars.iter().enumerate();
        let private: Vec<_> = private.map(|(i, d)| place(i, bench.number(d))).collect();
        let shared = bench.agree(&private, &[bench.public(&peer); 8]);
        let public = bench.generate(&private);
        for lane in 0..8 {
            if lanes.contains(&lane) {
                assert_eq!(public[lane], Err(Refusal::PrivateKeyRange));
                assert_eq!(shared[lane], Err(Refusal::PrivateKeyRange));
            } else {
                let point = bench.base(&scalars[lane]);
                assert_eq!(public[lane], Ok(bench.public(&point)));
                let [x, _] = bench.coordinates(&bench.multiple(&scalars[lane], &peer));
                assert_eq!(shared[lane], Ok(bench.number(&x)));
            }
        }
    }
}

fn refuses_peers<C: Curve>(bench: &Bench<C>) {
    let mut random = Random::new(4);
    let mut most = C::ZERO;
    most.as_mut().fill(0xff);
    // A point with a small x, whose x + p fits the bytes but is not canonical.
    let small = small_x(bench);
    let not_canonical = PublicPoint {
        x: bench.number(&(&bench.coordinates(&small)[0] + &bench.p)),
        ..bench.public(&small)
    };
    let good = bench.public(&small);
    let mut off = good;
    off.y.as_mut()[C::BYTES - 1] ^= 1;
    let p = bench.number(&bench.p);
    let bad = [
        (not_canonical, Refusal::CoordinateRange),
        (PublicPoint { x: p, ..good }, Refusal::CoordinateRange),
        (PublicPoint { y: p, ..good }, Refusal::CoordinateRange),
        (PublicPoint { y: most, ..good }, Refusal::CoordinateRange),
        (PublicPoint { x: p, y: p }, Refusal::CoordinateRange),
        (PublicPoint::NONE, Refusal::NotOnCurve),
        (off, Refusal::NotOnCurve),
        (PublicPoint { y: good.x, ..good }, Refusal::NotOnCurve),
    ];
    let d = bench.random(&mut random, &bench.n);
    let [x, _] = bench.coordinates(&bench.multiple(&d, &small));
    for turn in 0..bench.rounds.min(8) {
        let mut peers = [good; 8];
        let mut expected = [Ok(bench.number(&x)); 8];
        for i in (0..8).step_by(2) {
            let (peer, refusal) = bad[(turn + i) % 8];
            let lane = (turn + i + turn / 4) % 8;
            peers[lane] = peer;
            expected[lane] = Err(refusal);
        }
        let private = [bench.number(&d); 8];
        assert_eq!(bench.agree(&private, &peers), expected);
    }
}

/// The point with the least x.
fn small_x<C: Curve>(bench: &Bench<C>) -> EcPoint {
    for x in 1.. {
        let mut encoded = vec![2];
        encoded.extend_from_slice(bench.number(&integer(x)).as_ref());
        let mut context = BigNumContext::new().unwrap();
        if let Ok(point) = EcPoint::from_bytes(&bench.group, &encoded, &mut context) {
            return point;
        }
    }
    unreachable!("half of all x are on the curve")
}
