//! What registers of one block have in common.

/// The functions of [`Vector`](super::Vector) that are the same whatever a register of one block is.
macro_rules! one_block {
    ($proof:ty) => {
        const BLOCKS: usize = 1;
        type Single = Self;

        #[inline(always)]
        fn single(proof: $proof) -> $proof {
            proof
        }

        #[inline(always)]
        fn splat(proof: $proof, block: u128) -> Self {
            // SAFETY: a block is read.
            unsafe { Self::load(proof, block.to_le_bytes().as_ptr()) }
        }

        #[inline(always)]
        fn ramp(proof: $proof) -> Self {
            Self::zero(proof)
        }

        #[inline(always)]
        unsafe fn load_bytes(proof: $proof, from: *const u8, bytes: usize) -> Self {
            // SAFETY: the caller's promise.
            let number = unsafe { crate::arch::blocks::load_number(from, bytes) };
            Self::splat(proof, number)
        }

        #[inline(always)]
        unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
            let mut block = [0; 16];
            // SAFETY: a block, and the caller's promise.
            unsafe {
                self.store(block.as_mut_ptr());
                crate::arch::blocks::store_number(u128::from_le_bytes(block), to, bytes);
            }
        }

        #[inline(always)]
        unsafe fn keep_bytes(self, bytes: usize) -> Self {
            let mut block = [0; 16];
            // SAFETY: a block is written.
            unsafe { self.store(block.as_mut_ptr()) };
            let number = u128::from_le_bytes(block);
            Self::splat(
                self.proof(),
                crate::arch::blocks::keep_number(number, bytes),
            )
        }

        #[inline(always)]
        unsafe fn broadcast(proof: $proof, from: *const u8) -> Self {
            // SAFETY: the caller's 16 bytes.
            unsafe { Self::load(proof, from) }
        }

        #[inline(always)]
        unsafe fn gather(proof: $proof, from: *const *mut u8) -> Self {
            // SAFETY: the caller's one pointer, to 16 bytes.
            unsafe { Self::load(proof, *from) }
        }

        #[inline(always)]
        unsafe fn scatter(self, to: *const *mut u8) {
            // SAFETY: the caller's one pointer, to 16 bytes.
            unsafe { self.store(*to) }
        }

        #[inline(always)]
        unsafe fn load_lines(
            proof: $proof,
            from: *const *const u8,
            offset: usize,
            blocks: usize,
        ) -> [Self; 4] {
            let mut lines = [Self::zero(proof); 4];
            // SAFETY: the caller's `blocks` blocks behind the one pointer.
            unsafe {
                let line = (*from).add(offset);
                for j in 0..4 {
                    if j < blocks {
                        lines[j] = Self::load(proof, line.add(16 * j));
                    }
                }
            }
            lines
        }

        #[inline(always)]
        unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize) {
            // SAFETY: the caller's `blocks` blocks behind the one pointer.
            unsafe {
                let line = (*to).add(offset);
                for j in 0..4 {
                    if j < blocks {
                        lines[j].store(line.add(16 * j));
                    }
                }
            }
        }

        #[inline(always)]
        fn shift_in(self, before: Self) -> Self {
            before
        }

        #[inline(always)]
        fn fold(self) -> Self {
            self
        }

        #[inline(always)]
        fn first(self) -> Self {
            self
        }

        #[inline(always)]
        fn pair(_: $proof, _: Self, _: Self) -> Self {
            unreachable!("one block per register")
        }

        #[inline(always)]
        fn fold_rows(rows: [Self; 4]) -> Self {
            rows[0]
        }

        #[inline(always)]
        fn from_singles(_: $proof, singles: [Self; 4]) -> Self {
            singles[0]
        }

        #[inline(always)]
        fn from_single(_: $proof, single: Self) -> Self {
            single
        }
    };
}
pub(crate) use one_block;

/// Up to 16 bytes as a number, the first one the least significant: by whole words that overlap, for
/// bytes that went through memory would have to arrive there first.
///
/// # Safety
/// `from` is valid for reads of `bytes`, 16 at most.
#[inline(always)]
pub(crate) unsafe fn load_number(from: *const u8, bytes: usize) -> u128 {
    debug_assert!(bytes <= 16);
    // SAFETY: each access lies below `bytes`.
    unsafe {
        let at = |n: usize| from.wrapping_add(n);
        if bytes >= 8 {
            let word = |n| u64::from_le_bytes(at(n).cast::<[u8; 8]>().read());
            u128::from(word(0)) | u128::from(word(bytes - 8)) << (8 * (bytes - 8))
        } else if bytes >= 4 {
            let word = |n| u32::from_le_bytes(at(n).cast::<[u8; 4]>().read());
            u128::from(u64::from(word(0)) | u64::from(word(bytes - 4)) << (8 * (bytes - 4)))
        } else if bytes > 0 {
            let byte = |n| u32::from(at(n).read()) << (8 * n);
            u128::from(byte(0) | byte(bytes / 2) | byte(bytes - 1))
        } else {
            0
        }
    }
}

/// Writes the first `bytes` bytes of a number, as [`load_number`] reads them.
///
/// # Safety
/// `to` is valid for writes of `bytes`, 16 at most.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the words of the number one by one"
)]
pub(crate) unsafe fn store_number(number: u128, to: *mut u8, bytes: usize) {
    debug_assert!(bytes <= 16);
    // SAFETY: each access lies below `bytes`.
    unsafe {
        let at = |n: usize| to.wrapping_add(n);
        if bytes >= 8 {
            let word = |n| ((number >> (8 * n)) as u64).to_le_bytes();
            at(0).cast::<[u8; 8]>().write(word(0));
            at(bytes - 8).cast::<[u8; 8]>().write(word(bytes - 8));
        } else if bytes >= 4 {
            let word = |n| ((number as u64 >> (8 * n)) as u32).to_le_bytes();
            at(0).cast::<[u8; 4]>().write(word(0));
            at(bytes - 4).cast::<[u8; 4]>().write(word(bytes - 4));
        } else {
            for n in 0..bytes {
                at(n).write((number as u32 >> (8 * n)) as u8);
            }
        }
    }
}

/// The first `bytes` bytes of a number, zeros behind them.
#[inline(always)]
pub(crate) fn keep_number(number: u128, bytes: usize) -> u128 {
    if bytes < 16 {
        number & ((1 << (8 * bytes)) - 1)
    } else {
        number
    }
}
