//! Diffie-Hellman peers outside the subgroup that the group is for: their shared secret would tell
//! the secret exponent modulo their order.

use std::time::Instant;

use lanelock_core::Status;
use lanelock_public_key::{
    FlushPolicy, KeyDevice, KeyJob, KeyKind, KeyOp, KeyReason, KeyTransform, SecretKey, SecretParts,
};
use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::derive::Deriver;
use openssl::dh::Dh;
use openssl::pkey::{PKey, Params};

use super::{device, pair, run};

/// A group with its order.
struct Group {
    p: BigNum,
    q: BigNum,
    g: BigNum,
}

impl Group {
    fn new(p: &BigNumRef, q: &BigNumRef, g: &BigNumRef) -> Self {
        let [p, q, g] = [p, q, g].map(|number| number.to_owned().unwrap());
        Self { p, q, g }
    }

    fn of(dh: &Dh<Params>) -> Self {
        Self::new(dh.prime_p(), dh.prime_q().unwrap(), dh.generator())
    }

    /// RFC 7919's group of 2048 bits.
    fn ffdhe2048() -> Self {
        let device = device();
        let (secret, _) = pair(&device, KeyKind::Dh(2048));
        let SecretParts::Exponent(group, _) = secret.parts() else {
            panic!()
        };
        let [p, q, g] = [&group.p, &group.q, &group.g].map(|n| BigNum::from_slice(n).unwrap());
        Self { p, q, g }
    }

    fn power(&self, base: &BigNumRef, exponent: &BigNumRef) -> BigNum {
        let mut power = BigNum::new().unwrap();
        let mut scratch = BigNumContext::new().unwrap();
        power
            .mod_exp(base, exponent, &self.p, &mut scratch)
            .unwrap();
        power
    }

    fn product(&self, a: &BigNumRef, b: &BigNumRef) -> BigNum {
        let mut product = BigNum::new().unwrap();
        let mut scratch = BigNumContext::new().unwrap();
        product.mod_mul(a, b, &self.p, &mut scratch).unwrap();
        product
    }

    fn pair(&self) -> (BigNum, BigNum) {
        let mut x = BigNum::new().unwrap();
        self.q.rand_range(&mut x).unwrap();
        let y = self.power(&self.g, &x);
        (x, y)
    }

    fn secret(&self, (x, y): &(BigNum, BigNum)) -> SecretKey {
        let [p, q, g, y, x] = [&self.p, &self.q, &self.g, y, x].map(|n| n.to_vec());
        SecretKey::dh(&p, &q, &g, &y, &x).unwrap()
    }

    /// As peers are written.
    fn encoded(&self, y: &BigNumRef) -> Vec<u8> {
        y.to_vec_padded(self.p.num_bytes()).unwrap()
    }

    /// An element of order `r`, which divides p - 1 and is prime.
    fn element_of_order(&self, r: u32) -> BigNum {
        let mut exponent = self.p.to_owned().unwrap();
        exponent.sub_word(1).unwrap();
        assert_eq!(exponent.div_word(r).unwrap(), 0);
        let one = BigNum::from_u32(1).unwrap();
        (2..)
            .map(|base| self.power(&BigNum::from_u32(base).unwrap(), &exponent))
            .find(|element| *element != one)
            .unwrap()
    }

    /// What OpenSSL agrees on.
    fn by_openssl(&self, (x, y): &(BigNum, BigNum), peer: &BigNumRef) -> Vec<u8> {
        let own = |n: &BigNumRef| n.to_owned().unwrap();
        let group = || Dh::from_pqg(own(&self.p), Some(own(&self.q)), own(&self.g)).unwrap();
        let key = PKey::from_dh(group().set_key(own(y), own(x)).unwrap()).unwrap();
        let peer = PKey::from_dh(group().set_public_key(own(peer)).unwrap()).unwrap();
        let mut deriver = Deriver::new(&key).unwrap();
        deriver.set_peer(&peer).unwrap();
        let shared = BigNum::from_slice(&deriver.derive_to_vec().unwrap()).unwrap();
        self.encoded(&shared)
    }

    /// Refuses `peer`, alone and in a queue, with the output untouched.
    fn refuses(&self, secret: &SecretKey, peer: &BigNumRef, what: &str) {
        let device = device();
        let transform = KeyTransform::derive(secret);
        let peer = self.encoded(peer);
        // It sees to it that nothing was written.
        let alone = run(&device, &transform, &peer, &[]);
        assert_eq!(alone.unwrap_err(), KeyReason::InvalidPeer, "{what}");
        let session = device.key_session(&transform).unwrap();
        let honest = self.encoded(&self.pair().1);
        let mut queue = device.key_queue(4, FlushPolicy::immediate());
        for input in [honest.clone(), peer, honest] {
            let output = vec![0xee; session.output_len(0)];
            let job = KeyJob::derive(&session, input, output);
            assert!(queue.enqueue(job, Instant::now()).is_ok());
        }
        queue.flush();
        let jobs = std::iter::from_fn(|| queue.dequeue_one());
        let (found, outputs): (Vec<_>, Vec<_>) = jobs
            .map(|(_, job)| (job.status(), job.into_buffers().output.unwrap()))
            .unzip();
        let expected = [Status::Success, Status::InvalidArgs, Status::Success];
        assert_eq!(found, expected, "{what}");
        assert!(outputs[1].iter().all(|&byte| byte == 0xee), "{what}");
    }

