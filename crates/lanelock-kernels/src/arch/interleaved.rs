//! Hashes by instructions made for them, several messages interleaved.
//!
//! The instructions have a latency of several times their throughput, so two or more independent
//! messages run in nearly the time of one. For a few messages this beats a register of lanes. For
//! one message, other work with a long latency can run [`Beside`](super::words::Beside) its rounds.

/// The compression of any number of messages by `$group`, which runs `N` of them; beside each runs
/// `$beside`, if the group takes that.
macro_rules! interleaved {
    ($(#[$doc:meta])* $name:ident: $word:ident, $features:literal, $group:ident $(, $beside:ident)?) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The CPU has the instructions. `rows` is valid for `lanes` rows, `at` for `lanes` pointers,
        /// each valid for reading `blocks` blocks.
        #[target_feature(enable = $features)]
        unsafe fn $name(
            rows: *mut Row<$word>,
            at: *const *const u8,
            lanes: usize,
            blocks: usize,
        ) {
            let mut lane = 0;
            // SAFETY: `lane` + the group's width never exceeds `lanes`, which the caller vouches
            // for.
            unsafe {
                while lanes - lane >= 4 {
                    $group::<4 $(, $beside)?>(rows.add(lane), at.add(lane), blocks $(, $beside)?);
                    lane += 4;
                }
                let (rows, at) = (rows.add(lane), at.add(lane));
                match lanes - lane {
                    3 => $group::<3 $(, $beside)?>(rows, at, blocks $(, $beside)?),
                    2 => $group::<2 $(, $beside)?>(rows, at, blocks $(, $beside)?),
                    1 => $group::<1 $(, $beside)?>(rows, at, blocks $(, $beside)?),
                    _ => {}
                }
            }
        }
    };
}
pub(crate) use interleaved;
