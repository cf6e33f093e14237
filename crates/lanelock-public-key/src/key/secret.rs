//! Secret numbers, big-endian. Time and addresses depend only on the lengths of slices and on what
//! is declassified: sizes where the documentation says so, and verdicts.

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::taint::declassify;

/// A number in exactly `len` bytes; `None` if it does not fit.
pub(super) fn fixed(number: &[u8], len: usize) -> Option<Zeroizing<Vec<u8>>> {
    let (zeros, digits) = number.split_at(number.len().saturating_sub(len));
    if !is_zero(zeros) {
        return None;
    }
    let mut out = Zeroizing::new(vec![0; len]);
    out[len - digits.len()..].copy_from_slice(digits);
    Some(out)
}

/// A number without leading zeros; its [bit length](bits) becomes public.
pub(super) fn normal(number: &[u8]) -> Zeroizing<Vec<u8>> {
    let len = bits(number).div_ceil(8) as usize;
    Zeroizing::new(number[number.len() - len..].to_vec())
}

/// Bit length of a number, which becomes public.
pub(super) fn bits(number: &[u8]) -> u32 {
    let all = number
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1));
    let zeros = all.take_while(|bit| declassify(*bit == 0)).count();
    u32::try_from(number.len() * 8 - zeros).unwrap_or(u32::MAX)
}

pub(super) fn is_zero(number: &[u8]) -> bool {
    declassify(number.iter().fold(0, |any, byte| any | byte) == 0)
}

pub(super) fn is_even(number: &[u8]) -> bool {
    number.last().is_none_or(|byte| declassify(byte & 1 == 0))
}

/// Whether two numbers are equal; numbers of different lengths are not.
pub(super) fn equal(one: &[u8], other: &[u8]) -> bool {
    declassify(one.ct_eq(other).into())
}

/// Whether a number is above 0 and below `bound`, which has the same length.
pub(super) fn is_in_range(number: &[u8], bound: &[u8]) -> bool {
    debug_assert_eq!(number.len(), bound.len());
    let digits = number.iter().zip(bound).rev();
    let borrow = digits.fold(0, |borrow, (&digit, &bound)| {
        u16::from(digit)
            .wrapping_sub(u16::from(bound))
            .wrapping_sub(borrow)
            >> 15
    });
    !is_zero(number) && declassify(borrow == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_as_numbers() {
        for (number, bound, expected) in [
            (&[0, 1][..], &[0, 2][..], true),
            (&[0, 255], &[1, 0], true),
            (&[1, 0], &[0, 255], false),
            (&[1, 7], &[1, 7], false),
            (&[1, 6], &[1, 7], true),
            (&[1, 8], &[1, 7], false),
            (&[255, 255], &[255, 255], false),
            (&[0, 0], &[1, 7], false),
            (&[], &[], false),
        ] {
            assert_eq!(is_in_range(number, bound), expected, "{number:?} {bound:?}");
        }
        assert!(equal(&[1, 2], &[1, 2]) && !equal(&[1, 2], &[1, 3]) && !equal(&[0, 1], &[1]));
    }

    #[test]
    fn sizes_count_from_the_first_one() {
        for (number, size, without_zeros) in [
            (&[][..], 0, &[][..]),
            (&[0, 0], 0, &[]),
            (&[0, 1, 0], 9, &[1, 0]),
            (&[0x80], 8, &[0x80]),
            (&[0x0f, 0xff], 12, &[0x0f, 0xff]),
        ] {
            assert_eq!(bits(number), size, "{number:?}");
            assert_eq!(normal(number)[..], *without_zeros, "{number:?}");
        }
    }

    #[test]
    fn numbers_are_padded_or_lose_zeros_but_no_digit() {
        assert_eq!(fixed(&[7], 3).expect("it fits")[..], [0, 0, 7]);
        assert_eq!(fixed(&[0, 0, 7, 8], 2).expect("it fits")[..], [7, 8]);
        assert!(fixed(&[1, 0, 0], 2).is_none());
        assert!(is_even(&[]) && is_even(&[3, 2]) && !is_even(&[2, 3]));
    }
}