    /// Agrees with honest peers as OpenSSL does, one session with several.
    fn agrees(&self) {
        let device = device();
        let own = self.pair();
        let session = device
            .key_session(&KeyTransform::derive(&self.secret(&own)))
            .unwrap();
        let mut queue = device.key_queue(1, FlushPolicy::default());
        for _ in 0..3 {
            let (_, peer) = self.pair();
            let mut output = vec![0; session.output_len(0)];
            let encoded = self.encoded(&peer);
            let mut ops = [KeyOp::derive(&session, &encoded, &mut output)];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
            assert_eq!(output, self.by_openssl(&own, &peer));
        }
    }
}

/// Primes below 10,000 that divide `number`, 2 among them.
fn small_factors(number: &BigNumRef) -> Vec<u32> {
    let is_prime = |r: &u32| {
        (2..)
            .take_while(|d| d * d <= *r)
            .all(|d| !r.is_multiple_of(d))
    };
    (2..10_000)
        .filter(is_prime)
        .filter(|&r| number.mod_word(r).unwrap() == 0)
        .collect()
}

#[test]
fn peers_of_small_order_are_refused_in_the_groups_of_rfc_5114() {
    let groups = [
        Dh::get_1024_160().unwrap(),
        Dh::get_2048_224().unwrap(),
        Dh::get_2048_256().unwrap(),
    ];
    for dh in groups {
        let group = Group::of(&dh);
        let secret = group.secret(&group.pair());
        let bits = (group.p.num_bits(), group.q.num_bits());
        let mut order = group.p.to_owned().unwrap();
        order.sub_word(1).unwrap();
        let small = small_factors(&order);
        println!("{bits:?} bits: elements of order {small:?}");
        assert!(small.len() >= 2, "{bits:?}");
        for r in small {
            let element = group.element_of_order(r);
            group.refuses(&secret, &element, &format!("{bits:?} bits: order {r}"));
            // Hidden in an honest one.
            let mixed = group.product(&element, &group.pair().1);
            group.refuses(&secret, &mixed, &format!("{bits:?} bits: order {r}·q"));
        }
        group.agrees();
    }
}

/// p = 2q + 1 leaves one other subgroup: half of all peers would tell whether the exponent is even.
#[test]
fn peers_of_twice_the_order_are_refused_in_safe_prime_groups() {
    let mut prime = BigNum::new().unwrap();
    prime.generate_prime(512, true, None, None).unwrap();
    let mut q = BigNum::new().unwrap();
    q.rshift1(&prime).unwrap();
    let four = BigNum::from_u32(4).unwrap();
    for group in [Group::ffdhe2048(), Group::new(&prime, &q, &four)] {
        let secret = group.secret(&group.pair());
        let minus_one = group.element_of_order(2);
        group.refuses(&secret, &minus_one, "order 2");
        let mixed = group.product(&minus_one, &group.pair().1);
        group.refuses(&secret, &mixed, "order 2q");
        group.agrees();
    }
}

/// Without an order there is nothing to compare with: RFC 2631, 2.1.5, asks for the range alone.
#[test]
fn without_an_order_peers_are_in_range() {
    let mut prime = BigNum::new().unwrap();
    prime.generate_prime(512, true, None, None).unwrap();
    let [two, three] = [2, 3].map(|n| BigNum::from_u32(n).unwrap());
    let group = Group::new(&prime, &prime, &two);
    let [p, g] = [&group.p, &group.g].map(|n| n.to_vec());
    let y = group.power(&two, &three).to_vec();
    let secret = SecretKey::dh(&p, &[], &g, &y, &[3]).unwrap();
    let transform = KeyTransform::derive(&secret);
    for base in 2..6 {
        let peer = group.encoded(&BigNum::from_u32(base).unwrap());
        let (shared, _) = run(&device(), &transform, &peer, &[]).unwrap();
        let cube = BigNum::from_u32(base * base * base).unwrap();
        assert_eq!(shared, group.encoded(&cube));
    }
    let mut last = group.p.to_owned().unwrap();
    last.sub_word(1).unwrap();
    for peer in [vec![0; 64], vec![1; 1], group.encoded(&last), p] {
        let refused = run(&device(), &transform, &peer, &[]).unwrap_err();
        assert_eq!(refused, KeyReason::InvalidPeer);
    }
}
