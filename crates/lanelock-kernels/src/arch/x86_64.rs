//! x86-64: AES-NI and PCLMULQDQ, AVX2 with VAES and FMA, AVX-512 with IFMA, the SHA extensions.

mod blocks;
mod detect;
mod digits;
mod frame;
mod pad;
pub(crate) mod sha;
mod sha512;
mod words;

pub(crate) use blocks::BlockSet;
pub(crate) use detect::{Fma as FmaToken, Ifma as IfmaToken, machine};
pub(crate) use digits::{DigitSet, Fma, Ifma, TowardZero, on};
pub(crate) use sha::{Sha, Sha512};
pub(crate) use words::{WordSet, Ymm, Zmm, of_words};

use core::fmt;

use crate::machine::Machine;

/// The machine itself, and those that lack what not every CPU of its tier has.
pub(crate) fn variants(machine: Machine) -> [Option<Machine>; 4] {
    let without_sha = machine.sha.map(|_| machine.without_sha());
    let narrower = match (machine.digits, machine.blocks) {
        (_, BlockSet::Ymm(token)) => Some(Machine {
            blocks: BlockSet::Xmm(token.avx2().aesni()),
            digits: DigitSet::Portable,
            ..machine
        }),
        (DigitSet::Ifma(_) | DigitSet::Fma(_), _) => Some(Machine {
            digits: DigitSet::Portable,
            ..machine
        }),
        _ => None,
    };
    let neither = without_sha.and(narrower).map(Machine::without_sha);
    [Some(machine), without_sha, narrower, neither]
}

/// The instruction sets of a machine.
pub(crate) fn describe(machine: Machine, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(match (machine.words, machine.blocks) {
        (WordSet::Zmm(..), BlockSet::Zmm(..)) => "AVX-512, VAES, VPCLMULQDQ",
        (WordSet::Zmm(..), _) => "AVX-512, AES-NI, PCLMULQDQ",
        (WordSet::Ymm(_), BlockSet::Ymm(_)) => "AVX2, VAES, VPCLMULQDQ",
        (WordSet::Ymm(_), _) => "AVX2, AES-NI, PCLMULQDQ",
        (_, BlockSet::Portable) => "plain integers",
        _ => "SSE4.1, AES-NI, PCLMULQDQ",
    })?;
    f.write_str(match machine.digits {
        DigitSet::Ifma(_) => ", IFMA",
        DigitSet::Fma(_) => ", FMA",
        DigitSet::Portable => "",
    })?;
    if machine.has_sha() {
        f.write_str(", SHA-NI")?;
    }
    Ok(())
}
