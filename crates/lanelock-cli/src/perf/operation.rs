//! What is done with an algorithm, under the names of the command line.

use std::fmt;

use clap::ValueEnum;
use lanelock::Algorithm;
use lanelock::transform::Direction;

/// The four operations; an algorithm has two of them, a hash one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Operation {
    /// Ciphers, AEADs and chains: protect a message.
    Encrypt,
    /// Ciphers, AEADs and chains: undo it.
    Decrypt,
    /// MACs and hashes: compute a tag or digest.
    Compute,
    /// MACs: verify a tag.
    Verify,
}

impl Operation {
    /// Those of `algorithm`, the protecting one first.
    pub fn of(algorithm: Algorithm) -> &'static [Self] {
        match algorithm {
            Algorithm::Mac(_) => &[Self::Compute, Self::Verify],
            Algorithm::Hash(_) => &[Self::Compute],
            _ => &[Self::Encrypt, Self::Decrypt],
        }
    }

    /// The direction of a session that does it.
    pub fn direction(self) -> Direction {
        match self {
            Self::Encrypt | Self::Compute => Direction::Forward,
            Self::Decrypt | Self::Verify => Direction::Reverse,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Compute => "compute",
            Self::Verify => "verify",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
