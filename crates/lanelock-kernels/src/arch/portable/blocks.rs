//! One AES block in a plain integer, in constant time.

use crate::aes::reference;
use crate::arch::blocks::{Vector, keep_number, load_number, store_number};
use crate::arch::register::Register;

/// A block; its first byte is the least significant one.
#[derive(Clone, Copy)]
pub(crate) struct Block(u128);

impl Register for Block {
    type Proof = ();

    #[inline(always)]
    fn proof(self) {}
}

// As in `digits`, what takes many instructions is a function.
impl Vector for Block {
    const BLOCKS: usize = 1;
    const SIDE_BY_SIDE: bool = false;
    type Single = Self;

    fn single((): ()) {}

    fn zero((): ()) -> Self {
        Self(0)
    }

    fn splat((): (), block: u128) -> Self {
        Self(block)
    }

    fn ramp((): ()) -> Self {
        Self(0)
    }

    unsafe fn load((): (), from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes.
        Self(u128::from_le_bytes(unsafe {
            from.cast::<[u8; 16]>().read()
        }))
    }

    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's 16 bytes.
        unsafe { to.cast::<[u8; 16]>().write(self.0.to_le_bytes()) }
    }

    unsafe fn load_bytes((): (), from: *const u8, bytes: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { load_number(from, bytes) })
    }

    unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { store_number(self.0, to, bytes) }
    }

    unsafe fn keep_bytes(self, bytes: usize) -> Self {
        Self(keep_number(self.0, bytes))
    }

    unsafe fn broadcast((): (), from: *const u8) -> Self {
        // SAFETY: the caller's pointer, passed on.
        unsafe { Self::load((), from) }
    }

    unsafe fn gather((): (), from: *const *mut u8) -> Self {
        // SAFETY: the caller's pointer, passed on.
        unsafe { Self::load((), *from) }
    }

    unsafe fn scatter(self, to: *const *mut u8) {
        // SAFETY: the caller's pointer, passed on.
        unsafe { self.store(*to) }
    }

    unsafe fn load_lines(
        (): (),
        from: *const *const u8,
        offset: usize,
        blocks: usize,
    ) -> [Self; 4] {
        let mut lines = [Self(0); 4];
        for (j, line) in lines[..blocks].iter_mut().enumerate() {
            // SAFETY: block `j` of the caller's line.
            *line = unsafe { Self::load((), (*from).add(offset + 16 * j)) };
        }
        lines
    }

    unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize) {
        for (j, line) in lines[..blocks].iter().enumerate() {
            // SAFETY: block `j` of the caller's line.
            unsafe { line.store((*to).add(offset + 16 * j)) };
        }
    }

    fn pin<const G: usize>(_: &mut [Self; G]) {}

    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    fn xor3(self, b: Self, c: Self) -> Self {
        Self(self.0 ^ b.0 ^ c.0)
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[inline(never)]
    fn aes_enc(self, key: Self) -> Self {
        Self(reference::round(self.0) ^ key.0)
    }

    #[inline(never)]
    fn aes_enc_last(self, key: Self) -> Self {
        Self(reference::last_round(self.0) ^ key.0)
    }

    #[inline(never)]
    fn aes_dec(self, key: Self) -> Self {
        Self(reference::inverse_round(self.0) ^ key.0)
    }

    #[inline(never)]
    fn aes_dec_last(self, key: Self) -> Self {
        Self(reference::inverse_last_round(self.0) ^ key.0)
    }

    fn reverse(self) -> Self {
        Self(self.0.swap_bytes())
    }

    fn add32(self, other: Self) -> Self {
        let mut sum = 0;
        for shift in [0, 32, 64, 96] {
            let word = (self.0 >> shift).wrapping_add(other.0 >> shift) & 0xffff_ffff;
            sum |= word << shift;
        }
        Self(sum)
    }

    fn add64(self, other: Self) -> Self {
        let [a, b] = halves(self.0);
        let [c, d] = halves(other.0);
        Self(join(a.wrapping_add(c), b.wrapping_add(d)))
    }

    fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        let a = halves(self.0)[usize::from(HALVES & 1 != 0)];
        let b = halves(other.0)[usize::from(HALVES & 16 != 0)];
        Self(carryless_product(a, b))
    }

    fn swap_halves(self) -> Self {
        Self(self.0.rotate_left(64))
    }

    fn low_to_high(self) -> Self {
        Self(self.0 << 64)
    }

    fn high_to_low(self) -> Self {
        Self(self.0 >> 64)
    }

    fn words_up(self) -> Self {
        Self(self.0 << 32)
    }

    fn bytes_up(self) -> Self {
        Self(self.0 << 8)
    }

    fn last_byte(self) -> Self {
        Self(self.0 >> 120)
    }

    fn last_word(self) -> Self {
        Self((self.0 >> 96) * WORDS)
    }

    fn last_word_rotated(self) -> Self {
        let word = self.0 >> 96;
        Self((word >> 8 | word << 24 & 0xff00_0000) * WORDS)
    }

    fn shl64(self, bits: u32) -> Self {
        let [low, high] = halves(self.0).map(|half| half.checked_shl(bits).unwrap_or(0));
        Self(join(low, high))
    }

    fn shr64(self, bits: u32) -> Self {
        let [low, high] = halves(self.0).map(|half| half.checked_shr(bits).unwrap_or(0));
        Self(join(low, high))
    }

    fn shift_in(self, before: Self) -> Self {
        before
    }

    fn fold(self) -> Self {
        self
    }

    fn first(self) -> Self {
        self
    }

    fn pair((): (), _: Self, _: Self) -> Self {
        unreachable!("one block per register")
    }

    fn fold_rows(rows: [Self; 4]) -> Self {
        rows[0]
    }

    fn from_singles((): (), singles: [Self; 4]) -> Self {
        singles[0]
    }

    fn from_single((): (), single: Self) -> Self {
        single
    }
}

