//! Which block function runs on a machine.

#![allow(unsafe_code)] // functions that enable instructions

use super::{block, lone};
use crate::arch::words::{DoubleRow, Pair, Registers, WordLanes};
use crate::arch::{DigitSet, each_word_set, of_words};
use crate::machine::Machine;

/// Rows that [`Kernels::blocks`] may read and write, whatever the number of lanes.
pub(super) const ROWS: usize = 32;

/// The block function and the authenticator of a machine: chosen once, when a session is made.
///
/// A value of this type is the proof that its instructions exist.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    blocks: unsafe fn(*mut DoubleRow<u32>, usize),
    run: unsafe fn(&DoubleRow<u32>, *const u8, *mut u8, usize, *mut DoubleRow<u32>),
    consecutive: unsafe fn(&DoubleRow<u32>, *mut DoubleRow<u32>, usize),
    /// Blocks of one message that fill two registers.
    wide: usize,
    digits: DigitSet,
    name: &'static str,
}

impl Kernels {
    /// The fastest ones of `machine`: as many blocks as a register has words, two registers in
    /// flight; Poly1305 in lanes where it has registers of digits.
    #[must_use]
    pub fn of(machine: Machine) -> Self {
        of_words!(machine.words, |S| Self {
            blocks: S::blocks,
            run: S::run,
            consecutive: S::consecutive,
            wide: 2 * <S as Registers>::U32::COUNT,
            digits: machine.digits,
            name: S::NAME,
        })
    }

    /// The name of its registers.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Blocks of one message that fill two registers; fewer go to the batch.
    #[inline]
    pub(super) fn wide(&self) -> usize {
        self.wide
    }

    /// What Poly1305 runs on.
    pub(super) fn digits(&self) -> DigitSet {
        self.digits
    }

    /// Replaces the first `lanes` states by their blocks of keystream; overwrites the others.
    #[inline]
    pub(super) fn blocks(&self, rows: &mut [DoubleRow<u32>; ROWS], lanes: usize) {
        debug_assert!(lanes <= ROWS);
        // SAFETY: the widest group divides `ROWS`, so `lanes` rounded up to a group stays in
        // `rows`. The instructions exist: the constructor took the token.
        unsafe { (self.blocks)(rows.as_mut_ptr(), lanes.min(ROWS)) }
    }

    /// Writes `blocks` blocks of keystream from the state's counter on.
    ///
    /// # Safety
    /// `rows` is valid for writing [`lone::ROOM`] rows, and `blocks` is at most [`lone::MOST`].
    #[inline]
    pub(super) unsafe fn consecutive(
        &self,
        state: &DoubleRow<u32>,
        rows: *mut DoubleRow<u32>,
        blocks: usize,
    ) {
        // SAFETY: as the caller promises; the instructions exist.
        unsafe { (self.consecutive)(state, rows, blocks) }
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
        // SAFETY: as the caller promises; no tier has more lanes than `ROWS`, and its
        // instructions exist.
        unsafe { (self.run)(state, input, output, blocks, scratch.as_mut_ptr()) }
    }
}

/// A set of registers with the functions that are compiled for it.
///
/// # Safety
/// Every function is unsafe because it needs the instructions of the registers, besides what it
/// states.
trait Compiled: Registers {
    /// See [`lone::consecutive`].
    unsafe fn consecutive(state: &DoubleRow<u32>, rows: *mut DoubleRow<u32>, blocks: usize);

    /// See [`block::blocks`], in groups of two registers.
    unsafe fn blocks(rows: *mut DoubleRow<u32>, lanes: usize);

    /// See [`block::run`], in groups of two registers.
    unsafe fn run(
        state: &DoubleRow<u32>,
        input: *const u8,
        output: *mut u8,
        blocks: usize,
        scratch: *mut DoubleRow<u32>,
    );
}

/// One register where it has lanes enough, two otherwise.
macro_rules! compiled {
    ($(#[$enable:meta])? $set:ty) => {
        impl Compiled for $set {
            $(#[$enable])?
            unsafe fn consecutive(
                state: &DoubleRow<u32>,
                rows: *mut DoubleRow<u32>,
                blocks: usize,
            ) {
                // SAFETY: the caller promises the instructions, and the rest.
                unsafe { lone::consecutive::<<Self as Registers>::Rows>(Self::assume(), state, rows, blocks) }
            }

            $(#[$enable])?
            unsafe fn blocks(rows: *mut DoubleRow<u32>, lanes: usize) {
                type One = <$set as Registers>::U32;
                crate::frame::align();
                let whole = lanes.div_ceil(One::COUNT) / 2 * (2 * One::COUNT);
                // SAFETY: the caller promises the instructions; both parts lie inside its rows.
                unsafe {
                    let proof = Self::assume();
                    block::blocks::<Pair<One>>(proof, rows, whole);
                    if whole < lanes {
                        block::blocks::<One>(proof, rows.add(whole), lanes - whole);
                    }
                }
            }

            $(#[$enable])?
            unsafe fn run(
                state: &DoubleRow<u32>,
                input: *const u8,
                output: *mut u8,
                blocks: usize,
                scratch: *mut DoubleRow<u32>,
            ) {
                type One = <$set as Registers>::U32;
                crate::frame::align();
                // SAFETY: the caller promises the instructions, and the rest.
                unsafe {
                    let proof = Self::assume();
                    if blocks > One::COUNT {
                        block::run::<Pair<One>>(proof, state, input, output, blocks, scratch);
                    } else {
                        block::run::<One>(proof, state, input, output, blocks, scratch);
                    }
                }
            }
        }
    };
}
each_word_set!(compiled);
