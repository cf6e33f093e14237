//! GHASH by carry-less multiplication.
//!
//! Blocks are reversed byte by byte, which turns GHASH into POLYVAL with x·H for H (RFC 8452,
//! appendix A): products then need no bit reflection, and x⁻¹²⁸ of each product is taken by two
//! multiplications (S. Gueron, "A new interpretation for the GHASH authenticator of AES-GCM").
//! The sum of up to [`POWERS`] products of blocks and descending powers is reduced once. A
//! product takes three multiplications (Karatsuba): on 512-bit registers they, not the AES
//! rounds, are what the CPU has least of.

use zeroize::Zeroize;

use crate::aes::BLOCK;
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::map;

/// Highest power of H that a key holds: eight registers of four blocks, and a little more so that
/// short additional data and the lengths need no reduction of their own.
pub(super) const POWERS: usize = 40;
/// Blocks after the powers that a register at the last power reaches.
pub(super) const SPARE: usize = 4;

/// Hⁿ, …, H², H; then, in the same order, the sum of the two halves of each, in both halves.
/// Zeros after each, so that a register may be loaded at the last.
pub(super) type Table = [[[u8; BLOCK]; POWERS + SPARE]; 2];

/// From a power to the sum of its halves, in bytes.
pub(super) const SUMS: usize = BLOCK * (POWERS + SPARE);

/// A hash in progress: the reduced value of all whole sums, and the sum being built.
#[derive(Clone, Copy)]
pub(super) struct Ghash<V: Vector> {
    /// Hⁿ first.
    powers: *const u8,
    /// Belongs to the block with the highest power of the next sum.
    reduced: V::Single,
    sum: Sum<V>,
}

/// Products that are added up block by block, not reduced yet: of the low halves, of the high
/// halves, and of the sums of both.
#[derive(Clone, Copy)]
pub(super) struct Sum<V> {
    low: V,
    middle: V,
    high: V,
}

impl<V: Vector> Sum<V> {
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn zero() -> Self {
        // SAFETY: as above.
        let zero = unsafe { V::zero() };
        let (low, middle, high) = (zero, zero, zero);
        Self { low, middle, high }
    }

    /// Adds the product of `x`, blocks reversed, and the powers `h`, whose halves add up to
    /// `h_sum`.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn add(&mut self, x: V, h: V, h_sum: V) {
        // SAFETY: as above.
        unsafe {
            let product = Self::product(x, h, h_sum);
            self.low = self.low.xor(product.low);
            self.high = self.high.xor(product.high);
            self.middle = self.middle.xor(product.middle);
        }
    }

    /// The sum of one product.
    ///
    /// # Safety
    /// As for [`Sum::add`].
    #[inline(always)]
    unsafe fn product(x: V, h: V, h_sum: V) -> Self {
        // SAFETY: as above.
        unsafe {
            let x_sum = x.xor(x.swap_halves());
            Self {
                low: x.clmul::<0x00>(h),
                middle: x_sum.clmul::<0x00>(h_sum),
                high: x.clmul::<0x11>(h),
            }
        }
    }

    /// Adds registers that follow each other, not reversed yet, the first at `power`.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `powers` is the [`Table`] of a key; each register begins at
    /// a power of 1 to [`POWERS`]; blocks past the end are zero.
    #[inline(always)]
    pub unsafe fn add_registers<const G: usize>(
        &mut self,
        data: [V; G],
        powers: *const u8,
        power: usize,
    ) {
        // SAFETY: as above.
        unsafe {
            let mut products = [Self::zero(); G];
            for i in 0..G {
                let (h, h_sum) = powers_from(powers, power - V::BLOCKS * i);
                products[i] = Self::product(data[i].reverse(), h, h_sum);
            }
            for i in 0..G / 2 {
                self.add_products(products[2 * i], products[2 * i + 1]);
            }
            if G % 2 == 1 {
                self.add_product(products[G - 1]);
            }
        }
    }

    /// Keeps the products in their place, as [`Vector::pin`] does.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn pin(&mut self) {
        let mut registers = [self.low, self.middle, self.high];
        // SAFETY: as above.
        unsafe { V::pin(&mut registers) };
        [self.low, self.middle, self.high] = registers;
    }

    /// Adds a sum.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    unsafe fn add_product(&mut self, a: Self) {
        // SAFETY: as above.
        unsafe {
            self.low = self.low.xor(a.low);
            self.middle = self.middle.xor(a.middle);
            self.high = self.high.xor(a.high);
        }
    }

    /// Adds two sums.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    unsafe fn add_products(&mut self, a: Self, b: Self) {
        // SAFETY: as above.
        unsafe {
            self.low = self.low.xor3(a.low, b.low);
            self.middle = self.middle.xor3(a.middle, b.middle);
            self.high = self.high.xor3(a.high, b.high);
        }
    }

    /// Block `i` is the sum of this sum's block `i` and of all blocks of row `i`.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn add_rows(&mut self, rows: [Self; 4]) {
        // SAFETY: as above.
        unsafe {
            self.low = self.low.xor(V::fold_rows(map(rows, |row| row.low)));
            self.middle = self.middle.xor(V::fold_rows(map(rows, |row| row.middle)));
            self.high = self.high.xor(V::fold_rows(map(rows, |row| row.high)));
        }
    }

    /// The low and the high halves of the sums.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    unsafe fn halves(self) -> (V, V) {
        // SAFETY: as above.
        unsafe {
            let middle = self.middle.xor3(self.low, self.high);
            let low = self.low.xor(middle.low_to_high());
            let high = self.high.xor(middle.high_to_low());
            (low, high)
        }
    }

    /// The hash whose sum each block is, in memory order.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn values(self) -> V {
        // SAFETY: as above.
        unsafe {
            let (low, high) = self.halves();
            reduce(low, high).reverse()
        }
    }
}

