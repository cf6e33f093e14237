//! 64-bit Arm: NEON with AES and PMULL, the SHA extensions.

mod blocks;
mod detect;
pub(crate) mod sha;
mod words;

pub(crate) use super::no_digits::{DigitSet, on};
pub(crate) use blocks::BlockSet;
pub(crate) use detect::machine;
pub(crate) use sha::{Sha, Sha512};
pub(crate) use words::{NeonWords, WordSet, of_words};

use core::arch::asm;
use core::fmt;

use crate::machine::Machine;

/// Asks for the line of the cache that `at` lies in.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8) {
    // SAFETY: a hint. It never faults, whatever the address, and changes no memory.
    unsafe { asm!("prfm pldl1keep, [{}]", in(reg) at, options(nostack, preserves_flags)) }
}

/// Whether lines of a long message come sooner if they are asked for, as far as is known.
#[inline(always)]
pub(crate) fn is_asked_ahead() -> bool {
    true
}

/// The machine itself, and those that lack what not every CPU of its tier has.
pub(crate) fn variants(machine: Machine) -> [Option<Machine>; 3] {
    let without_sha512 = machine.sha512.map(|_| Machine {
        sha512: None,
        ..machine
    });
    let without_sha = machine.sha.map(|_| machine.without_sha());
    [Some(machine), without_sha512, without_sha]
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
    if machine.sha512.is_some() {
        f.write_str(", SHA-512")?;
    }
    Ok(())
}
