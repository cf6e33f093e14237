//! What the kernels need from an instruction set: registers of one, two or four AES blocks.

mod single;

pub(crate) use single::{keep_number, load_number, one_block, store_number};

use super::register::{Code, Proof, Register};
use crate::arrays::from_fn;

/// A register of [`Vector::BLOCKS`] blocks and the operations on it, block by block. Loads and
/// stores need no alignment.
pub(crate) trait Vector: Register {
    /// Blocks per register.
    const BLOCKS: usize;
    /// Bytes per register.
    const BYTES: usize = 16 * Self::BLOCKS;
    /// How many such registers there are; of integers, as if there were enough.
    const REGISTERS: usize = 32;
    /// Whether loads and stores of some bytes cost no more than those of whole registers.
    const MASKS: bool = false;
    /// Whether registers in flight side by side are faster than one after the other. Where they are
    /// not, the code for several of them is not compiled: a condition on this is a constant.
    const SIDE_BY_SIDE: bool = true;
    /// Whether messages whose blocks do not wait for each other may come one by one. Else the code for that is not
    /// compiled.
    const FED: bool = Self::BLOCKS > 1;
    /// Whether blocks are multiplied by x, one time after the other, by [`Vector::carries`]: instructions that take the
    /// place of fewer rounds of AES than carry-less multiplications.
    const CARRIES: bool = false;
    /// Carry-less multiplications of a product of blocks: three, with sums of halves (Karatsuba), or
    /// four.
    const PRODUCTS: usize = 3;
    /// Whether GHASH's polynomials lie in blocks from the last coefficient to the first, as POLYVAL's do
    /// when seen from GHASH, or coefficient `n` in bit `n`.
    const MIRRORED: bool = true;
    /// The register of one block.
    type Single: Vector<Single = Self::Single>;

    /// The proof for registers of one block, which this register's contains.
    fn single(proof: Self::Proof) -> ProofOf<Self::Single>;

    /// Runs `kernel` compiled for this instruction set, as one call.
    ///
    /// # Safety
    /// The kernel's contract.
    #[inline(always)]
    unsafe fn enter<K: Kernel>(proof: Self::Proof, kernel: K) -> K::Output {
        proof.enter((kernel, On::<Self>(proof)))
    }

    fn zero(proof: Self::Proof) -> Self;
    /// The same `block` everywhere.
    fn splat(proof: Self::Proof, block: u128) -> Self;
    /// Block `i` is the number `i`.
    fn ramp(proof: Self::Proof) -> Self;

    /// # Safety
    /// `from` is valid for reads of [`Vector::BYTES`].
    unsafe fn load(proof: Self::Proof, from: *const u8) -> Self;
    /// # Safety
    /// `to` is valid for writes of [`Vector::BYTES`].
    unsafe fn store(self, to: *mut u8);
    /// Zero from byte `bytes` on; at most [`Vector::BYTES`].
    ///
    /// # Safety
    /// `from` is valid for reads of `bytes`.
    unsafe fn load_bytes(proof: Self::Proof, from: *const u8, bytes: usize) -> Self;
    /// As [`Vector::load_bytes`], where there may be no byte: an empty slice may point anywhere,
    /// and even a masked load of nothing takes hundreds of cycles where no memory is mapped.
    ///
    /// # Safety
    /// As for [`Vector::load_bytes`].
    #[inline(always)]
    unsafe fn load_rest(proof: Self::Proof, from: *const u8, bytes: usize) -> Self {
        static MAPPED: [u8; 64] = [0; 64];
        let from = if bytes == 0 { MAPPED.as_ptr() } else { from };
        // SAFETY: the caller's promise.
        unsafe { Self::load_bytes(proof, from, bytes) }
    }
    /// # Safety
    /// `to` is valid for writes of `bytes`, at most [`Vector::BYTES`].
    unsafe fn store_bytes(self, to: *mut u8, bytes: usize);
    /// Zero from byte `bytes` on.
    ///
    /// # Safety
    /// `bytes` is at most [`Vector::BYTES`].
    unsafe fn keep_bytes(self, bytes: usize) -> Self;
    /// The same block everywhere.
    ///
    /// # Safety
    /// `from` is valid for reads of 16 bytes.
    unsafe fn broadcast(proof: Self::Proof, from: *const u8) -> Self;

