//! Random numbers that a seed repeats, or choices that a fuzzer makes.

/// A generator whose bounded numbers may be chosen.
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    drawn: fastrand::Rng,
    /// Choices made already, taken before numbers are drawn.
    choices: std::vec::IntoIter<u8>,
}

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            drawn: fastrand::Rng::with_seed(seed),
            choices: Vec::new().into_iter(),
        }
    }

    /// Bounded numbers are the bytes of `choices` in turn, as few for each as its bound takes, and
    /// drawn once those are used up; contents are drawn always. The seed is a hash of the choices.
    pub(crate) fn of_choices(choices: &[u8]) -> Self {
        Self {
            choices: Vec::from(choices).into_iter(),
            ..Self::new(fnv1a(choices))
        }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.drawn.u64(..)
    }

    /// A number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        let number = self.choice(n - 1).unwrap_or_else(|| self.next());
        usize::try_from(number % n).expect("below a usize")
    }

    /// As many of the choices as a number up to `max` takes; `None` once they are used up.
    fn choice(&mut self, max: u64) -> Option<u64> {
        let first = self.choices.next()?;
        let more = max.checked_ilog2().unwrap_or(0) / 8;
        let rest = self.choices.by_ref().take(more as usize);
        Some(rest.fold(u64::from(first), |number, byte| {
            number << 8 | u64::from(byte)
        }))
    }

    /// A number from `min` to `max`, both included.
    pub(crate) fn between(&mut self, min: usize, max: usize) -> usize {
        min + self.below(max - min + 1)
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.drawn.fill(&mut bytes);
        bytes
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// FNV-1a: a seed of its own for each string of bytes.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_neighbouring_seeds_differ() {
        assert_eq!(Rng::new(7).bytes(40), Rng::new(7).bytes(40));
        assert_ne!(Rng::new(7).bytes(40), Rng::new(8).bytes(40));
    }

    #[test]
    fn choices_come_first_and_take_as_many_bytes_as_their_bound() {
        let mut rng = Rng::of_choices(&[7, 3, 1, 2]);
        assert_eq!((rng.below(1), rng.below(256), rng.below(257)), (0, 3, 1));
        let mut drawn = Rng::new(fnv1a(&[7, 3, 1, 2]));
        assert_eq!(rng.below(1000), drawn.below(1000));
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut items: Vec<_> = (0..50).collect();
        Rng::new(1).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
