//! ECDH (SP 800-56A, section 5.7.1.2) and key generation.

use lanelock_kernels::Machine;
use lanelock_kernels::public_key::nist::{
    AgreeJob, DecompressJob, GenerateJob, Kernels, PublicPoint, Refusal,
};
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession};
use lanelock_public_key::{KeyError, KeyReason, KeyTransform};
use zeroize::{Zeroize, Zeroizing};

use super::key::{Encoded, Scalar};
use super::{Curve, MAX_BYTES, kernels};
use crate::public_key::random;
use crate::public_key::session::{Input, LANES, PerLane, Prepared, Session, settle_pair};

/// A private key, to agree with peers.
pub(super) struct Derive<C: Curve> {
    kernels: &'static Kernels<C>,
    key: Scalar<C>,
}

/// Makes key pairs.
pub(super) struct Generate<C: Curve>(&'static Kernels<C>);

impl<C: Curve> Derive<C> {
    pub(super) fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let kernels = kernels::<C>(machine);
        let key = Scalar::of(transform, kernels)?;
        Ok(Session::boxed(machine, group, Self { kernels, key }))
    }
}

impl<C: Curve> Prepared for Derive<C> {
    fn run(_: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let Some(first) = inputs.first() else { return };
        let kernels = first.key.kernels;
        // What is no point stays no point of the curve, and the kernel refuses it.
        let peers = decode(kernels, inputs.iter().map(|input| input.bytes));
        let mut jobs: PerLane<_> = inputs
            .iter()
            .zip(&peers)
            .map(|(input, peer)| AgreeJob {
                private: &input.key.key.0,
                peer,
                shared: Err(Refusal::NotOnCurve),
            })
            .collect();
        kernels.agree(&mut jobs);
        for (index, job) in jobs.iter_mut().enumerate() {
            let mut op = batch.get(index);
            match &mut job.shared {
                Ok(shared) => {
                    op.output()[..C::BYTES].copy_from_slice(shared.as_ref());
                    shared.as_mut().zeroize();
                    op.succeed(C::BYTES);
                }
                Err(Refusal::CoordinateRange | Refusal::NotOnCurve) => {
                    op.fail(KeyReason::InvalidPeer);
                }
                // The key was found to be in range.
                Err(_) => op.fail(KeyReason::Engine),
            }
        }
    }
}

/// The points of these encodings, [`PublicPoint::NONE`] for what is none; a point that is not
/// compressed may be off the curve.
fn decode<'a, C: Curve>(
    kernels: &Kernels<C>,
    encodings: impl Iterator<Item = &'a [u8]>,
) -> PerLane<PublicPoint<C>> {
    let encodings: PerLane<_> = encodings.map(Encoded::<C>::read).collect();
    let mut points = PerLane::new();
    let mut jobs = PerLane::new();
    let mut places = PerLane::<usize>::new();
    for (place, encoded) in encodings.iter().enumerate() {
        points.push(match encoded {
            Some(Encoded::Whole(point)) => *point,
            _ => PublicPoint::NONE,
        });
        if let Some(Encoded::Compressed(x, y_is_odd)) = encoded {
            places.push(place);
            jobs.push(DecompressJob {
                x,
                y_is_odd: *y_is_odd,
                point: Err(Refusal::NotOnCurve),
            });
        }
    }
    kernels.decompress(&mut jobs);
    for (&place, job) in places.iter().zip(&jobs) {
        points[place] = job.point.unwrap_or(PublicPoint::NONE);
    }
    points
}

impl<C: Curve> Generate<C> {
    pub(super) fn open(
        machine: Machine,
        group: u32,
        _: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        Ok(Session::boxed(machine, group, Self(kernels(machine))))
    }
}

impl<C: Curve> Prepared for Generate<C> {
    /// By rejection (FIPS 186-5, section A.2.2): of P-256 one number in 2³² is out of range.
    fn run(_: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let Some(first) = inputs.first() else { return };
        let kernels = first.key.0;
        let mut waiting: PerLane<usize> = (0..inputs.len()).collect();
        while !waiting.is_empty() {
            let mut numbers = Zeroizing::new([0; LANES * MAX_BYTES]);
            let numbers = &mut numbers[..waiting.len() * C::BYTES];
            if let Err(reason) = random::fill(numbers) {
                return waiting.iter().for_each(|&i| batch.get(i).fail(reason));
            }
            let scalars = numbers.chunks(C::BYTES).map(Scalar::<C>::read);
            let scalars: PerLane<_> = scalars.collect();
            let mut jobs: PerLane<_> = scalars
                .iter()
                .map(|scalar| GenerateJob {
                    private: &scalar.0,
                    public: Err(Refusal::PrivateKeyRange),
                })
                .collect();
            kernels.generate(&mut jobs);
            let mut refused = PerLane::new();
            for (&index, job) in waiting.iter().zip(&jobs) {
                let Ok(PublicPoint { x, y }) = &job.public else {
                    refused.push(index);
                    continue;
                };
                // SEC 1, section 2.3.3.
                let mut public = [4; 1 + 2 * MAX_BYTES];
                public[1..][..C::BYTES].copy_from_slice(x.as_ref());
                public[1 + C::BYTES..][..C::BYTES].copy_from_slice(y.as_ref());
                let (secret, public) = (job.private.as_ref(), &public[..=2 * C::BYTES]);
                settle_pair(&mut batch.get(index), secret, public);
            }
            waiting = refused;
        }
    }
}
