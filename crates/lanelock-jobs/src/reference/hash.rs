//! SHA-1, SHA-2 (FIPS 180-4) and HMAC (RFC 2104).

#![allow(clippy::unwrap_used)] // slices of the right length

use std::sync::LazyLock;

/// Which hash function.
#[derive(Clone, Copy, Debug)]
pub enum Hash {
    /// SHA-1.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Hash {
    fn block(self) -> usize {
        match self {
            Self::Sha1 | Self::Sha224 | Self::Sha256 => 64,
            Self::Sha384 | Self::Sha512 => 128,
        }
    }

    /// The digest of a message.
    pub fn digest(self, message: &[u8]) -> Vec<u8> {
        let block = self.block();
        let mut padded = message.to_vec();
        padded.push(0x80);
        while padded.len() % block != block - block / 8 {
            padded.push(0);
        }
        let bits = (8 * message.len() as u128).to_be_bytes();
        padded.extend(&bits[16 - block / 8..]);
        let first = |words: &[u32]| {
            words
                .iter()
                .flat_map(|w| w.to_be_bytes())
                .collect::<Vec<_>>()
        };
        match self {
            Self::Sha1 => first(&sha1(&padded)),
            Self::Sha224 => first(&sha256(&padded, IV224)[..7]),
            Self::Sha256 => first(&sha256(&padded, IV256)),
            Self::Sha384 => sha512(&padded, IV384)[..6]
                .iter()
                .flat_map(|w| w.to_be_bytes())
                .collect(),
            Self::Sha512 => sha512(&padded, IV512)
                .iter()
                .flat_map(|w| w.to_be_bytes())
                .collect(),
        }
    }

    /// The tag of a message under a key of any length.
    pub fn hmac(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        let mut block = vec![0; self.block()];
        if key.len() > block.len() {
            let short = self.digest(key);
            block[..short.len()].copy_from_slice(&short);
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let padded = |byte: u8, rest: &[u8]| {
            let mut all: Vec<u8> = block.iter().map(|b| b ^ byte).collect();
            all.extend(rest);
            self.digest(&all)
        };
        padded(0x5c, &padded(0x36, message))
    }
}

fn sha1(padded: &[u8]) -> [u32; 5] {
    let mut h = [
        0x6745_2301_u32,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    for block in padded.chunks(64) {
        let mut w: Vec<u32> = block
            .chunks(4)
            .map(|b| u32::from_be_bytes(b.try_into().unwrap()))
            .collect();
        for t in 16..80 {
            w.push((w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = h;
        for (t, w) in w.into_iter().enumerate() {
            let (f, k) = match t / 20 {
                0 => ((b & c) ^ (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) ^ (b & d) ^ (c & d), 0x8f1b_bcdc_u32),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e);
            (e, d, c, b) = (d, c, b.rotate_left(30), a);
            a = next.wrapping_add(k).wrapping_add(w);
        }
        for (h, v) in h.iter_mut().zip([a, b, c, d, e]) {
            *h = h.wrapping_add(v);
        }
    }
    h
}

macro_rules! sha2 {
    ($name:ident, $word:ident, $k:ident, $rounds:literal, $A:expr, $E:expr, $near:expr, $far:expr) => {
        fn $name(padded: &[u8], mut h: [$word; 8]) -> [$word; 8] {
            const BYTES: usize = size_of::<$word>();
            let spread = |x: $word, [p, q, r]: [u32; 3]| {
                x.rotate_right(p) ^ x.rotate_right(q) ^ x.rotate_right(r)
            };
            let mix =
                |x: $word, [p, q, r]: [u32; 3]| x.rotate_right(p) ^ x.rotate_right(q) ^ (x >> r);
            for block in padded.chunks(16 * BYTES) {
                let mut w: Vec<$word> = block
                    .chunks(BYTES)
                    .map(|b| $word::from_be_bytes(b.try_into().unwrap()))
                    .collect();
                for t in 16..$rounds {
                    let sum = mix(w[t - 2], $far).wrapping_add(w[t - 7]);
                    w.push(
                        sum.wrapping_add(mix(w[t - 15], $near))
                            .wrapping_add(w[t - 16]),
                    );
                }
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut i] = h;
                for t in 0..$rounds {
                    let t1 = i
                        .wrapping_add(spread(e, $E))
                        .wrapping_add((e & f) ^ (!e & g))
                        .wrapping_add($k[t])
                        .wrapping_add(w[t]);
                    let t2 = spread(a, $A).wrapping_add((a & b) ^ (a & c) ^ (b & c));
                    (i, g, f, e) = (g, f, e, d.wrapping_add(t1));
                    (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
                }
                for (h, v) in h.iter_mut().zip([a, b, c, d, e, f, g, i]) {
                    *h = h.wrapping_add(v);
                }
            }
            h
        }
    };
}

sha2!(
    sha256,
    u32,
    K256,
    64,
    [2, 13, 22],
    [6, 11, 25],
    [7, 18, 3],
    [17, 19, 10]
);
sha2!(
    sha512,
    u64,
    K512,
    80,
    [28, 34, 39],
    [14, 18, 41],
    [1, 8, 7],
    [19, 61, 6]
);

/// FIPS 180-4, section 4.2.2: as [`K512`], but 32 bits of the first 64 primes.
static K256: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let high = |k: &u64| u32::try_from(k >> 32).unwrap();
    K512[..64].iter().map(high).collect()
});

/// FIPS 180-4, section 4.2.3: the first 64 bits of the fractional parts of the cube roots of the
/// first 80 primes.
static K512: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let is_prime = |n: &u64| (2..*n).all(|divisor| !n.is_multiple_of(divisor));
    (2..).filter(is_prime).take(80).map(fraction).collect()
});

/// The first 64 bits of the fractional part of the cube root of a prime below 512.
fn fraction(prime: u64) -> u64 {
    let root = (0..67).rev().fold(0_u128, |root, bit| {
        let next = root | 1 << bit;
        let digits = [0, 32, 64].map(|from| u64::try_from(next >> from & 0xffff_ffff).unwrap());
        // Next³ / 2¹⁹², its one digit from there on.
        let cube = product(&product(&digits, &digits), &digits)[6];
        if cube < prime { next } else { root }
    });
    u64::try_from(root & u128::from(u64::MAX)).unwrap()
}

/// Of numbers whose digits have 32 bits.
fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut digits = vec![0; a.len() + b.len()];
    for (i, a) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, b) in b.iter().enumerate() {
            let sum = digits[i + j] + a * b + carry;
            (digits[i + j], carry) = (sum & 0xffff_ffff, sum >> 32);
        }
        digits[i + b.len()] = carry;
    }
    digits
}

