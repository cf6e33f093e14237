//! ChaCha20, Poly1305 and ChaCha20-Poly1305 (RFC 8439), and the subkey of XChaCha20.

#![allow(clippy::unwrap_used)] // slices of the right length

fn quarter(s: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    s[a] = s[a].wrapping_add(s[b]);
    s[d] = (s[d] ^ s[a]).rotate_left(16);
    s[c] = s[c].wrapping_add(s[d]);
    s[b] = (s[b] ^ s[c]).rotate_left(12);
    s[a] = s[a].wrapping_add(s[b]);
    s[d] = (s[d] ^ s[a]).rotate_left(8);
    s[c] = s[c].wrapping_add(s[d]);
    s[b] = (s[b] ^ s[c]).rotate_left(7);
}

fn rounds(state: [u32; 16]) -> [u32; 16] {
    let mut s = state;
    for _ in 0..10 {
        for i in 0..4 {
            quarter(&mut s, i, 4 + i, 8 + i, 12 + i);
        }
        for i in 0..4 {
            quarter(
                &mut s,
                i,
                4 + (i + 1) % 4,
                8 + (i + 2) % 4,
                12 + (i + 3) % 4,
            );
        }
    }
    s
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .chunks(4)
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
}

fn state(key: &[u8], rest: &[u8]) -> [u32; 16] {
    let all: Vec<u32> = words(b"expand 32-byte k")
        .chain(words(key))
        .chain(words(rest))
        .collect();
    all.try_into().unwrap()
}

/// XORs the keystream from block `counter` on.
///
/// # Panics
/// If the key does not have 32 bytes, or the nonce 12.
pub fn chacha20(key: &[u8], counter: u32, nonce: &[u8], text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, block) in text.chunks(64).enumerate() {
        let counter = counter.wrapping_add(u32::try_from(i).unwrap());
        let start = state(key, &[&counter.to_le_bytes(), nonce].concat());
        let end = rounds(start);
        let keystream = start
            .iter()
            .zip(end)
            .flat_map(|(a, b)| a.wrapping_add(b).to_le_bytes());
        out.extend(block.iter().zip(keystream).map(|(a, b)| a ^ b));
    }
    out
}

/// The subkey of XChaCha20.
pub fn hchacha20(key: &[u8], nonce: &[u8]) -> Vec<u8> {
    let end = rounds(state(key, nonce));
    end[..4]
        .iter()
        .chain(&end[12..])
        .flat_map(|w| w.to_le_bytes())
        .collect()
}

/// Poly1305 in limbs of 26 bits.
///
/// # Panics
/// If the key does not have 32 bytes.
pub fn poly1305(key: &[u8], message: &[u8]) -> [u8; 16] {
    let limbs = |bytes: &[u8]| {
        let mut wide = [0; 24];
        wide[..bytes.len()].copy_from_slice(bytes);
        [0, 26, 52, 78, 104].map(|bit: usize| {
            let from = bit / 8;
            let word = u64::from_le_bytes(wide[from..from + 8].try_into().unwrap());
            word >> (bit % 8) & 0x3ff_ffff
        })
    };
    let mut clamped: [u8; 16] = key[..16].try_into().unwrap();
    for i in [3, 7, 11, 15] {
        clamped[i] &= 15;
    }
    for i in [4, 8, 12] {
        clamped[i] &= 252;
    }
    let r = limbs(&clamped);
    let mut h = [0_u64; 5];
    for block in message.chunks(16) {
        let mut padded = block.to_vec();
        padded.push(1);
        for (h, m) in h.iter_mut().zip(limbs(&padded)) {
            *h += m;
        }
        let mut product = [0_u64; 5];
        for i in 0..5 {
            for j in 0..5 {
                let weight = if i + j >= 5 { 5 } else { 1 };
                product[(i + j) % 5] += weight * h[i] * r[j];
            }
        }
        let mut carry = 0;
        for limb in &mut product {
            *limb += carry;
            carry = *limb >> 26;
            *limb &= 0x3ff_ffff;
        }
        product[0] += 5 * carry;
        product[1] += product[0] >> 26;
        product[0] &= 0x3ff_ffff;
        h = product;
    }
    // To bytes: all carries, then the modulus is subtracted while the number is not below it.
    for _ in 0..2 {
        let mut carry = 0;
        for limb in &mut h {
            *limb += carry;
            carry = *limb >> 26;
            *limb &= 0x3ff_ffff;
        }
        h[0] += 5 * carry;
    }
    if h[0] >= 0x3ff_fffb && h[1..].iter().all(|&limb| limb == 0x3ff_ffff) {
        h = [h[0] - 0x3ff_fffb, 0, 0, 0, 0];
    }
    let low = h
        .iter()
        .take(4)
        .rev()
        .fold(0_u128, |n, &limb| n << 26 | u128::from(limb));
    let number = low.wrapping_add(u128::from(h[4]) << 104);
    let s = u128::from_le_bytes(key[16..32].try_into().unwrap());
    number.wrapping_add(s).to_le_bytes()
}

