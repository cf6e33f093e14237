//! What becomes of connections: some are abandoned before the handshake is done, some are slow.

use std::time::Duration;

use super::slow::Slow;

/// What becomes of a connection.
#[derive(Clone, Debug)]
pub(super) enum Course {
    /// It completes, as fast as it can.
    Straight,
    /// It completes in its own time.
    Slow(Slow),
    /// It is abandoned.
    Cut(Cut),
}

/// Where a client leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Point {
    /// Connected, nothing said.
    Silent,
    /// After so many bytes of the ClientHello.
    Hello(usize),
    /// After the ClientHello, having waited for so long without reading.
    Waiting(Duration),
    /// After so many bytes of the server's flight.
    Flight(usize),
}

/// Where it leaves, and how.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Cut {
    pub(super) point: Point,
    /// By a reset; otherwise in order.
    pub(super) reset: bool,
}

impl Cut {
    /// Bytes that may be read and written until then.
    pub(super) const fn budget(self) -> (usize, usize) {
        match self.point {
            Point::Silent => (usize::MAX, 0),
            Point::Hello(bytes) => (usize::MAX, bytes),
            Point::Waiting(_) => (0, usize::MAX),
            Point::Flight(bytes) => (bytes, usize::MAX),
        }
    }

    /// How long it stays once the budget is spent.
    pub(super) const fn stays(self) -> Duration {
        match self.point {
            Point::Waiting(time) => time,
            _ => Duration::ZERO,
        }
    }
}

/// Decides which connections are cut, and where, and which are slow; the same ones in each run.
#[derive(Clone, Debug)]
pub(super) struct Courses {
    abort: f64,
    slow: f64,
    random: fastrand::Rng,
}

/// Shorter than any ClientHello.
const HELLO: usize = 120;
/// Shorter than what any server answers to it.
const FLIGHT: usize = 400;
/// About as long as a handshake takes when hundreds are in flight, in microseconds.
const LONGEST_STAY: u64 = 120_000;

impl Courses {
    /// Cuts the share `abort` of all connections and slows down the share `slow` of the others, from
    /// 0 to 1.
    pub(super) fn new(abort: f64, slow: f64) -> Self {
        Self {
            abort,
            slow,
            random: fastrand::Rng::with_seed(1),
        }
    }

    /// The next connection's.
    pub(super) fn next(&mut self) -> Course {
        let random = &mut self.random;
        if random.f64() < self.abort {
            Course::Cut(Self::cut(random))
        } else if self.slow > 0.0 && random.f64() < self.slow {
            Course::Slow(Slow::new(random.u64(..)))
        } else {
            Course::Straight
        }
    }

    fn cut(random: &mut fastrand::Rng) -> Cut {
        let point = match random.u8(..8) {
            0 => Point::Silent,
            1 => Point::Hello(random.usize(1..=HELLO)),
            2 => Point::Waiting(Duration::ZERO),
            3..6 => Point::Waiting(Duration::from_micros(random.u64(..LONGEST_STAY))),
            _ => Point::Flight(random.usize(1..=FLIGHT)),
        };
        let reset = random.bool();
        Cut { point, reset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_is_cut_at_every_kind_of_point() {
        let mut courses = Courses::new(1.0 / 3.0, 0.0);
        let made = (0..30_000).filter_map(|_| match courses.next() {
            Course::Cut(cut) => Some(cut),
            _ => None,
        });
        let made: Vec<Cut> = made.collect();
        assert!((9_500..10_500).contains(&made.len()), "{}", made.len());
        let count = |wanted: fn(&Point) -> bool| made.iter().filter(|c| wanted(&c.point)).count();
        assert!(count(|point| *point == Point::Silent) > 1_000);
        assert!(count(|point| matches!(point, Point::Hello(1..=120))) > 1_000);
        assert!(count(|point| *point == Point::Waiting(Duration::ZERO)) > 1_000);
        assert!(count(|point| matches!(point, Point::Waiting(_))) > 4_000);
        assert!(count(|point| matches!(point, Point::Flight(1..=400))) > 2_000);
        assert!((4_500..5_500).contains(&made.iter().filter(|cut| cut.reset).count()));
    }

    #[test]
    fn all_go_straight_unless_asked_for() {
        let mut courses = Courses::new(0.0, 0.0);
        assert!((0..1_000).all(|_| matches!(courses.next(), Course::Straight)));
    }

    #[test]
    fn a_tenth_of_those_that_stay_is_slow() {
        let mut courses = Courses::new(0.5, 0.1);
        let made: Vec<Course> = (0..30_000).map(|_| courses.next()).collect();
        let count = |wanted: fn(&Course) -> bool| made.iter().filter(|c| wanted(c)).count();
        assert!((14_500..15_500).contains(&count(|course| matches!(course, Course::Cut(_)))));
        assert!((1_300..1_700).contains(&count(|course| matches!(course, Course::Slow(_)))));
    }
}
