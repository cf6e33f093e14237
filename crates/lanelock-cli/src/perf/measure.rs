//! The loop of every measurement: in each cell all contestants are prepared and warmed up, then
//! work in turns: what disturbs the machine for a while disturbs all of them alike.

use std::time::Duration;

use super::contest::Pace;
use super::contestant::{Contestant, Lap};
use crate::failure::Failure;
use crate::progress::Progress;

/// Something prepared for the work of one cell, that works when it is its turn.
pub trait Turns {
    /// What it did in one turn.
    type Lap;

    /// Works for about `span`.
    ///
    /// # Errors
    /// [`Failure::Failed`] if an operation failed.
    fn turn(&mut self, span: Duration) -> Result<Self::Lap, Failure>;

    /// Longest turn that is taken before anything counts; none if 0.
    const WARM_UP: Duration = Duration::from_millis(20);
}

impl<C: Contestant> Turns for C {
    type Lap = Lap;

    fn turn(&mut self, span: Duration) -> Result<Lap, Failure> {
        self.lap(span)
    }
}

/// One turn for each contestant, however long it takes.
pub const ONCE: Pace = Pace {
    seconds: Duration::ZERO,
    rounds: 1,
};

/// Called for each contestant that does not take part, with its name and the reason; an empty reason
/// is not reported to the user.
pub type Absent<'a> = dyn FnMut(&str, &str) + 'a;

/// Measures every cell; the rows of a cell follow each other. `describe` says what the cell is,
/// `enter` prepares the contestants, checked against each other, and `rows` makes of the
/// turns of each what is reported. Who starts changes from round to round.
///
/// # Errors
/// The first failure of any contestant, with the cell in words.
pub fn measure<Cell, C: Turns, Row>(
    cells: &[Cell],
    pace: Pace,
    describe: impl Fn(&Cell) -> String,
    enter: impl Fn(&Cell, &mut Absent<'_>) -> Result<Vec<C>, Failure>,
    rows: impl Fn(&Cell, &[C], Vec<Vec<C::Lap>>) -> Result<Vec<Row>, Failure>,
) -> Result<Vec<Row>, Failure> {
    let span = pace.seconds / u32::try_from(pace.rounds).unwrap_or(u32::MAX);
    let progress = Progress::of(cells.len() * pace.rounds);
    let mut said = Vec::new();
    let mut absent = |name: &str, why: &str| {
        let note = format!("{name} is left out: {why}");
        if !why.is_empty() && !said.contains(&note) {
            progress.note(&note);
            said.push(note);
        }
    };
    let mut work = |cell: &Cell| {
        let mut contestants = enter(cell, &mut absent)?;
        for contestant in &mut contestants {
            if !C::WARM_UP.is_zero() {
                contestant.turn(span.min(C::WARM_UP))?;
            }
        }
        let count = contestants.len();
        let mut laps: Vec<_> = contestants.iter().map(|_| Vec::new()).collect();
        for round in 0..pace.rounds {
            for turn in 0..count {
                let who = (round + turn) % count;
                laps[who].push(contestants[who].turn(span)?);
            }
            progress.step();
        }
        rows(cell, &contestants, laps)
    };
    let mut all = Vec::new();
    for cell in cells {
        progress.say(describe(cell));
        all.extend(work(cell).map_err(|failure| failure.within(&describe(cell)))?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// Writes down whose turn it is; `x` fails.
    struct Writer(char, Rc<RefCell<String>>);

    impl Turns for Writer {
        type Lap = char;
        const WARM_UP: Duration = Duration::ZERO;

        fn turn(&mut self, _: Duration) -> Result<char, Failure> {
            self.1.borrow_mut().push(self.0);
            match self.0 {
                'x' => Err(Failure::Failed("broken".to_owned())),
                name => Ok(name),
            }
        }
    }

    /// The turns of cells whose letters are the contestants, and what each did.
    fn turns(cells: &[&str], rounds: usize) -> Result<(String, Vec<String>), Failure> {
        let diary = Rc::new(RefCell::default());
        let enter = |cell: &&str, _: &mut Absent<'_>| {
            Ok(cell
                .chars()
                .map(|name| Writer(name, diary.clone()))
                .collect())
        };
        let rows = |_: &&str, _: &[Writer], laps: Vec<Vec<char>>| {
            Ok(laps
                .into_iter()
                .map(|laps| laps.into_iter().collect())
                .collect())
        };
        let describe = |cell: &&str| format!("cell {cell}");
        let rows = measure(cells, Pace { rounds, ..ONCE }, describe, enter, rows)?;
        Ok((diary.take(), rows))
    }

    #[test]
    fn who_starts_changes_from_round_to_round() {
        let (diary, rows) = turns(&["abc", "", "d"], 3).expect("no failure");
        assert_eq!(diary, "abcbcacabddd");
        assert_eq!(rows, ["aaa", "bbb", "ccc", "ddd"]);
    }

    #[test]
    fn a_failure_says_in_which_cell() {
        let failure = turns(&["a", "bx"], 1).expect_err("x fails");
        assert_eq!(failure.to_string(), "cell bx: broken");
    }
}
