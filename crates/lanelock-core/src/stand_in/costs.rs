//! What groups of operations cost on two engines: measured on the first that run on either, and
//! remembered by the process.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::algorithm::Spec;
use crate::shared::Shared;
use crate::transform::Direction;

/// Groups that are measured apart: of the same number of operations, and of messages of the same
/// length, about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Cell(u8);

/// One of the two engines of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    Primary,
    StandIn,
}

/// The most operations and the most bytes of each class, but for the last, which has no bound.
const OPS: [usize; 4] = [1, 2, 4, 8];
const BYTES: [u32; 4] = [64, 256, 1024, 4096];
const CLASSES: u8 = 5;
const CELLS: usize = 25;

/// Measurements of each side before one is believed.
const SAMPLES: u32 = 64;

/// The stand-in takes a cell if it needs less than this many parts in [`WHOLE`] of the primary's
/// time: what is about as fast stays where it is.
const LESS: u128 = 15;
const WHOLE: u128 = 16;

/// The two engines, the algorithm and the direction.
type Subject = (&'static str, &'static str, Spec, Direction);

static KNOWN: LazyLock<Shared<Subject, Costs>> = LazyLock::new(Shared::default);

#[derive(Debug)]
pub(crate) struct Costs {
    /// A bit for each cell that is not the primary's for good: unknown as yet, or the stand-in's.
    open: AtomicU32,
    /// A bit for each cell that is the stand-in's.
    taken: AtomicU32,
    /// Locked only while a cell is unknown.
    cells: Mutex<[[Cost; 2]; CELLS]>,
}

/// What whole groups took. The mean counts, since a clock may tick as seldom as a short group runs;
/// but not of those twice above the least: interruptions and cold caches only ever add.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    samples: u32,
    /// Nanoseconds.
    least: u64,
    /// Of the samples that count.
    sum: u64,
    counted: u32,
}

impl Cell {
    /// The cell of groups of `ops` operations of `bytes` bytes each.
    #[inline]
    pub(crate) fn of(ops: usize, bytes: u32) -> Self {
        // Of the last power of two below either: one class each for operations, for bytes one for
        // two powers from 64 on.
        let ops = (usize::BITS - ops.saturating_sub(1).leading_zeros()).min(4);
        let bytes = (33 - (bytes.saturating_sub(1) >> 6).leading_zeros()) / 2;
        Self((u32::from(CLASSES) * ops + bytes.min(4)).to_le_bytes()[0])
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..CLASSES * CLASSES).map(Self)
    }

    /// The most operations of its groups, and bytes of their messages; `None` without a bound.
    pub(crate) fn most(self) -> (Option<usize>, Option<u32>) {
        let (ops, bytes) = (self.0 / CLASSES, self.0 % CLASSES);
        (
            OPS.get(usize::from(ops)).copied(),
            BYTES.get(usize::from(bytes)).copied(),
        )
    }

    #[inline]
    fn bit(self) -> u32 {
        1 << self.0
    }

    fn index(self) -> usize {
        self.0.into()
    }
}

impl Costs {
    /// The process's costs of `subject`.
    pub(crate) fn of(subject: Subject) -> Arc<Self> {
        KNOWN.get_or_make(subject, Self::default)
    }

    /// Whether the primary runs the groups of `cell`, and nothing is left to learn.
    #[inline]
    pub(crate) fn is_settled_for_primary(&self, cell: Cell) -> bool {
        self.open.load(Relaxed) & cell.bit() == 0
    }

    /// The side that runs the next group of `cell`, and whether it is to be timed. While they are
    /// unknown the sides take turns: both are learnt from work that was asked for.
    pub(crate) fn choose(&self, cell: Cell) -> (Side, bool) {
        if self.is_settled_for_primary(cell) {
            return (Side::Primary, false);
        }
        if self.taken.load(Relaxed) & cell.bit() != 0 {
            return (Side::StandIn, false);
        }
        let [primary, stand_in] = self.cells()[cell.index()];
        if primary.samples <= stand_in.samples {
            (Side::Primary, true)
        } else {
            (Side::StandIn, true)
        }
    }

    /// A group of `cell` took `elapsed` on `side`.
    pub(crate) fn record(&self, cell: Cell, side: Side, elapsed: Duration) {
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let costs = &mut self.cells()[cell.index()];
        costs[side as usize].add(nanoseconds);
        let [primary, stand_in] = *costs;
        if !(primary.is_known() && stand_in.is_known()) {
            return;
        }
        if stand_in.is_below(primary) {
            self.taken.fetch_or(cell.bit(), Relaxed);
        } else {
            self.open.fetch_and(!cell.bit(), Relaxed);
        }
    }

    /// Each cell that is known, with the mean time of a group on either side, and the side that has
    /// it.
    pub(crate) fn settled(&self) -> Vec<(Cell, [Duration; 2], Side)> {
        let cells = *self.cells();
        Cell::all()
            .map(|cell| (cell, cells[cell.index()]))
            .filter(|(_, costs)| costs.iter().all(Cost::is_known))
            .map(|(cell, costs)| (cell, costs.map(Cost::mean), self.choose(cell).0))
            .collect()
    }