/// x⁻¹²⁸ times a polynomial, block by block.
///
/// # Safety
/// Runs under [`Vector::enter`].
#[inline(always)]
unsafe fn reduce<V: Vector>(low: V, high: V) -> V {
    // SAFETY: as above.
    unsafe {
        let polynomial = V::splat(0xc2 << 120 | 1);
        let low = low.swap_halves().xor(low.clmul::<0x10>(polynomial));
        let low = low.swap_halves().xor(low.clmul::<0x10>(polynomial));
        low.xor(high)
    }
}

/// The powers from `power` down to where the register ends, and the sums of their halves.
///
/// # Safety
/// Runs under [`Vector::enter`]; `powers` is the [`Table`] of a key, `power` is 1 to [`POWERS`].
#[inline(always)]
pub(super) unsafe fn powers_from<V: Vector>(powers: *const u8, power: usize) -> (V, V) {
    debug_assert!((1..=POWERS).contains(&power));
    // SAFETY: as above; the spare blocks make the load valid at any power.
    unsafe {
        let h = powers.add(BLOCK * (POWERS - power));
        (V::load(h), V::load(h.add(SUMS)))
    }
}

impl<V: Vector> Ghash<V> {
    /// # Safety
    /// Runs under [`Vector::enter`]; `powers` is the [`Table`] of a key.
    #[inline(always)]
    pub unsafe fn start(powers: *const u8) -> Self {
        // SAFETY: as above.
        unsafe {
            Self {
                powers,
                reduced: V::Single::zero(),
                sum: Sum::zero(),
            }
        }
    }

    /// Takes up a hash where [`Ghash::value`] left it.
    ///
    /// # Safety
    /// As for [`Ghash::start`].
    #[inline(always)]
    pub unsafe fn resume(powers: *const u8, value: &[u8; BLOCK]) -> Self {
        // SAFETY: as above; a block is read.
        unsafe {
            let reduced = V::Single::load(value.as_ptr()).reverse();
            Self {
                reduced,
                ..Self::start(powers)
            }
        }
    }

