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
            let mut padded = [0_u8; 16];
            // SAFETY: the caller's bytes, 16 at most.
            unsafe {
                from.copy_to_nonoverlapping(padded.as_mut_ptr(), bytes);
                Self::load(proof, padded.as_ptr())
            }
        }

        #[inline(always)]
        unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
            let mut padded = [0_u8; 16];
            // SAFETY: the caller's bytes, 16 at most.
            unsafe {
                self.store(padded.as_mut_ptr());
                to.copy_from_nonoverlapping(padded.as_ptr(), bytes);
            }
        }

        #[inline(always)]
        unsafe fn keep_bytes(self, bytes: usize) -> Self {
            let mut padded = [0_u8; 16];
            // SAFETY: the caller's promise: 16 bytes at most.
            unsafe {
                self.store_bytes(padded.as_mut_ptr(), bytes);
                Self::load(self.proof(), padded.as_ptr())
            }
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
