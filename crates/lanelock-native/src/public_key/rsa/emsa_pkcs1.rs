//! EMSA-PKCS1-v1_5 (RFC 8017, 9.2).

use super::hasher::Hasher;

/// Writes the encoding of `digest` to all of `block`. A signature is verified by comparing this
/// with what the public operation gives: nothing is parsed.
///
/// The core has checked that the modulus has room for it.
pub(super) fn encode(hasher: Hasher, digest: &[u8], block: &mut [u8]) {
    let prefix = prefix(hasher);
    let (padding, rest) = block.split_at_mut(block.len() - digest.len() - prefix.len());
    let (info, tail) = rest.split_at_mut(prefix.len());
    padding.fill(0xff);
    padding[0] = 0;
    padding[1] = 1;
    padding[padding.len() - 1] = 0;
    info.copy_from_slice(prefix);
    tail.copy_from_slice(digest);
}

/// The DER of `DigestInfo` in front of the digest (RFC 8017, 9.2, note 1): a sequence of the
/// hash's identifier, with NULL as its parameter, and of the octet string that the digest is.
fn prefix(hasher: Hasher) -> &'static [u8] {
    macro_rules! sha2 {
        ($arc:literal, $len:literal) => {
            &[
                0x30,
                17 + $len,
                0x30,
                13,
                6,
                9,
                0x60,
                0x86,
                0x48,
                1,
                0x65,
                3,
                4,
                2,
                $arc,
                5,
                0,
                4,
                $len,
            ]
        };
    }
    match hasher {
        Hasher::Sha1(_) => &[0x30, 33, 0x30, 9, 6, 5, 0x2b, 14, 3, 2, 26, 5, 0, 4, 20],
        Hasher::Sha224(_) => sha2!(4, 28),
        Hasher::Sha256(_) => sha2!(1, 32),
        Hasher::Sha384(_) => sha2!(2, 48),
        Hasher::Sha512(_) => sha2!(3, 64),
    }
}
