//! A message that is kept to be hashed in lanes.

use zeroize::Zeroizing;

/// Longest message that is held back; what TLS signs is shorter.
pub(super) const LONGEST: usize = 4096;

#[derive(Clone, Default)]
pub(super) struct HeldBack(Zeroizing<Vec<u8>>);

impl HeldBack {
    /// Appends `more`; false, and unchanged, if that would be too long.
    pub(super) fn extend(&mut self, more: &[u8]) -> bool {
        let fits = more.len() <= LONGEST - self.0.len();
        if fits {
            self.0.extend_from_slice(more);
        }
        fits
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
