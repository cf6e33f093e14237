//! ECDSA signatures (FIPS 186-5, section 6.4.1), with hedged nonces.

use lanelock_kernels::Machine;
use lanelock_kernels::public_key::nist::{
    Kernels, NonceSource, Nonces, Refusal, SignJob, Signature,
};
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession};
use lanelock_public_key::{KeyError, KeyReason, KeyTransform, SignatureForm, pair};
use zeroize::Zeroizing;

use super::key::Scalar;
use super::{Curve, MAX_BYTES, kernels};
use crate::public_key::digest::{self, Digest, Source};
use crate::public_key::random;
use crate::public_key::session::{Input, LANES, PerLane, Prepared, Session};

/// Random bytes in each nonce, beside key and digest.
const RANDOM: usize = 32;

/// A private key, to sign with.
pub(super) struct Signer<C: Curve> {
    kernels: &'static Kernels<C>,
    key: Scalar<C>,
    source: Source,
    form: SignatureForm,
}

/// Key and digest of a signature to make.
struct Task<'t, C: Curve> {
    private: &'t C::Number,
    digest: &'t [u8],
}

impl<C: Curve> Signer<C> {
    pub(super) fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let source = Source::of(transform)?;
        let kernels = kernels::<C>(machine);
        let signer = Self {
            kernels,
            key: Scalar::of(transform, kernels)?,
            source,
            form: transform.form(),
        };
        Ok(Session::boxed(machine, group, signer))
    }
}

impl<C: Curve> Prepared for Signer<C> {
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let Some(first) = inputs.first() else { return };
        let messages = inputs.iter().map(|input| (input.key.source, input.bytes));
        let digests = Digest::all(machine, &messages.collect::<PerLane<_>>());
        let mut random = Zeroizing::new([[0; RANDOM]; LANES]);
        if let Err(reason) = random::fill(random[..inputs.len()].as_flattened_mut()) {
            return batch.for_each(|mut op| op.fail(reason));
        }
        let tasks: PerLane<_> = inputs
            .iter()
            .zip(&digests)
            .map(|(input, digest)| Task::<C> {
                private: &input.key.key.0,
                digest: digest.as_ref(),
            })
            .collect();
        let source = NonceSource::new(digest::kernels::<C::Hash>(machine));
        let mut nonces: PerLane<_> = tasks
            .iter()
            .zip(random.iter())
            .map(|(task, random)| Nonces::<C, _>::new(&source, task.private, task.digest, random))
            .collect();
        let signatures = sign(first.key.kernels, &tasks, |index| {
            Scalar(nonces[index].draw())
        });
        for (index, (input, signature)) in inputs.iter().zip(signatures).enumerate() {
            let mut op = batch.get(index);
            let written = signature.and_then(|signature| {
                let out = op.output();
                write::<C>(&signature, input.key.form, out).ok_or(KeyReason::Engine)
            });
            match written {
                Ok(len) => op.succeed(len),
                Err(reason) => op.fail(reason),
            }
        }
    }
}

/// Makes the signature of each task with the first nonce drawn for it that gives one.
fn sign<C: Curve>(
    kernels: &Kernels<C>,
    tasks: &[Task<'_, C>],
    mut draw: impl FnMut(usize) -> Scalar<C>,
) -> PerLane<Result<Signature<C>, KeyReason>> {
    let mut results: PerLane<_> = tasks.iter().map(|_| Err(KeyReason::Engine)).collect();
    let mut waiting: PerLane<usize> = (0..tasks.len()).collect();
    while !waiting.is_empty() {
        let nonces: PerLane<_> = waiting.iter().map(|&index| draw(index)).collect();
        let mut jobs: PerLane<_> = waiting
            .iter()
            .zip(&nonces)
            .map(|(&index, nonce)| SignJob {
                private: tasks[index].private,
                nonce: &nonce.0,
                digest: tasks[index].digest,
                signature: Err(Refusal::NonceUnusable),
            })
            .collect();
        kernels.sign(&mut jobs);
        let mut refused = PerLane::new();
        for (&index, job) in waiting.iter().zip(&jobs) {
            match job.signature {
                Ok(signature) => results[index] = Ok(signature),
                Err(Refusal::NonceRange | Refusal::NonceUnusable) => refused.push(index),
                // The key was found to be in range.
                Err(_) => {}
            }
        }
        waiting = refused;
    }
    results
}

/// Writes a signature; returns its length.
fn write<C: Curve>(signature: &Signature<C>, form: SignatureForm, out: &mut [u8]) -> Option<usize> {
    let mut room = [0; 2 * MAX_BYTES];
    let both = &mut room[..2 * C::BYTES];
    let (r, s) = both.split_at_mut(C::BYTES);
    r.copy_from_slice(signature.r.as_ref());
    s.copy_from_slice(signature.s.as_ref());
    match form {
        SignatureForm::Der => pair::to_der(both, out),
        SignatureForm::Fixed => {
            out.get_mut(..both.len())?.copy_from_slice(both);
            Some(both.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use lanelock_kernels::public_key::nist::{
        self, GenerateJob, P256, P384, PublicPoint, VerifyJob,
    };

    use super::*;

    /// Lane `i` is given `i` nonces that are refused.
    fn refused_nonces_are_drawn_again<C: Curve>() {
        let machine = Machine::best();
        let kernels = kernels::<C>(machine);
        let number = |last: u8| {
            let mut number = C::ZERO;
            number.as_mut()[C::BYTES - 1] = last;
            number
        };
        let keys: Vec<_> = (1..=8).map(number).collect();
        let digests: Vec<_> = (0..8).map(|i| [i; 32]).collect();
        let tasks: Vec<_> = keys
            .iter()
            .zip(&digests)
            .map(|(private, digest)| Task::<C> { private, digest })
            .collect();
        let mut draws = [0; 8];
        let signatures = sign(kernels, &tasks, |index| {
            draws[index] += 1;
            Scalar(match draws[index] {
                given if given > index => number(99),
                given if given % 2 == 0 => C::ZERO,
                _ => <C as nist::Curve>::ORDER,
            })
        });
        assert_eq!(draws, [1, 2, 3, 4, 5, 6, 7, 8]);
        let mut publics: Vec<PublicPoint<C>> = Vec::new();
        for private in &keys {
            let mut jobs = [GenerateJob {
                private,
                public: Err(Refusal::PrivateKeyRange),
            }];
            kernels.generate(&mut jobs);
            publics.push(jobs[0].public.expect("a key"));
        }
        for (index, signature) in signatures.iter().enumerate() {
            let mut jobs = [VerifyJob {
                public: &publics[index],
                digest: &digests[index],
                signature: signature.as_ref().expect("a signature"),
                outcome: Err(Refusal::WrongSignature),
            }];
            kernels.verify(&mut jobs);
            assert_eq!(jobs[0].outcome, Ok(()), "lane {index}");
        }
    }

    #[test]
    fn refused_nonces_are_drawn_again_p256() {
        refused_nonces_are_drawn_again::<P256>();
    }

    #[test]
    fn refused_nonces_are_drawn_again_p384() {
        refused_nonces_are_drawn_again::<P384>();
    }
}