    /// One block from each of [`Vector::BLOCKS`] pointers.
    ///
    /// # Safety
    /// Each pointer is valid for reads of 16 bytes.
    unsafe fn gather(proof: Self::Proof, from: *const *mut u8) -> Self;
    /// One block to each of [`Vector::BLOCKS`] pointers.
    ///
    /// # Safety
    /// Each pointer is valid for writes of 16 bytes.
    unsafe fn scatter(self, to: *const *mut u8);

    /// Transposes up to one cache line of each lane: result `j` holds block `j` of the lines at
    /// `from[0] + offset`, `from[1] + offset`, …; the results from `blocks` on are unspecified.
    ///
    /// # Safety
    /// `from` points to [`Vector::BLOCKS`] pointers, each valid at `offset` for reads of
    /// `16 * blocks` bytes; `blocks` is 1 to 4.
    unsafe fn load_lines(
        proof: Self::Proof,
        from: *const *const u8,
        offset: usize,
        blocks: usize,
    ) -> [Self; 4];
    /// The inverse of [`Vector::load_lines`].
    ///
    /// # Safety
    /// As for `load_lines`, for writes.
    unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize);

    /// Keeps the instructions that write the registers before this point and those that use them
    /// after it: interleaving that the compiler would otherwise undo.
    fn pin<const G: usize>(registers: &mut [Self; G]);

    /// The same address, of which the compiler does not know that: what lies there is loaded where it is used. Else it
    /// copies all round keys to the stack ahead of a loop, if nobody writes them and registers do not hold them.
    #[inline(always)]
    fn in_place(at: *const u8) -> *const u8 {
        at
    }

    /// Zeroes the registers that the end of a kernel does not: they would hold whole texts, and what saves
    /// registers, as a dynamic linker does when it binds a function, writes those to memory.
    #[inline(always)]
    fn forget(_: Self::Proof) {}

    fn xor(self, other: Self) -> Self;
    fn xor3(self, b: Self, c: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn aes_enc(self, key: Self) -> Self;
    fn aes_enc_last(self, key: Self) -> Self;
    fn aes_dec(self, key: Self) -> Self;
    fn aes_dec_last(self, key: Self) -> Self;

    /// Reverses the bytes of each block.
    fn reverse(self) -> Self;
    /// Of blocks in memory the polynomials of GHASH (SP 800-38D, section 6.3), and the other way round.
    /// What is mirrored counts its coefficients from the top.
    #[inline(always)]
    fn coefficients(self) -> Self {
        const { assert!(Self::MIRRORED) };
        self.reverse()
    }
    /// Of big-endian numbers the polynomials that their blocks in memory are.
    #[inline(always)]
    fn coefficients_of_numbers(self) -> Self {
        if const { Self::MIRRORED } {
            self
        } else {
            self.reverse().coefficients()
        }
    }
    /// Adds the four 32-bit words of each block.
    fn add32(self, other: Self) -> Self;
    /// Adds the two 64-bit halves of each block.
    fn add64(self, other: Self) -> Self;

    /// Carry-less product of the halves that `HALVES` selects: bit 0 the high half of `self`,
    /// bit 4 the high half of `other`.
    fn clmul<const HALVES: i32>(self, other: Self) -> Self;
    /// Exchanges the halves of each block.
    fn swap_halves(self) -> Self;
    /// Moves the low half of each block to the high half; the low half becomes zero.
    fn low_to_high(self) -> Self;
    /// Moves the high half of each block to the low half; the high half becomes zero.
    fn high_to_low(self) -> Self;
    /// Moves each 32-bit word of a block up by one place; the lowest becomes zero.
    fn words_up(self) -> Self;
    /// Moves each byte of a block up by one place; the lowest becomes zero.
    fn bytes_up(self) -> Self;
    /// The highest byte of each block in the lowest place; zero elsewhere.
    fn last_byte(self) -> Self;
    /// The highest 32-bit word of each block in all four places.
    fn last_word(self) -> Self;
    /// As [`Vector::last_word`], each with its bytes moved down by one place, the lowest to the top.
    fn last_word_rotated(self) -> Self;
    /// Shifts each 64-bit half to the left; zero from 64 bits on.
    fn shl64(self, bits: u32) -> Self;
    /// Shifts each 64-bit half to the right; zero from 64 bits on.
    fn shr64(self, bits: u32) -> Self;

    /// Multiplies each block by x to the power of `n`, at most 32, in the field of XTS (IEEE 1619, section 5.2).
    #[inline(always)]
    fn times_x(self, n: usize) -> Self {
        debug_assert!(n <= 32);
        #[expect(clippy::cast_possible_truncation)]
        let n = n as u32;
        let carries = self.shr64(64 - n);
        let reduced = carries.clmul::<0x01>(Self::splat(self.proof(), 0x87));
        self.shl64(n).xor3(carries.low_to_high(), reduced)
    }
    /// [`Vector::times_x`] of `n` registers, for each `n` below `G`; and that of `G`.
    #[inline(always)]
    fn times_powers_of_x<const G: usize>(self) -> ([Self; G], Self) {
        if const { !Self::CARRIES } {
            let products = from_fn(|n| self.times_x(Self::BLOCKS * n));
            return (products, self.times_x(Self::BLOCKS * G));
        }
        let (mut next, mut carries) = (self, self.carries());
        let products = from_fn(|_| {
            let product = next;
            next = product.add64(product).xor(carries.entering());
            carries = carries.add32(carries);
            product
        });
        (products, next)
    }
    /// The bits that leave the halves of a block, one each time that it is multiplied by x, up to 24 times; only where
    /// [`Vector::CARRIES`]. Each 32-bit word is doubled each time.
    fn carries(self) -> Self {
        unreachable!("registers that carry")
    }
    /// Of [`Vector::carries`] what enters the halves of a block the next time.
    fn entering(self) -> Self {
        unreachable!("registers that carry")
    }

    /// Moves each block up by one place; the last block of `before` becomes block 0.
    fn shift_in(self, before: Self) -> Self;

    /// The exclusive or of all blocks.
    fn fold(self) -> Self::Single;
    /// Block 0.
    fn first(self) -> Self::Single;
    /// `a` in block 0, `b` in block 1, zero elsewhere; only for registers of at least two.
    fn pair(proof: Self::Proof, a: Self::Single, b: Self::Single) -> Self;
    /// Block `i` is the exclusive or of all blocks of row `i`.
    fn fold_rows(rows: [Self; 4]) -> Self;
    /// Block `i` is `singles[i]`.
    fn from_singles(proof: Self::Proof, singles: [Self::Single; 4]) -> Self;
    /// `single` in block 0, zero elsewhere.
    fn from_single(proof: Self::Proof, single: Self::Single) -> Self;
}

/// The proof of a register.
pub(crate) type ProofOf<V> = <V as Register>::Proof;

/// The registers of a kernel whose contract holds.
struct On<V: Register>(V::Proof);

impl<V: Vector, K: Kernel> Code for (K, On<V>) {
    type Output = K::Output;

    // The stack is aligned to 16 bytes.
    const SPILLS_LINES: bool = V::BLOCKS > 1 && K::SPILLS;

    #[inline(always)]
    fn run(self) -> K::Output {
        // SAFETY: the promise of whoever called `Vector::enter`.
        unsafe { self.0.run::<V>(self.1.0) }
    }
}

/// Code that is compiled once per instruction set.
pub(crate) trait Kernel {
    type Output;

    /// Whether it may spill registers; else it spares the stack that is made for them.
    const SPILLS: bool = true;

    /// Always inlined, into [`Vector::enter`].
    ///
    /// # Safety
    /// The kernel's contract.
    unsafe fn run<V: Vector>(self, proof: V::Proof) -> Self::Output;
}
