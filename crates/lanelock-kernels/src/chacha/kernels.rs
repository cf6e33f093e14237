//! The block function on the registers of a machine.

#![allow(unsafe_code)] // kernels on raw rows

use super::aead::AeadJob;
use super::consecutive::consecutive;
use super::pass::Pass;
use super::{block, pass};
use crate::arch::words::{DoubleRow, Kernel, Pair, Registers, WordLanes};
use crate::arch::{WordSet, of_words};
use crate::machine::Machine;
use crate::poly1305::Authenticator;

/// Rows that [`Kernels::blocks`] may read and write, whatever the number of lanes.
pub(super) const ROWS: usize = 32;

/// The block function and the authenticator of a machine: chosen once, when a session is made.
///
/// A value of this type is the proof that its instructions exist.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    words: WordSet,
    authenticator: Authenticator,
}

impl Kernels {
    /// The fastest ones of `machine`: as many blocks as a register has words, two registers in
    /// flight if there are enough; Poly1305 in lanes of digits or of 64-bit words.
    #[must_use]
    pub fn of(machine: Machine) -> Self {
        Self {
            words: machine.words,
            authenticator: Authenticator::of(machine),
        }
    }

    /// The name of its registers.
    #[must_use]
    pub fn name(&self) -> &'static str {
        of_words!(self.words, |S| S::NAME)
    }

    /// Blocks of one message that fill the registers in flight; fewer go to the batch.
    #[inline]
    pub(super) fn wide(&self) -> usize {
        of_words!(self.words, |S| {
            <S as Registers>::U32::COUNT << u32::from(is_wide::<S>())
        })
    }

    /// What Poly1305 runs on.
    pub(super) fn authenticator(&self) -> Authenticator {
        self.authenticator
    }

    /// Replaces the first `lanes` states by their blocks of keystream; overwrites the others.
    #[inline]
    pub(super) fn blocks(&self, rows: &mut [DoubleRow<u32>; ROWS], lanes: usize) {
        debug_assert!(lanes <= ROWS);
        let (rows, lanes) = (rows.as_mut_ptr(), lanes.min(ROWS));
        // SAFETY: the widest group divides `ROWS`, so `lanes` rounded up to a group stays in
        // `rows`.
        unsafe { self.words.run(Blocks { rows, lanes }) }
    }

    /// Writes `blocks` blocks of keystream from the state's counter on.
    ///
    /// # Safety
    /// `rows` is valid for writing [`super::lone::ROOM`] rows, and `blocks` is at most
    /// [`super::lone::MOST`].
    #[inline]
    pub(super) unsafe fn consecutive(
        &self,
        state: &DoubleRow<u32>,
        rows: *mut DoubleRow<u32>,
        blocks: usize,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            self.words.run(Consecutive {
                state,
                rows,
                blocks,
            })
        }
    }

    /// Bytes from which on a message of so many is best sealed and opened in one pass by itself. None
    /// where registers are so wide that they authenticate, too, faster than plain integers.
    #[inline]
    pub(super) fn pass_from(&self, messages: usize) -> Option<usize> {
        let has_passes = of_words!(self.words, |S| <S as Registers>::U32::COUNT < 16);
        let from = if messages <= pass::FEW { 0 } else { pass::LONG };
        has_passes.then_some(from)
    }

    /// Seals or opens one message in one pass.
    ///
    /// # Safety
    /// As for [`super::seal_many`].
    #[inline]
    pub(super) unsafe fn pass<const SEAL: bool>(&self, job: &mut AeadJob<'_>) {
        // SAFETY: the caller's promise.
        unsafe { self.words.run(Pass::<SEAL>(job)) }
    }

    /// XORs `blocks` blocks of one message.
    ///
    /// # Safety
    /// `input` is valid for reading and `output` for writing `blocks` blocks; they are the same
    /// memory or disjoint.
    #[inline]
    pub(super) unsafe fn run(
        &self,
        state: &DoubleRow<u32>,
        input: *const u8,
        output: *mut u8,
        blocks: usize,
        scratch: &mut [DoubleRow<u32>; ROWS],
    ) {
        let scratch = scratch.as_mut_ptr();
        // SAFETY: as the caller promises; no tier has more lanes than `ROWS`.
        unsafe {
            self.words.run(Run {
                state,
                input,
                output,
                blocks,
                scratch,
            })
        }
    }
}

/// Whether two states of sixteen registers fit the registers there are.
const fn is_wide<S: Registers>() -> bool {
    S::FILE >= 32
}

/// See [`Kernels::consecutive`].
struct Consecutive<'s> {
    state: &'s DoubleRow<u32>,
    rows: *mut DoubleRow<u32>,
    blocks: usize,
}

impl Kernel for Consecutive<'_> {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        // SAFETY: the contract of `Kernels::consecutive`.
        unsafe { consecutive::<S::Rows>(proof, self.state, self.rows, self.blocks) }
    }
}

/// See [`Kernels::blocks`]. In groups of two registers if there are enough, the rest in one where it
/// has lanes enough.
struct Blocks {
    rows: *mut DoubleRow<u32>,
    lanes: usize,
}

impl Kernel for Blocks {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        let one = S::U32::COUNT;
        let whole = if is_wide::<S>() {
            self.lanes.div_ceil(one) / 2 * (2 * one)
        } else {
            0
        };
        // SAFETY: the lanes, rounded up to a group, are inside the rows.
        unsafe {
            block::blocks::<Pair<S::U32>>(proof, self.rows, whole);
            if whole < self.lanes {
                block::blocks::<S::U32>(proof, self.rows.add(whole), self.lanes - whole);
            }
        }
    }
}

/// See [`Kernels::run`].
struct Run<'s> {
    state: &'s DoubleRow<u32>,
    input: *const u8,
    output: *mut u8,
    blocks: usize,
    scratch: *mut DoubleRow<u32>,
}

impl Kernel for Run<'_> {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        let Self {
            state,
            input,
            output,
            blocks,
            scratch,
        } = self;
        // SAFETY: the contract of `Kernels::run`; no register has more lanes than the scratch.
        unsafe {
            if blocks > S::U32::COUNT && is_wide::<S>() {
                block::run::<Pair<S::U32>>(proof, state, input, output, blocks, scratch);
            } else {
                block::run::<S::U32>(proof, state, input, output, blocks, scratch);
            }
        }
    }
}
