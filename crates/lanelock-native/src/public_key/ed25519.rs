//! Ed25519 (RFC 8032).

use lanelock_kernels::Machine;
use lanelock_kernels::public_key::curve25519::ed25519::{
    KEY_BYTES, SIGNATURE_BYTES, Sign, SigningKey, Verify, VerifyingKey, sign, verify,
};
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession};
use lanelock_public_key::{KeyError, KeyKind, KeyReason, KeyTransform, Operation, SignatureScheme};
use zeroize::Zeroizing;

use super::session::{Input, LANES, PerLane, Prepared, Session, settle_pair};
use super::{Row, random, raw};

pub(super) const ROWS: &[Row] = &[
    Row::signature(
        Operation::Sign,
        KeyKind::Ed25519,
        SignatureScheme::EdDsa,
        Signer::open,
    ),
    Row::signature(
        Operation::Verify,
        KeyKind::Ed25519,
        SignatureScheme::EdDsa,
        Verifier::open,
    ),
    Row::plain(Operation::Generate, KeyKind::Ed25519, Generator::open),
];

/// An expanded private key, to sign with.
struct Signer(SigningKey);

/// A decoded public key, to verify with.
struct Verifier(VerifyingKey);

/// Makes key pairs.
struct Generator;

impl Signer {
    fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let (key, seed) = raw::secret(transform)?;
        let prepared = SigningKey::new(machine, seed);
        raw::check_public_half(key, || *prepared.public())?;
        Ok(Session::boxed(machine, group, Self(prepared)))
    }
}

impl Prepared for Signer {
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let mut signatures = [[0; SIGNATURE_BYTES]; LANES];
        let mut jobs: PerLane<_> = inputs
            .iter()
            .zip(&mut signatures)
            .map(|(input, signature)| Sign {
                key: &input.key.0,
                message: input.bytes,
                signature,
            })
            .collect();
        sign(machine, &mut jobs);
        for (index, job) in jobs.iter().enumerate() {
            let mut op = batch.get(index);
            op.output()[..SIGNATURE_BYTES].copy_from_slice(job.signature);
            op.succeed(SIGNATURE_BYTES);
        }
    }
}

impl Verifier {
    fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let (key, bytes) = raw::public(transform)?;
        match VerifyingKey::new(bytes) {
            Some(prepared) => Ok(Session::boxed(machine, group, Self(prepared))),
            None => Err(KeyError::refused(key.kind(), "no point of the curve")),
        }
    }
}

impl Prepared for Verifier {
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let mut jobs = PerLane::<Verify<'_>>::new();
        let mut places = PerLane::<usize>::new();
        for (index, input) in inputs.iter().enumerate() {
            match input.signature.try_into() {
                Ok(signature) => {
                    places.push(index);
                    jobs.push(Verify {
                        key: &input.key.0,
                        message: input.bytes,
                        signature,
                        valid: false,
                    });
                }
                Err(_) => batch.get(index).fail(KeyReason::MalformedSignature),
            }
        }
        verify(machine, &mut jobs);
        for (&index, job) in places.iter().zip(&jobs) {
            match job.valid {
                true => batch.get(index).succeed(0),
                false => batch.get(index).fail(KeyReason::WrongSignature),
            }
        }
    }
}

impl Generator {
    fn open(
        machine: Machine,
        group: u32,
        _: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        Ok(Session::boxed(machine, group, Self))
    }
}

impl Prepared for Generator {
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        // Lanes cost nothing: those without an operation make keys that nobody gets.
        let mut seeds = Zeroizing::new([[0; KEY_BYTES]; LANES]);
        if let Err(reason) = random::fill(seeds.as_flattened_mut()) {
            return batch.for_each(|mut op| op.fail(reason));
        }
        let keys = SigningKey::new_many(machine, &seeds);
        for index in 0..inputs.len() {
            settle_pair(&mut batch.get(index), &seeds[index], keys[index].public());
        }
    }
}
