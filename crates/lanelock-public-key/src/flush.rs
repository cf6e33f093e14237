//! When a batch that is not full runs.

use std::time::{Duration, Instant};

/// When operations that wait for their lanes to fill are run. A plain value: the clock and the
/// number of submitters are arguments.
///
/// 1. A full batch runs at once.
/// 2. Everything runs at once when nothing can be added to it: as many operations wait as there are
///    submitters.
/// 3. A batch runs when its oldest operation has waited for the deadline.
///
/// [`FlushPolicy::batch`] says how many of the waiting operations make up the batch.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use std::time::Duration;
///
/// use lanelock::public_key::FlushPolicy;
///
/// let policy = FlushPolicy::with_deadline(Duration::from_millis(1));
/// assert_eq!(policy.deadline.as_micros(), 1000);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlushPolicy {
    /// Longest wait of an operation, from its submission until it is due. A deadline past what
    /// [`Instant`] can hold, such as that of [`Duration::MAX`], never passes.
    pub deadline: Duration,
    /// Whether rule 2 applies.
    pub when_alone: bool,
}

/// What waits, as the policy sees it: one algorithm and size.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use std::time::Instant;
///
/// use lanelock::public_key::{FlushPolicy, Waiting};
///
/// let full = Waiting { count: 8, lanes: 8, oldest: Instant::now() };
/// assert!(FlushPolicy::default().is_due(&full, Instant::now()));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Waiting {
    /// Operations.
    pub count: usize,
    /// Operations that fill a batch.
    pub lanes: usize,
    /// When the oldest was submitted.
    pub oldest: Instant,
}

impl FlushPolicy {
    /// The default deadline.
    pub const DEADLINE: Duration = Duration::from_micros(200);

    /// Rules 1 to 3 with `deadline`.
    #[must_use]
    pub const fn with_deadline(deadline: Duration) -> Self {
        Self {
            deadline,
            when_alone: true,
        }
    }

    /// Nothing waits: each poll runs everything.
    #[must_use]
    pub const fn immediate() -> Self {
        Self::with_deadline(Duration::ZERO)
    }

    /// Rule 2: whether `waiting` operations, of all algorithms, are all that `submitters` can
    /// submit. `None` means that their number is unknown.
    #[must_use]
    pub fn is_alone(&self, waiting: usize, submitters: Option<usize>) -> bool {
        self.when_alone && submitters.is_some_and(|submitters| waiting >= submitters)
    }

    /// How many of `waiting` operations to run, at most as many as there are lanes, if others may
    /// arrive while they run: the number that gives the most operations per unit of time, so that
    /// later arrivals fill the next batch. `per_pass` operations cost as much as one
    /// ([`super::engine::KeyEngineSession::per_pass`]), so the number is one of whole passes, if
    /// there are enough operations for one. For RSA, half as many operations as there are lanes
    /// cost half as much as a full batch.
    #[must_use]
    pub const fn batch(waiting: usize, per_pass: usize) -> usize {
        match waiting.checked_rem(per_pass) {
            Some(rest) if rest < waiting => waiting - rest,
            _ => waiting,
        }
    }

    /// Rules 1 and 3: whether a batch is to run at `now`.
    #[must_use]
    pub fn is_due(&self, waiting: &Waiting, now: Instant) -> bool {
        waiting.count >= waiting.lanes
            || waiting.count > 0 && now.saturating_duration_since(waiting.oldest) >= self.deadline
    }

    /// When the oldest operation of `waiting` is due by rule 3; `None` for never.
    #[must_use]
    pub fn due_at(&self, waiting: &Waiting) -> Option<Instant> {
        waiting.oldest.checked_add(self.deadline)
    }
}

impl Default for FlushPolicy {
    fn default() -> Self {
        Self::with_deadline(Self::DEADLINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_by_itself() {
        let policy = FlushPolicy::default();
        let start = Instant::now();
        let waiting = |count| Waiting {
            count,
            lanes: 8,
            oldest: start,
        };
        let after = |us| start + Duration::from_micros(us);
        assert!(policy.is_due(&waiting(8), start), "full");
        assert!(!policy.is_due(&waiting(7), after(199)));
        assert!(policy.is_due(&waiting(7), after(200)), "too old");
        assert!(!policy.is_due(&waiting(0), after(900)), "nothing waits");
        assert_eq!(policy.due_at(&waiting(1)), Some(after(200)));
        assert!(policy.is_alone(3, Some(3)) && !policy.is_alone(2, Some(3)));
        assert!(!policy.is_alone(2, None), "unknown submitters may come");
        let never = FlushPolicy {
            when_alone: false,
            ..policy
        };
        assert!(!never.is_alone(3, Some(3)));
    }

    #[test]
    fn a_batch_is_whole_passes_if_there_is_one() {
        let batches = |per_pass| {
            (1..=8)
                .map(|n| FlushPolicy::batch(n, per_pass))
                .collect::<Vec<_>>()
        };
        assert_eq!(batches(8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(batches(4), [1, 2, 3, 4, 4, 4, 4, 8]);
        assert_eq!(batches(1), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!([FlushPolicy::batch(0, 4), FlushPolicy::batch(3, 0)], [0, 3]);
    }

    #[test]
    fn the_longest_deadline_never_comes() {
        let policy = FlushPolicy::with_deadline(Duration::MAX);
        let mut waiting = Waiting {
            count: 7,
            lanes: 8,
            oldest: Instant::now(),
        };
        assert_eq!(policy.due_at(&waiting), None);
        let in_a_year = waiting.oldest + Duration::from_secs(365 * 86_400);
        assert!(!policy.is_due(&waiting, in_a_year));
        waiting.count = 8;
        assert!(policy.is_due(&waiting, waiting.oldest), "full");
    }

    #[test]
    fn a_clock_that_steps_back_makes_nothing_due() {
        let policy = FlushPolicy::default();
        let start = Instant::now() + Duration::from_secs(1);
        let waiting = Waiting {
            count: 1,
            lanes: 8,
            oldest: start,
        };
        assert!(!policy.is_due(
            &waiting,
            start.checked_sub(Duration::from_micros(500)).unwrap()
        ));
    }
}
