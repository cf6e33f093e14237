//! A set of lengths, as algorithms and engines state what they accept.

use std::fmt;

/// An arithmetic run of lengths in bytes: `min`, `min + step`, … up to `max`.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::Aead;
///
/// let range = Aead::AesCcm.tag_sizes().ranges()[0];
/// assert_eq!((range.min, range.max, range.step), (4, 16, 2)); // bytes
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SizeRange {
    /// Smallest length, in bytes.
    pub min: usize,
    /// Largest length, in bytes.
    pub max: usize,
    /// Distance between two accepted lengths, in bytes; at least 1.
    pub step: usize,
}

/// A set of lengths in bytes, as a few ranges in ascending order.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::Aead;
///
/// let tags = Aead::AesCcm.tag_sizes();
/// assert!(tags.contains(8) && !tags.contains(9));
/// assert_eq!(tags.to_string(), "4 to 16 in steps of 2");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sizes(&'static [SizeRange]);

impl Sizes {
    /// For a part that does not exist: the only accepted length is 0.
    pub const NONE: Self = Self(&[SizeRange {
        min: 0,
        max: 0,
        step: 1,
    }]);

    /// The union of `ranges`, which are in ascending order.
    #[must_use]
    pub const fn new(ranges: &'static [SizeRange]) -> Self {
        Self(ranges)
    }

    /// The ranges, ascending.
    #[must_use]
    pub const fn ranges(&self) -> &'static [SizeRange] {
        self.0
    }

    /// Whether `len` is accepted.
    #[must_use]
    pub fn contains(&self, len: usize) -> bool {
        self.0
            .iter()
            .any(|r| len >= r.min && len <= r.max && (len - r.min).is_multiple_of(r.step))
    }

    /// The largest accepted length.
    #[must_use]
    pub const fn max(&self) -> usize {
        match self.0.last() {
            Some(range) => range.max,
            None => 0,
        }
    }

    /// Every accepted length, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(|r| (r.min..=r.max).step_by(r.step))
    }
}

/// Reads as part of a sentence: `16, 24 or 32`, `1 to 64`, `4 to 16 in steps of 2`.
impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(if i + 1 == self.0.len() { " or " } else { ", " })?;
            }
            match *range {
                SizeRange { min, max, .. } if min == max => write!(f, "{min}")?,
                SizeRange { min, max, step: 1 } => write!(f, "{min} to {max}")?,
                SizeRange { min, max, step } => write!(f, "{min} to {max} in steps of {step}")?,
            }
        }
        Ok(())
    }
}

/// Builds [`Sizes`] in a constant: `sizes![16, 24, 32]`, `sizes![4..=16]`, `sizes![4..=16; 2]`.
#[macro_export]
macro_rules! sizes {
    ($min:literal ..= $max:literal) => { $crate::sizes!($min..=$max; 1) };
    ($min:literal ..= $max:literal ; $step:literal) => {
        $crate::sizes::Sizes::new(&[$crate::sizes::SizeRange { min: $min, max: $max, step: $step }])
    };
    ($($len:expr),+) => {
        $crate::sizes::Sizes::new(
            &[$($crate::sizes::SizeRange { min: $len, max: $len, step: 1 }),+],
        )
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn contains_follows_the_step() {
        let even = sizes![4..=16; 2];
        assert!(even.contains(4) && even.contains(16));
        assert!(!even.contains(5) && !even.contains(18) && !even.contains(2));
        assert_eq!(even.iter().count(), 7);
    }

    #[test]
    fn display_reads_as_prose() {
        assert_eq!(sizes![16, 24, 32].to_string(), "16, 24 or 32");
        assert_eq!(sizes![7..=13].to_string(), "7 to 13");
        assert_eq!(sizes![4..=16; 2].to_string(), "4 to 16 in steps of 2");
    }
}
