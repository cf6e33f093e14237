//! GHASH by carry-less multiplication.
//!
//! Mirrored blocks are reversed byte by byte, which turns GHASH into POLYVAL with x·H for H (RFC 8452,
//! appendix A): products then need no bit reflection. Where mirroring the bits of bytes costs nothing,
//! blocks are what GHASH says ([`Vector::MIRRORED`]). The [sum](Sum) of up to [`POWERS`] products of
//! blocks and descending powers is reduced once.
//!
//! Chunks of eight registers are hashed block by block of a register: what each of these has become is
//! a value of its own, so that no sum of all of them is needed before the end.

use super::products::{Sum, reduce};
use super::table::{POWERS, Place, Table};
use crate::aes::BLOCK;
use crate::ahead;
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::map;
use crate::wipe::wipe;

/// A hash in progress: the reduced value of all whole sums, and the sum being built.
#[derive(Clone, Copy)]
pub(super) struct Ghash<V: Vector> {
    powers: *const Table,
    /// Belongs to the block with the highest power of the next sum.
    reduced: V::Single,
    sum: Sum<V>,
}

/// What chunks of eight registers have become, block by block: together, each times the power at which
/// its block of a register is, the hash.
#[derive(Clone, Copy)]
pub(super) struct Values<V>(V);

impl<V: Vector> Values<V> {
    /// One block before the first chunk, a polynomial.
    #[inline(always)]
    pub fn of_block(proof: V::Proof, block: V::Single) -> Self {
        let mut blocks = [V::Single::zero(V::single(proof)); 4];
        blocks[V::BLOCKS - 1] = block;
        Self(V::from_singles(proof, blocks))
    }

    /// The values, and the power for them in a sum in which so many blocks follow.
    #[inline(always)]
    pub fn before(self, blocks: usize) -> (V, usize) {
        (self.0, V::BLOCKS + blocks)
    }
}

