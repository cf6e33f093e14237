//! What a table of kernels points to: functions that enter the instructions of a set of registers.
//!
//! Each is unsafe because the CPU needs the instructions of `S`, besides what it states.

#![allow(unsafe_code)] // functions that enable instructions

use core::marker::PhantomData;

use super::block::{Block, Next};
use super::step::{self, Ends};
use super::{Algorithm, Job, Kernels, schedule};
use crate::arch::register::{Code, Proof};
use crate::arch::words::{Registers, Row, WordLanes};

/// See [`schedule::run_many`].
pub(super) unsafe fn schedule<S: Registers, A: Algorithm>(
    kernels: &Kernels<A>,
    messages: &mut [Job<'_, A>],
) {
    // SAFETY: the caller promises the instructions.
    let proof = unsafe { S::assume() };
    proof.enter(Schedule::<S, A>(proof, kernels, messages));
}

struct Schedule<'k, 'm, S: Registers, A: Algorithm>(S::Proof, &'k Kernels<A>, &'k mut [Job<'m, A>]);

impl<S: Registers, A: Algorithm> Code for Schedule<'_, '_, S, A> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        schedule::run_many::<A, S>(self.0, self.1, self.2);
    }
}

/// See [`Step::blocks`](step::Step::blocks).
pub(super) unsafe fn blocks<S: Registers, A: Algorithm, V: WordLanes<Word = A::Word>>(
    rows: *mut Row<A::Word>,
    at: *const *const u8,
    lanes: usize,
    blocks: usize,
) where
    S::Proof: Into<V::Proof>,
{
    // SAFETY: the caller's promises are the invariant.
    unsafe {
        ends::<S, A, V>(&Ends {
            rows,
            lanes,
            at,
            blocks,
            ending_at: at,
            ending_blocks: 0,
            outer: core::ptr::null(),
        });
    }
}

/// See [`Ends`].
pub(super) unsafe fn ends<S: Registers, A: Algorithm, V: WordLanes<Word = A::Word>>(these: &Ends<A>)
where
    S::Proof: Into<V::Proof>,
{
    // SAFETY: the caller promises the instructions.
    let proof = unsafe { S::assume() };
    proof.enter(ToEnds::<S, A, V> {
        lane: proof.into(),
        these,
        set: PhantomData,
    });
}

struct ToEnds<'e, S, A: Algorithm, V: WordLanes> {
    lane: V::Proof,
    these: &'e Ends<A>,
    set: PhantomData<S>,
}

impl<S: Registers, A: Algorithm, V: WordLanes<Word = A::Word>> Code for ToEnds<'_, S, A, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: the promise of the caller of `ends`.
        unsafe { step::ends::<A, V>(self.lane, self.these, compress::<S, A, V>) };
    }
}

/// See [`Step::outer`](step::Step::outer).
pub(super) unsafe fn outer<S: Registers, A: Algorithm, V: WordLanes<Word = A::Word>>(
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
) where
    S::Proof: Into<V::Proof>,
{
    // SAFETY: the caller promises the instructions.
    let proof = unsafe { S::assume() };
    proof.enter(Outer::<S, A, V> {
        lane: proof.into(),
        chain,
        inner,
        lanes,
        set: PhantomData,
    });
}

struct Outer<S, A: Algorithm, V: WordLanes> {
    lane: V::Proof,
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
    set: PhantomData<S>,
}

impl<S: Registers, A: Algorithm, V: WordLanes<Word = A::Word>> Code for Outer<S, A, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: the promise of the caller of `outer`.
        unsafe {
            step::outer::<A, V>(
                self.lane,
                self.chain,
                self.inner,
                self.lanes,
                compress::<S, A, V>,
            );
        }
    }
}

/// See [`Compress::compress`](super::Compress::compress). One copy for all callers: the code of a
/// compression is long.
unsafe fn compress<S: Registers, A: Algorithm, V: WordLanes<Word = A::Word>>(
    state: &mut [V; 8],
    block: &mut Block<V>,
    next: Next,
) {
    // SAFETY: the caller promises the instructions.
    let proof = unsafe { S::assume() };
    proof.enter(OneBlock::<A, V>(state, block, next, PhantomData));
}

struct OneBlock<'v, A, V>(&'v mut [V; 8], &'v mut Block<V>, Next, PhantomData<A>);

impl<A: Algorithm, V: WordLanes<Word = A::Word>> Code for OneBlock<'_, A, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: the promise of the caller of `compress`.
        unsafe { A::compress::<V>(self.0, self.1, self.2) }
    }
}
