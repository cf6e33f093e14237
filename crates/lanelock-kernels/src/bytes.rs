//! Short moves whose length is public, as a few overlapping loads and stores instead of a call.

#![allow(unsafe_code)] // raw moves

/// Copies at most 128 bytes.
///
/// # Safety
/// `from` is readable and `to` writable for `count` ≤ 128 bytes; they do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_short(from: *const u8, to: *mut u8, count: usize) {
    macro_rules! two {
        ($size:literal) => {
            // SAFETY: $size ≤ `count` ≤ 2 · $size: the first and the last $size bytes.
            unsafe {
                let first = from.cast::<[u8; $size]>().read();
                let last = from.add(count - $size).cast::<[u8; $size]>().read();
                to.cast::<[u8; $size]>().write(first);
                to.add(count - $size).cast::<[u8; $size]>().write(last);
            }
        };
    }
    match count {
        0 => {}
        1 => {
            // SAFETY: one byte.
            unsafe { to.write(from.read()) }
        }
        2..=3 => two!(2),
        4..=7 => two!(4),
        8..=15 => two!(8),
        16..=31 => two!(16),
        32..=63 => two!(32),
        _ => two!(64),
    }
}

/// Fewer than sixteen bytes as a number, least significant first. They pass through no memory, from
/// which a load would wait for the stores of the parts.
///
/// # Safety
/// `from` is readable for `count` < 16 bytes.
#[inline(always)]
pub(crate) unsafe fn load_short(from: *const u8, count: usize) -> u128 {
    macro_rules! two {
        ($word:ty, $size:literal) => {{
            // SAFETY: $size ≤ `count` < 2 · $size: the first and the last $size bytes.
            let (first, last) = unsafe {
                (
                    from.cast::<[u8; $size]>().read(),
                    from.add(count - $size).cast::<[u8; $size]>().read(),
                )
            };
            let first = u128::from(<$word>::from_le_bytes(first));
            let last = u128::from(<$word>::from_le_bytes(last));
            // Both have the bytes where they overlap.
            first | last << (8 * (count - $size))
        }};
    }
    match count {
        0 => 0,
        1 => {
            // SAFETY: one byte.
            unsafe { from.read().into() }
        }
        2..=3 => two!(u16, 2),
        4..=7 => two!(u32, 4),
        _ => two!(u64, 8),
    }
}

/// XORs fewer than 64 bytes: `output` = `input` ^ `mask`. Blocks of sixteen are written whole, and what is
/// left in parts that [`load_short`] reads.
///
/// # Safety
/// All are valid for `count` < 64 bytes, `output` for writing; it is the same memory as `input` or
/// disjoint from it.
#[inline(always)]
pub(crate) unsafe fn xor_short(mask: *const u8, input: *const u8, output: *mut u8, count: usize) {
    let whole = count / 16 * 16;
    // SAFETY: sixteen bytes from `at` on, which are below `count`; no alignment is needed.
    unsafe {
        for at in (0..whole).step_by(16) {
            let mask = mask.add(at).cast::<[u64; 2]>().read_unaligned();
            let text = input.add(at).cast::<[u64; 2]>().read_unaligned();
            let text = [text[0] ^ mask[0], text[1] ^ mask[1]];
            output.add(at).cast::<[u64; 2]>().write_unaligned(text);
        }
    }
    let (mask, input) = (mask.wrapping_add(whole), input.wrapping_add(whole));
    let (output, count) = (output.wrapping_add(whole), count - whole);
    macro_rules! two {
        ($word:ty, $size:literal) => {
            // SAFETY: $size ≤ `count` < 2 · $size: the first and the last $size bytes, both read before
            // either is written.
            unsafe {
                let word = |at: *const u8| at.cast::<$word>().read_unaligned();
                let last = count - $size;
                let first = word(input) ^ word(mask);
                let second = word(input.add(last)) ^ word(mask.add(last));
                output.cast::<$word>().write_unaligned(first);
                output.add(last).cast::<$word>().write_unaligned(second);
            }
        };
    }
    match count {
        0 => {}
        1 => {
            // SAFETY: one byte.
            unsafe { output.write(input.read() ^ mask.read()) }
        }
        2..=3 => two!(u16, 2),
        4..=7 => two!(u32, 4),
        _ => two!(u64, 8),
    }
}

/// Writes 1 to 256 zeros.
///
/// # Safety
/// `to` is writable for `count` bytes.
#[inline(always)]
pub(crate) unsafe fn zero(to: *mut u8, count: usize) {
    macro_rules! two {
        ($size:literal) => {
            // SAFETY: $size ≤ `count` ≤ 2 · $size: the first and the last $size bytes.
            unsafe {
                to.cast::<[u8; $size]>().write([0; $size]);
                to.add(count - $size)
                    .cast::<[u8; $size]>()
                    .write([0; $size]);
            }
        };
    }
    match count {
        // SAFETY: `count` bytes.
        0..=7 => unsafe { to.write_bytes(0, count) },
        8..=15 => two!(8),
        16..=31 => two!(16),
        32..=63 => two!(32),
        64..=127 => two!(64),
        _ => two!(128),
    }
}

/// XORs 64 bytes: `output` = `input` ^ `mask`.
///
/// # Safety
/// All are valid for 64 bytes, `output` for writing; it is the same memory as `input` or disjoint
/// from it.
#[inline(always)]
pub(crate) unsafe fn xor_block(mask: *const u8, input: *const u8, output: *mut u8) {
    // SAFETY: 64 bytes each, no alignment needed; the input is read before the output is written.
    unsafe {
        let mask = mask.cast::<[u64; 8]>().read_unaligned();
        let mut text = input.cast::<[u64; 8]>().read_unaligned();
        for i in 0..8 {
            text[i] ^= mask[i];
        }
        output.cast::<[u64; 8]>().write_unaligned(text);
    }
}

#[cfg(test)]
mod tests {
    use super::{load_short, xor_short};
    use crate::testing::Random;

    #[test]
    fn short_moves_of_every_length() {
        let mut random = Random::new(31);
        for count in 0..64 {
            let (mask, text) = (random.bytes(count), random.bytes(count));
            let (mut apart, mut in_place) = (std::vec![0; count], text.clone());
            // SAFETY: all are of `count` bytes.
            unsafe {
                let at = in_place.as_mut_ptr();
                xor_short(mask.as_ptr(), text.as_ptr(), apart.as_mut_ptr(), count);
                xor_short(mask.as_ptr(), at.cast_const(), at, count);
            }
            let both = mask.iter().zip(&text);
            let expected: std::vec::Vec<u8> = both.map(|(a, b)| a ^ b).collect();
            assert_eq!(apart, expected, "{count} bytes");
            assert_eq!(in_place, expected, "{count} bytes in place");
            if count < 16 {
                let mut padded = [0; 16];
                padded[..count].copy_from_slice(&text);
                // SAFETY: `count` bytes.
                let number = unsafe { load_short(text.as_ptr(), count) };
                assert_eq!(number.to_le_bytes(), padded, "{count} bytes as a number");
            }
        }
    }
}
