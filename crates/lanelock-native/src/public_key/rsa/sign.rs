//! RSASSA-PKCS1-v1_5 and RSASSA-PSS (RFC 8017, 8).

use lanelock_core::engine::QueueToken;
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::rsa::{
    PrivateKey, PrivateSize, PublicJob, PublicKey, PublicSize, public,
};
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession};
use lanelock_public_key::{KeyError, KeyReason, KeyTransform, Scheme, SignatureScheme};

use super::super::digest::{Digest, Source};
use super::super::random;
use super::super::session::{Input, LANES, PerLane, Prepared, PreparedPerQueue, Session};
use super::hasher::Hasher;
use super::private::{Private, Root, take_roots};
use super::pss::Pss;
use super::{Blocks, emsa_pkcs1, import};

/// A secret key, to sign with.
pub(super) struct Signer<const P: usize, const N: usize> {
    key: Private<P, N>,
    encoding: Encoding,
}

/// A public key, to verify with.
pub(super) struct Verifier<const N: usize> {
    key: PublicKey<N>,
    encoding: Encoding,
}

/// From a message to the block whose root is its signature.
struct Encoding {
    hash: Hasher,
    source: Source,
    padding: Padding,
}

enum Padding {
    Pkcs1,
    Pss(Pss),
}

impl Encoding {
    fn of(machine: Machine, transform: &KeyTransform) -> Result<Self, KeyError> {
        let hasher = |hash| import::hasher(machine, transform, hash);
        let (hash, padding) = match transform.spec().scheme {
            Scheme::Signature(SignatureScheme::RsaPkcs1(hash)) => (hasher(hash)?, Padding::Pkcs1),
            Scheme::Signature(SignatureScheme::RsaPss(pss)) => {
                let hash = hasher(pss.hash)?;
                let pss = Pss {
                    hash,
                    mgf1: hasher(pss.mgf1)?,
                    salt_len: pss.salt_len,
                };
                (hash, Padding::Pss(pss))
            }
            _ => return Err(import::mismatch(transform)),
        };
        Ok(Self {
            hash,
            source: Source::of(transform)?,
            padding,
        })
    }

    fn salt_len(&self) -> usize {
        match &self.padding {
            Padding::Pkcs1 => 0,
            Padding::Pss(pss) => pss.salt_len,
        }
    }

    fn encode(&self, digest: &[u8], salt: &[u8], block: &mut [u8]) {
        match &self.padding {
            Padding::Pkcs1 => emsa_pkcs1::encode(self.hash, digest, block),
            Padding::Pss(pss) => pss.encode(digest, salt, block),
        }
    }

    /// Whether `block` is an encoding of `digest`; changes it.
    fn verify<const N: usize>(&self, digest: &[u8], block: &mut [u8]) -> bool {
        match &self.padding {
            Padding::Pkcs1 => {
                let mut expected = [[0; 64]; N];
                emsa_pkcs1::encode(self.hash, digest, expected.as_flattened_mut());
                block == expected.as_flattened()
            }
            Padding::Pss(pss) => pss.verify(digest, block),
        }
    }
}

/// The digests of a batch.
fn digests<K>(
    machine: Machine,
    inputs: &[Input<'_, K>],
    encoding: impl Fn(&K) -> &Encoding,
) -> PerLane<Digest> {
    let source = |input: &Input<'_, K>| encoding(input.key).source;
    let messages: PerLane<_> = inputs
        .iter()
        .map(|input| (source(input), input.bytes))
        .collect();
    Digest::all(machine, &messages)
}

impl<const P: usize, const N: usize> Signer<P, N>
where
    PrivateKey<P, N>: PrivateSize<P, N>,
{
    pub(super) fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let encoding = Encoding::of(machine, transform)?;
        let key = Private::open(transform)?;
        Ok(Session::boxed(machine, group, Self { key, encoding }))
    }
}

impl<const P: usize, const N: usize> PreparedPerQueue for Signer<P, N>
where
    PrivateKey<P, N>: PrivateSize<P, N>,
{
    /// Each of the two primes has a lane.
    fn per_pass(machine: Machine) -> usize {
        machine.digit_lanes() / 2
    }

    fn run(
        machine: Machine,
        queue: &mut QueueToken,
        inputs: &[Input<'_, Self>],
        batch: &mut KeyBatch<'_, '_>,
    ) {
        let mut salts: Blocks<N> = [[[0; 64]; N]; LANES];
        let salts = salts.as_flattened_mut().as_flattened_mut();
        let needed = inputs.iter().map(|input| input.key.encoding.salt_len());
        let salts = &mut salts[..needed.sum()];
        if let Err(reason) = random::fill(salts) {
            return batch.for_each(|mut op| op.fail(reason));
        }
        let digests = digests(machine, inputs, |key| &key.encoding);
        let mut blocks: Blocks<N> = [[[0; 64]; N]; LANES];
        let mut salts = &salts[..];
        for ((input, digest), block) in inputs.iter().zip(&digests).zip(&mut blocks) {
            let encoding = &input.key.encoding;
            let (salt, rest) = salts.split_at(encoding.salt_len());
            salts = rest;
            encoding.encode(digest.as_ref(), salt, block.as_flattened_mut());
        }
        let mut signatures: Blocks<N> = [[[0; 64]; N]; LANES];
        let places = blocks.iter().zip(&mut signatures);
        let mut roots: PerLane<_> = inputs
            .iter()
            .zip(places)
            .map(|(input, (block, signature))| Root {
                key: &input.key.key,
                input: block.as_flattened(),
                output: signature.as_flattened_mut(),
                result: Ok(()),
            })
            .collect();
        take_roots(machine, queue, &mut roots);
        for (index, root) in roots.iter().enumerate() {
            let mut op = batch.get(index);
            match root.result {
                Ok(()) => {
                    op.output().copy_from_slice(root.output);
                    op.succeed(root.output.len());
                }
                Err(reason) => op.fail(reason),
            }
        }
    }

    fn kept_per_queue(&self) -> usize {
        self.key.kept_per_queue()
    }
}

impl<const N: usize> Verifier<N>
where
    PublicKey<N>: PublicSize<N>,
{
    pub(super) fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let encoding = Encoding::of(machine, transform)?;
        let key = import::public(transform)?;
        Ok(Session::boxed(machine, group, Self { key, encoding }))
    }
}

impl<const N: usize> Prepared for Verifier<N>
where
    PublicKey<N>: PublicSize<N>,
{
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let digests = digests(machine, inputs, |key| &key.encoding);
        let mut blocks: Blocks<N> = [[[0; 64]; N]; LANES];
        let mut jobs: PerLane<_> = inputs
            .iter()
            .zip(&mut blocks)
            .map(|(input, block)| PublicJob {
                key: &input.key.key,
                input: input.signature,
                output: block.as_flattened_mut(),
                result: Ok(()),
            })
            .collect();
        public(machine, &mut jobs);
        let checked = inputs.iter().zip(&digests).zip(&mut jobs);
        for (index, ((input, digest), job)) in checked.enumerate() {
            let mut op = batch.get(index);
            let encoding = &input.key.encoding;
            match job.result {
                // Of another length than the modulus, or not below it.
                Err(_) => op.fail(KeyReason::MalformedSignature),
                Ok(()) if encoding.verify::<N>(digest.as_ref(), job.output) => op.succeed(0),
                Ok(()) => op.fail(KeyReason::WrongSignature),
            }
        }
    }
}
