//! The toy's arithmetic on flat slices. It protects nothing.
//!
//! The cipher adds a keystream byte by byte, so that encrypting twice does not decrypt; each byte
//! depends on key, IV and position alone, so that any split of a message must give the same bytes.

use lanelock_core::transform::Direction;

use crate::message::Reference;

/// The toy's arithmetic of each algorithm.
pub const TOY: Reference = Reference {
    cipher: |_, direction, key, iv, payload| {
        let mut payload = payload.to_vec();
        let mut stream = Stream::new(key, iv);
        match direction {
            Direction::Forward => stream.encrypt(&mut payload),
            Direction::Reverse => stream.decrypt(&mut payload),
        }
        payload
    },
    hash: |_, _, len, data| Sum::of(&[], &[], &[data])[..len].to_vec(),
    mac: |_, key, _, iv, data, tag_len| Sum::of(key, iv, &[data])[..tag_len].to_vec(),
    seal: |_, key, iv, aad, payload, tag_len| {
        let mut payload = payload.to_vec();
        Stream::new(key, iv).encrypt(&mut payload);
        let tag = Sum::of(key, iv, &[aad, &payload])[..tag_len].to_vec();
        (payload, tag)
    },
    open: |_, key, iv, aad, payload, tag| {
        let sum = Sum::of(key, iv, &[aad, payload]);
        (sum[..tag.len()] == *tag).then(|| {
            let mut payload = payload.to_vec();
            Stream::new(key, iv).decrypt(&mut payload);
            payload
        })
    },
};

/// Longest tag that the toy computes, in bytes.
pub const MAX_TAG: usize = 64;

/// A keystream and the position in it.
#[derive(Clone, Debug)]
pub struct Stream {
    seed: u64,
    position: u64,
}

/// A checksum in the place of a MAC, a hash or an AEAD's tag.
#[derive(Clone, Debug)]
pub struct Sum(u64);

impl Stream {
    /// The keystream of a message.
    #[must_use]
    pub fn new(key: &[u8], iv: &[u8]) -> Self {
        Self {
            seed: seed(key, iv),
            position: 0,
        }
    }

    /// Encrypts the next bytes.
    pub fn encrypt(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = byte.wrapping_add(self.next());
        }
    }

    /// Decrypts the next bytes.
    pub fn decrypt(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = byte.wrapping_sub(self.next());
        }
    }

    fn next(&mut self) -> u8 {
        let word = mix(self.seed.wrapping_add(self.position / 8)).to_le_bytes();
        let byte = word[usize::try_from(self.position % 8).expect("below 8")];
        self.position += 1;
        byte
    }
}

impl Sum {
    /// An empty message's sum under `key`; `iv` is empty where there is none.
    #[must_use]
    pub fn new(key: &[u8], iv: &[u8]) -> Self {
        Self(mix(seed(key, iv)))
    }

    fn of(key: &[u8], iv: &[u8], parts: &[&[u8]]) -> [u8; MAX_TAG] {
        let mut sum = Self::new(key, iv);
        parts.iter().for_each(|part| sum.add(part));
        sum.tag()
    }

    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The tag, of which a session keeps a prefix.
    #[must_use]
    pub fn tag(&self) -> [u8; MAX_TAG] {
        let mut tag = [0; MAX_TAG];
        for (i, word) in (0_u64..).zip(tag.chunks_exact_mut(8)) {
            word.copy_from_slice(&mix(self.0.wrapping_add(i)).to_le_bytes());
        }
        tag
    }
}

fn seed(key: &[u8], iv: &[u8]) -> u64 {
    let fold = |start: u64, bytes: &[u8]| {
        bytes
            .iter()
            .fold(start, |sum, &byte| mix(sum ^ u64::from(byte)))
    };
    fold(fold(1, key), iv)
}

/// The finaliser of SplitMix64.
const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
