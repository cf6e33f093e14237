//! A register of words, one word per message: what the hash kernels are written over.
//!
//! An instruction set has two of them, of 32-bit and of 64-bit words. [`Pair`] joins two registers to
//! twice the lanes, which hides the latency of one behind the other.

mod beside;
mod long;
pub(super) mod pad;
mod pair;
mod sieve;

pub(crate) use beside::{Alone, Beside};
pub(crate) use long::{Logic, LongLanes};
pub(crate) use pad::{Moves, Pad, pad_in_place};
pub(crate) use pair::Pair;

use super::register::{Code, Proof, Register};
use crate::wipe::Plain;

/// The chaining state of one message, in words; algorithms with fewer words leave the rest unused.
pub type Row<W> = [W; 8];

/// Sixteen words of one message: the state of ChaCha20.
pub type DoubleRow<W> = [W; 16];

/// The word of a lane.
pub trait Word: Plain + Copy + Default + Eq + core::fmt::Debug + Send + Sync + 'static {
    /// Size in bytes.
    const BYTES: usize;
    /// The word 0x80, 0, … that ends a message on a word boundary.
    const END: Self;

    /// Writes the word to `to`, most significant byte first.
    ///
    /// # Panics
    /// If `to` is not [`Self::BYTES`] long.
    fn write_be(self, to: &mut [u8]);

    /// The word whose bytes in memory are this one's, most significant first.
    #[must_use]
    fn to_be(self) -> Self;

    /// A small number of bits as a word.
    fn from_bits(bits: u32) -> Self;
}

impl Word for u32 {
    const BYTES: usize = 4;
    const END: Self = 1 << 31;

    #[inline(always)]
    fn write_be(self, to: &mut [u8]) {
        to.copy_from_slice(&self.to_be_bytes());
    }

    #[inline(always)]
    fn to_be(self) -> Self {
        u32::to_be(self)
    }

    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        bits
    }
}

impl Word for u64 {
    const BYTES: usize = 8;
    const END: Self = 1 << 63;

    #[inline(always)]
    fn write_be(self, to: &mut [u8]) {
        to.copy_from_slice(&self.to_be_bytes());
    }

    #[inline(always)]
    fn to_be(self) -> Self {
        u64::to_be(self)
    }

    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        u64::from(bits)
    }
}

/// The registers of one instruction set. Public for the sealed algorithm traits only.
pub trait Registers: Copy + 'static {
    /// The name used in reports.
    const NAME: &'static str;
    /// Size of a register.
    const BITS: usize;
    /// How many of them code can name.
    const FILE: usize;
    /// The proof of their instructions, which is also that of plain integers.
    type Proof: Proof + Into<()>;
    /// What the permutation of one Keccak state runs on.
    type Single: Logic;
    /// The proof of its instructions, and of no more where it is a plain integer: the compiler would
    /// put eight words of one state into a register if it had one, and then shuffle.
    type SingleProof: Proof + Into<<Self::Single as Logic>::Proof> + Into<()>;
    /// A register of 32-bit words.
    type U32: WordLanes<Word = u32, Proof = Self::Proof>;
    /// A register of 64-bit words.
    type U64: LongLanes<Proof = Self::Proof>;
    /// A register of rows of four 32-bit words.
    type Rows: Rows<Proof = Self::Proof>;
    /// How short ends of messages are best put together.
    type Moves: Pad;

    /// The proof, in code that is compiled for these registers.
    ///
    /// # Safety
    /// The CPU has the instructions.
    unsafe fn assume() -> Self::Proof;

    /// The proof for one Keccak state.
    fn single(proof: Self::Proof) -> Self::SingleProof;

    /// How short ends of messages are best put together.
    fn moves(proof: Self::Proof) -> Self::Moves;

    /// Unpacks 32 numbers of twelve bits and writes those below `bound` one after the other; returns
    /// how many there are.
    ///
    /// # Safety
    /// `from` is readable for 48 bytes, `to` writable for 32 numbers; they do not overlap.
    #[inline(always)]
    unsafe fn sieve(_: Self::Proof, from: *const u8, to: *mut i16, bound: i16) -> usize {
        // SAFETY: the caller's promise, passed on.
        unsafe { sieve::one_by_one(from, to, bound) }
    }
}

/// Code that is compiled once per set of registers.
pub(crate) trait Kernel {
    /// Whether it gains from instructions that permute bytes. Only then is it compiled a second time where
    /// some CPUs with registers of one width have them and others do not.
    #[allow(dead_code)] // on architectures without such registers
    const PERMUTES_BYTES: bool = false;

    /// Whether plain integers work beside its registers, in time for those of 256 bits: it takes no wider ones.
    #[allow(dead_code)] // on architectures without wider ones
    const BESIDE_INTEGERS: bool = false;