/// A one in each 32-bit word: times a word, that word in all places.
const WORDS: u128 = 0x0000_0001_0000_0001_0000_0001_0000_0001;

/// The low and the high half.
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
fn halves(block: u128) -> [u64; 2] {
    [block as u64, (block >> 64) as u64]
}

fn join(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

/// Every fifth bit.
const FIFTHS: u128 = {
    let (mut fifths, mut bit) = (0, 0);
    while bit < 128 {
        fifths |= 1 << bit;
        bit += 5;
    }
    fifths
};

/// The product of two polynomials over GF(2), by integer multiplication, which takes the same time
/// for all numbers.
///
/// Of a factor, only every fifth bit is multiplied at a time. At most thirteen of them meet in a
/// bit of the product, so their carries end before the next fifth bit, and the bit itself is the
/// sum's parity.
#[inline(never)]
fn carryless_product(a: u64, b: u64) -> u128 {
    let mut product = 0;
    for i in 0..5 {
        for j in 0..5 {
            let (a, b) = (u128::from(a) & FIFTHS << i, u128::from(b) & FIFTHS << j);
            product ^= a * b & FIFTHS << (i + j) % 5;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::carryless_product;
    use crate::testing::Random;

    #[test]
    fn products_are_sums_of_shifts() {
        let mut random = Random::new(5);
        let edges = [
            (0, 0),
            (1, u64::MAX),
            (u64::MAX, u64::MAX),
            (1 << 63, 1 << 63),
        ];
        let others = (0..500).map(|_| (random.next(), random.next()));
        for (a, b) in edges.into_iter().chain(others) {
            let shifts = (0..64).filter(|bit| b >> bit & 1 == 1);
            let sum = shifts.fold(0, |sum, bit| sum ^ u128::from(a) << bit);
            assert_eq!(carryless_product(a, b), sum, "{a:#x} times {b:#x}");
        }
    }
}
