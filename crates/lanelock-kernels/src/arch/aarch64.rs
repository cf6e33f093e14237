//! 64-bit Arm: NEON with AES and PMULL, the SHA extensions.

mod blocks;
mod detect;
pub(crate) mod sha;
mod words;

pub(crate) use super::no_digits::{DigitSet, on};
pub(crate) use blocks::BlockSet;
pub(crate) use detect::machine;
pub(crate) use sha::Sha;
pub(crate) use words::{NeonWords, WordSet, of_words};

use core::fmt;

use crate::machine::Machine;

/// The machine itself, and without the instructions made for SHA.
pub(crate) fn variants(machine: Machine) -> [Option<Machine>; 2] {
    [Some(machine), machine.sha.map(|_| machine.without_sha())]
}

/// The instruction sets of a machine.
pub(crate) fn describe(machine: Machine, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(match machine.blocks {
        BlockSet::Neon(_) => "NEON, AES, PMULL",
        BlockSet::Portable => "plain integers",
    })?;
    if machine.has_sha() {
        f.write_str(", SHA-1, SHA-256")?;
    }
    Ok(())
}