    /// Always inlined, into [`Proof::enter`].
    ///
    /// # Safety
    /// The kernel's contract.
    unsafe fn run<S: Registers>(self, proof: S::Proof);
}

/// The set of registers of a kernel whose contract holds.
pub(super) struct On<S: Registers>(pub(super) S::Proof);

impl<S: Registers, K: Kernel> Code for (K, On<S>) {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: the promise of whoever made it.
        unsafe { self.0.run::<S>(self.1.0) }
    }
}

/// A compression function: of `lanes` rows, the number of blocks behind each pointer.
pub type Compression<W> =
    unsafe fn(rows: *mut Row<W>, at: *const *const u8, lanes: usize, blocks: usize);

/// A word that there are registers for. Public for the sealed algorithm traits only.
pub trait WideWord: Word + WordLanes<Word = Self, Proof = ()> {
    /// Its register.
    type In<S: Registers>: WordLanes<Word = Self, Proof = S::Proof>;
}
impl WideWord for u32 {
    type In<S: Registers> = S::U32;
}
impl WideWord for u64 {
    type In<S: Registers> = S::U64;
}

/// One register of words. Public for the sealed algorithm traits only.
///
/// # Safety
/// `COUNT` is the number of lanes that the loads read and the stores write.
pub unsafe trait WordLanes: Register {
    /// The word of one lane.
    type Word: Word;
    /// How many lanes.
    const COUNT: usize;
    /// SHA-2's compression of one message after the other, if the instruction set has one that is
    /// faster than that of plain integers.
    const SHA2: Option<Compression<Self::Word>> = None;
    /// Whether there are registers for the sixteen words of a block beside what it is hashed to: also for double
    /// rows once they are transposed, so that [`Self::xor_double_rows`] needs no scratch.
    const HOLDS_BLOCKS: bool = false;

    /// The same word in every lane.
    fn splat(proof: Self::Proof, word: Self::Word) -> Self;

    /// Sum, wrapping.
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// `self ^ other`
    #[must_use]
    fn xor(self, other: Self) -> Self;
    /// `self ^ b ^ c`
    #[must_use]
    fn xor3(self, b: Self, c: Self) -> Self;
    /// `b` where `self` has a one, `c` where it has a zero.
    #[must_use]
    fn choose(self, b: Self, c: Self) -> Self;
    /// The bit that at least two of the three have.
    #[must_use]
    fn majority(self, b: Self, c: Self) -> Self;
    /// Rotates right by `R`; `R + L` is the width of the word.
    #[must_use]
    fn rotate<const R: i32, const L: i32>(self) -> Self;
    /// Shifts right by `N`, zeros enter.
    #[must_use]
    fn shift<const N: i32>(self) -> Self;

    /// The same values, computed at the same time: a register of [`Pair`] and its partner.
    ///
    /// The compiler would run all rounds of one register before the first of the other, further
    /// apart than the CPU looks ahead, and the two would not hide each other's latency.
    #[must_use]
    #[inline(always)]
    fn tie(self, other: Self) -> (Self, Self) {
        (self, other)
    }

    /// Ties the registers of a [`Pair`]; nothing for a single register.
    #[must_use]
    #[inline(always)]
    fn in_step(self) -> Self {
        self
    }

    /// The same value, computed before anything behind this point. The compiler would gather what does not wait
    /// for each other's results, further apart than the CPU looks ahead, and leave for the end a chain in
    /// which each step waits for the last.
    #[must_use]
    #[inline(always)]
    fn here(self) -> Self {
        self
    }

    /// Four quarter rounds of ChaCha20 (RFC 8439, section 2.1), of the first words of `rows`, of the second, and
    /// so on. They are side by side, and hide each other's latency.
    #[must_use]
    #[inline(always)]
    fn quarter_rounds(rows: [[Self; 4]; 4]) -> [[Self; 4]; 4] {
        let [mut a, mut b, mut c, mut d] = rows;
        for i in 0..4 {
            a[i] = a[i].add(b[i]);
        }
        for i in 0..4 {
            d[i] = d[i].xor(a[i]).rotate::<16, 16>();
        }
        for i in 0..4 {
            c[i] = c[i].add(d[i]);
        }
        for i in 0..4 {
            b[i] = b[i].xor(c[i]).rotate::<20, 12>();
        }
        for i in 0..4 {
            a[i] = a[i].add(b[i]);
        }
        for i in 0..4 {
            d[i] = d[i].xor(a[i]).rotate::<24, 8>();
        }
        for i in 0..4 {
            c[i] = c[i].add(d[i]);
        }
        for i in 0..4 {
            b[i] = b[i].xor(c[i]).rotate::<25, 7>().in_step();
        }
        [a, b, c, d]
    }

