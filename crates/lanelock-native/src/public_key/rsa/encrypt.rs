//! RSAES-PKCS1-v1_5, RSAES-OAEP and bare blocks (RFC 8017, 7 and 5.1).

use lanelock_core::engine::QueueToken;
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::rsa::{
    PrivateKey, PrivateSize, PublicJob, PublicKey, PublicSize, public,
};
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession, ValidKeyOp};
use lanelock_public_key::{EncryptionScheme, KeyError, KeyReason, KeyTransform, Scheme};
use zeroize::Zeroizing;

use super::super::session::{Input, LANES, PerLane, Prepared, PreparedPerQueue, Session};
use super::super::{digest, random};
use super::eme_pkcs1::{self, Rejection, SPARE};
use super::oaep::Oaep;
use super::private::{Private, Root, take_roots};
use super::{Blocks, import, reason};

/// A public key, to encrypt with.
pub(super) struct Encrypter<const N: usize> {
    key: PublicKey<N>,
    encoding: Encoding,
}

/// A secret key, to decrypt with.
pub(super) struct Decrypter<const P: usize, const N: usize> {
    key: Private<P, N>,
    decoding: Decoding,
}

/// From a message to the block whose power is its ciphertext.
enum Encoding {
    Pkcs1,
    Oaep(Oaep),
    Raw,
}

/// From a block to its message.
enum Decoding {
    Pkcs1(Rejection),
    Oaep(Oaep),
    Raw,
}

impl Encoding {
    fn of(machine: Machine, transform: &KeyTransform) -> Result<Self, KeyError> {
        match transform.spec().scheme {
            Scheme::Encryption(EncryptionScheme::RsaPkcs1) => Ok(Self::Pkcs1),
            Scheme::Encryption(EncryptionScheme::RsaOaep(_)) => {
                oaep(machine, transform).map(Self::Oaep)
            }
            Scheme::Encryption(EncryptionScheme::RsaRaw) => Ok(Self::Raw),
            _ => Err(import::mismatch(transform)),
        }
    }

    /// Random bytes for a message of `len` bytes in a block of `k`.
    fn random_len(&self, len: usize, k: usize) -> usize {
        match self {
            Self::Pkcs1 => k - 3 - len + SPARE,
            Self::Oaep(oaep) => oaep.seed_len(),
            Self::Raw => 0,
        }
    }

    fn encode(&self, message: &[u8], random: &[u8], block: &mut [u8]) -> Result<(), KeyReason> {
        match self {
            Self::Pkcs1 => eme_pkcs1::encode(message, random, redraw, block)?,
            Self::Oaep(oaep) => oaep.encode(message, random, block),
            Self::Raw => block.copy_from_slice(message),
        }
        Ok(())
    }
}

impl Decoding {
    fn of(machine: Machine, transform: &KeyTransform) -> Result<Self, KeyError> {
        match transform.spec().scheme {
            Scheme::Encryption(EncryptionScheme::RsaPkcs1) => {
                let rsa = import::secret(transform)?;
                let kernels = digest::kernels(machine);
                let rejection = Rejection::new(kernels, &rsa.d, rsa.public.n.len());
                Ok(Self::Pkcs1(rejection))
            }
            Scheme::Encryption(EncryptionScheme::RsaOaep(_)) => {
                oaep(machine, transform).map(Self::Oaep)
            }
            Scheme::Encryption(EncryptionScheme::RsaRaw) => Ok(Self::Raw),
            _ => Err(import::mismatch(transform)),
        }
    }

    /// Hands the message in `block` over.
    fn settle(&self, block: &mut [u8], op: &mut ValidKeyOp<'_, '_>) {
        let message = match self {
            Self::Pkcs1(rejection) => {
                let len = rejection.decode(block, op.input(), op.output());
                return op.succeed(len);
            }
            Self::Oaep(oaep) => match oaep.decode(block) {
                Some(range) => &block[range],
                None => return op.fail(KeyReason::WrongCiphertext),
            },
            Self::Raw => block,
        };
        op.output()[..message.len()].copy_from_slice(message);
        op.succeed(message.len());
    }
}

