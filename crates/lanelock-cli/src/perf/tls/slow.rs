//! Clients that take their time: their bytes leave in pieces, with pauses between them.

use std::time::Duration;

/// Shorter than any flight of a client, so that each is in two pieces at least.
const LONGEST_PIECE: usize = 48;
const SHORTEST_PIECE: usize = 8;
/// A handshake is some ten pieces.
const LONGEST_PAUSE: u64 = 60_000;
const SHORTEST_PAUSE: u64 = 10_000;

/// One such client.
#[derive(Clone, Debug)]
pub(super) struct Slow {
    random: fastrand::Rng,
}

impl Slow {
    /// The same pieces and pauses for the same seed.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Bytes that it sends next.
    pub(super) fn piece(&mut self) -> usize {
        self.random.usize(SHORTEST_PIECE..=LONGEST_PIECE)
    }

    /// How long it rests then.
    pub(super) fn pause(&mut self) -> Duration {
        Duration::from_micros(self.random.u64(SHORTEST_PAUSE..=LONGEST_PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_is_in_pieces_over_some_hundreds_of_milliseconds() {
        for seed in 0..100 {
            let mut slow = Slow::new(seed);
            // A ClientHello and a Finished of TLS 1.3.
            let (mut left, mut pieces, mut pauses) = (300_usize, 0, Duration::ZERO);
            while left > 0 {
                left = left.saturating_sub(slow.piece());
                pauses += slow.pause();
                pieces += 1;
            }
            assert!((7..=38).contains(&pieces), "{pieces}");
            assert!(pauses > Duration::from_millis(70) && pauses < Duration::from_secs(2));
        }
    }
}
