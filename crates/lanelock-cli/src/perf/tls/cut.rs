//! Connections that clients abandon before the handshake is done.

use std::time::Duration;

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

/// Decides which connections are cut, and where; the same ones in each run.
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    share: f64,
    random: fastrand::Rng,
}

/// Shorter than any ClientHello.
const HELLO: usize = 120;
/// Shorter than what any server answers to it.
const FLIGHT: usize = 400;
/// About as long as a handshake takes when hundreds are in flight, in microseconds.
const LONGEST_STAY: u64 = 120_000;

impl Cuts {
    /// Cuts this share of all connections, from 0 to 1.
    pub(super) fn new(share: f64) -> Self {
        Self {
            share,
            random: fastrand::Rng::with_seed(1),
        }
    }

    /// What becomes of the next connection.
    pub(super) fn next(&mut self) -> Option<Cut> {
        if self.random.f64() >= self.share {
            return None;
        }
        let random = &mut self.random;
        let point = match random.u8(..8) {
            0 => Point::Silent,
            1 => Point::Hello(random.usize(1..=HELLO)),
            2 => Point::Waiting(Duration::ZERO),
            3..6 => Point::Waiting(Duration::from_micros(random.u64(..LONGEST_STAY))),
            _ => Point::Flight(random.usize(1..=FLIGHT)),
        };
        let reset = random.bool();
        Some(Cut { point, reset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_is_cut_at_every_kind_of_point() {
        let mut cuts = Cuts::new(1.0 / 3.0);
        let made: Vec<Cut> = (0..30_000).filter_map(|_| cuts.next()).collect();
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
    fn none_is_cut_unless_asked_for() {
        let mut cuts = Cuts::new(0.0);
        assert!((0..1_000).all(|_| cuts.next().is_none()));
    }
}
