//! Tags compared in constant time, and copied.

/// Zero if two tags of one length are equal, in constant time. What differs is collected first: the
/// comparison of bytes that `subtle` has for slices, one by one, takes longer than most tags do.
#[inline(always)]
pub(super) fn difference(tag: &[u8], expected: &[u8]) -> u128 {
    match (tag.try_into(), expected.try_into()) {
        // The usual length, without a loop.
        (Ok(tag), Ok(expected)) => u128::from_ne_bytes(tag) ^ u128::from_ne_bytes(expected),
        _ => difference_of_any(tag, expected).into(),
    }
}

/// Zero if two tags of one length are equal.
#[inline(always)]
fn difference_of_any(tag: &[u8], expected: &[u8]) -> u64 {
    let (words, tag) = tag.as_chunks::<8>();
    let (others, expected) = expected.as_chunks::<8>();
    let mut difference = words.iter().zip(others).fold(0, |difference, (a, b)| {
        difference | (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b))
    });
    let (words, tag) = tag.as_chunks::<4>();
    let (others, expected) = expected.as_chunks::<4>();
    for (a, b) in words.iter().zip(others) {
        difference |= u64::from(u32::from_ne_bytes(*a) ^ u32::from_ne_bytes(*b));
    }
    for (a, b) in tag.iter().zip(expected) {
        difference |= u64::from(a ^ b);
    }
    difference
}

/// Copies a tag; the usual lengths without a call.
///
/// # Panics
/// If the lengths differ.
#[inline(always)]
pub(super) fn copy_tag(tag: &[u8], to: &mut [u8]) {
    match tag.len() {
        12 => to[..12].copy_from_slice(&tag[..12]),
        16 => to[..16].copy_from_slice(&tag[..16]),
        20 => to[..20].copy_from_slice(&tag[..20]),
        32 => to[..32].copy_from_slice(&tag[..32]),
        _ => to.copy_from_slice(tag),
    }
}
