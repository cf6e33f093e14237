//! Content that every contestant can make for itself, so that results can be compared without
//! sending them: splitmix64 for keys and messages, 64-bit FNV-1a over what comes out.
//!
//! The seeds are part of the peers' protocol.

/// Seed of the first session's key; session `n` has this plus `n`.
pub const KEY: u64 = 0x1000_0000;
/// Seed of the MAC key of the first session of a chain.
pub const MAC_KEY: u64 = 0x2000_0000;
/// Seed of the first message's IV; message `n` has this plus `n`.
pub const IV: u64 = 0x3000_0000;
/// Seed of the first message's additional data.
pub const AAD: u64 = 0x4000_0000;
/// Seed of the first message.
pub const DATA: u64 = 0x5000_0000;

/// What splitmix64 counts in.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Fills `to` with the little-endian stream of splitmix64 from `seed`.
pub fn fill(to: &mut [u8], seed: u64) {
    let mut x = seed;
    for chunk in to.chunks_mut(8) {
        x = x.wrapping_add(STEP);
        let mut z = x;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        chunk.copy_from_slice(&z.to_le_bytes()[..chunk.len()]);
    }
}

/// `len` bytes from `seed`.
pub fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    fill(&mut bytes, seed);
    bytes
}

/// 64-bit FNV-1a.
#[derive(Clone, Copy, Debug)]
pub struct Fnv(u64);

impl Fnv {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes in `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// The hash of all that was taken in.
    pub fn finish(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // First outputs for seed 0, as the generator's authors publish them.
        let stream = bytes(20, 0);
        assert_eq!(stream[..8], 0xe220_a839_7b1d_cdaf_u64.to_le_bytes());
        assert_eq!(stream[8..16], 0x6e78_9e6a_a1b9_65f4_u64.to_le_bytes());
        assert_eq!(stream[16..], 0x06c4_5d18_8009_454f_u64.to_le_bytes()[..4]);
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        let mut hash = Fnv::new();
        hash.update(b"foobar");
        assert_eq!(hash.finish(), 0x8594_4171_f739_67e8);
    }
}
