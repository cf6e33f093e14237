//! Choosing numbers below a bound out of packed ones, without vectors.

/// What [`Registers::sieve`](super::Registers::sieve) does.
///
/// # Safety
/// `from` is readable for 48 bytes, `to` writable for 32 numbers; they do not overlap.
#[inline(always)]
pub(super) unsafe fn one_by_one(from: *const u8, to: *mut i16, bound: i16) -> usize {
    let mut count = 0;
    for triple in 0..16 {
        // SAFETY: the triple ends by byte 48; `count` is at most the number looked at before.
        unsafe {
            let [a, b, c] = from.add(3 * triple).cast::<[u8; 3]>().read();
            let (a, b, c) = (i16::from(a), i16::from(b), i16::from(c));
            for number in [a | (b & 15) << 8, b >> 4 | c << 4] {
                to.add(count).write(number);
                count += usize::from(number < bound);
            }
        }
    }
    count
}
