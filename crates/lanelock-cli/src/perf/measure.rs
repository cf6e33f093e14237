//! The loop of every measurement: cell by cell, everybody is prepared and warm before the first
//! turn, and works in turns: what disturbs the machine for a while disturbs all alike.

use std::time::Duration;

use super::contest::Pace;
use super::progress::Progress;
use crate::failure::Failure;

/// A kind of measurement: who takes part in a cell, what a turn is, and what comes of the turns.
pub trait Measurement {
    /// A kind of work.
    type Cell;
    /// Something prepared for the work of one cell.
    type Contestant;
    /// What it did in one turn.
    type Lap;
    /// What is reported.
    type Row;

    /// The cell in words.
    fn describe(&self, cell: &Self::Cell) -> String;

    /// Prepares everybody who takes part, checked against each other. Who does not is passed to
    /// `absent`, with the reason or, where none is expected to, without.
    ///
    /// # Errors
    /// Those of the contestants.
    fn enter(
        &self,
        cell: &Self::Cell,
        absent: &mut dyn FnMut(&str, &str),
    ) -> Result<Vec<Self::Contestant>, Failure>;

    /// Works once before anything counts.
    ///
    /// # Errors
    /// As [`Measurement::lap`].
    fn warm_up(&self, contestant: &mut Self::Contestant, span: Duration) -> Result<(), Failure> {
        self.lap(contestant, span.min(WARM_UP)).map(drop)
    }

    /// Works for about `span`.
    ///
    /// # Errors
    /// [`Failure::Failed`] if an operation failed.
    fn lap(&self, contestant: &mut Self::Contestant, span: Duration) -> Result<Self::Lap, Failure>;

    /// The rows of a cell; `laps` has those of each contestant.
    ///
    /// # Errors
    /// [`Failure::Failed`] for a cell without contestants that must have one.
    fn rows(
        &self,
        cell: &Self::Cell,
        contestants: &[Self::Contestant],
        laps: Vec<Vec<Self::Lap>>,
    ) -> Result<Vec<Self::Row>, Failure>;
}

const WARM_UP: Duration = Duration::from_millis(20);

/// One turn for each contestant, however long it takes.
pub const ONCE: Pace = Pace {
    seconds: Duration::ZERO,
    rounds: 1,
};

/// Measures every cell; the rows of a cell follow each other. Who starts changes from round to
/// round.
///
/// # Errors
/// The first failure of any contestant, with the cell in words.
pub fn measure<M: Measurement>(
    measurement: &M,
    cells: &[M::Cell],
    pace: Pace,
) -> Result<Vec<M::Row>, Failure> {
    let span = pace.seconds / u32::try_from(pace.rounds).unwrap_or(u32::MAX);
    let progress = Progress::of(cells.len() * pace.rounds);
    let mut said = Vec::new();
    let mut rows = Vec::new();
    for cell in cells {
        progress.say(measurement.describe(cell));
        let mut absent = |name: &str, why: &str| {
            let note = format!("{name} is left out: {why}");
            if !why.is_empty() && !said.contains(&note) {
                progress.note(&note);
                said.push(note);
            }
        };
        let work = || {
            let mut contestants = measurement.enter(cell, &mut absent)?;
            for contestant in &mut contestants {
                measurement.warm_up(contestant, span)?;
            }
            let count = contestants.len();
            let mut laps: Vec<_> = contestants.iter().map(|_| Vec::new()).collect();
            for round in 0..pace.rounds {
                for turn in 0..count {
                    let who = (round + turn) % count;
                    laps[who].push(measurement.lap(&mut contestants[who], span)?);
                }
                progress.step();
            }
            measurement.rows(cell, &contestants, laps)
        };
        let cell = { work }().map_err(|failure| failure.within(&measurement.describe(cell)))?;
        rows.extend(cell);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Writes down whose turn it is.
    struct Diary(RefCell<String>);

    impl Measurement for Diary {
        type Cell = &'static str;
        type Contestant = char;
        type Lap = char;
        type Row = (char, usize);

        fn describe(&self, cell: &&'static str) -> String {
            format!("cell {cell}")
        }

        fn enter(
            &self,
            cell: &&'static str,
            _: &mut dyn FnMut(&str, &str),
        ) -> Result<Vec<char>, Failure> {
            Ok(cell.chars().collect())
        }

        fn warm_up(&self, _: &mut char, _: Duration) -> Result<(), Failure> {
            Ok(())
        }

        fn lap(&self, contestant: &mut char, _: Duration) -> Result<char, Failure> {
            self.0.borrow_mut().push(*contestant);
            match contestant {
                'x' => Err(Failure::Failed("broken".to_owned())),
                other => Ok(*other),
            }
        }

        fn rows(
            &self,
            _: &&'static str,
            contestants: &[char],
            laps: Vec<Vec<char>>,
        ) -> Result<Vec<(char, usize)>, Failure> {
            let mine = |(name, laps): (&char, &Vec<char>)| {
                (*name, laps.iter().filter(|lap| *lap == name).count())
            };
            Ok(contestants.iter().zip(&laps).map(mine).collect())
        }
    }

    #[test]
    fn who_starts_changes_from_round_to_round() {
        let diary = Diary(RefCell::default());
        let pace = Pace { rounds: 3, ..ONCE };
        let rows = measure(&diary, &["abc", "", "d"], pace).expect("no failure");
        assert_eq!(diary.0.take(), "abcbcacabddd");
        assert_eq!(rows, [('a', 3), ('b', 3), ('c', 3), ('d', 3)]);
    }

    #[test]
    fn a_failure_says_in_which_cell() {
        let failure = measure(&Diary(RefCell::default()), &["a", "bx"], ONCE).unwrap_err();
        assert_eq!(failure.to_string(), "cell bx: broken");
    }
}
