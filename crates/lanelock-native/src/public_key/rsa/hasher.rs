//! A hash function chosen when a session is made.

use lanelock_core::Hash;
use lanelock_kernels::Machine;
use lanelock_kernels::hash::{Kernels, Sha1, Sha224, Sha256, Sha384, Sha512, Stream};

use super::super::digest::kernels;

/// One of the hash functions that the kernels have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hasher {
    Sha1(&'static Kernels<Sha1>),
    Sha224(&'static Kernels<Sha224>),
    Sha256(&'static Kernels<Sha256>),
    Sha384(&'static Kernels<Sha384>),
    Sha512(&'static Kernels<Sha512>),
}

/// `$body` with `$kernels` those of the function.
macro_rules! with_kernels {
    ($hasher:expr, $kernels:ident => $body:expr) => {
        match $hasher {
            Hasher::Sha1($kernels) => $body,
            Hasher::Sha224($kernels) => $body,
            Hasher::Sha256($kernels) => $body,
            Hasher::Sha384($kernels) => $body,
            Hasher::Sha512($kernels) => $body,
        }
    };
}

impl Hasher {
    /// `hash` on this CPU; `None` if the kernels do not have it.
    pub(super) fn new(machine: Machine, hash: Hash) -> Option<Self> {
        Some(match hash {
            Hash::Sha1 => Self::Sha1(kernels(machine)),
            Hash::Sha224 => Self::Sha224(kernels(machine)),
            Hash::Sha256 => Self::Sha256(kernels(machine)),
            Hash::Sha384 => Self::Sha384(kernels(machine)),
            Hash::Sha512 => Self::Sha512(kernels(machine)),
            _ => return None,
        })
    }

    /// Its name.
    pub(super) fn hash(self) -> Hash {
        match self {
            Self::Sha1(_) => Hash::Sha1,
            Self::Sha224(_) => Hash::Sha224,
            Self::Sha256(_) => Hash::Sha256,
            Self::Sha384(_) => Hash::Sha384,
            Self::Sha512(_) => Hash::Sha512,
        }
    }

    /// Bytes of a digest.
    pub(super) fn len(self) -> usize {
        self.hash().digest_len()
    }

    /// Writes the digest of the concatenation of `parts` to `digest`, which is as long as one.
    pub(super) fn digest(self, parts: &[&[u8]], digest: &mut [u8]) {
        with_kernels!(self, kernels => {
            let mut stream = Stream::new(kernels);
            for part in parts {
                stream.update(part);
            }
            stream.finish(digest);
        });
    }
}

#[cfg(test)]
impl Hasher {
    /// `hash` on any CPU.
    pub(super) fn portable(hash: Hash) -> Self {
        match hash {
            Hash::Sha1 => Self::Sha1(Kernels::of(Machine::PORTABLE)),
            Hash::Sha224 => Self::Sha224(Kernels::of(Machine::PORTABLE)),
            Hash::Sha256 => Self::Sha256(Kernels::of(Machine::PORTABLE)),
            Hash::Sha384 => Self::Sha384(Kernels::of(Machine::PORTABLE)),
            Hash::Sha512 => Self::Sha512(Kernels::of(Machine::PORTABLE)),
            _ => panic!("the kernels have no {hash:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::hash::{MessageDigest, hash};

    const ALL: [(Hash, fn() -> MessageDigest); 5] = [
        (Hash::Sha1, MessageDigest::sha1),
        (Hash::Sha224, MessageDigest::sha224),
        (Hash::Sha256, MessageDigest::sha256),
        (Hash::Sha384, MessageDigest::sha384),
        (Hash::Sha512, MessageDigest::sha512),
    ];

    #[test]
    fn a_digest_is_that_of_the_concatenation() {
        let text: Vec<u8> = (0..=255).cycle().take(900).collect();
        for (name, reference) in ALL {
            let hasher = Hasher::portable(name);
            for len in [0, 1, 63, 64, 200, 900] {
                let expected = hash(reference(), &text[..len]).expect("a digest");
                let (one, two) = text[..len].split_at(len / 3);
                let mut digest = vec![0; hasher.len()];
                hasher.digest(&[one, two], &mut digest);
                assert_eq!(digest, expected[..], "{name:?} of {len} bytes");
            }
        }
    }
}
