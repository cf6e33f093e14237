//! The powers of H that a key keeps, laid out for what reads them.

use crate::aes::BLOCK;
use crate::arch::blocks::Vector;
use crate::wipe::wipe;

/// Highest power of H that a key holds: eight registers of four blocks, and a little more so that
/// short additional data and the lengths need no reduction of their own. A multiple of a line's blocks:
/// what a short message reads, from its additional data to the lengths, lies on few lines.
pub(super) const POWERS: usize = 40;
/// Blocks after the powers that a register at the last power reaches.
const SPARE: usize = 4;
/// Registers of a chunk: so many are hashed block by block of a register.
const STEPS: usize = 8;

/// What GHASH reads of a key: powers of H, and the sum of the two halves of each, in both halves.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Table {
    /// The powers of chunks: Hⁿ, n a multiple of a register's blocks, of [`STEPS`] registers first. They are
    /// among the others too, but of many keys few lines stay near.
    steps: Pair<STEPS>,
    /// Hⁿ, …, H², H. Zeros behind them, so that a register may be loaded at the last.
    powers: Pair<{ POWERS + SPARE }>,
}

#[derive(Clone)]
#[repr(C)]
struct Pair<const N: usize> {
    powers: [[u8; BLOCK]; N],
    sums: [[u8; BLOCK]; N],
}

impl<const N: usize> Pair<N> {
    const ZERO: Self = Self {
        powers: [[0; BLOCK]; N],
        sums: [[0; BLOCK]; N],
    };

    fn wipe(&mut self) {
        wipe(&mut self.powers);
        wipe(&mut self.sums);
    }
}

impl Table {
    pub const ZERO: Self = Self {
        steps: Pair::ZERO,
        powers: Pair::ZERO,
    };

    /// Keeps a power, 1 to [`POWERS`], and `sum` of its halves, for registers of so many blocks.
    pub fn keep(&mut self, power: usize, value: [u8; BLOCK], sum: [u8; BLOCK], blocks: usize) {
        self.powers.powers[POWERS - power] = value;
        self.powers.sums[POWERS - power] = sum;
        if power.is_multiple_of(blocks) && power / blocks <= STEPS {
            self.steps.powers[STEPS - power / blocks] = value;
            self.steps.sums[STEPS - power / blocks] = sum;
        }
    }

    /// Where a power lies, and behind it those below.
    ///
    /// # Safety
    /// The table is valid for reads as long as the place is used, and `power` is 1 to [`POWERS`].
    #[inline(always)]
    pub unsafe fn place(table: *const Self, power: usize) -> Place {
        debug_assert!((1..=POWERS).contains(&power));
        // SAFETY: the caller's promises.
        let first = unsafe { (&raw const (*table).powers.powers).cast::<u8>() };
        Place(first.wrapping_add(BLOCK * (POWERS - power)))
    }

    /// The same power for each block, and the sum of its halves.
    ///
    /// # Safety
    /// As for [`Table::place`].
    #[inline(always)]
    pub unsafe fn splat<V: Vector>(table: *const Self, proof: V::Proof, power: usize) -> (V, V) {
        // SAFETY: the caller's promises.
        unsafe {
            let Place(h) = Self::place(table, power);
            (V::broadcast(proof, h), V::broadcast(proof, h.add(SUMS)))
        }
    }

    /// For each block the power of as many blocks as so many registers have, and the sum of its halves;
    /// `sparing` as for [`Place::load`].
    ///
    /// # Safety
    /// The table is valid for reads and made for such registers, of which there are 1 to [`STEPS`].
    #[inline(always)]
    pub unsafe fn step<V: Vector>(
        table: *const Self,
        proof: V::Proof,
        registers: usize,
        sparing: bool,
    ) -> (V, V) {
        debug_assert!((1..=STEPS).contains(&registers));
        if const { V::BLOCKS == 1 } {
            // The same powers, on lines that the blocks around chunks read, too.
            // SAFETY: the caller's promises; there are more powers than steps.
            return unsafe { Self::place(table, registers).load(proof, sparing) };
        }
        // SAFETY: the caller's promises.
        unsafe {
            let h = (&raw const (*table).steps.powers[STEPS - registers]).cast();
            let sum = (&raw const (*table).steps.sums[STEPS - registers]).cast();
            let h = V::broadcast(proof, h);
            let sum = if sparing {
                sum_of_halves(h)
            } else {
                V::broadcast(proof, sum)
            };
            (h, sum)
        }
    }

    /// Writes zeros over all of it.
    pub fn wipe(&mut self) {
        self.steps.wipe();
        self.powers.wipe();
    }
}

/// Bytes from a power to the sum of its halves.
const SUMS: usize = size_of::<[[u8; BLOCK]; POWERS + SPARE]>();

/// Where a power lies in a key's [`Table`].
#[derive(Clone, Copy)]
pub(super) struct Place(*const u8);

impl Place {
    /// That of a power which is lower by the blocks of so many registers: a constant distance, whatever the power.
    #[inline(always)]
    pub fn behind<V: Vector>(self, registers: usize) -> Self {
        Self(self.0.wrapping_add(V::BYTES * registers))
    }

    /// The powers from this one down to where the register ends, and the sums of their halves. `sparing`, a
    /// constant: those are made, not read, so that half as many lines are.
    ///
    /// # Safety
    /// The place is that of a power, 1 to [`POWERS`].
    #[inline(always)]
    pub unsafe fn load<V: Vector>(self, proof: V::Proof, sparing: bool) -> (V, V) {
        // SAFETY: the caller's promise; the spare blocks make the load valid at any power.
        unsafe {
            let h = V::load(proof, self.0);
            let sum = if sparing {
                sum_of_halves(h)
            } else {
                V::load(proof, self.0.add(SUMS))
            };
            (h, sum)
        }
    }
}

/// The sum of the halves of each block, in both halves.
#[inline(always)]
pub(super) fn sum_of_halves<V: Vector>(h: V) -> V {
    h.xor(h.swap_halves())
}