    /// Sixteen big-endian words from `*at[lane] + offset`, for each lane.
    ///
    /// # Safety
    /// `at` is valid for reading `COUNT` pointers
    /// and each of them, plus `offset`, for reading 16 words. No alignment is needed.
    unsafe fn load_block(proof: Self::Proof, at: *const *const u8, offset: usize) -> [Self; 16];

    /// [`Self::load_block`] in eight parts, to run between other work: after all of them, in order, the words
    /// lie at `to`.
    ///
    /// # Safety
    /// As for [`Self::load_block`]; `eighth` is below 8, and `to` valid for reading and writing the sixteen.
    #[inline(always)]
    unsafe fn load_eighth(
        proof: Self::Proof,
        at: *const *const u8,
        offset: usize,
        eighth: usize,
        to: *mut Self,
    ) {
        if eighth == 7 {
            // SAFETY: the caller's promises.
            unsafe {
                let block = Self::load_block(proof, at, offset);
                to.cast::<[Self; 16]>().write(block);
            }
        }
    }

    /// `COUNT` words that lie in memory in the order of the lanes.
    ///
    /// # Safety
    /// `words` is valid for reading `COUNT`.
    unsafe fn load(proof: Self::Proof, words: *const Self::Word) -> Self;

    /// One double row of native words per lane, transposed.
    ///
    /// # Safety
    /// `rows` is valid for reading `COUNT` double rows.
    unsafe fn load_double_rows(
        proof: Self::Proof,
        rows: *const DoubleRow<Self::Word>,
    ) -> [Self; 16];

    /// The inverse of [`Self::load_double_rows`].
    ///
    /// # Safety
    /// `rows` is valid for writing `COUNT` double rows.
    unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<Self::Word>);

    /// XORs 64 bytes: `output` = `input` ^ `mask`.
    ///
    /// Its own instructions per register: the compiler would vectorise across the blocks of a loop
    /// and gather what lies side by side.
    ///
    /// # Safety
    /// All are valid for 64 bytes, `output` for writing; it is the same memory as `input` or
    /// disjoint from it.
    unsafe fn xor_block(proof: Self::Proof, mask: *const u8, input: *const u8, output: *mut u8);

    /// XORs a double row for each lane: `output` = `input` ^ `columns`, transposed. By way of
    /// `scratch`, unless registers hold whole rows.
    ///
    /// # Safety
    /// `input` is valid for reading and `output` for writing `COUNT` double rows; they are the same
    /// memory or disjoint. `scratch` is valid for writing as many.
    #[inline(always)]
    unsafe fn xor_double_rows(
        columns: [Self; 16],
        input: *const u8,
        output: *mut u8,
        scratch: *mut DoubleRow<Self::Word>,
    ) {
        let (proof, bytes) = (columns[0].proof(), size_of::<DoubleRow<Self::Word>>());
        // SAFETY: the caller's promises.
        unsafe {
            Self::store_double_rows(columns, scratch);
            for i in 0..Self::COUNT {
                let mask = scratch.add(i).cast::<u8>();
                for part in (0..bytes).step_by(64) {
                    let at = bytes * i + part;
                    Self::xor_block(proof, mask.add(part), input.add(at), output.add(at));
                }
            }
        }
    }

    /// One row of native words per lane, transposed.
    ///
    /// # Safety
    /// `rows` is valid for reading `COUNT` rows.
    unsafe fn load_rows(proof: Self::Proof, rows: *const Row<Self::Word>) -> [Self; 8];

    /// The inverse of [`Self::load_rows`].
    ///
    /// # Safety
    /// `rows` is valid for writing `COUNT` rows.
    unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<Self::Word>);
}

/// A register as rows of four words.
///
/// # Safety
/// As for [`WordLanes`]; the register has four, eight or sixteen words.
pub unsafe trait Rows: WordLanes<Word = u32> {
    /// The same row everywhere.
    ///
    /// # Safety
    /// `row` is valid for reading four words.
    unsafe fn broadcast_row(proof: Self::Proof, row: *const u32) -> Self;
    /// Moves the words within each row: two bits of `ORDER` for each say where it comes from.
    #[must_use]
    fn turn<const ORDER: i32>(self) -> Self;
    /// The four rows of a quarter of `COUNT` double rows: the inverse of [`Self::store_of_rows`].
    ///
    /// # Safety
    /// `from` is valid for reading the double rows.
    unsafe fn load_of_rows(proof: Self::Proof, from: *const DoubleRow<u32>) -> [Self; 4];
    /// Writes the double rows whose four rows are in as many registers.
    ///
    /// # Safety
    /// `to` is valid for writing a quarter of `COUNT` double rows.
    unsafe fn store_of_rows(rows: [Self; 4], to: *mut DoubleRow<u32>);
}
