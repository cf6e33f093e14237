//! Both curves on both instruction sets, against OpenSSL and published vectors.

use lanelock_jobs::testing::{Random, machines};
use lanelock_kernels::public_key::nist::{
    AgreeJob, Curve, DecompressJob, GenerateJob, Kernels, P256, P384, PublicPoint, Refusal,
    SignJob, Signature, VerifyJob,
};
use lanelock_kernels::{Digits, Machine};
use openssl::bn::{BigNum, BigNumContext};
use openssl::ec::{EcGroup, EcPoint, EcPointRef};
use openssl::nid::Nid;

mod agreement;
mod nonces;
mod signatures;

/// A test per curve and instruction set: `property(&bench)`.
macro_rules! per_curve {
    ($($property:ident)*) => {$(
        mod $property {
            use super::super::{Bench, P256, P384};

            #[test]
            fn p256_registers() {
                Bench::<P256>::registers().iter().for_each(super::$property);
            }
            #[test]
            fn p384_registers() {
                Bench::<P384>::registers().iter().for_each(super::$property);
            }
            #[test]
            fn p256_portable() {
                super::$property(&Bench::<P256>::portable());
            }
            #[test]
            fn p384_portable() {
                super::$property(&Bench::<P384>::portable());
            }
        }
    )*};
}
use per_curve;

/// Kernels, and OpenSSL's view of their curve.
struct Bench<C: Curve> {
    kernels: Box<Kernels<C>>,
    group: EcGroup,
    p: BigNum,
    n: BigNum,
    /// How often a random case is repeated.
    rounds: usize,
}

impl<C: Curve> Bench<C> {
    /// In each kind of registers of digits that the CPU has.
    fn registers() -> Vec<Self> {
        let machines = machines().into_iter();
        let machines = machines.filter(|machine| machine.digits() > Digits::Plain);
        machines.map(|machine| Self::new(machine, 20)).collect()
    }

    fn portable() -> Self {
        Self::new(Machine::PORTABLE, 2)
    }

    fn new(machine: Machine, rounds: usize) -> Self {
        let nid = match C::BYTES {
            32 => Nid::X9_62_PRIME256V1,
            _ => Nid::SECP384R1,
        };
        let group = EcGroup::from_curve_name(nid).unwrap();
        let mut context = BigNumContext::new().unwrap();
        let [mut p, mut n, mut a, mut b] = [(); 4].map(|()| BigNum::new().unwrap());
        group
            .components_gfp(&mut p, &mut a, &mut b, &mut context)
            .unwrap();
        group.order(&mut n, &mut context).unwrap();
        let mut place = Box::new_uninit();
        Kernels::new_in(&mut place, machine);
        // SAFETY: `new_in` has written it.
        let kernels = unsafe { place.assume_init() };
        Self {
            kernels,
            group,
            p,
            n,
            rounds,
        }
    }

    /// A number that fits.
    fn number(&self, value: &BigNum) -> C::Number {
        let mut number = C::ZERO;
        let bytes = value.to_vec_padded(i32::try_from(C::BYTES).unwrap());
        number.as_mut().copy_from_slice(&bytes.unwrap());
        number
    }

    /// Uniform enough, below `bound` and not zero.
    fn random(&self, random: &mut Random, bound: &BigNum) -> BigNum {
        let bytes = random.bytes(C::BYTES + 8);
        let value = &BigNum::from_slice(&bytes).unwrap() % bound;
        if value.num_bits() == 0 {
            integer(1)
        } else {
            value
        }
    }

    fn inverse(&self, value: &BigNum) -> BigNum {
        let mut inverse = BigNum::new().unwrap();
        let mut context = BigNumContext::new().unwrap();
        inverse.mod_inverse(value, &self.n, &mut context).unwrap();
        inverse
    }

    /// `scalar` · G.
    fn base(&self, scalar: &BigNum) -> EcPoint {
        let mut point = EcPoint::new(&self.group).unwrap();
        let mut context = BigNumContext::new().unwrap();
        point
            .mul_generator2(&self.group, scalar, &mut context)
            .unwrap();
        point
    }

