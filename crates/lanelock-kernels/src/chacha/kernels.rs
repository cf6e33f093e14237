//! The block function on the registers of a machine.

#![allow(unsafe_code)] // kernels on raw rows

use core::mem::MaybeUninit;

use super::aead::AeadJob;
use super::batch::counter;
use super::block::BLOCK;
use super::consecutive::{consecutive, scattered};
use super::pass::Pass;
use super::{block, pass};
use crate::arch::words::{DoubleRow, Kernel, Pair, Registers, WordLanes};
use crate::arch::{WordSet, of_words};
use crate::machine::Machine;
use crate::poly1305::Authenticator;
use crate::wipe::{wipe, zeroed};

/// See [`Kernels::wide`]: two registers in flight if they fit; but one of sixteen words will do.
const fn group<S: Registers>() -> usize {
    if is_wide::<S>() && S::U32::COUNT < 16 {
        2 * S::U32::COUNT
    } else {
        S::U32::COUNT
    }
}

/// Blocks of a message up to which sixteen lanes are better shared with others.
const NEARLY: usize = 11;

/// Bytes from which on registers of sixteen words encrypt, and then authenticate, in less time than one pass.
const IN_TURN: usize = 4096;

/// Rows that [`Kernels::blocks`] may read and write, whatever the number of lanes.
pub(super) const ROWS: usize = 32;

/// The block function and the authenticator of a machine: chosen once, when a session is made.
///
/// A value of this type is the proof that its instructions exist.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    words: WordSet,
    authenticator: Authenticator,
    /// Whether two registers of sixteen words in flight are faster than one: where more of their
    /// operations begin in a cycle than one state of a block function has ready.
    paired: bool,
    /// Whether operations on registers of sixteen words take two turns: one message's wait for each other
    /// longer than the branches take that messages cost which share registers.
    in_turns: bool,
}

impl Kernels {
    /// The fastest ones of `machine`: as many blocks as a register has words, two registers in
    /// flight if there are enough; Poly1305 in lanes of digits or of 64-bit words.
    #[must_use]
    pub fn of(machine: Machine) -> Self {
        Self {
            words: machine.words,
            authenticator: Authenticator::of(machine),
            paired: machine.keyed_registers > 4,
            in_turns: machine.takes_turns(),
        }
    }

    /// The name of its registers.
    #[must_use]
    pub fn name(&self) -> &'static str {
        of_words!(self.words, |S| S::NAME)
    }

    /// Blocks of one message that keep the registers busy.
    #[inline]
    pub(super) fn wide(&self) -> usize {
        of_words!(self.words, |S| group::<S>())
    }

    /// The first bytes of so many that are best run by themselves: whole groups of [`Self::wide`] blocks,
    /// and more where they nearly fill registers. The others share registers with other messages.
    #[inline(always)]
    pub(super) fn alone(&self, len: usize) -> usize {
        of_words!(self.words, |S| {
            let count = <S as Registers>::U32::COUNT;
            let rest = len % (group::<S>() * BLOCK);
            if count == 16 && rest > NEARLY * BLOCK {
                len
            } else {
                len - rest
            }
        })
    }

    /// Whether a message of so many bytes, alone, has blocks that fill registers, and others that are few: those
    /// of registers of fewer than sixteen words.
    #[inline]
    pub(super) fn fills(&self, len: usize) -> bool {
        self.is_narrow() && len >= self.wide() * BLOCK
    }

    /// What Poly1305 runs on.
    pub(super) fn authenticator(&self) -> Authenticator {
        self.authenticator
    }

    /// Replaces the first `lanes` states by their blocks of keystream; overwrites others of the first
    /// [`rounded`].
    #[inline]
    pub(super) fn blocks(&self, rows: &mut [DoubleRow<u32>], lanes: usize) {
        assert!(rounded(lanes) <= rows.len());
        let rows = rows.as_mut_ptr();
        // SAFETY: `lanes` rounded up to a group of any registers stays in the rows.
        unsafe {
            self.words.run(Blocks {
                rows,
                lanes,
                paired: self.paired,
            })
        }
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

    /// XORs `len` bytes with blocks of keystream, in registers of a block where there are such: what reads
    /// the text next then need not wait for parts of it.
    ///
    /// # Safety
    /// `input` is valid for reading and `output` for writing `len` bytes; they are the same memory or
    /// disjoint. `mask` is valid for reading as many blocks as cover them.
    #[inline]
    pub(super) unsafe fn xor(
        &self,
        mask: *const DoubleRow<u32>,
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            self.words.run(Xor {
                mask,
                input,
                output,
                len,
            })
        }
    }

    /// Whether one message of so many bytes is best sealed and opened in one pass. It is not where registers
    /// are so wide that they authenticate, too, faster than plain integers: of digits, of words if it is long.
    #[inline]
    pub(super) fn has_passes(&self, len: usize) -> bool {
        self.is_narrow() || (len < IN_TURN && matches!(self.authenticator, Authenticator::Words(_)))
    }

    /// Whether registers have fewer than sixteen words.
    #[inline]
    pub(super) fn is_narrow(&self) -> bool {
        of_words!(self.words, |S| <S as Registers>::U32::COUNT < 16)
    }

    /// Whether a message of so many bytes, one of `messages`, is best run in registers that it shares with
    /// others, and not by itself.
    #[inline]
    pub(super) fn shares(&self, messages: usize, len: usize) -> bool {
        if self.is_narrow() {
            let (few, long) = of_words!(self.words, |S| pass::alone(<S as Registers>::U32::COUNT));
            return messages > few && len < long;
        }
        // With its one-time key, and past those that fill registers.
        let blocks = 1 + len.div_ceil(BLOCK);
        let last = (blocks - 1) % 16 + 1;
        // Up to how many blocks of a short message, and of the last register of a long one. Beyond, three
        // registers of rows make the last ones, without the branches of a batch.
        let (short, long) = match self.in_turns {
            false => (9, 8),
            true if messages < 16 => (12, 9),
            true => (13, 9),
        };
        match messages {
            1 => false,
            2 => blocks > 16 && last <= 4,
            3..=5 if blocks <= 16 => blocks < 6,
            _ if blocks <= 16 => blocks <= short,
            _ => last <= long,
        }
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

    /// XORs `blocks` blocks of one message, a multiple of [`Self::wide`].
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
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            self.words.run(Run {
                state,
                input,
                output,
                blocks,
                paired: self.paired,
            })
        }
    }
}

