//! What is compiled once for each set of registers: the compressions and the scheduler of lanes.

#![allow(unsafe_code)] // functions that enable instructions

use super::step::{self, Ends};
use super::{Algorithm, Job, Kernels, schedule};
use crate::arch::each_word_set;
use crate::arch::words::{Registers, Row, WordLanes};

/// A set of registers with the functions that are compiled for it.
///
/// # Safety
/// Every function is unsafe because it needs the instructions of the registers, besides what it
/// states.
pub(super) trait Compiled: Registers {
    /// See [`schedule::run_many`].
    unsafe fn schedule<A: Algorithm>(kernels: &Kernels<A>, messages: &mut [Job<'_, A>]);

    /// See [`Step::blocks`](step::Step::blocks).
    unsafe fn blocks<A: Algorithm, V: WordLanes<Word = A::Word>>(
        rows: *mut Row<A::Word>,
        at: *const *const u8,
        lanes: usize,
        count: usize,
    ) where
        Self::Proof: Into<V::Proof>;

    /// See [`Step::outer`](step::Step::outer).
    unsafe fn outer<A: Algorithm, V: WordLanes<Word = A::Word>>(
        chain: *mut Row<A::Word>,
        inner: *const Row<A::Word>,
        lanes: usize,
    ) where
        Self::Proof: Into<V::Proof>;

    /// See [`Ends`].
    unsafe fn ends<A: Algorithm, V: WordLanes<Word = A::Word>>(these: &Ends<A>)
    where
        Self::Proof: Into<V::Proof>;

    /// See [`Compress::compress`](super::Compress::compress). One copy for all callers: the code of
    /// a compression is long.
    unsafe fn compress<A: Algorithm, V: WordLanes<Word = A::Word>>(state: &mut [V; 8], w: *mut V);
}

macro_rules! compiled {
    ($(#[$enable:meta])? $set:ty) => {
        impl Compiled for $set {
            $(#[$enable])?
            unsafe fn schedule<A: Algorithm>(kernels: &Kernels<A>, messages: &mut [Job<'_, A>]) {
                // SAFETY: the caller promises the instructions.
                let proof = unsafe { Self::assume() };
                schedule::run_many::<A, Self>(proof, kernels, messages);
            }

            $(#[$enable])?
            unsafe fn blocks<A: Algorithm, V: WordLanes<Word = A::Word>>(
                rows: *mut Row<A::Word>,
                at: *const *const u8,
                lanes: usize,
                count: usize,
            ) where Self::Proof: Into<V::Proof>, {
                // SAFETY: the caller promises the instructions, and the rest.
                unsafe { step::blocks::<A, V>(Self::assume().into(), rows, at, lanes, count, Self::compress::<A, V>) }
            }

            $(#[$enable])?
            unsafe fn outer<A: Algorithm, V: WordLanes<Word = A::Word>>(
                chain: *mut Row<A::Word>,
                inner: *const Row<A::Word>,
                lanes: usize,
            ) where Self::Proof: Into<V::Proof>, {
                // SAFETY: the caller promises the instructions, and the rest.
                unsafe { step::outer::<A, V>(Self::assume().into(), chain, inner, lanes, Self::compress::<A, V>) }
            }

            $(#[$enable])?
            unsafe fn ends<A: Algorithm, V: WordLanes<Word = A::Word>>(these: &Ends<A>) where Self::Proof: Into<V::Proof>, {
                // SAFETY: the caller promises the instructions, and the rest.
                unsafe { step::ends::<A, V>(Self::assume().into(), these, Self::compress::<A, V>) }
            }

            #[inline(never)]
            $(#[$enable])?
            unsafe fn compress<A: Algorithm, V: WordLanes<Word = A::Word>>(
                state: &mut [V; 8],
                w: *mut V,
            ) {
                crate::frame::align();
                // SAFETY: the caller's promise, passed on.
                unsafe { A::compress::<V>(state, w) }
            }
        }
    };
}
each_word_set!(compiled);
