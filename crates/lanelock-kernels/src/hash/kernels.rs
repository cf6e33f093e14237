//! Which compression runs how many lanes on a machine.

#![allow(unsafe_code)] // the step of a tier runs with its instructions

use super::compiled;
use super::step::Step;
use crate::arch::words::{Pair, Registers, Row, WideWord, WordLanes};
use crate::arch::{Integers, of_words};
use crate::hash::{Algorithm, Job};
use crate::machine::{Machine, ShaPace};

/// The compressions of one algorithm on one machine: chosen once, when a session is made.
///
/// A reference to one is the proof that its instructions exist.
pub struct Kernels<A: Algorithm> {
    /// Invariant: the first takes lanes one by one; none has a group above [`Self::MOST`].
    steps: [Step<A>; 3],
    schedule: Schedule<A>,
    name: &'static str,
    bits: usize,
}

/// Runs several messages, by code compiled for the registers of the steps.
type Schedule<A> = unsafe fn(&Kernels<A>, &mut [Job<'_, A>]);

impl<A: Algorithm> Kernels<A> {
    /// The largest number of messages in flight, whatever the machine.
    pub(super) const MOST: usize = 2048 / A::BLOCK;

    /// The fastest ones of `machine`: as many messages as a register has words, two registers in
    /// flight where there is room for them; for a few messages, the instructions made for the
    /// algorithm, where the CPU has them.
    #[must_use]
    pub fn of(machine: Machine) -> &'static Self {
        A::on(machine)
    }

    /// Whether messages run in lanes, or by instructions made for the algorithm: not in plain
    /// integers.
    #[must_use]
    pub fn is_accelerated(&self) -> bool {
        self.bits > Self::PORTABLE.bits
    }

    /// What [`Algorithm::on`] is. Four lanes of 32 bits are slower than the instructions made for the
    /// algorithm, however many messages there are.
    #[inline(always)]
    pub(super) fn table(machine: Machine) -> &'static Self {
        let extension = A::EXTENSION.is_some() && A::has_extension(machine);
        let pace = machine.sha_pace;
        of_words!(machine.words, |S| match (extension, S::BITS > 64) {
            (true, true) if S::BITS < 256 => const { &Self::EXTENSION },
            (true, true) if S::BITS < 512 => match pace {
                ShaPace::SparseSha1 => const { &Self::beside_extension::<S>(3) },
                _ => const { &Self::beside_extension::<S>(2) },
            },
            (true, true) => match pace {
                ShaPace::OneByOne => const { &Self::beside_extension::<S>(1) },
                _ => const { &Self::beside_extension::<S>(0) },
            },
            (false, true) => const { &Self::in_lanes::<S>(Step::alone::<S>()) },
            (true, false) => const { &Self::EXTENSION },
            (false, false) => const { &Self::PORTABLE },
        })
    }

    /// [`Self::in_lanes`] for more messages than a place of [`Compress::FEW`](super::Compress::FEW) says.
    const fn beside_extension<S: Registers>(place: usize) -> Self {
        Self::in_lanes::<S>(Step::extension(A::FEW[place]))
    }

    /// A step for few messages, then registers of `S`. With two messages in each lane, the latency of
    /// one hides behind the other, but two states are sixteen registers: where there are no more, what
    /// is spilled costs more than that. Those of 512 bits are busy with one message in each lane, all of whose
    /// words they have room for.
    const fn in_lanes<S: Registers>(few: Step<A>) -> Self {
        assert!(2 * <<A::Word as WideWord>::In<S> as WordLanes>::COUNT <= Self::MOST);
        let some = Step::of::<S, <A::Word as WideWord>::In<S>>();
        let many = if S::FILE > 16 && S::BITS < 512 {
            Step::of::<S, Pair<<A::Word as WideWord>::In<S>>>()
        } else {
            some.twice()
        };
        Self {
            steps: [few, some, many],
            schedule: compiled::schedule::<S, A>,
            name: S::NAME,
            bits: S::BITS,
        }
    }

    /// One message after the other in plain integers.
    const PORTABLE: Self = Self {
        steps: [Step::PORTABLE, Step::PORTABLE, Step::PORTABLE],
        schedule: compiled::schedule::<Integers, A>,
        name: Integers::NAME,
        bits: Integers::BITS,
    };

    /// The instructions made for the algorithm alone, four messages interleaved.
    const EXTENSION: Self = Self {
        steps: [Step::extension(4), Step::extension(4), Step::extension(4)],
        name: "extension",
        bits: 128,
        ..Self::PORTABLE
    };

    /// Compresses `blocks` blocks of one message into `row`.
    ///
    /// # Safety
    /// `data` is valid for reading `blocks` blocks.
    #[inline]
    pub(super) unsafe fn one(&self, row: &mut Row<A::Word>, data: *const u8, blocks: usize) {
        // SAFETY: the first step takes lanes one by one: one row, one pointer.
        unsafe { self.steps[0].blocks(row, &raw const data, 1, blocks) }
    }

    /// The name of its registers.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs several messages.
    #[inline]
    pub(super) fn schedule(&self, messages: &mut [Job<'_, A>]) {
        // SAFETY: the instructions exist: the table was chosen by a machine.
        unsafe { (self.schedule)(self, messages) }
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
