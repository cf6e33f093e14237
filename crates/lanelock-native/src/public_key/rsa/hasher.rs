//! A hash function chosen when a session is made.

use lanelock_core::Hash;
use lanelock_kernels::cpu::Ifma;
#[cfg(target_arch = "x86_64")]
use lanelock_kernels::cpu::ShaNi;
use lanelock_kernels::hash::{
    Algorithm, Kernels, MAX_DIGEST, Sha1, Sha224, Sha256, Sha384, Sha512, Stream, Whole, hash_many,
};

use super::super::session::{LANES, PerLane};

/// One of the hash functions that the kernels have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hasher {
    Sha1(&'static Kernels<Sha1>),
    Sha224(&'static Kernels<Sha224>),
    Sha256(&'static Kernels<Sha256>),
    Sha384(&'static Kernels<Sha384>),
    Sha512(&'static Kernels<Sha512>),
}

/// A message of a batch that is to be hashed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unhashed<'m> {
    pub hasher: Hasher,
    pub message: &'m [u8],
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
    pub(super) fn new(token: Ifma, hash: Hash) -> Option<Self> {
        Some(match hash {
            Hash::Sha1 => Self::Sha1(kernels(token)),
            Hash::Sha224 => Self::Sha224(kernels(token)),
            Hash::Sha256 => Self::Sha256(kernels(token)),
            Hash::Sha384 => Self::Sha384(kernels(token)),
            Hash::Sha512 => Self::Sha512(kernels(token)),
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

/// What a hash runs on beside 52-bit multiply-adds.
#[cfg(target_arch = "x86_64")]
pub(super) fn kernels<A: Algorithm>(token: Ifma) -> &'static Kernels<A> {
    Kernels::avx512(token.avx512(), ShaNi::detect())
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn kernels<A: Algorithm>(_: Ifma) -> &'static Kernels<A> {
    unreachable!("there is no token on other CPUs")
}

/// Writes the digest of each message to the front of its place, those of one function computed
/// together.
pub(super) fn digest_all(
    messages: &[Option<Unhashed<'_>>; LANES],
    digests: &mut [[u8; MAX_DIGEST]; LANES],
) {
    for lane in 0..LANES {
        let Some(Unhashed { hasher, .. }) = messages[lane] else {
            continue;
        };
        let is_same = |message: &Option<Unhashed<'_>>| {
            message.is_some_and(|message| message.hasher.hash() == hasher.hash())
        };
        if messages[..lane].iter().any(is_same) {
            continue; // ran with the first of its function
        }
        with_kernels!(hasher, kernels => together(kernels, messages, is_same, digests));
    }
}

fn together<A: Algorithm>(
    kernels: &'static Kernels<A>,
    messages: &[Option<Unhashed<'_>>; LANES],
    is_same: impl Fn(&Option<Unhashed<'_>>) -> bool,
    digests: &mut [[u8; MAX_DIGEST]; LANES],
) {
    let mut chosen: PerLane<_> = messages
        .iter()
        .filter(|message| is_same(message))
        .flatten()
        .map(|unhashed| Whole::new(unhashed.message))
        .collect();
    hash_many(kernels, &mut chosen);
    let places = digests.iter_mut().zip(messages);
    let places = places.filter(|(_, message)| is_same(message));
    for ((place, _), hashed) in places.zip(&chosen) {
        *place = *hashed.digest();
    }
}

#[cfg(test)]
impl Hasher {
    /// `hash` on any CPU.
    pub(super) fn portable(hash: Hash) -> Self {
        match hash {
            Hash::Sha1 => Self::Sha1(Kernels::portable()),
            Hash::Sha224 => Self::Sha224(Kernels::portable()),
            Hash::Sha256 => Self::Sha256(Kernels::portable()),
            Hash::Sha384 => Self::Sha384(Kernels::portable()),
            Hash::Sha512 => Self::Sha512(Kernels::portable()),
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
    fn a_batch_of_several_functions_gives_each_message_its_digest() {
        let text: Vec<u8> = (0..=255).cycle().take(900).collect();
        for shift in 0..ALL.len() {
            let of = |lane: usize| ALL[(lane * lane + shift) % ALL.len()];
            let messages = std::array::from_fn(|lane| {
                let hasher = Hasher::portable(of(lane).0);
                let message = &text[lane..lane * 100 + shift];
                (lane != 5).then_some(Unhashed { hasher, message })
            });
            let mut digests = [[0xee; MAX_DIGEST]; LANES];
            digest_all(&messages, &mut digests);
            for (lane, digest) in digests.iter().enumerate() {
                let Some(Unhashed { hasher, message }) = messages[lane] else {
                    assert_eq!(digest, &[0xee; MAX_DIGEST]);
                    continue;
                };
                let expected = hash(of(lane).1(), message).expect("a digest");
                assert_eq!(digest[..hasher.len()], expected[..], "lane {lane}");
                let (one, two) = message.split_at(message.len() / 3);
                let mut alone = vec![0; hasher.len()];
                hasher.digest(&[one, two], &mut alone);
                assert_eq!(alone, expected[..]);
            }
        }
    }
}
