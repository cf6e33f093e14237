//! What takes part in a cell: an engine, a peer or a baseline.

use std::time::Duration;

use crate::failure::Failure;

/// What was done in how much time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lap {
    /// Operations, of all threads.
    pub ops: u64,
    /// From the first burst's start to the last one's end.
    pub elapsed: Duration,
}

/// Something prepared for the work of one cell, warm and waiting.
pub trait Contestant {
    /// Its name in tables and rows.
    fn name(&self) -> &str;

    /// Checksum of its results over every message once, from the messages' first content; `None`
    /// for one that does not do the work. Asked for before the first lap.
    ///
    /// # Errors
    /// [`Failure::Failed`] if an operation failed.
    fn digest(&mut self) -> Result<Option<u64>, Failure>;

    /// Works for about `span` on all threads.
    ///
    /// # Errors
    /// [`Failure::Failed`] if an operation failed.
    fn lap(&mut self, span: Duration) -> Result<Lap, Failure>;

    /// Which of several ways it takes, if it has a choice.
    fn route(&self) -> Option<&str> {
        None
    }
}

macro_rules! passed_on {
    ($($owner:ty),*) => {
        $(impl<C: Contestant + ?Sized> Contestant for $owner {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn digest(&mut self) -> Result<Option<u64>, Failure> {
                (**self).digest()
            }

            fn lap(&mut self, span: Duration) -> Result<Lap, Failure> {
                (**self).lap(span)
            }

            fn route(&self) -> Option<&str> {
                (**self).route()
            }
        })*
    };
}

passed_on!(Box<C>, &mut C);

/// An attempt to prepare a contestant.
pub enum Entry<C> {
    /// It takes part.
    Ready(C),
    /// It does not have this work on offer, for the reason given.
    NotOffered(String),
}

impl Lap {
    /// Operations per second.
    pub fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "2^52 operations take a year")]
        let ops = self.ops as f64;
        ops / self.elapsed.as_secs_f64()
    }

    /// What threads did side by side: together, in the time of the slowest.
    pub fn side_by_side(laps: impl IntoIterator<Item = Self>) -> Self {
        laps.into_iter().fold(Self::default(), |all, lap| Self {
            ops: all.ops + lap.ops,
            elapsed: all.elapsed.max(lap.elapsed),
        })
    }
}
