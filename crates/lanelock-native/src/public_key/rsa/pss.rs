//! EMSA-PSS (RFC 8017, 9.1) for moduli of whole bytes: the encoding is as long as the modulus and
//! its first bit is 0.

use lanelock_kernels::hash::MAX_DIGEST;

use super::hasher::Hasher;
use super::mgf1;

/// The scheme's parameters. Invariant, checked by the core: hash, salt and two bytes fit into a
/// block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pss {
    pub hash: Hasher,
    pub mgf1: Hasher,
    pub salt_len: usize,
}

/// Ends every encoding.
const TRAILER: u8 = 0xbc;

/// First byte of an encoding, without the bit that the modulus has no room for.
const FIRST: u8 = 0x7f;

impl Pss {
    /// Writes the encoding of `digest` with `salt` to all of `block` (section 9.1.1).
    pub(super) fn encode(&self, digest: &[u8], salt: &[u8], block: &mut [u8]) {
        let (db, h, trailer) = self.parts(block);
        self.hash.digest(&[&[0; 8], digest, salt], h);
        trailer[0] = TRAILER;
        let (padding, tail) = db.split_at_mut(db.len() - salt.len());
        padding.fill(0);
        padding[padding.len() - 1] = 1;
        tail.copy_from_slice(salt);
        mgf1::mask(self.mgf1, h, db);
        db[0] &= FIRST;
    }

    /// Whether `block` is an encoding of `digest` (section 9.1.2). Unmasks it in place.
    pub(super) fn verify(&self, digest: &[u8], block: &mut [u8]) -> bool {
        if block[0] & !FIRST != 0 {
            return false;
        }
        let (db, h, trailer) = self.parts(block);
        mgf1::mask(self.mgf1, h, db);
        db[0] &= FIRST;
        let (padding, salt) = db.split_at(db.len() - self.salt_len);
        let (last, zeros) = padding.split_last().unwrap_or((&0, &[]));
        let mut expected = [0; MAX_DIGEST];
        let expected = &mut expected[..h.len()];
        self.hash.digest(&[&[0; 8], digest, salt], expected);
        trailer[0] == TRAILER
            && *last == 1
            && zeros.iter().all(|&byte| byte == 0)
            && h == &*expected
    }

    /// The masked data block, the hash, and the last byte.
    fn parts<'b>(&self, block: &'b mut [u8]) -> (&'b mut [u8], &'b mut [u8], &'b mut [u8]) {
        let (front, trailer) = block.split_at_mut(block.len() - 1);
        let (db, h) = front.split_at_mut(front.len() - self.hash.len());
        (db, h, trailer)
    }
}
