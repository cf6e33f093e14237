//! ECDSA verification (FIPS 186-5, section 6.4.2).

use lanelock_kernels::Machine;
use lanelock_kernels::public_key::nist::{Kernels, PublicPoint, Refusal, Signature, VerifyJob};
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession};
use lanelock_public_key::{Key, KeyError, KeyKind, KeyReason, KeyTransform};
use lanelock_public_key::{SignatureForm, pair};

use super::key::{number, point};
use super::{Curve, MAX_BYTES, kernels};
use crate::public_key::digest::{Digest, Source};
use crate::public_key::session::{Input, PerLane, Prepared, Session};

/// A public key, to verify with.
pub(super) struct Verifier<C: Curve> {
    kernels: &'static Kernels<C>,
    public: PublicPoint<C>,
    source: Source,
    form: SignatureForm,
}

impl<C: Curve> Verifier<C> {
    pub(super) fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let source = Source::of(transform)?;
        let kernels = kernels::<C>(machine);
        let Key::Public(key) = transform.key() else {
            return Err(KeyError::refused(KeyKind::Ec(C::CURVE), "no public key"));
        };
        let verifier = Self {
            kernels,
            public: point(key, kernels)?,
            source,
            form: transform.form(),
        };
        Ok(Session::boxed(machine, group, verifier))
    }
}

impl<C: Curve> Prepared for Verifier<C> {
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let Some(first) = inputs.first() else { return };
        let messages = inputs.iter().map(|input| (input.key.source, input.bytes));
        let digests = Digest::all(machine, &messages.collect::<PerLane<_>>());
        // Two zeros, which are out of range, stand for what cannot be read.
        let signatures: PerLane<_> = inputs
            .iter()
            .map(|input| read::<C>(input.signature, input.key.form).unwrap_or(Signature::NONE))
            .collect();
        let mut jobs = PerLane::new();
        for ((input, digest), signature) in inputs.iter().zip(&digests).zip(&signatures) {
            jobs.push(VerifyJob {
                public: &input.key.public,
                digest: digest.as_ref(),
                signature,
                outcome: Err(Refusal::WrongSignature),
            });
        }
        first.key.kernels.verify(&mut jobs);
        for (index, job) in jobs.iter().enumerate() {
            let mut op = batch.get(index);
            match job.outcome {
                Ok(()) => op.succeed(0),
                Err(Refusal::RRange | Refusal::SRange) => op.fail(KeyReason::MalformedSignature),
                Err(Refusal::WrongSignature) => op.fail(KeyReason::WrongSignature),
                // The key was found to be a point of the curve.
                Err(_) => op.fail(KeyReason::Engine),
            }
        }
    }
}

fn read<C: Curve>(signature: &[u8], form: SignatureForm) -> Option<Signature<C>> {
    let mut room = [0; 2 * MAX_BYTES];
    let both = &mut room[..2 * C::BYTES];
    match form {
        SignatureForm::Der => pair::from_der(signature, both)?,
        SignatureForm::Fixed if signature.len() == both.len() => both.copy_from_slice(signature),
        SignatureForm::Fixed => return None,
    }
    let (r, s) = both.split_at(C::BYTES);
    Some(Signature {
        r: number::<C>(r),
        s: number::<C>(s),
    })
}
