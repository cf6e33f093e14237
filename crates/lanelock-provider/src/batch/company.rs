//! Whether it is worth pausing where no other operation waits.

/// A pause costs a turn of the event loop. If nobody has joined a batch for a while, most lone
/// operations do not pause; some still do, to find out whether that has changed.
#[derive(Debug, Default)]
pub(super) struct Company {
    /// Lone operations to come that do not pause.
    skip: u32,
    /// How many were skipped last.
    last: u32,
}

/// Most operations between two that look for company.
const MOST: u32 = 32;

impl Company {
    /// Whether the next lone operation pauses.
    pub(super) fn look(&mut self) -> bool {
        match self.skip.checked_sub(1) {
            Some(rest) => {
                self.skip = rest;
                false
            }
            None => true,
        }
    }

    /// An operation paused and nobody came.
    pub(super) fn none(&mut self) {
        self.last = (2 * self.last + 1).min(MOST);
        self.skip = self.last;
    }

    /// Operations ran together.
    pub(super) fn some(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stays_alone_looks_less_and_less_often_but_never_stops() {
        let mut company = Company::default();
        let mut gaps = Vec::new();
        for _ in 0..8 {
            let mut gap = 0;
            while !company.look() {
                gap += 1;
            }
            gaps.push(gap);
            company.none();
        }
        assert_eq!(gaps, [0, 1, 3, 7, 15, 31, 32, 32]);
        company.some();
        assert!(company.look() && company.look());
    }
}
