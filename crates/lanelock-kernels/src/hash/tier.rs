//! Which compression runs how many lanes on this CPU.

#![allow(unsafe_code)] // the step of a tier runs with its instructions

use super::step::{Step, step_portable};
#[cfg(target_arch = "x86_64")]
use super::step::{step_alone, step_ni, step_two_ymm, step_two_zmm, step_ymm, step_zmm};
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512, ShaNi};
use crate::hash::Algorithm;
use crate::lanes::Row;
#[cfg(target_arch = "x86_64")]
use crate::lanes::{Lanes, Pair, WideWord};

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
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn avx512(token: Avx512, sha_ni: Option<ShaNi>) -> &'static Self {
        A::on_avx512(token, sha_ni)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn table_of_avx512(_: Avx512, sha_ni: Option<ShaNi>) -> &'static Self {
        const {
            assert!(<Pair<<A::Word as WideWord>::Zmm>>::COUNT <= Self::MOST);
        }
        if sha_ni.is_some() && A::EXTENSION.is_some() {
            const {
                &Self {
                    steps: [step_ni(A::FEW[0]), step_zmm(), step_two_zmm()],
                    name: "avx512",
                    width: Width::Zmm,
                }
            }
        } else {
            const {
                &Self {
                    steps: [step_alone::<A, 0>(), step_zmm(), step_two_zmm()],
                    name: "avx512",
                    width: Width::Zmm,
                }
            }
        }
    }

    /// Eight messages of 32-bit words or four of 64-bit words per register, two registers in
    /// flight; the SHA extensions where they are faster.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn avx2(token: Avx2, sha_ni: Option<ShaNi>) -> &'static Self {
        A::on_avx2(token, sha_ni)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn table_of_avx2(_: Avx2, sha_ni: Option<ShaNi>) -> &'static Self {
        if sha_ni.is_some() && A::EXTENSION.is_some() {
            const {
                &Self {
                    steps: [step_ni(A::FEW[1]), step_ymm(), step_two_ymm()],
                    name: "avx2",
                    width: Width::Ymm,
                }
            }
        } else {
            const {
                &Self {
                    steps: [step_alone::<A, 1>(), step_ymm(), step_two_ymm()],
                    name: "avx2",
                    width: Width::Ymm,
                }
            }
        }
    }

    /// The SHA extensions, four messages interleaved; `None` for an algorithm they do not have.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn sha_ni(token: ShaNi) -> Option<&'static Self> {
        A::on_extensions(token)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn table_of_extensions(_: ShaNi) -> Option<&'static Self> {
        A::EXTENSION?;
        Some(
            const {
                &Self {
                    steps: [step_ni(4), step_ni(4), step_ni(4)],
                    name: "sha-ni",
                    width: Width::Any,
                }
            },
        )
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