    fn cells(&self) -> MutexGuard<'_, [[Cost; 2]; CELLS]> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cost {
    fn add(&mut self, nanoseconds: u64) {
        self.samples += 1;
        if self.counted == 0 || nanoseconds < self.least / 2 {
            (self.least, self.sum, self.counted) = (nanoseconds, 0, 0);
        }
        self.least = self.least.min(nanoseconds);
        if nanoseconds / 2 <= self.least {
            self.sum += nanoseconds;
            self.counted += 1;
        }
    }

    fn is_known(&self) -> bool {
        self.samples >= SAMPLES
    }

    fn mean(self) -> Duration {
        Duration::from_nanos(self.sum) / self.counted.max(1)
    }

    /// Whether a group takes less than [`LESS`] parts in [`WHOLE`] of `other`'s time.
    fn is_below(self, other: Self) -> bool {
        let part = |a: Self, b: Self| u128::from(a.sum) * u128::from(b.counted);
        part(self, other) * WHOLE < part(other, self) * LESS
    }
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            open: AtomicU32::new((1 << CELLS) - 1),
            taken: AtomicU32::new(0),
            cells: Mutex::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs groups of `cell` that take these nanoseconds until both sides are known.
    fn learn(costs: &Costs, cell: Cell, primary: u64, stand_in: u64) -> u32 {
        let mut groups = 0;
        while let (side, true) = costs.choose(cell) {
            // The first one of a side makes a context, others are interrupted.
            let more = [0, 70_000][usize::from(groups < 2 || groups % 5 == 0)];
            let nanoseconds = [primary, stand_in][side as usize] + more;
            costs.record(cell, side, Duration::from_nanos(nanoseconds));
            groups += 1;
        }
        groups
    }

    #[test]
    fn cells_have_the_bounds_they_say() {
        assert_eq!(Cell::of(1, 0), Cell::of(1, 64));
        assert_ne!(Cell::of(1, 64), Cell::of(1, 65));
        assert_ne!(Cell::of(1, 64), Cell::of(2, 64));
        assert_eq!(Cell::of(9, 4097), Cell::of(256, u32::MAX));
        for cell in Cell::all() {
            let (ops, bytes) = cell.most();
            assert_eq!(Cell::of(ops.unwrap_or(99), bytes.unwrap_or(9999)), cell);
            assert!(usize::from(cell.0) < CELLS);
        }
    }

    #[test]
    fn the_sides_take_turns_until_both_are_known_and_the_faster_has_the_cell() {
        let costs = Costs::default();
        let (short, long) = (Cell::of(1, 64), Cell::of(1, 5000));
        assert_eq!(costs.choose(short), (Side::Primary, true));
        assert_eq!(learn(&costs, short, 90, 80), 2 * SAMPLES);
        assert_eq!(costs.choose(short), (Side::StandIn, false));
        assert!(!costs.is_settled_for_primary(short));
        assert_eq!(costs.choose(long), (Side::Primary, true), "another cell");
        learn(&costs, long, 800, 900);
        assert_eq!(costs.choose(long), (Side::Primary, false));
        assert!(costs.is_settled_for_primary(long));
        let expected = [
            (short, [90, 80].map(Duration::from_nanos), Side::StandIn),
            (long, [800, 900].map(Duration::from_nanos), Side::Primary),
        ];
        assert_eq!(costs.settled(), expected);
    }

    #[test]
    fn what_is_about_as_fast_stays_where_it_is() {
        for (stand_in, side) in [(150, Side::Primary), (149, Side::StandIn)] {
            let costs = Costs::default();
            learn(&costs, Cell::of(4, 10), 160, stand_in);
            assert_eq!(costs.choose(Cell::of(3, 20)), (side, false));
        }
    }

    #[test]
    fn a_clock_that_ticks_seldom_decides_by_the_mean() {
        let costs = Costs::default();
        let cell = Cell::of(1, 64);
        for sample in 0..u64::from(SAMPLES) {
            // 75 and 68 nanoseconds on a clock of ten.
            for (side, ones) in [(Side::Primary, 5), (Side::StandIn, 8)] {
                let ticks = [7, 6][side as usize] + u64::from(sample % 10 < ones);
                costs.record(cell, side, Duration::from_nanos(10 * ticks));
            }
        }
        assert_eq!(costs.choose(cell), (Side::StandIn, false));
    }

    #[test]
    fn the_process_remembers_each_subject() {
        let spec: Spec = "aes-128-ecb".parse().expect("a name");
        let of = |stand_in, direction| Costs::of(("a test", stand_in, spec, direction));
        let cell = Cell::of(1, 1);
        let first = of("another", Direction::Forward);
        learn(&first, cell, 9, 8);
        let again = of("another", Direction::Forward);
        assert_eq!(again.choose(cell), (Side::StandIn, false));
        for other in [
            of("another", Direction::Reverse),
            of("a third", Direction::Forward),
        ] {
            assert_eq!(other.choose(cell), (Side::Primary, true));
        }
    }

    #[test]
    fn ever_new_key_lengths_do_not_pile_up() {
        use crate::shared::KEPT;
        use crate::{Algorithm, Hash, Mac};
        for key in 0..100_000 {
            let spec = Spec {
                algorithm: Algorithm::Mac(Mac::Hmac(Hash::Sha256)),
                key_len: key,
                mac_key_len: 0,
            };
            Costs::of(("a fourth", "a fifth", spec, Direction::Forward));
            assert!(KNOWN.len() <= KEPT, "{key}");
        }
    }
}
