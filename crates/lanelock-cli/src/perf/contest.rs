//! Who takes part, for how long, and how they are called in for a cell.

use std::time::Duration;

use clap::Args;

use super::bench::{Bench, is_baseline};
use super::contestant::{Contestant, Entry};
use super::engine::EngineContestant;
use super::number::{number, seconds};
use super::peer::{Peer, PeerContestant};
use super::shape::Shape;
use crate::failure::Failure;

/// Who does the work.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Contestants")]
pub struct Contest {
    #[command(flatten)]
    pub engines: Engines,

    /// Programs that do the same work without lanelock.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub peer: Vec<Peer>,

    /// Contestant that ratios are relative to [default: the first peer, or else the first engine].
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
}

/// Which engines.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Contestants")]
pub struct Engines {
    /// Engines of this machine [default: all]. auto: the engine of a session that names none, which
    /// is the first that offers the algorithm; null: touches no message, and shows the cost of
    /// everything around an engine; clone-per-op and the like: the baselines of `perf uplift`.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub engine: Vec<String>,
}

/// How long, in how many turns.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Contestants")]
pub struct Pace {
    /// Seconds for each contestant in each cell.
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds(0.0, 3600.0))]
    pub seconds: Duration,

    /// Rounds in which contestants alternate; the median is reported.
    #[arg(long, value_name = "N", default_value = "25", value_parser = number(1, 1000))]
    pub rounds: usize,
}

impl Engines {
    /// The names, checked.
    ///
    /// # Errors
    /// [`Failure::Usage`] for one that there is not.
    pub fn names(&self, bench: &Bench) -> Result<Vec<String>, Failure> {
        if self.engine.is_empty() {
            return Ok(bench.engines());
        }
        match self.engine.iter().find(|name| !bench.has(name)) {
            None => Ok(self.engine.clone()),
            Some(name) => Err(Failure::Usage(format!(
                "--engine {name}: no such engine; this machine has {}, auto and null",
                bench.engines().join(", ")
            ))),
        }
    }
}

impl Contest {
    /// Checks the names before anything is measured.
    ///
    /// # Errors
    /// [`Failure::Usage`] for an engine, peer or reference that there is not.
    pub fn check(&self, bench: &Bench) -> Result<(), Failure> {
        let mut names = Vec::new();
        for peer in &self.peer {
            peer.program()?;
            names.push(peer.name().to_owned());
        }
        names.extend(self.engines.names(bench)?);
        match &self.reference {
            Some(name) if !names.contains(name) => Err(Failure::Usage(format!(
                "--reference {name}: not among the contestants; use one of {}",
                names.join(", ")
            ))),
            _ => Ok(()),
        }
    }

    /// Prepares the contestants: peers, then engines. Those that do not offer the work are passed
    /// to
    /// `left_out`, with the reason.
    ///
    /// # Errors
    /// Those of the contestants.
    pub fn enter(
        &self,
        bench: &Bench,
        shape: &Shape,
        left_out: &mut dyn FnMut(&str, &str),
    ) -> Result<Vec<Box<dyn Contestant>>, Failure> {
        let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
        for &peer in &self.peer {
            match PeerContestant::open(peer, shape)? {
                Entry::Ready(ready) => contestants.push(Box::new(ready)),
                Entry::NotOffered(why) => left_out(peer.name(), &why),
            }
        }
        for name in self.engines.names(bench)? {
            match EngineContestant::open(&bench.device, &name, shape)? {
                Entry::Ready(ready) => contestants.push(Box::new(ready)),
                // Baselines are not written for every algorithm.
                Entry::NotOffered(_) if is_baseline(&name) => left_out(&name, ""),
                Entry::NotOffered(why) => left_out(&name, &why),
            }
        }
        Ok(contestants)
    }

    /// Which of `names` is the reference.
    pub fn reference_among(&self, names: &[&str]) -> usize {
        let wanted = self.reference.as_deref();
        names
            .iter()
            .position(|&name| Some(name) == wanted)
            .unwrap_or(0)
    }
}
