//! Hashes by instructions made for them, several messages interleaved.
//!
//! The instructions have a latency of several times their throughput, so two or more independent
//! messages run in nearly the time of one. For a few messages this beats a register of lanes. For
//! one message, other work with a long latency can run [`Beside`](super::words::Beside) its rounds.

/// Runs `blocks` blocks of `lanes` messages, `N` at a time and the rest one by one.
macro_rules! interleaved {
    ($(#[$doc:meta])* $features:literal, $name:ident, $beside:ident, $group:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The CPU has these features. `rows` is valid for `lanes`
        /// rows, `at` for `lanes` pointers, each valid for reading 64 · `blocks` bytes.
        #[target_feature(enable = $features)]
        unsafe fn $name(
            rows: *mut $crate::arch::words::Row<u32>,
            at: *const *const u8,
            lanes: usize,
            blocks: usize,
        ) {
            let mut lane = 0;
            // SAFETY: `lane` + the group's width never exceeds `lanes`, which the caller vouches
            // for.
            unsafe {
                while lanes - lane >= 4 {
                    $group::<4, _>(rows.add(lane), at.add(lane), blocks, $crate::arch::words::Alone);
                    lane += 4;
                }
                match lanes - lane {
                    3 => $group::<3, _>(rows.add(lane), at.add(lane), blocks, $crate::arch::words::Alone),
                    2 => $group::<2, _>(rows.add(lane), at.add(lane), blocks, $crate::arch::words::Alone),
                    1 => $group::<1, _>(rows.add(lane), at.add(lane), blocks, $crate::arch::words::Alone),
                    _ => {}
                }
            }
        }

        /// As above for one lane, with `beside` between the rounds.
        ///
        /// # Safety
        /// `data` is valid for reading 64 · `blocks` bytes; what `beside` demands.
        #[inline(always)]
        pub(crate) unsafe fn $beside<B: $crate::arch::words::Beside>(
            _: Sha,
            row: &mut $crate::arch::words::Row<u32>,
            data: *const u8,
            blocks: usize,
            beside: B,
        ) {
            // SAFETY: the token is the proof of the instructions; one row, one pointer.
            unsafe { $group::<1, B>(row, &raw const data, blocks, beside) }
        }
    };
}
pub(crate) use interleaved;