impl<V: Vector> Ghash<V> {
    /// # Safety
    /// `powers` is a key's, for as long as the hash is used.
    #[inline(always)]
    pub unsafe fn start(proof: V::Proof, powers: *const Table) -> Self {
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
    pub unsafe fn resume(proof: V::Proof, powers: *const Table, value: &[u8; BLOCK]) -> Self {
        // SAFETY: as above; a block is read.
        unsafe {
            let reduced = V::Single::load(V::single(proof), value.as_ptr()).coefficients();
            Self {
                reduced,
                ..Self::start(proof, powers)
            }
        }
    }

    /// The proof of its registers.
    #[inline(always)]
    pub fn proof(&self) -> V::Proof {
        self.sum.proof()
    }

    /// The hash of everything so far, if no sum is open.
    #[inline(always)]
    pub fn value(self) -> V::Single {
        self.reduced.coefficients()
    }

    /// Adds to the sum a register whose first block is the `power`-th from the sum's end.
    ///
    /// # Safety
    /// `power` is 1 to [`POWERS`]; blocks past the end are zero.
    #[inline(always)]
    pub unsafe fn add(&mut self, data: V, power: usize) {
        // SAFETY: as above.
        unsafe { self.multiply(data.coefficients(), power) }
    }

    /// As [`Ghash::add`], for two registers that follow each other.
    ///
    /// # Safety
    /// As for [`Ghash::add`]; the second register is at `power - V::BLOCKS`, at least 1.
    #[inline(always)]
    pub unsafe fn add_two(&mut self, data: [V; 2], power: usize) {
        // SAFETY: as above.
        unsafe { self.sum.add_registers(data, self.place(power), false) }
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
                self.add_two(data, power);
                at += 2 * V::BYTES;
                power -= 2 * V::BLOCKS;
            }
            if at < end {
                self.add_two([V::load(proof, from.add(at)), last], power);
            } else {
                self.add(last, power);
            }
        }
    }

    /// Adds `first`, a polynomial, at `power`.
    ///
    /// # Safety
    /// `power` is 1 to [`POWERS`].
    #[inline(always)]
    pub unsafe fn take_up(&mut self, first: V::Single, power: usize) {
        // SAFETY: as above.
        unsafe { self.multiply(V::from_single(self.proof(), first), power) }
    }

    /// Adds what chunks have become, before so many blocks of the sum.
    ///
    /// # Safety
    /// `blocks` is at most [`POWERS`] less those of a register.
    #[inline(always)]
    pub unsafe fn take_up_values(&mut self, values: Values<V>, blocks: usize) {
        // SAFETY: as above.
        unsafe {
            let (values, power) = values.before(blocks);
            self.multiply(values, power);
        }
    }

    /// Adds registers that follow each other, the first at `power`; zero behind the last block.
    ///
    /// # Safety
    /// `power` is 1 to [`POWERS`], and each register begins at 1 or above.
    #[inline(always)]
    pub unsafe fn add_registers<const G: usize>(&mut self, data: [V; G], power: usize) {
        // SAFETY: as above; the table is a key's.
        unsafe { self.sum.add_registers(data, self.place(power), false) }
    }

    /// Adds the registers `at` and `at + 1` of those of [`Ghash::add_registers`], if there are so many.
    /// `sparing`, a constant: with few powers, all but the last two, which [`Ghash::close_sparing`] adds.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn add_pair<const G: usize>(
        &mut self,
        data: &[V; G],
        at: usize,
        power: usize,
        sparing: bool,
    ) {
        // SAFETY: the caller's promises.
        unsafe {
            if sparing {
                self.sum.add_pair_sparing(data, at, self.powers, false);
            } else if at < G {
                let place = self.place(power).behind::<V>(at);
                if at + 1 < G {
                    let pair = [data[at], data[at + 1]];
                    self.sum.add_registers(pair, place, false);
                } else {
                    self.sum.add_registers([data[at]], place, false);
                }
            }
        }
        self.pin();
    }

    /// Ends what [`Ghash::add_pair`] began, sparing.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn close_sparing<const G: usize>(&mut self, data: &[V; G], power: usize) {
        // SAFETY: the caller's promises.
        unsafe {
            let place = self.place(power).behind::<V>(G - 2);
            self.sum.close_sparing(data, place);
        }
    }

    /// Adds `first` at `power` and `last` at 1, the last block of the sum. Both are polynomials.
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
            let (h, h_sum) = self.place(power).load::<V::Single>(single, true);
            let (one, one_sum) = self.place(1).load::<V::Single>(single, true);
            let (h, h_sum) = (V::pair(proof, h, one), V::pair(proof, h_sum, one_sum));
            self.sum.add(V::pair(proof, first, last), h, h_sum);
        }
    }

    /// The value of all whole sums, a polynomial: the next sum's first block takes it up.
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

    /// Adds registers of a chunk of eight, two for each of its four parts; but the last part's second is
    /// what `values` become behind the chunk, and the last register waits for [`Ghash::close_chunk`].
    ///
    /// # Safety
    /// `from` is valid for reads of eight registers; `part` is below 4.
    #[inline(always)]
    pub unsafe fn add_of_chunk(&mut self, from: *const u8, part: usize, values: Values<V>) {
        let i = 2 * part;
        // SAFETY: the caller's promise.
        unsafe {
            let register = |i| V::load(self.proof(), from.add(V::BYTES * i)).coefficients();
            let first = self.times_one(register(i), 7 - i, false);
            let second = if part == 3 {
                self.times_one(values.0, 8, false)
            } else {
                self.times_one(register(i + 1), 6 - i, false)
            };
            self.sum.add_products(first, second);
        }
    }

    /// Adds what chunks have become, before so many registers, at most eight, block by block.
    ///
    /// # Safety
    /// The table is for registers like these.
    #[inline(always)]
    pub unsafe fn add_values(&mut self, values: Values<V>, registers: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            self.sum
                .add_product(self.times_one(values.0, registers, false))
        }
    }

    /// Adds two of the `left` registers before the last of a text, at least three, at `from`, as
    /// [`Ghash::add_of_chunk`] does.
    ///
    /// # Safety
    /// `from` is valid for reads of two registers.
    #[inline(always)]
    pub unsafe fn add_of_rest(&mut self, from: *const u8, left: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let register = |i| V::load(self.proof(), from.add(V::BYTES * i)).coefficients();
            let first = self.times_one(register(0), left - 1, false);
            let second = self.times_one(register(1), left - 2, false);
            self.sum.add_products(first, second);
        }
    }

    /// Ends what [`Ghash::add_of_rest`] began, with the one or two that are left of them, and the last register of
    /// the text, which has `blocks`; one follows.
    ///
    /// # Safety
    /// `from` is valid for reads of those before the last, which is zero behind the text.
    #[inline(always)]
    pub unsafe fn close_rest(&mut self, mut from: *const u8, left: usize, last: V, blocks: usize) {
        let proof = self.proof();
        // SAFETY: the caller's promises.
        unsafe {
            if left == 2 {
                let product = self.times_one(V::load(proof, from).coefficients(), 1, false);
                self.sum.add_product(product);
                from = from.add(V::BYTES);
            }
            let value = self.sum.reduced().xor(V::load(proof, from).coefficients());
            self.sum = Sum::zero(proof);
            self.multiply(value, V::BLOCKS + blocks + 1);
            self.multiply(last.coefficients(), blocks + 1);
        }
    }

    /// Ends a chunk, all of whose parts are added: what it and all before it have become.
    ///
    /// # Safety
    /// `from` is the chunk, valid for reads of eight registers.
    #[inline(always)]
    pub unsafe fn close_chunk(&mut self, from: *const u8) -> Values<V> {
        let proof = self.proof();
        // SAFETY: the caller's promise.
        let last = unsafe { V::load(proof, from.add(V::BYTES * 7)).coefficients() };
        let (low, high) = self.sum.halves();
        self.sum = Sum::zero(proof);
        Values(reduce(low, high).xor(last))
    }

    /// Hashes a chunk of eight registers behind `values`, with what the sum holds already.
    ///
    /// # Safety
    /// `from` is valid for reads of eight registers.
    #[inline(always)]
    pub unsafe fn absorb_chunk(&mut self, from: *const u8, values: Values<V>) -> Values<V> {
        // SAFETY: the caller's promise.
        unsafe {
            for part in 0..4 {
                self.add_of_chunk(from, part, values);
            }
            self.close_chunk(from)
        }
    }

    /// Begins chunks behind what was hashed so far.
    #[inline(always)]
    pub fn open_chunks(&mut self) -> Values<V> {
        // SAFETY: seven registers are fewer than the powers. It belongs to the first block, whose
        // register is multiplied by theirs.
        unsafe { self.take_up(self.reduced, 7 * V::BLOCKS) };
        Values(V::zero(self.proof()))
    }

    /// Ends them: the sum of all blocks.
    #[inline(always)]
    pub fn close_chunks(&mut self, values: Values<V>) {
        // SAFETY: nothing follows.
        unsafe { self.take_up_values(values, 0) };
        self.close();
    }

    /// Hashes `len` bytes, the last block padded with zeros. No sum is open before or after.
    ///
    /// # Safety
    /// `from` is valid for reads of `len` bytes.
    #[inline(always)]
    pub unsafe fn absorb(&mut self, from: *const u8, len: usize) {
        if len > 0 {
            // SAFETY: as above.
            unsafe { self.absorb_open::<true, false>(from, len, 0) };
            self.close();
        }
    }

    /// Hashes 1 to 8 registers behind `values`, with what the sum holds already.
    ///
    /// # Safety
    /// `from` is valid for reads of them.
    #[inline(always)]
    unsafe fn absorb_some(
        &mut self,
        from: *const u8,
        count: usize,
        values: Values<V>,
    ) -> Values<V> {
        let proof = self.proof();
        // SAFETY: the caller's promise; the table is a key's.
        unsafe {
            self.sum.add_product(self.times_one(values.0, count, true));
            let (mut from, mut left) = (from, count);
            while left > 2 {
                let [first, second] = map([from, from.add(V::BYTES)], |at| V::load(proof, at));
                let first = self.times_one(first.coefficients(), left - 1, true);
                let second = self.times_one(second.coefficients(), left - 2, true);
                self.sum.add_products(first, second);
                (from, left) = (from.add(2 * V::BYTES), left - 2);
            }
            if left == 2 {
                let product = self.times_one(V::load(proof, from).coefficients(), 1, true);
                self.sum.add_product(product);
                from = from.add(V::BYTES);
            }
            let values = self.sum.reduced();
            self.sum = Sum::zero(proof);
            Values(values.xor(V::load(proof, from).coefficients()))
        }
    }

    /// As [`Ghash::absorb`], but the last sum stays open: `after` blocks follow in it. `RESUMED`:
    /// something was hashed before. `SPARING`: with few powers.
    ///
    /// # Safety
    /// As for [`Ghash::absorb`]; there are `len` or `after`, the latter few.
    #[inline(always)]
    pub unsafe fn absorb_open<const RESUMED: bool, const SPARING: bool>(
        &mut self,
        from: *const u8,
        len: usize,
        after: usize,
    ) {
        let (proof, chunk) = (self.proof(), 8 * V::BYTES);
        let mut done = 0;
        let mut values = Values(V::zero(proof));
        // SAFETY: each load lies below `len`; the open sum has at most eight registers and `after`.
        unsafe {
            if RESUMED && len > chunk {
                values = self.open_chunks();
            }
            // The last eight registers are part of the open sum: nothing waits for what they become.
            while len - done > chunk {
                ahead::ask(from, len, done, chunk);
                values = self.absorb_chunk(from.add(done), values);
                done += chunk;
            }
            if SPARING && spares::<V>(len - done) {
                let count = (len - done - 1) / V::BYTES;
                values = self.absorb_some(from.add(done), count, values);
                done += V::BYTES * count;
            }
            let (from, rest) = (from.wrapping_add(done), len - done);
            let blocks = rest.div_ceil(BLOCK) + after;
            let (mut at, mut power) = (0, blocks);
            while rest - at >= 2 * V::BYTES {
                let data = map([at, at + V::BYTES], |at| V::load(proof, from.add(at)));
                self.sum.add_registers(data, self.place(power), SPARING);
                at += 2 * V::BYTES;
                power -= (2 * V::BLOCKS).min(power);
            }
            if rest - at >= V::BYTES {
                let data = [V::load(proof, from.add(at))];
                self.sum.add_registers(data, self.place(power), SPARING);
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
                self.sum.add_registers([last], self.place(power), SPARING);
            }
            // Last: nothing else waits for the sums before.
            if done > 0 {
                self.take_up_values(values, blocks);
            } else if RESUMED {
                self.take_up(self.reduced, blocks);
            }
        }
    }

    /// The product of each block and the same power: as many blocks as `registers` have, at most
    /// eight; `sparing` as for [`Place::load`].
    ///
    /// # Safety
    /// The powers are for registers like these.
    #[inline(always)]
    unsafe fn times_one(&self, x: V, registers: usize, sparing: bool) -> Sum<V> {
        // SAFETY: the powers are a key's.
        unsafe {
            let (h, h_sum) = Table::step(self.powers, x.proof(), registers, sparing);
            Sum::product(x, h, h_sum)
        }
    }

    /// The open sum.
    #[inline(always)]
    pub fn sum(self) -> Sum<V> {
        self.sum
    }

    /// Adds registers of polynomials, the first at `power`.
    ///
    /// # Safety
    /// `power` is 1 to [`POWERS`]; blocks past the end are zero.
    #[inline(always)]
    pub unsafe fn multiply(&mut self, x: V, power: usize) {
        // SAFETY: the caller's promise; the table is a key's.
        unsafe { self.sum.multiply(x, self.place(power), true) }
    }

    /// # Safety
    /// `power` is 1 to [`POWERS`].
    #[inline(always)]
    unsafe fn place(&self, power: usize) -> Place {
        // SAFETY: the caller's promise; the table is a key's.
        unsafe { Table::place(self.powers, power) }
    }
}

