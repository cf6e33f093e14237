//! Where something that was computed from secrets becomes public.
//!
//! The secret-taint check (`make taint`) marks secrets, and whatever is computed from them, for
//! Valgrind; a branch on what still has its mark is an error.

/// How the check takes its mark off memory.
#[cfg(lanelock_taint)]
pub static MARK_PUBLIC: std::sync::OnceLock<fn(&mut [u8])> = std::sync::OnceLock::new();

/// A verdict that may be known: whether a key is refused, one bit of its size. Nothing but the
/// identity, unless built with `--cfg lanelock_taint`.
#[inline(always)]
pub(crate) fn declassify(verdict: bool) -> bool {
    #[cfg(lanelock_taint)]
    {
        let mut byte = [u8::from(verdict)];
        if let Some(mark_public) = MARK_PUBLIC.get() {
            mark_public(&mut byte);
        }
        // The read keeps the compiler from using the value that it had before.
        std::hint::black_box(byte)[0] != 0
    }
    #[cfg(not(lanelock_taint))]
    verdict
}