    /// The hash of everything so far, if no sum is open.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn value(self) -> V::Single {
        // SAFETY: as above.
        unsafe { self.reduced.reverse() }
    }

    /// Adds to the sum a register whose first block is the `power`-th from the sum's end. With
    /// `OPENS`, that block is the first of the sum and takes up the previous one.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `power` is 1 to [`POWERS`]; blocks past the end are zero.
    #[inline(always)]
    pub unsafe fn add<const OPENS: bool>(&mut self, data: V, power: usize) {
        // SAFETY: as above.
        unsafe {
            let mut x = data.reverse();
            if OPENS {
                x = x.xor(V::from_single(self.reduced));
            }
            self.multiply(x, power);
        }
    }

    /// As [`Ghash::add`], for two registers that follow each other.
    ///
    /// # Safety
    /// As for [`Ghash::add`]; the second register is at `power - V::BLOCKS`, at least 1.
    #[inline(always)]
    pub unsafe fn add_two<const OPENS: bool>(&mut self, data: [V; 2], power: usize) {
        // SAFETY: as above.
        unsafe {
            let [mut x, y] = map(data, |data| data.reverse());
            if OPENS {
                x = x.xor(V::from_single(self.reduced));
            }
            let (h, h_sum) = powers_from(self.powers, power);
            let x = Sum::product(x, h, h_sum);
            let (h, h_sum) = powers_from(self.powers, power - V::BLOCKS);
            self.sum.add_products(x, Sum::product(y, h, h_sum));
        }
    }

    /// Adds a text of `len` bytes, at least one, that `after` blocks follow in the open sum. `last`
    /// is its last register, zero behind the text; the others are at `from`.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `from` is valid for reads of the whole registers before the
    /// last; the text and `after` have 1 to [`POWERS`] blocks.
    #[inline(always)]
    pub unsafe fn add_text(&mut self, from: *const u8, len: usize, last: V, after: usize) {
        let mut power = len.div_ceil(BLOCK) + after;
        let (mut at, end) = (0, (len - 1) / V::BYTES * V::BYTES);
        // SAFETY: as above.
        unsafe {
            while end - at >= 2 * V::BYTES {
                let data = map([at, at + V::BYTES], |at| V::load(from.add(at)));
                self.add_two::<false>(data, power);
                at += 2 * V::BYTES;
                power -= 2 * V::BLOCKS;
            }
            if at < end {
                self.add_two::<false>([V::load(from.add(at)), last], power);
            } else {
                self.add::<false>(last, power);
            }
        }
    }

    /// Opens a sum of `blocks` blocks by itself: for sums whose first register is not known.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `blocks` is 1 to [`POWERS`].
    #[inline(always)]
    pub unsafe fn open(&mut self, blocks: usize) {
        // SAFETY: as above.
        unsafe { self.multiply(V::from_single(self.reduced), blocks) }
    }

    /// Adds registers that follow each other, the first at `power`; zero behind the last block.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `power` is 1 to [`POWERS`], and each register begins at 1 or
    /// above.
    #[inline(always)]
    pub unsafe fn add_last<const G: usize>(&mut self, data: [V; G], power: usize) {
        for (i, data) in data.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { self.add::<false>(data, power - V::BLOCKS * i) };
        }
    }

    /// Adds `first` at `power` and `last` at 1, the last block of the sum. Both are reversed.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `power` is 1 to [`POWERS`].
    #[inline(always)]
    pub unsafe fn add_ends(&mut self, first: V::Single, power: usize, last: V::Single) {
        debug_assert!((1..=POWERS).contains(&power));
        // SAFETY: both tables hold a block at each power.
        unsafe {
            if V::BLOCKS == 1 {
                self.multiply(V::from_single(first), power);
                return self.multiply(V::from_single(last), 1);
            }
            let (h, h_sum) = powers_from::<V::Single>(self.powers, power);
            let (one, one_sum) = powers_from::<V::Single>(self.powers, 1);
            let (h, h_sum) = (V::pair(h, one), V::pair(h_sum, one_sum));
            self.sum.add(V::pair(first, last), h, h_sum);
        }
    }

    /// The value of all whole sums, reversed: the next sum's first block takes it up.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn reduced(&self) -> V::Single {
        self.reduced
    }

    /// Keeps the products of the open sum in their place, as [`Vector::pin`] does.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn pin(&mut self) {
        // SAFETY: as above.
        unsafe { self.sum.pin() };
    }

    /// Ends the sum: reduces it.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn close(&mut self) {
        // SAFETY: as above.
        unsafe {
            let (low, high) = self.sum.halves();
            self.reduced = reduce(low.fold(), high.fold());
            self.sum = Sum::zero();
        }
    }

    /// Adds registers `i` and `i + 1` of a chunk of eight that ends the sum. The first two take up
    /// the previous one: they come last, as nothing else waits for it.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `from` is valid for reads of eight registers; `i` is below 7.
    #[inline(always)]
    pub unsafe fn add_of_chunk(&mut self, from: *const u8, i: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let data = map([i, i + 1], |i| V::load(from.add(V::BYTES * i)));
            let power = V::BLOCKS * (8 - i);
            if i == 0 {
                self.add_two::<true>(data, power);
            } else {
                self.add_two::<false>(data, power);
            }
        }
    }

    /// Hashes eight registers and ends the sum, which may hold products of what lies before them.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `from` is valid for reads of eight registers.
    #[inline(always)]
    pub unsafe fn absorb_chunk(&mut self, from: *const u8) {
        // SAFETY: the caller's promise.
        unsafe {
            for i in [6, 4, 2, 0] {
                self.add_of_chunk(from, i);
            }
            self.close();
        }
    }

    /// Hashes `len` bytes, the last block padded with zeros. No sum is open before or after.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; `from` is valid for reads of `len` bytes.
    #[inline(always)]
    pub unsafe fn absorb(&mut self, from: *const u8, len: usize) {
        let mut done = 0;
        // SAFETY: each load lies below `len`; a sum has at most eight registers.
        unsafe {
            while done < len {
                let rest = (len - done).min(8 * V::BYTES);
                let power = rest.div_ceil(BLOCK);
                self.open(power);
                for at in (0..rest).step_by(V::BYTES) {
                    let within = (rest - at).min(V::BYTES);
                    let data = if within == V::BYTES {
                        V::load(from.add(done + at))
                    } else {
                        V::load_bytes(from.add(done + at), within)
                    };
                    self.add::<false>(data, power - at / BLOCK);
                }
                self.close();
                done += rest;
            }
        }
    }

    #[inline(always)]
    unsafe fn multiply(&mut self, x: V, power: usize) {
        // SAFETY: the caller's promise; the table is a key's.
        unsafe {
            let (h, h_sum) = powers_from(self.powers, power);
            self.sum.add(x, h, h_sum);
        }
    }
}

