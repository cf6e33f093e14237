//! When a batch that is not full runs.

use std::time::{Duration, Instant};

/// When operations that wait for their lanes to fill are run. A value: the clock and the number of
/// submitters are arguments of whoever asks.
///
/// 1. A full batch runs at once.
/// 2. Everything runs at once when nobody else can add to it: as many operations wait as there are
///    submitters.
/// 3. A batch runs when its oldest operation has waited for the deadline.
///
/// How much of what waits then makes the batch is [`FlushPolicy::batch`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlushPolicy {
    /// Longest wait of an operation, measured from its submission, until it is due. One past what
    /// [`Instant`] can hold, such as [`Duration::MAX`], never comes.
    pub deadline: Duration,
    /// Whether rule 2 holds.
    pub when_alone: bool,
}

/// What waits, as the policy sees it: one algorithm and size.
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

    /// Rule 1 to 3 with `deadline`.
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
    /// submit. `None` submitters are an unknown number.
    #[must_use]
    pub fn is_alone(&self, waiting: usize, submitters: Option<usize>) -> bool {
        self.when_alone && submitters.is_some_and(|submitters| waiting >= submitters)
    }

    /// How many operations to run of those that wait, if others may arrive while they run:
    /// as many as give the most operations per unit of time, so that what arrives meanwhile fills
    /// up the next batch. `costs` holds what 1, 2, … of them cost, up to all that wait or that
    /// fill a batch, in any unit; at least one.
    ///
    /// Where a batch costs the same however many lanes are filled, that is all of them. Of RSA
    /// half as many operations as there are lanes cost half as much.
    #[must_use]
    pub fn batch(costs: &[u64]) -> usize {
        let mut best = costs.len();
        for count in (1..costs.len()).rev() {
            let [cost, least] = [count, best].map(|count| u128::from(costs[count - 1]));
            // More per unit of time, and by more than measurements err.
            if least * count as u128 * 100 > cost * best as u128 * (100 + MARGIN_PERCENT) {
                best = count;
            }
        }
        best
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

/// Costs are measurements: of equally good batches the largest runs.
const MARGIN_PERCENT: u128 = 3;

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
    fn a_batch_is_what_gives_the_most_per_unit_of_time() {
        // RSA-2048: one alone, two to four on half of the lanes, more on all of them.
        let rsa = [210, 270, 270, 270, 480, 520, 520, 520];
        let batches: Vec<_> = (1..=8).map(|n| FlushPolicy::batch(&rsa[..n])).collect();
        assert_eq!(batches, [1, 2, 3, 4, 4, 4, 4, 8]);
        let constant = [30; 8];
        assert_eq!(FlushPolicy::batch(&constant[..5]), 5);
        assert_eq!(
            FlushPolicy::batch(&[100, 198]),
            2,
            "no better than a measurement errs"
        );
        assert_eq!(FlushPolicy::batch(&[100, 210]), 1);
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
