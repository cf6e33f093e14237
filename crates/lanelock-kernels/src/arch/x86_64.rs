//! x86-64: AES-NI and PCLMULQDQ, AVX2 with VAES, FMA and AVX-IFMA, AVX-512 with IFMA, the SHA
//! extensions.

mod blocks;
mod detect;
mod digits;
mod frame;
mod pad;
pub(crate) mod sha;
mod sha512;
mod words;

pub(crate) use blocks::BlockSet;
#[cfg(test)]
pub(crate) use detect::EvexIfma as EvexIfmaToken;
pub(crate) use detect::{
    AvxIfma as AvxIfmaToken, Fma as FmaToken, Ifma as IfmaToken, is_asked_ahead, machine,
};
#[cfg(test)]
pub(crate) use digits::EvexIfma;
pub(crate) use digits::{AvxIfma, DigitSet, Fma, Ifma, TowardZero, on};
pub(crate) use sha::{Sha, Sha512};
pub(crate) use words::{WordSet, Ymm, Zmm, of_words};

use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use core::fmt;

use crate::machine::{Digits, Machine};
use detect::digits_of_doubles;

/// Asks for the line of the cache that `at` lies in.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8) {
    // SAFETY: a hint. It never faults, whatever the address, and changes no memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

/// The machine itself, and those that lack what not every CPU of its tier has.
pub(crate) fn variants(machine: Machine) -> [Option<Machine>; 5] {
    let without_sha = machine.sha.map(|_| machine.without_sha());
    let narrower = match (machine.digits, machine.blocks) {
        (_, BlockSet::Ymm(token)) => Some(Machine {
            blocks: BlockSet::XmmAvx(token.avx2()),
            digits: DigitSet::Portable,
            ..machine
        }),
        (DigitSet::Portable, _) => None,
        _ => Some(Machine {
            digits: DigitSet::Portable,
            ..machine
        }),
    };
    let by_doubles = (machine.digits() == Digits::AvxIfma).then(|| Machine {
        digits: digits_of_doubles(),
        ..machine
    });
    let neither = without_sha.and(narrower).map(Machine::without_sha);
    [Some(machine), without_sha, by_doubles, narrower, neither]
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
        DigitSet::AvxIfma(_) => ", AVX-IFMA",
        #[cfg(test)]
        DigitSet::EvexIfma(_) => ", AVX-IFMA in the encoding of AVX-512",
        DigitSet::Fma(_) => ", FMA",
        DigitSet::Portable => "",
    })?;
    if machine.has_sha() {
        f.write_str(", SHA-NI")?;
    }
    Ok(())
}
