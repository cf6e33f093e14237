//! Arbitrary bytes read as the choices that make up a case.

/// Choices left; all zero once the bytes are used up.
#[derive(Debug)]
pub struct Bytes<'d>(&'d [u8]);

impl<'d> Bytes<'d> {
    /// The choices that `data` makes.
    #[must_use]
    pub fn new(data: &'d [u8]) -> Self {
        Self(data)
    }

    /// Whether all are used up.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number up to 255.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    /// A number up to and including `max`.
    pub fn up_to(&mut self, max: usize) -> usize {
        let wide = usize::from(self.byte()) << 8;
        let choice = if max < 256 {
            wide >> 8
        } else {
            wide | usize::from(self.byte())
        };
        choice % (max + 1)
    }

    /// Yes or no.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// True once in `n`.
    pub fn once_in(&mut self, n: u8) -> bool {
        self.byte() % n == n - 1
    }

    /// One of `list`.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.up_to(list.len() - 1)]
    }

    /// An offset or length that is mostly at most `bound`, sometimes just above, sometimes absurd.
    pub(crate) fn odd_number(&mut self, bound: usize) -> usize {
        match self.byte() {
            0..=99 => self.up_to(bound),
            100..=199 => bound.saturating_sub(self.up_to(20)),
            200..=239 => bound + self.up_to(3),
            _ => *self.pick(&[
                (1 << 32) - 2,
                (1 << 32) - 1,
                1 << 32,
                (1 << 32) + 16,
                usize::MAX - 15,
                usize::MAX,
            ]),
        }
    }

    /// Up to `count` lengths of up to `max` bytes, some of them 0.
    pub(crate) fn lengths(&mut self, count: usize, max: usize) -> Vec<usize> {
        (0..self.up_to(count)).map(|_| self.up_to(max)).collect()
    }

    /// `len` bytes to work on.
    pub(crate) fn fill(&mut self, len: usize) -> Vec<u8> {
        let mut state = self.byte();
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(77).wrapping_add(41);
                state
            })
            .collect()
    }
}

/// Cuts `len` bytes at the running sums of `lengths`, the rest in one.
pub(crate) fn cut(len: usize, lengths: &[usize]) -> Vec<std::ops::Range<usize>> {
    let mut at = 0;
    let mut ranges = Vec::new();
    for &step in lengths {
        let end = len.min(at + step);
        ranges.push(at..end);
        at = end;
    }
    ranges.push(at..len);
    ranges
}
