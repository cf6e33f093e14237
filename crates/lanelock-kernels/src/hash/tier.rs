//! Which compression runs how many lanes on this CPU.

#![allow(unsafe_code)] // the step of a tier runs with its instructions

#[cfg(target_arch = "x86_64")]
mod x86;

use super::step::{Step, step_portable};
use crate::cpu::{Avx2, Avx512, ShaNi};
use crate::hash::Algorithm;
use crate::lanes::Row;

/// The compressions of one algorithm on one tier: chosen once, when a session is made.
///
/// A reference to one is the proof that its instructions exist.
pub struct Kernels<A: Algorithm> {
    /// Invariant: the first takes lanes one by one; none has a group above [`Self::MOST`].
    steps: [Step<A>; 3],
    name: &'static str,
    width: Width,
}

/// The widest registers of a tier.
#[derive(Clone, Copy)]
pub(super) enum Width {
    #[cfg(target_arch = "x86_64")]
    Zmm,
    #[cfg(target_arch = "x86_64")]
    Ymm,
    Any,
}

impl<A: Algorithm> Kernels<A> {
    /// The largest number of messages in flight, whatever the tier.
    pub(super) const MOST: usize = 2048 / A::BLOCK;

    /// Sixteen messages of 32-bit words or eight of 64-bit words per register, two registers in
    /// flight; the SHA extensions for a few messages, where the CPU has them.
    #[must_use]
    pub fn avx512(token: Avx512, sha_ni: Option<ShaNi>) -> &'static Self {
        A::on_avx512(token, sha_ni)
    }

    /// Eight messages of 32-bit words or four of 64-bit words per register, two registers in
    /// flight; the SHA extensions where they are faster.
    #[must_use]
    pub fn avx2(token: Avx2, sha_ni: Option<ShaNi>) -> &'static Self {
        A::on_avx2(token, sha_ni)
    }

    /// The SHA extensions, four messages interleaved; `None` for an algorithm they do not have.
    #[must_use]
    pub fn sha_ni(token: ShaNi) -> Option<&'static Self> {
        A::on_extensions(token)
    }

    /// One message after the other in plain integers, on any CPU.
    #[must_use]
    pub fn portable() -> &'static Self {
        A::on_integers()
    }

    #[inline(always)]
    pub(super) fn table_of_integers() -> &'static Self {
        const {
            &Self {
                steps: [step_portable(), step_portable(), step_portable()],
                name: "portable",
                width: Width::Any,
            }
        }
    }

    /// Compresses `blocks` blocks of one message into `row`.
    ///
    /// # Safety
    /// `data` is valid for reading `blocks` blocks.
    #[inline]
    pub(super) unsafe fn one(&self, row: &mut Row<A::Word>, data: *const u8, blocks: usize) {
        // SAFETY: the first step takes lanes one by one: one row, one pointer.
        unsafe { self.steps[0].blocks(row, &raw const data, 1, blocks) }
    }

    /// The tier's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    #[inline(always)]
    pub(super) fn width(&self) -> Width {
        self.width
    }

    /// Messages that fit in flight.
    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.steps[2].up_to
    }

    /// The step for `lanes` messages; the widest if they are more than [`Self::capacity`].
    #[inline]
    pub(super) fn step(&self, lanes: usize) -> &Step<A> {
        let [few, some, many] = &self.steps;
        if lanes <= few.up_to {
            few
        } else if lanes <= some.up_to {
            some
        } else {
            many
        }
    }
}

impl<A: Algorithm> core::fmt::Debug for Kernels<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} on {}", A::NAME, self.name)
    }
}

/// Never called: the token does not exist on other architectures.
#[cfg(not(target_arch = "x86_64"))]
impl<A: Algorithm> Kernels<A> {
    pub(super) fn table_of_avx512(token: Avx512, _: Option<ShaNi>) -> &'static Self {
        token.never()
    }

    pub(super) fn table_of_avx2(token: Avx2, _: Option<ShaNi>) -> &'static Self {
        token.never()
    }

    pub(super) fn table_of_extensions(token: ShaNi) -> Option<&'static Self> {
        token.never()
    }
}