/// Whether the last `len` bytes of a hash, few registers, need fewer lines of a key's powers if all but the
/// last of them are hashed as a chunk is. It takes one reduction more, which is less than to wait for those
/// lines where so many keys are in use that they do not stay near; not on registers of four blocks whose
/// products take three multiplications.
#[inline(always)]
pub(super) fn spares<V: Vector>(len: usize) -> bool {
    (V::BLOCKS == 2 || V::BLOCKS == 4 && V::PRODUCTS == 4) && len > 3 * V::BYTES
}

/// As [`spares`], for the last `len` bytes of a text that others follow. The powers of a chunk are near.
#[inline(always)]
pub(super) const fn spares_rest<V: Vector>(len: usize) -> bool {
    V::BLOCKS == 2 && len > 3 * V::BYTES
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
        let h = if const { V::MIRRORED } {
            // x·H, by masks: H is secret.
            let carry = (self.h >> 127).wrapping_neg();
            self.h << 1 ^ carry & (0xc2 << 120 | 1)
        } else {
            self.h.reverse_bits()
        };
        let mut power = h.to_le_bytes();
        let single = V::single(proof);
        let mut sum = [0; BLOCK];
        for n in 1..=POWERS {
            // SAFETY: a sum of one block, at power 1, which is known from the second round on.
            unsafe {
                if n > 1 {
                    let mut product = Ghash::<V::Single>::start(single, self.powers);
                    product.multiply(Vector::load(single, power.as_ptr()), 1);
                    product.close();
                    product.reduced.store(power.as_mut_ptr());
                }
                let single = V::Single::load(single, power.as_ptr());
                single.xor(single.swap_halves()).store(sum.as_mut_ptr());
            }
            self.powers.keep(n, power, sum, V::BLOCKS);
        }
        wipe(&mut power);
        wipe(&mut sum);
    }
}

/// Continues a hash over `len` bytes from `from`, zero-padded to blocks.
///
/// # Safety
/// `powers` are a key's; `from` is valid for reads of `len` bytes.
pub(super) struct Absorb<'a> {
    pub powers: *const Table,
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
