//! The steps of each tier, by the number of messages in flight.

use super::{Kernels, Width};
use crate::cpu::{Avx2, Avx512, ShaNi};
use crate::hash::Algorithm;
use crate::hash::step::x86::{step_alone, step_ni, step_two_ymm, step_two_zmm, step_ymm, step_zmm};
use crate::lanes::{Lanes, Pair, WideWord};

impl<A: Algorithm> Kernels<A> {
    #[inline(always)]
    pub(in crate::hash) fn table_of_avx512(_: Avx512, sha_ni: Option<ShaNi>) -> &'static Self {
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

    #[inline(always)]
    pub(in crate::hash) fn table_of_avx2(_: Avx2, sha_ni: Option<ShaNi>) -> &'static Self {
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

    #[inline(always)]
    pub(in crate::hash) fn table_of_extensions(_: ShaNi) -> Option<&'static Self> {
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
}