const IV224: [u32; 8] = [
    0xc105_9ed8,
    0x367c_d507,
    0x3070_dd17,
    0xf70e_5939,
    0xffc0_0b31,
    0x6858_1511,
    0x64f9_8fa7,
    0xbefa_4fa4,
];
const IV256: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
const IV384: [u64; 8] = [
    0xcbbb_9d5d_c105_9ed8,
    0x629a_292a_367c_d507,
    0x9159_015a_3070_dd17,
    0x152f_ecd8_f70e_5939,
    0x6733_2667_ffc0_0b31,
    0x8eb4_4a87_6858_1511,
    0xdb0c_2e0d_64f9_8fa7,
    0x47b5_481d_befa_4fa4,
];
const IV512: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

#[cfg(test)]
mod vectors {
    use super::Hash;
    use crate::testing::hex;

    /// FIPS 180-4 examples: "abc".
    #[test]
    fn abc() {
        let expected = [
            (Hash::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                Hash::Sha224,
                "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
            ),
            (
                Hash::Sha256,
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                Hash::Sha384,
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed
                 8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                Hash::Sha512,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
        ];
        for (hash, digest) in expected {
            assert_eq!(hash.digest(b"abc"), hex(digest), "{hash:?}");
        }
    }

    /// FIPS 180-4 examples: a message of two blocks.
    #[test]
    fn two_blocks() {
        let message = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        let sha1 = hex("84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(Hash::Sha1.digest(message), sha1);
        let sha256 = hex("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        assert_eq!(Hash::Sha256.digest(message), sha256);
    }

    /// RFC 2202 (SHA-1) and RFC 4231 (SHA-2), test cases 1, 2 and 6.
    #[test]
    fn hmac() {
        let sha1 = |key: &[u8], message: &[u8], tag| {
            assert_eq!(Hash::Sha1.hmac(key, message), hex(tag));
        };
        sha1(
            &[0x0b; 20],
            b"Hi There",
            "b617318655057264e28bc0b6fb378c8ef146be00",
        );
        sha1(
            b"Jefe",
            b"what do ya want for nothing?",
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        );
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        sha1(
            &[0xaa; 80],
            long,
            "aa4ae5e15272d00e95705637ce8a3b55ed402112",
        );
        let key = vec![0xaa; 131];
        let expected = [
            (
                Hash::Sha224,
                "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e",
            ),
            (
                Hash::Sha256,
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (
                Hash::Sha384,
                "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c6
                 0c2ef6ab4030fe8296248df163f44952",
            ),
            (
                Hash::Sha512,
                "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352
                 6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
            ),
        ];
        for (hash, tag) in expected {
            assert_eq!(hash.hmac(&key, long), hex(tag), "{hash:?}");
        }
        let tag = hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert_eq!(
            Hash::Sha256.hmac(b"Jefe", b"what do ya want for nothing?"),
            tag
        );
    }
}
