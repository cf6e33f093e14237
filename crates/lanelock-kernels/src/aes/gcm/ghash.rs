//! GHASH by carry-less multiplication.
//!
//! Blocks are reversed byte by byte, which turns GHASH into POLYVAL with x·H for H (RFC 8452,
//! appendix A): products then need no bit reflection, and x⁻¹²⁸ of each product is taken by two
//! multiplications (S. Gueron, "A new interpretation for the GHASH authenticator of AES-GCM").
//! The sum of up to [`POWERS`] products of blocks and descending powers is reduced once. A
//! product takes three multiplications (Karatsuba): on 512-bit registers they, not the AES
//! rounds, are what the CPU has least of.

use crate::aes::BLOCK;
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::map;
use crate::wipe::wipe;

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
    #[inline(always)]
    pub fn zero(proof: V::Proof) -> Self {
        let zero = V::zero(proof);
        let (low, middle, high) = (zero, zero, zero);
        Self { low, middle, high }
    }

    /// Adds the product of `x`, blocks reversed, and the powers `h`, whose halves add up to
    /// `h_sum`.
    #[inline(always)]
    pub fn add(&mut self, x: V, h: V, h_sum: V) {
        let product = Self::product(x, h, h_sum);
        self.low = self.low.xor(product.low);
        self.high = self.high.xor(product.high);
        self.middle = self.middle.xor(product.middle);
    }

    /// The sum of one product.
    #[inline(always)]
    fn product(x: V, h: V, h_sum: V) -> Self {
        let x_sum = x.xor(x.swap_halves());
        Self {
            low: x.clmul::<0x00>(h),
            middle: x_sum.clmul::<0x00>(h_sum),
            high: x.clmul::<0x11>(h),
        }
    }

    /// Adds registers that follow each other, not reversed yet, the first at `power`.
    ///
    /// # Safety
    /// `powers` is the [`Table`] of a key; each register begins at a power of 1 to [`POWERS`].
    /// Blocks past the end are zero.
    #[inline(always)]
    pub unsafe fn add_registers<const G: usize>(
        &mut self,
        data: [V; G],
        powers: *const u8,
        power: usize,
    ) {
        // SAFETY: as above.
        unsafe {
            let proof = self.low.proof();
            let mut products = [Self::zero(proof); G];
            for i in 0..G {
                let (h, h_sum) = powers_from(proof, powers, power - V::BLOCKS * i);
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
    #[inline(always)]
    pub fn pin(&mut self) {
        let mut registers = [self.low, self.middle, self.high];
        V::pin(&mut registers);
        [self.low, self.middle, self.high] = registers;
    }

    /// Adds a sum.
    #[inline(always)]
    fn add_product(&mut self, a: Self) {
        self.low = self.low.xor(a.low);
        self.middle = self.middle.xor(a.middle);
        self.high = self.high.xor(a.high);
    }

    /// Adds two sums.
    #[inline(always)]
    fn add_products(&mut self, a: Self, b: Self) {
        self.low = self.low.xor3(a.low, b.low);
        self.middle = self.middle.xor3(a.middle, b.middle);
        self.high = self.high.xor3(a.high, b.high);
    }

    /// Block `i` is the sum of this sum's block `i` and of all blocks of row `i`.
    #[inline(always)]
    pub fn add_rows(&mut self, rows: [Self; 4]) {
        self.low = self.low.xor(V::fold_rows(map(rows, |row| row.low)));
        self.middle = self.middle.xor(V::fold_rows(map(rows, |row| row.middle)));
        self.high = self.high.xor(V::fold_rows(map(rows, |row| row.high)));
    }

    /// The low and the high halves of the sums.
    #[inline(always)]
    fn halves(self) -> (V, V) {
        let middle = self.middle.xor3(self.low, self.high);
        let low = self.low.xor(middle.low_to_high());
        let high = self.high.xor(middle.high_to_low());
        (low, high)
    }

    /// The hash whose sum each block is, in memory order.
    #[inline(always)]
    pub fn values(self) -> V {
        let (low, high) = self.halves();
        reduce(low, high).reverse()
    }
}

/// x⁻¹²⁸ times a polynomial, block by block.
#[inline(always)]
fn reduce<V: Vector>(low: V, high: V) -> V {
    let polynomial = V::splat(low.proof(), 0xc2 << 120 | 1);
    let low = low.swap_halves().xor(low.clmul::<0x10>(polynomial));
    let low = low.swap_halves().xor(low.clmul::<0x10>(polynomial));
    low.xor(high)
}

/// The powers from `power` down to where the register ends, and the sums of their halves.
///
/// # Safety
/// `powers` is the [`Table`] of a key, `power` is 1 to [`POWERS`].
#[inline(always)]
pub(super) unsafe fn powers_from<V: Vector>(
    proof: V::Proof,
    powers: *const u8,
    power: usize,
) -> (V, V) {
    debug_assert!((1..=POWERS).contains(&power));
    // SAFETY: as above; the spare blocks make the load valid at any power.
    unsafe {
        let h = powers.add(BLOCK * (POWERS - power));
        (V::load(proof, h), V::load(proof, h.add(SUMS)))
    }
}

impl<V: Vector> Ghash<V> {
    /// # Safety
    /// `powers` is the [`Table`] of a key, for as long as the hash is used.
    #[inline(always)]
    pub unsafe fn start(proof: V::Proof, powers: *const u8) -> Self {
        Self {
            powers,
            reduced: V::Single::zero(V::single(proof)),
            sum: Sum::zero(proof),
        }
    }

    /// Takes up a hash where [`Ghash::value`] left it.
    ///
    /// # Safety
    /// As for [`Ghash::start`].
    #[inline(always)]
    pub unsafe fn resume(proof: V::Proof, powers: *const u8, value: &[u8; BLOCK]) -> Self {
        // SAFETY: as above; a block is read.
        unsafe {
            let reduced = V::Single::load(V::single(proof), value.as_ptr()).reverse();
            Self {
                reduced,
                ..Self::start(proof, powers)
            }
        }
    }

    /// The proof of its registers.
    #[inline(always)]
    fn proof(&self) -> V::Proof {
        self.sum.low.proof()
    }

    /// The hash of everything so far, if no sum is open.
    #[inline(always)]
    pub fn value(self) -> V::Single {
        self.reduced.reverse()
    }

    /// Adds to the sum a register whose first block is the `power`-th from the sum's end. With
    /// `OPENS`, that block is the first of the sum and takes up the previous one.
    ///
    /// # Safety
    /// `power` is 1 to [`POWERS`]; blocks past the end are zero.
    #[inline(always)]
    pub unsafe fn add<const OPENS: bool>(&mut self, data: V, power: usize) {
        // SAFETY: as above.
        unsafe {
            let mut x = data.reverse();
            if OPENS {
                x = x.xor(V::from_single(self.proof(), self.reduced));
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
                x = x.xor(V::from_single(self.proof(), self.reduced));
            }
            let (h, h_sum) = powers_from(self.proof(), self.powers, power);
            let x = Sum::product(x, h, h_sum);
            let (h, h_sum) = powers_from(self.proof(), self.powers, power - V::BLOCKS);
            self.sum.add_products(x, Sum::product(y, h, h_sum));
        }
    }

    /// Adds a text of `len` bytes, at least one, that `after` blocks follow in the open sum. `last`
    /// is its last register, zero behind the text; the others are at `from`.
    ///
    /// # Safety
    /// `from` is valid for reads of the whole registers before the last; the text and `after` have 1
    /// to [`POWERS`] blocks.
    #[inline(always)]
    pub unsafe fn add_text(&mut self, from: *const u8, len: usize, last: V, after: usize) {
        let proof = self.proof();
        let mut power = len.div_ceil(BLOCK) + after;
        let (mut at, end) = (0, (len - 1) / V::BYTES * V::BYTES);
        // SAFETY: as above.
        unsafe {
            while end - at >= 2 * V::BYTES {
                let data = map([at, at + V::BYTES], |at| V::load(proof, from.add(at)));
                self.add_two::<false>(data, power);
                at += 2 * V::BYTES;
                power -= 2 * V::BLOCKS;
            }
            if at < end {
                self.add_two::<false>([V::load(proof, from.add(at)), last], power);
            } else {
                self.add::<false>(last, power);
            }
        }
    }

    /// Adds `first`, reversed, at `power`.
    ///
    /// # Safety
    /// `power` is 1 to [`POWERS`].
    #[inline(always)]
    pub unsafe fn take_up(&mut self, first: V::Single, power: usize) {
        // SAFETY: as above.
        unsafe { self.multiply(V::from_single(self.proof(), first), power) }
    }

    /// Adds registers that follow each other, the first at `power`; zero behind the last block.
    ///
    /// # Safety
    /// `power` is 1 to [`POWERS`], and each register begins at 1 or above.
    #[inline(always)]
    pub unsafe fn add_last<const G: usize>(&mut self, data: [V; G], power: usize) {
        for (i, data) in data.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { self.add::<false>(data, power - V::BLOCKS * i) };
        }
    }

    /// As [`Ghash::add_last`], in pairs.
    ///
    /// # Safety
    /// As for [`Ghash::add_last`].
    #[inline(always)]
    pub unsafe fn add_registers<const G: usize>(&mut self, data: [V; G], power: usize) {
        // SAFETY: as above; the table is a key's.
        unsafe { self.sum.add_registers(data, self.powers, power) }
    }

    /// Adds `first` at `power` and `last` at 1, the last block of the sum. Both are reversed.
    ///
    /// # Safety
    /// `power` is 1 to [`POWERS`].
    #[inline(always)]
    pub unsafe fn add_ends(&mut self, first: V::Single, power: usize, last: V::Single) {
        debug_assert!((1..=POWERS).contains(&power));
        // SAFETY: both tables hold a block at each power.
        unsafe {
            if V::BLOCKS == 1 {
                self.multiply(V::from_single(self.proof(), first), power);
                return self.multiply(V::from_single(self.proof(), last), 1);
            }
            let proof = self.proof();
            let single = V::single(proof);
            let (h, h_sum) = powers_from::<V::Single>(single, self.powers, power);
            let (one, one_sum) = powers_from::<V::Single>(single, self.powers, 1);
            let (h, h_sum) = (V::pair(proof, h, one), V::pair(proof, h_sum, one_sum));
            self.sum.add(V::pair(proof, first, last), h, h_sum);
        }
    }

    /// The value of all whole sums, reversed: the next sum's first block takes it up.
    #[inline(always)]
    pub fn reduced(&self) -> V::Single {
        self.reduced
    }

    /// Keeps the products of the open sum in their place, as [`Vector::pin`] does.
    #[inline(always)]
    pub fn pin(&mut self) {
        self.sum.pin();
    }

    /// Ends the sum: reduces it.
    #[inline(always)]
    pub fn close(&mut self) {
        let (low, high) = self.sum.halves();
        self.reduced = reduce(low.fold(), high.fold());
        self.sum = Sum::zero(self.proof());
    }

    /// Adds registers `i` and `i + 1` of a chunk of eight that ends the sum. The first two take up
    /// the previous one: they come last, as nothing else waits for it.
    ///
    /// # Safety
    /// `from` is valid for reads of eight registers; `i` is below 7.
    #[inline(always)]
    pub unsafe fn add_of_chunk(&mut self, from: *const u8, i: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let proof = self.proof();
            let data = map([i, i + 1], |i| V::load(proof, from.add(V::BYTES * i)));
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
    /// `from` is valid for reads of eight registers.
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
    /// `from` is valid for reads of `len` bytes.
    #[inline(always)]
    pub unsafe fn absorb(&mut self, from: *const u8, len: usize) {
        if len > 0 {
            // SAFETY: as above.
            unsafe { self.absorb_open::<true>(from, len, 0) };
            self.close();
        }
    }

    /// As [`Ghash::absorb`], but the last sum stays open: `after` blocks follow in it. `RESUMED`:
    /// something was hashed before.
    ///
    /// # Safety
    /// As for [`Ghash::absorb`]; there are `len` or `after`, the latter few.
    #[inline(always)]
    pub unsafe fn absorb_open<const RESUMED: bool>(
        &mut self,
        from: *const u8,
        len: usize,
        after: usize,
    ) {
        let (proof, chunk) = (self.proof(), 8 * V::BYTES);
        let mut done = 0;
        // Block `i` belongs to block `i` of what comes next.
        let mut values = V::from_single(proof, self.reduced);
        // SAFETY: each load lies below `len`; the open sum has at most nine registers and `after`, and
        // at least one register if values have more than one block.
        unsafe {
            while len - done > chunk + V::BYTES {
                values = self.carried(values, from.add(done));
                done += chunk;
            }
            let (from, rest) = (from.wrapping_add(done), len - done);
            let blocks = rest.div_ceil(BLOCK) + after;
            let (mut at, mut power) = (0, blocks);
            while rest - at >= 2 * V::BYTES {
                let data = map([at, at + V::BYTES], |at| V::load(proof, from.add(at)));
                self.add_two::<false>(data, power);
                at += 2 * V::BYTES;
                power -= (2 * V::BLOCKS).min(power);
            }
            if rest - at >= V::BYTES {
                self.add::<false>(V::load(proof, from.add(at)), power);
                at += V::BYTES;
                power -= V::BLOCKS.min(power);
            }
            if rest > at {
                let (at, bytes) = (from.add(at), rest - at);
                let last = if !V::MASKS && bytes == BLOCK {
                    V::from_single(proof, V::Single::load(V::single(proof), at))
                } else {
                    V::load_bytes(proof, at, bytes)
                };
                self.add::<false>(last, power);
            }
            // Last: nothing else waits for the sums before.
            if RESUMED || done > 0 {
                self.multiply(values, blocks);
            }
        }
    }

    /// What `values` become behind eight registers, block by block: none waits for the sum of all.
    ///
    /// # Safety
    /// `from` is valid for reads of eight registers.
    #[inline(always)]
    unsafe fn carried(&self, values: V, from: *const u8) -> V {
        let proof = self.proof();
        let mut sum = Sum::zero(proof);
        // SAFETY: the caller's promise.
        unsafe {
            for i in [6, 4, 2, 0] {
                let data = map([i, i + 1], |i| V::load(proof, from.add(V::BYTES * i)));
                let [mut x, y] = map(data, |data| data.reverse());
                if i == 0 {
                    x = x.xor(values);
                }
                sum.add_products(self.times_one(x, 8 - i), self.times_one(y, 7 - i));
            }
        }
        let (low, high) = sum.halves();
        reduce(low, high)
    }

    /// The product of each block and the same power: as many blocks as `registers` have, at most
    /// eight.
    ///
    /// # Safety
    /// `powers` is the [`Table`] of a key.
    #[inline(always)]
    unsafe fn times_one(&self, x: V, registers: usize) -> Sum<V> {
        debug_assert!((1..=8).contains(&registers));
        // SAFETY: eight registers have no more blocks than there are powers.
        unsafe {
            let h = self.powers.add(BLOCK * (POWERS - V::BLOCKS * registers));
            let proof = x.proof();
            Sum::product(x, V::broadcast(proof, h), V::broadcast(proof, h.add(SUMS)))
        }
    }

    /// The open sum.
    #[inline(always)]
    pub fn sum(self) -> Sum<V> {
        self.sum
    }

    #[inline(always)]
    unsafe fn multiply(&mut self, x: V, power: usize) {
        // SAFETY: the caller's promise; the table is a key's.
        unsafe {
            let (h, h_sum) = powers_from(self.proof(), self.powers, power);
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
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        // x·H, by masks: H is secret.
        let carry = (self.h >> 127).wrapping_neg();
        let h = self.h << 1 ^ carry & (0xc2 << 120 | 1);
        let mut power = h.to_le_bytes();
        let single = V::single(proof);
        for n in (0..POWERS).rev() {
            // SAFETY: a sum of one block, at power 1, which is known from the second round on.
            unsafe {
                if n < POWERS - 1 {
                    let mut product =
                        Ghash::<V::Single>::start(single, self.powers.as_ptr().cast());
                    product.multiply(Vector::load(single, power.as_ptr()), 1);
                    product.close();
                    product.reduced.store(power.as_mut_ptr());
                }
                let single = V::Single::load(single, power.as_ptr());
                single
                    .xor(single.swap_halves())
                    .store(self.powers[1][n].as_mut_ptr());
            }
            self.powers[0][n] = power;
        }
        wipe(&mut power);
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
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        // SAFETY: the creator's promise.
        unsafe {
            let mut hash = Ghash::<V>::resume(proof, self.powers, self.hashed);
            hash.absorb(self.from, self.len);
            hash.value().store(self.hashed.as_mut_ptr());
        }
    }
}