fn oaep(machine: Machine, transform: &KeyTransform) -> Result<Oaep, KeyError> {
    let Scheme::Encryption(EncryptionScheme::RsaOaep(oaep)) = transform.spec().scheme else {
        return Err(import::mismatch(transform));
    };
    let hasher = |hash| import::hasher(machine, transform, hash);
    let (hash, mgf1) = (hasher(oaep.hash)?, hasher(oaep.mgf1)?);
    Ok(Oaep::new(hash, mgf1, transform.context_bytes()))
}

fn redraw() -> Result<u8, KeyReason> {
    let mut byte = [0];
    random::fill(&mut byte)?;
    Ok(byte[0])
}

impl<const N: usize> Encrypter<N>
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

impl<const N: usize> Prepared for Encrypter<N>
where
    PublicKey<N>: PublicSize<N>,
{
    fn run(machine: Machine, inputs: &[Input<'_, Self>], batch: &mut KeyBatch<'_, '_>) {
        let k = PublicKey::<N>::BYTES;
        let needed = |input: &Input<'_, Self>| input.key.encoding.random_len(input.bytes.len(), k);
        // SPARE and the three bytes of padding that are fixed leave a lane less than a block more.
        let mut random = Zeroizing::new([[[0; 64]; N]; 2 * LANES]);
        let random = random.as_flattened_mut().as_flattened_mut();
        let random = &mut random[..inputs.iter().map(needed).sum()];
        if let Err(reason) = random::fill(random) {
            return batch.for_each(|mut op| op.fail(reason));
        }
        let mut blocks: Zeroizing<Blocks<N>> = Zeroizing::new([[[0; 64]; N]; LANES]);
        let mut random = &random[..];
        for (input, block) in inputs.iter().zip(blocks.iter_mut()) {
            let (own, rest) = random.split_at(needed(input));
            random = rest;
            let encoding = &input.key.encoding;
            if let Err(reason) = encoding.encode(input.bytes, own, block.as_flattened_mut()) {
                return batch.for_each(|mut op| op.fail(reason));
            }
        }
        let mut ciphertexts: Blocks<N> = [[[0; 64]; N]; LANES];
        let places = blocks.iter().zip(&mut ciphertexts);
        let mut jobs: PerLane<_> = inputs
            .iter()
            .zip(places)
            .map(|(input, (block, ciphertext))| PublicJob {
                key: &input.key.key,
                input: block.as_flattened(),
                output: ciphertext.as_flattened_mut(),
                result: Ok(()),
            })
            .collect();
        public(machine, &mut jobs);
        for (index, job) in jobs.iter().enumerate() {
            let mut op = batch.get(index);
            match job.result {
                Ok(()) => {
                    op.output().copy_from_slice(job.output);
                    op.succeed(k);
                }
                Err(failure) => op.fail(reason(failure)),
            }
        }
    }
}

impl<const P: usize, const N: usize> Decrypter<P, N>
where
    PrivateKey<P, N>: PrivateSize<P, N>,
{
    pub(super) fn open(
        machine: Machine,
        group: u32,
        transform: &KeyTransform,
    ) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let key = Private::open(transform)?;
        let decoding = Decoding::of(machine, transform)?;
        Ok(Session::boxed(machine, group, Self { key, decoding }))
    }
}

impl<const P: usize, const N: usize> PreparedPerQueue for Decrypter<P, N>
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
        let mut blocks: Zeroizing<Blocks<N>> = Zeroizing::new([[[0; 64]; N]; LANES]);
        let mut roots: PerLane<_> = inputs
            .iter()
            .zip(blocks.iter_mut())
            .map(|(input, block)| Root {
                key: &input.key.key,
                input: input.bytes,
                output: block.as_flattened_mut(),
                result: Ok(()),
            })
            .collect();
        take_roots(machine, queue, &mut roots);
        for (index, (input, root)) in inputs.iter().zip(&mut roots).enumerate() {
            let mut op = batch.get(index);
            match root.result {
                Ok(()) => input.key.decoding.settle(root.output, &mut op),
                Err(reason) => op.fail(reason),
            }
        }
    }

    fn kept_per_queue(&self) -> usize {
        self.key.kept_per_queue()
    }
}