/// The ciphertext and its tag.
pub fn seal(key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let ciphertext = chacha20(key, 1, nonce, text);
    let one_time = chacha20(key, 0, nonce, &[0; 32]);
    let mut mac = Vec::new();
    for part in [aad, &ciphertext] {
        mac.extend(part);
        mac.resize(mac.len().next_multiple_of(16), 0);
    }
    mac.extend((aad.len() as u64).to_le_bytes());
    mac.extend((text.len() as u64).to_le_bytes());
    let tag = poly1305(&one_time, &mac);
    (ciphertext, tag)
}

#[cfg(test)]
mod vectors {
    use super::{chacha20, hchacha20, poly1305, seal};
    use crate::testing::hex;

    const TEXT: &[u8] = b"Ladies and Gentlemen of the class of '99: If I could offer you only one \
        tip for the future, sunscreen would be it.";

    /// RFC 8439, section 2.4.2.
    #[test]
    fn cipher() {
        let key: Vec<u8> = (0..32).collect();
        let out = chacha20(&key, 1, &hex("000000000000004a00000000"), TEXT);
        assert_eq!(
            out[..32],
            hex("6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0b")
        );
        assert_eq!(out[96..], hex("5af90bbf74a35be6b40b8eedf2785e42874d"));
    }

    /// RFC 8439, section 2.5.2.
    #[test]
    fn authenticator() {
        let key = hex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
        let tag = poly1305(&key, b"Cryptographic Forum Research Group");
        assert_eq!(tag.to_vec(), hex("a8061dc1305136c6c22b8baf0c0127a9"));
    }

    /// RFC 8439, appendix A.3, vectors 7 to 9: sums at the edge of the modulus.
    #[test]
    fn edges() {
        let one = [&[1][..], &[0; 31]].concat();
        let ff = [0xff; 16];
        let fb = [&[0xfb][..], &[0xfe; 15]].concat();
        let message = [&ff[..], &fb, &[1; 16]].concat();
        assert_eq!(poly1305(&one, &message), [0; 16]);
        let two = [&[2][..], &[0; 31]].concat();
        let message = [&[0xfd][..], &[0xff; 15]].concat();
        assert_eq!(poly1305(&two, &message)[..2], [0xfa, 0xff]);
    }

    /// RFC 8439, section 2.8.2.
    #[test]
    fn aead() {
        let key: Vec<u8> = (0x80..0xa0).collect();
        let aad = hex("50515253c0c1c2c3c4c5c6c7");
        let (out, tag) = seal(&key, &hex("070000004041424344454647"), &aad, TEXT);
        assert_eq!(out[..16], hex("d31a8d34648e60db7b86afbc53ef7ec2"));
        assert_eq!(tag.to_vec(), hex("1ae10b594f09e26a7e902ecbd0600691"));
    }

    /// draft-irtf-cfrg-xchacha-03, section 2.2.1.
    #[test]
    fn extended() {
        let key: Vec<u8> = (0..32).collect();
        let subkey = hchacha20(&key, &hex("000000090000004a0000000031415927"));
        let expected = hex("82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc");
        assert_eq!(subkey, expected);
    }
}