/// Rows that [`Kernels::blocks`] may read and write for so many lanes.
#[inline(always)]
pub(super) const fn rounded(lanes: usize) -> usize {
    // Registers of rows hold one, two, or four of them, and two run together.
    let group = if lanes <= 8 { 8 } else { 16 };
    lanes.next_multiple_of(group)
}

/// See [`Kernels::xor`].
struct Xor {
    mask: *const DoubleRow<u32>,
    input: *const u8,
    output: *mut u8,
    len: usize,
}

impl Kernel for Xor {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        // SAFETY: the contract of `Kernels::xor`.
        unsafe { block::xor::<S::U32>(proof, self.mask, self.input, self.output, self.len) }
    }
}

/// Whether two states of sixteen registers fit the registers there are.
const fn is_wide<S: Registers>() -> bool {
    S::FILE >= 32
}

/// Whether two registers are in flight; those of sixteen words, if `paired`.
const fn is_paired<S: Registers>(paired: bool) -> bool {
    is_wide::<S>() && (paired || S::U32::COUNT < 16)
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

/// See [`Kernels::blocks`]. In groups of one register or two; what is left in registers of rows if it is
/// little.
struct Blocks {
    rows: *mut DoubleRow<u32>,
    lanes: usize,
    paired: bool,
}

impl Kernel for Blocks {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        let (one, few) = (S::U32::COUNT, S::Rows::COUNT / 4);
        // SAFETY: the lanes, rounded up to a group, are inside the rows.
        unsafe {
            let (mut rows, mut left) = (self.rows, self.lanes);
            if is_paired::<S>(self.paired) {
                let rest = left % (2 * one);
                let paired = if rest > one + 2 * few {
                    left
                } else {
                    left - rest
                };
                block::blocks::<Pair<S::U32>>(proof, rows, paired);
                (rows, left) = (rows.add(paired), left - paired);
            }
            let whole = left / one * one;
            block::blocks::<S::U32>(proof, rows, whole);
            (rows, left) = (rows.add(whole), left - whole);
            match left {
                0 => {}
                _ if left <= few => scattered::<S::Rows, 1>(proof, rows),
                _ if left <= 2 * few => scattered::<S::Rows, 2>(proof, rows),
                _ if few == 4 && left <= 3 * few => scattered::<S::Rows, 3>(proof, rows),
                _ => block::blocks::<S::U32>(proof, rows, left),
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
    paired: bool,
}

impl Kernel for Run<'_> {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        let pair = 2 * S::U32::COUNT;
        let paired = if is_paired::<S>(self.paired) {
            self.blocks / pair * pair
        } else {
            0
        };
        // SAFETY: the contract of `Kernels::run`.
        unsafe {
            if is_wide::<S>() && paired > 0 {
                self.lanes::<Pair<S::U32>>(proof, 0, paired);
            }
            if paired < self.blocks {
                self.lanes::<S::U32>(proof, paired, self.blocks - paired);
            }
        }
    }
}

impl Run<'_> {
    /// So many blocks from `first` on.
    ///
    /// # Safety
    /// The contract of [`Kernels::run`].
    #[inline(always)]
    unsafe fn lanes<V: WordLanes<Word = u32>>(&self, proof: V::Proof, first: usize, blocks: usize) {
        const { assert!(V::COUNT <= ROWS) };
        let mut scratch = MaybeUninit::<[DoubleRow<u32>; ROWS]>::uninit();
        if !V::HOLDS_BLOCKS {
            zeroed(&mut scratch);
        }
        let rows = scratch.as_mut_ptr().cast();
        // SAFETY: as the caller promises; the scratch is rows for all lanes, and initialised if it is
        // written.
        unsafe {
            let (input, output) = (
                self.input.add(first * BLOCK),
                self.output.add(first * BLOCK),
            );
            block::run::<V>(
                proof,
                self.state,
                counter(first),
                input,
                output,
                blocks,
                rows,
            );
            if !V::HOLDS_BLOCKS {
                wipe(scratch.assume_init_mut());
            }
        }
    }
}