/// Fills in the powers of `h`, a block read as a big-endian number.
pub(super) struct Powers<'a> {
    pub h: u128,
    pub powers: &'a mut Table,
}

impl Kernel for Powers<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // x·H, by masks: H is secret.
        let carry = (self.h >> 127).wrapping_neg();
        let h = self.h << 1 ^ carry & (0xc2 << 120 | 1);
        let mut power = h.to_le_bytes();
        for n in (0..POWERS).rev() {
            // SAFETY: runs under `enter`; a sum of one block, at power 1, which is known from
            // the second round on.
            unsafe {
                if n < POWERS - 1 {
                    let mut product = Ghash::<V::Single>::start(self.powers.as_ptr().cast());
                    product.multiply(Vector::load(power.as_ptr()), 1);
                    product.close();
                    product.reduced.store(power.as_mut_ptr());
                }
                let single = V::Single::load(power.as_ptr());
                single
                    .xor(single.swap_halves())
                    .store(self.powers[1][n].as_mut_ptr());
            }
            self.powers[0][n] = power;
        }
        power.zeroize();
    }
}

/// Continues a hash over `len` bytes from `from`, zero-padded to blocks.
///
/// # Safety
/// `powers` are a key's; `from` is valid for reads of `len` bytes.
pub(super) struct Absorb<'a> {
    pub powers: *const u8,
    pub hashed: &'a mut [u8; BLOCK],
    pub from: *const u8,
    pub len: usize,
}

impl Kernel for Absorb<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the creator's promise.
        unsafe {
            let mut hash = Ghash::<V>::resume(self.powers, self.hashed);
            hash.absorb(self.from, self.len);
            hash.value().store(self.hashed.as_mut_ptr());
        }
    }
}
