//! X25519 (RFC 7748).

use lanelock_kernels::Machine;
use lanelock_kernels::public_key::curve25519::x25519::{
    Agreement, BYTES, PublicKey, SecretKey, agree, public_keys,
};
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession};
use lanelock_public_key::{KeyError, KeyKind, KeyReason, KeyTransform, Operation};
use zeroize::Zeroizing;

use super::session::{Input, LANES, PerLane, Prepared, Session, settle_pair};
use super::{Row, random, raw};

pub(super) const ROWS: &[Row] = &[
    Row::plain(Operation::Derive, KeyKind::X25519, Derive::open),
    Row::plain(Operation::Generate, KeyKind::X25519, Generate::open),
];

/// A secret key, to agree with peers.
struct Derive(SecretKey);

/// Makes key pairs.
struct Generate;

impl Derive {
    fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let (key, bytes) = raw::secret(transform)?;
        let prepared = SecretKey::new(bytes);
        raw::check_public_half(key, || {
            let mut public = [0; BYTES];
            let job = PublicKey {
                key: &prepared,
                public: &mut public,
            };
            public_keys(machine, &mut [job]);
            public
        })?;
        Ok(Session::boxed(machine, group, Self(prepared)))
    }
}

impl Prepared for Derive {
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let mut secrets = Zeroizing::new([[0; BYTES]; LANES]);
        let mut jobs = PerLane::new();
        for (input, shared) in inputs.iter().zip(secrets.iter_mut()) {
            if let Some(peer) = input.bytes.first_chunk() {
                jobs.push(Agreement {
                    key: &input.key.0,
                    peer,
                    shared,
                    agreed: false,
                });
            }
        }
        debug_assert_eq!(jobs.len(), inputs.len(), "validated lengths");
        agree(machine, &mut jobs);
        for (index, job) in jobs.iter().enumerate() {
            let mut op = batch.get(index);
            if job.agreed {
                op.output()[..BYTES].copy_from_slice(job.shared);
                op.succeed(BYTES);
            } else {
                op.fail(KeyReason::ZeroSharedSecret);
            }
        }
    }
}

impl Generate {
    fn open(
        machine: Machine,
        group: u32,
        _: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        Ok(Session::boxed(machine, group, Self))
    }
}

impl Prepared for Generate {
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let mut secrets = Zeroizing::new([[0; BYTES]; LANES]);
        let secrets = &mut secrets[..inputs.len()];
        if let Err(reason) = random::fill(secrets.as_flattened_mut()) {
            return batch.for_each(|mut op| op.fail(reason));
        }
        let keys: PerLane<_> = secrets.iter().map(SecretKey::new).collect();
        let mut publics = [[0; BYTES]; LANES];
        let mut jobs: PerLane<_> = keys
            .iter()
            .zip(&mut publics)
            .map(|(key, public)| PublicKey { key, public })
            .collect();
        public_keys(machine, &mut jobs);
        for (index, (secret, job)) in secrets.iter().zip(&jobs).enumerate() {
            settle_pair(&mut batch.get(index), secret, job.public);
        }
    }
}
