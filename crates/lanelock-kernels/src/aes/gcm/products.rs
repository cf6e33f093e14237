//! Sums of carry-less products of blocks and powers of H, and their reduction.
//!
//! A product takes three multiplications (Karatsuba), or four where the additions that three need
//! cost more than another multiplication ([`Vector::PRODUCTS`]). A sum is reduced by two more: where
//! polynomials are mirrored to x⁻¹²⁸ of it (S. Gueron, "A new interpretation for the GHASH authenticator
//! of AES-GCM"), else as it is.

use super::table::{Place, Table, sum_of_halves};
use crate::arch::blocks::Vector;
use crate::arrays::map;

/// Products that are added up block by block, not reduced yet: of the low halves, of the high
/// halves, and of one of each or, from three multiplications, of the sums of both.
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

    #[inline(always)]
    pub fn proof(&self) -> V::Proof {
        self.low.proof()
    }

    /// Adds the product of `x`, polynomials, and the powers `h`, whose halves add up to
    /// `h_sum`.
    #[inline(always)]
    pub fn add(&mut self, x: V, h: V, h_sum: V) {
        let product = Self::product(x, h, h_sum);
        self.low = self.low.xor(product.low);
        self.high = self.high.xor(product.high);
        self.middle = self.middle.xor(product.middle);
    }

    /// Adds a register of polynomials, the first times the power at `place`; `sparing` as for [`Place::load`].
    ///
    /// # Safety
    /// As for [`Place::load`].
    #[inline(always)]
    pub unsafe fn multiply(&mut self, x: V, place: Place, sparing: bool) {
        // SAFETY: the caller's promise.
        let (h, h_sum) = unsafe { place.load(self.proof(), sparing) };
        self.add(x, h, h_sum);
    }

    /// The sum of one product.
    #[inline(always)]
    pub fn product(x: V, h: V, h_sum: V) -> Self {
        let middle = if const { V::PRODUCTS == 3 } {
            sum_of_halves(x).clmul::<0x00>(h_sum)
        } else {
            x.clmul::<0x01>(h).xor(x.clmul::<0x10>(h))
        };
        Self {
            low: x.clmul::<0x00>(h),
            middle,
            high: x.clmul::<0x11>(h),
        }
    }

    /// Adds registers of blocks in memory that follow each other, the first times the power at `place`; `sparing`
    /// as for [`Place::load`].
    ///
    /// # Safety
    /// Each register begins at a power of 1 to [`POWERS`](super::table::POWERS). Blocks past the end are zero.
    #[inline(always)]
    pub unsafe fn add_registers<const G: usize>(
        &mut self,
        data: [V; G],
        place: Place,
        sparing: bool,
    ) {
        // SAFETY: as above.
        unsafe {
            let proof = self.low.proof();
            let mut products = [Self::zero(proof); G];
            for i in 0..G {
                let (h, h_sum) = place.behind::<V>(i).load(proof, sparing);
                products[i] = Self::product(data[i].coefficients(), h, h_sum);
            }
            for i in 0..G / 2 {
                self.add_products(products[2 * i], products[2 * i + 1]);
            }
            if G % 2 == 1 {
                self.add_product(products[G - 1]);
            }
        }
    }

    /// Adds the registers `at` and `at + 1` of a text, unless they are among its last two, with few powers:
    /// block by block of a register, as those of a chunk.
    ///
    /// # Safety
    /// `powers` is a key's, for such registers; there are at most ten.
    #[inline(always)]
    pub unsafe fn add_pair_sparing<const G: usize>(
        &mut self,
        data: &[V; G],
        at: usize,
        powers: *const Table,
        sparing: bool,
    ) {
        let count = const { G.saturating_sub(2) };
        // SAFETY: the caller's promises.
        unsafe {
            if at + 1 < count {
                let first = Self::stepped(data[at], powers, count - at, sparing);
                let second = Self::stepped(data[at + 1], powers, count - at - 1, sparing);
                self.add_products(first, second);
            } else if at < count {
                self.add_product(Self::stepped(data[at], powers, count - at, sparing));
            }
        }
    }

    /// The product of each block and the power of as many blocks as so many registers have.
    ///
    /// # Safety
    /// As for [`Table::step`], with a key's powers.
    #[inline(always)]
    unsafe fn stepped(data: V, powers: *const Table, registers: usize, sparing: bool) -> Self {
        // SAFETY: the caller's promises.
        let (h, h_sum) = unsafe { Table::step(powers, data.proof(), registers, sparing) };
        Self::product(data.coefficients(), h, h_sum)
    }

    /// Ends what [`Sum::add_pair_sparing`] began: adds the last two registers, the first of them times the power at
    /// `place`.
    ///
    /// # Safety
    /// That power and those of two registers from it on are 1 to [`POWERS`](super::table::POWERS).
    #[inline(always)]
    pub unsafe fn close_sparing<const G: usize>(&mut self, data: &[V; G], place: Place) {
        let [.., values, last] = data[..] else {
            unreachable!("two registers");
        };
        let values = self.reduced().xor(values.coefficients());
        *self = Self::zero(self.proof());
        // SAFETY: the caller's promises.
        unsafe {
            self.multiply(values, place, true);
            self.add_registers([last], place.behind::<V>(1), true);
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
    pub fn add_product(&mut self, a: Self) {
        self.low = self.low.xor(a.low);
        self.middle = self.middle.xor(a.middle);
        self.high = self.high.xor(a.high);
    }

    /// Adds two sums.
    #[inline(always)]
    pub fn add_products(&mut self, a: Self, b: Self) {
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
    pub fn halves(self) -> (V, V) {
        let middle = if const { V::PRODUCTS == 3 } {
            self.middle.xor3(self.low, self.high)
        } else {
            self.middle
        };
        let low = self.low.xor(middle.low_to_high());
        let high = self.high.xor(middle.high_to_low());
        (low, high)
    }

    /// The polynomials that the sums become, block by block.
    #[inline(always)]
    pub fn reduced(self) -> V {
        let (low, high) = self.halves();
        reduce(low, high)
    }

    /// The hash whose sum each block is, in memory order.
    #[inline(always)]
    pub fn values(self) -> V {
        self.reduced().coefficients()
    }
}

/// The last block that is hashed of a message of so many bytes.
#[inline(always)]
pub(super) fn lengths<V: Vector>(proof: V::Proof, aad_len: usize, len: usize) -> V {
    let [aad, text] = [aad_len, len].map(|bytes| u128::from(8 * bytes as u64));
    let bits = aad << 64 | text;
    V::splat(proof, bits).coefficients_of_numbers()
}

/// The rest of polynomials modulo that of GHASH, block by block; of mirrored ones, of x⁻¹²⁸ times them.
#[inline(always)]
pub(super) fn reduce<V: Vector>(low: V, high: V) -> V {
    if const { !V::MIRRORED } {
        // x⁷ + x² + x: the 1 is in the exchange of halves.
        let polynomial = V::splat(low.proof(), 0x86);
        let high = high.swap_halves().xor(high.clmul::<0x01>(polynomial));
        let high = high.swap_halves().xor(high.clmul::<0x01>(polynomial));
        return low.xor(high);
    }
    let polynomial = V::splat(low.proof(), 0xc2 << 120 | 1);
    let low = low.swap_halves().xor(low.clmul::<0x10>(polynomial));
    let low = low.swap_halves().xor(low.clmul::<0x10>(polynomial));
    low.xor(high)
}
