//! Digests of the messages of a batch, those of one hash in lockstep.

use lanelock_core::Hash;
use lanelock_kernels::Machine;
use lanelock_kernels::hash::{
    Algorithm, Job, Kernels, MAX_DIGEST, Sha1, Sha224, Sha256, Sha384, Sha512, hash_many,
};
use lanelock_public_key::{KeyError, KeyTransform, MessageForm, Scheme};

use super::session::PerLane;

/// Where the digest of an operation comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// The operation's input.
    Given,
    /// It is computed over the operation's input.
    Computed(Hash),
}

/// A digest.
#[derive(Clone, Copy)]
pub(super) struct Digest {
    bytes: [u8; MAX_DIGEST],
    len: usize,
}

impl Source {
    /// # Errors
    /// [`KeyError::Unsupported`] for a hash that is to be computed and has no lanes.
    pub(super) fn of(transform: &KeyTransform) -> Result<Self, KeyError> {
        let spec = transform.spec();
        let hash = match spec.scheme {
            Scheme::Signature(scheme) => scheme.hash(),
            _ => None,
        };
        match (transform.message_form(), hash) {
            (MessageForm::Digest, _) => Ok(Self::Given),
            (MessageForm::Message, Some(hash)) if has_lanes(hash) => Ok(Self::Computed(hash)),
            _ => Err(KeyError::unsupported(spec, "its hash has no lanes")),
        }
    }
}

impl Digest {
    /// The digests of messages, in their order.
    pub(super) fn all(machine: Machine, messages: &[(Source, &[u8])]) -> PerLane<Self> {
        let mut digests: PerLane<_> = messages
            .iter()
            .map(|(_, bytes)| Self::given(bytes))
            .collect();
        let mut left: PerLane<bool> = messages
            .iter()
            .map(|(source, _)| *source != Source::Given)
            .collect();
        while let Some(first) = left.iter().position(|&left| left) {
            let Source::Computed(hash) = messages[first].0 else {
                break;
            };
            let mut places = PerLane::<usize>::new();
            for (place, (source, _)) in messages.iter().enumerate() {
                if *source == Source::Computed(hash) {
                    left[place] = false;
                    places.push(place);
                }
            }
            let compute = match hash {
                Hash::Sha1 => compute::<Sha1>,
                Hash::Sha224 => compute::<Sha224>,
                Hash::Sha256 => compute::<Sha256>,
                Hash::Sha384 => compute::<Sha384>,
                _ => compute::<Sha512>,
            };
            compute(machine, &places, messages, &mut digests);
        }
        digests
    }

    fn given(bytes: &[u8]) -> Self {
        let len = bytes.len().min(MAX_DIGEST);
        let mut digest = Self {
            bytes: [0; MAX_DIGEST],
            len,
        };
        digest.bytes[..len].copy_from_slice(&bytes[..len]);
        digest
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// What a hash runs on.
pub(super) fn kernels<A: Algorithm>(machine: Machine) -> &'static Kernels<A> {
    Kernels::of(machine)
}

fn has_lanes(hash: Hash) -> bool {
    matches!(
        hash,
        Hash::Sha1 | Hash::Sha224 | Hash::Sha256 | Hash::Sha384 | Hash::Sha512
    )
}

/// Hashes the messages at `places`.
fn compute<A: Algorithm>(
    machine: Machine,
    places: &[usize],
    messages: &[(Source, &[u8])],
    digests: &mut [Digest],
) {
    let mut jobs: PerLane<_> = places
        .iter()
        .map(|&place| Job::new(messages[place].1, None))
        .collect();
    hash_many(kernels::<A>(machine), &mut jobs);
    for (&place, job) in places.iter().zip(&jobs) {
        digests[place] = Digest::given(job.digest());
    }
}
