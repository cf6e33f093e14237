//! What `perf sweep` finds out: cells with the times of all contestants, and sums over them.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// The compiler and how it was called, `rustc 1.95.0, release, opt-level 3` say.
pub const BUILD: &str = env!("LANELOCK_BUILD");

/// A sweep of one machine.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    /// Where it ran.
    pub machine: Machine,
    /// The command line that repeats it.
    pub command: String,
    /// Compiler and flags of this command.
    pub build: String,
    /// The tier that all were held to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// What the peers drive.
    pub libraries: Vec<Library>,
    /// Algorithms of the peers that the native engine does not have.
    pub left_out: Vec<String>,
    /// One for each cell.
    #[serde(rename = "results")]
    pub cells: Vec<Cell>,
}

/// A peer's library.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Library {
    /// The peer.
    pub contestant: String,
    /// Name and version.
    pub version: String,
}

/// One kind of work, and how long everyone takes for it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// As in [`crate::row::Common`], like the next five.
    pub algorithm: String,
    pub operation: String,
    pub size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imix: Option<String>,
    pub sessions: u64,
    pub burst: u64,
    /// `in-place` or `separate`; none where there is no output but a tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// The native engine, then those of the peers that offer it.
    pub times: Vec<Time>,
}

/// What a contestant needs for an operation.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Time {
    /// An engine or a peer.
    pub contestant: String,
    /// Nanoseconds: the median of its turns.
    pub ns_per_op: f64,
    /// Half the distance between the quartiles of its turns, in percent of the median.
    pub spread_percent: f64,
    /// Which of several ways through its library a peer took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
}

/// What a ratio below 1 by chance does not reach.
pub const NOISE: f64 = 0.97;

/// Cells in sum, of all or against one contestant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sums {
    /// Cells that have the contestant.
    pub cells: usize,
    /// Median of their ratios.
    pub median: f64,
    /// Cells with a ratio below 1.
    pub behind: usize,
    /// Cells with a ratio below [`NOISE`].
    pub clearly: usize,
}

impl Cell {
    /// The fastest peer.
    pub fn best(&self) -> Option<&Time> {
        let peers = self.times.iter().skip(1);
        peers.min_by(|a, b| a.ns_per_op.total_cmp(&b.ns_per_op))
    }

    /// The time of `contestant`, or of the fastest peer, divided by lanelock's: above 1, lanelock is
    /// faster.
    pub fn ratio(&self, contestant: Option<&str>) -> Option<f64> {
        let native = self.times.first()?;
        let other = match contestant {
            None => self.best()?,
            Some(name) => self
                .times
                .iter()
                .skip(1)
                .find(|time| time.contestant == name)?,
        };
        Some(other.ns_per_op / native.ns_per_op)
    }

    /// The length in words: `1024`, or `mix`.
    pub fn length(&self) -> String {
        match self.imix {
            None => self.size.to_string(),
            Some(_) => "mix".to_owned(),
        }
    }
}

impl Sweep {
    /// Every peer that has a time, in the order of first appearance.
    pub fn peers(&self) -> Vec<&str> {
        let mut peers = Vec::new();
        for time in self.cells.iter().flat_map(|cell| cell.times.iter().skip(1)) {
            if !peers.contains(&&*time.contestant) {
                peers.push(&*time.contestant);
            }
        }
        peers
    }

    /// The cells against `contestant`, or against the fastest peer of each; `None` if there is none.
    pub fn sums(&self, contestant: Option<&str>) -> Option<Sums> {
        let ratios = self.cells.iter().filter_map(|cell| cell.ratio(contestant));
        let mut ratios: Vec<_> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        let middle = ratios.len() / 2;
        let median = match ratios.len() {
            0 => return None,
            n if n.is_multiple_of(2) => f64::midpoint(ratios[middle - 1], ratios[middle]),
            _ => ratios[middle],
        };
        let below = |limit: f64| ratios.iter().filter(|&&ratio| ratio < limit).count();
        Some(Sums {
            cells: ratios.len(),
            median,
            behind: below(1.0),
            clearly: below(NOISE),
        })
    }

    /// At most `count` cells with the lowest ratios, all below 1, lowest first.
    pub fn worst(&self, count: usize) -> Vec<&Cell> {
        let ratio = |cell: &Cell| cell.ratio(None).unwrap_or(f64::INFINITY);
        let mut worst: Vec<_> = self.cells.iter().filter(|cell| ratio(cell) < 1.0).collect();
        worst.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        worst.truncate(count);
        worst
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A cell in which the native engine takes 100 ns and the peers these times.
    pub fn cell(size: u64, peers: &[(&str, f64)]) -> Cell {
        let time = |(contestant, ns_per_op): (&str, f64)| Time {
            contestant: contestant.to_owned(),
            ns_per_op,
            ..Time::default()
        };
        let all = [("native", 100.0)].into_iter().chain(peers.iter().copied());
        Cell {
            algorithm: "aes-128-cbc".to_owned(),
            operation: "encrypt".to_owned(),
            size,
            sessions: 1,
            burst: 32,
            layout: Some("in-place".to_owned()),
            times: all.map(time).collect(),
            ..Cell::default()
        }
    }

    /// A sweep with these cells.
    pub fn sweep(cells: Vec<Cell>) -> Sweep {
        Sweep {
            machine: Machine::default(),
            command: "lanelock perf sweep".to_owned(),
            build: "rustc".to_owned(),
            tier: None,
            libraries: Vec::new(),
            left_out: Vec::new(),
            cells,
        }
    }

    #[test]
    fn cells_are_counted_against_each_peer_and_the_best() {
        let sweep = sweep(vec![
            cell(16, &[("a", 150.0), ("b", 98.0)]),
            cell(64, &[("a", 90.0)]),
            cell(256, &[("a", 200.0), ("b", 300.0)]),
        ]);
        assert_eq!(sweep.peers(), ["a", "b"]);
        let sums = |cells, median, behind, clearly| {
            Some(Sums {
                cells,
                median,
                behind,
                clearly,
            })
        };
        assert_eq!(sweep.sums(Some("a")), sums(3, 1.5, 1, 1));
        assert_eq!(sweep.sums(Some("b")), sums(2, 1.99, 1, 0));
        assert_eq!(sweep.sums(None), sums(3, 0.98, 2, 1));
        assert_eq!(sweep.sums(Some("c")), None);
        let worst = sweep.worst(20);
        assert_eq!(
            worst.iter().map(|cell| cell.size).collect::<Vec<_>>(),
            [64, 16]
        );
        assert_eq!(sweep.worst(1).len(), 1);
    }
}