    fn multiple(&self, scalar: &BigNum, of: &EcPointRef) -> EcPoint {
        let mut point = EcPoint::new(&self.group).unwrap();
        let mut context = BigNumContext::new().unwrap();
        point.mul2(&self.group, of, scalar, &mut context).unwrap();
        point
    }

    fn sum(&self, a: &EcPointRef, b: &EcPointRef) -> EcPoint {
        let mut point = EcPoint::new(&self.group).unwrap();
        let mut context = BigNumContext::new().unwrap();
        point.add(&self.group, a, b, &mut context).unwrap();
        point
    }

    fn coordinates(&self, point: &EcPointRef) -> [BigNum; 2] {
        let [mut x, mut y] = [(); 2].map(|()| BigNum::new().unwrap());
        let mut context = BigNumContext::new().unwrap();
        point
            .affine_coordinates(&self.group, &mut x, &mut y, &mut context)
            .unwrap();
        [x, y]
    }

    fn public(&self, point: &EcPointRef) -> PublicPoint<C> {
        let [x, y] = self.coordinates(point);
        PublicPoint {
            x: self.number(&x),
            y: self.number(&y),
        }
    }

    /// Scalars around every edge, those of the one sum that is a double among them.
    fn scalars(&self) -> Vec<BigNum> {
        let mut scalars = Vec::new();
        for small in 1..300 {
            scalars.push(integer(small));
            scalars.push(&self.n - &integer(small));
        }
        for shift in 9..i32::try_from(8 * C::BYTES).unwrap() - 1 {
            let power = &integer(1) << shift;
            scalars.push(&power - &integer(1));
            scalars.push(power);
        }
        scalars
    }

    /// Numbers that are no private key.
    fn no_scalars(&self) -> [C::Number; 4] {
        let mut most = C::ZERO;
        most.as_mut().fill(0xff);
        let next = &self.n + &integer(1);
        [C::ZERO, self.number(&self.n), self.number(&next), most]
    }

    fn generate(&self, private: &[C::Number]) -> Vec<Result<PublicPoint<C>, Refusal>> {
        let job = |private| GenerateJob {
            private,
            public: Err(Refusal::WrongSignature),
        };
        let mut jobs: Vec<_> = private.iter().map(job).collect();
        self.kernels.generate(&mut jobs);
        jobs.into_iter().map(|job| job.public).collect()
    }

    fn agree(
        &self,
        private: &[C::Number],
        peers: &[PublicPoint<C>],
    ) -> Vec<Result<C::Number, Refusal>> {
        let job = |(private, peer)| AgreeJob {
            private,
            peer,
            shared: Err(Refusal::WrongSignature),
        };
        let mut jobs: Vec<_> = private.iter().zip(peers).map(job).collect();
        self.kernels.agree(&mut jobs);
        jobs.into_iter().map(|job| job.shared).collect()
    }

    fn sign(
        &self,
        inputs: &[(C::Number, C::Number, Vec<u8>)],
    ) -> Vec<Result<Signature<C>, Refusal>> {
        let mut jobs = Vec::new();
        for (private, nonce, digest) in inputs {
            jobs.push(SignJob {
                private,
                nonce,
                digest,
                signature: Err(Refusal::WrongSignature),
            });
        }
        self.kernels.sign(&mut jobs);
        jobs.into_iter().map(|job| job.signature).collect()
    }

    fn verify(
        &self,
        inputs: &[(PublicPoint<C>, Vec<u8>, Signature<C>)],
    ) -> Vec<Result<(), Refusal>> {
        let mut jobs = Vec::new();
        for (public, digest, signature) in inputs {
            jobs.push(VerifyJob {
                public,
                digest,
                signature,
                outcome: Err(Refusal::NonceRange),
            });
        }
        self.kernels.verify(&mut jobs);
        jobs.into_iter().map(|job| job.outcome).collect()
    }
}

fn integer(value: u32) -> BigNum {
    BigNum::from_u32(value).unwrap()
}
