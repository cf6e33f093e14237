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
