//! Modes whose blocks do not wait for each other, for messages that come one by one: what the caller does to
//! find the next runs while the CPU waits for the rounds of those before.

use core::marker::PhantomData;
use core::ptr;

use super::key::Schedule;
use super::rounds::{PerRounds, Rounds, WithRounds};
use super::sweep::{FEW_BYTES, Mode, Sweep, alone, one_block, sweep};
use super::{BLOCK, KeySize, Message, Records};
use crate::arch::blocks::{Kernel, Vector};
use crate::machine::{Machine, Tier};

impl Machine {
    /// Whether messages whose blocks do not wait for each other are best taken one by one: on registers that
    /// hold so much of one that no others need to run beside it.
    #[must_use]
    pub fn is_fed(self) -> bool {
        self.blocks.count() >= WIDE
    }

    /// Whether that is so for a few of them, for [long ones](Machine::fed_from), and for those of many keys: on registers
    /// of one and two blocks under AVX2. Short ones of one key keep those busier side by side, once they are enough to
    /// make up for finding those that are alike.
    #[inline]
    #[must_use]
    pub fn is_fed_few(self) -> bool {
        matches!(self.tier, Tier::Avx2 | Tier::Avx512Bw)
    }

    /// From how many bytes on a message is long for a machine that [is fed a few](Machine::is_fed_few).
    #[must_use]
    pub fn fed_from(self) -> u32 {
        // Messages of four blocks each, two after the other, keep registers of one block as busy as side by side.
        if self.blocks.count() == 1 { 17 } else { 65 }
    }

    /// Whether that is so for GMAC: on registers of one block under AVX2, too, which no two messages share.
    #[must_use]
    pub fn is_fed_macs(self) -> bool {
        self.is_fed() || self.is_fed_few() && self.blocks.count() == 1
    }

    /// Whether products of blocks, as in GCM, run beside rounds of AES. Else the two take turns.
    #[must_use]
    pub fn multiplies_beside_rounds(self) -> bool {
        self.blocks.multiplies_beside_rounds()
    }
}

/// Blocks of registers on which messages one after the other are as fast as side by side.
pub(super) const WIDE: usize = 4;

/// Most bytes of a lone message that leaves the registers alone which `vzeroupper` spares: the others have
/// room for it.
const SHORT: usize = 256;

/// Runs each message when it is yielded. The first is expected to have `len` bytes, the others as many or more.
///
/// # Safety
/// Sources, targets and IVs are as for [`run_records`](super::sweep::run_records), from when a message is yielded
/// until this returns. Every key has `size`.
#[inline(always)]
pub(super) unsafe fn run_fed<'k, M: Mode>(
    machine: Machine,
    size: KeySize,
    len: u32,
    messages: impl Iterator<Item = Message<'k, M::Key>>,
) where
    M::Key: 'k,
{
    // SAFETY: the caller's contract.
    unsafe {
        if len as usize > FEW_BYTES && machine.is_fed_few() {
            let rest = Rest::<M, _>(None, messages);
            machine.blocks.run_sized(size, rest);
        } else {
            let fed = Fed::<M, _>(messages, PhantomData);
            machine.blocks.run_sized(size, fed);
        }
    }
}

/// Runs the message that `message` makes, which no other follows: nothing is prepared that a loop would use
/// again. `message` makes it each time that it is asked to.
///
/// # Safety
/// As for [`run_fed`].
#[inline(always)]
pub(super) unsafe fn run_lone<'k, M: Mode>(
    machine: Machine,
    size: KeySize,
    message: impl FnMut() -> Message<'k, M::Key>,
) where
    M::Key: 'k,
{
    // SAFETY: the caller's contract.
    unsafe {
        machine
            .blocks
            .run_sized(size, Lone::<M, _>(message, PhantomData));
    }
}

/// Messages that come one by one.
struct Fed<M, I>(I, PhantomData<M>);

impl<'k, M: Mode, I: Iterator<Item = Message<'k, M::Key>>> PerRounds for Fed<M, I>
where
    M::Key: 'k,
{
    /// # Safety
    /// As for [`run_fed`].
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        // SAFETY: the caller's promises.
        unsafe {
            if const { !V::FED } {
                for message in self.0 {
                    in_record::<M, V, ROUNDS>(proof, message);
                }
            } else if const { V::BYTES < FEW_BYTES } {
                take_few::<M, V, ROUNDS>(proof, self.0);
            } else {
                take_each::<M, V, ROUNDS>(proof, self.0);
            }
        }
        V::forget(proof);
    }
}

/// A message on registers that are not fed, by the function that messages in memory have.
///
/// # Safety
/// As for [`run_fed`], under [`Vector::enter`]; the schedule has `ROUNDS` rounds.
#[inline(always)]
unsafe fn in_record<M: Mode, V: Vector, const ROUNDS: usize>(
    proof: V::Proof,
    message: Message<'_, M::Key>,
) {
    let messages = [message];
    if let Some(records) = Records::of(&messages) {
        // SAFETY: the caller's promises.
        unsafe { V::enter(proof, (Sweep::<M>(&records), WithRounds::<ROUNDS>)) };
    }
}

/// Takes messages of at most [`FEW_BYTES`], and leaves the [`Rest`] from the first other one on.
///
/// # Safety
/// As for [`run_fed`], under [`Vector::enter`]; schedules have `ROUNDS` rounds.
#[inline(always)]
unsafe fn take_few<'k, M: Mode, V: Vector, const ROUNDS: usize>(
    proof: V::Proof,
    mut messages: impl Iterator<Item = Message<'k, M::Key>>,
) where
    M::Key: 'k,
{
    // SAFETY: the caller's promises.
    unsafe {
        while let Some(message) = messages.next() {
            if message.len as usize > FEW_BYTES {
                let rest = Rest::<M, _>(Some(message), messages);
                return V::enter(proof, (rest, WithRounds::<ROUNDS>));
            }
            alone::<M, V, ROUNDS>(proof, &message);
        }
    }
}

/// A message, if one was taken already, and those that follow. On its own: short ones need neither its registers
/// nor its stack.
struct Rest<'k, M: Mode, I>(Option<Message<'k, M::Key>>, I);

impl<'k, M: Mode, I: Iterator<Item = Message<'k, M::Key>>> PerRounds for Rest<'k, M, I>
where
    M::Key: 'k,
{
    /// # Safety
    /// As for [`run_fed`].
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        if const { !V::FED || V::BYTES >= FEW_BYTES } {
            unreachable!("a machine that is fed a few");
        }
        let Self(mut next, mut messages) = self;
        // SAFETY: the caller's promises.
        unsafe {
            if next.is_none() {
                next = messages.next();
            }
            while let Some(message) = next {
                alone::<M, V, ROUNDS>(proof, &message);
                next = messages.next();
            }
        }
        V::forget(proof);
    }
}

/// What makes a message.
struct Lone<M, F>(F, PhantomData<M>);

impl<'k, M: Mode, F: FnMut() -> Message<'k, M::Key>> PerRounds for Lone<M, F>
where
    M::Key: 'k,
{
    const SPILLS: bool = false;

    /// # Safety
    /// As for [`run_lone`].
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(mut self, proof: V::Proof) {
        // SAFETY: the caller's promises.
        unsafe {
            if const { !V::FED } {
                return in_record::<M, V, ROUNDS>(proof, (self.0)());
            }
            if const { V::BYTES < FEW_BYTES } {
                let message = (self.0)();
                if message.len as usize <= FEW_BYTES && M::few_suffice(message.iv) {
                    return alone::<M, V, ROUNDS>(proof, &message);
                }
            }
            V::enter(proof, Long::<M, F, ROUNDS>(self.0, PhantomData));
        }
    }
}

/// As [`Lone`], for any message. On its own: a short one needs neither its registers nor its stack.
struct Long<M, F, const ROUNDS: usize>(F, PhantomData<M>);

impl<'k, M: Mode, F: FnMut() -> Message<'k, M::Key>, const ROUNDS: usize> Kernel
    for Long<M, F, ROUNDS>
where
    M::Key: 'k,
{
    type Output = ();

    /// # Safety
    /// As for [`run_lone`].
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self, proof: V::Proof) {
        let message = (self.0)();
        let len = message.len as usize;
        // SAFETY: the caller's promises.
        unsafe { alone::<M, V, ROUNDS>(proof, &message) };
        if len > SHORT {
            V::forget(proof);
        }
    }
}

/// # Safety
/// As for [`run_fed`], under [`Vector::enter`]; schedules have `ROUNDS` rounds.
#[inline(always)]
unsafe fn take_each<'k, M: Mode, V: Vector, const ROUNDS: usize>(
    proof: V::Proof,
    mut messages: impl Iterator<Item = Message<'k, M::Key>>,
) where
    M::Key: 'k,
{
    // SAFETY: the caller's promises.
    unsafe {
        let Some(mut next) = messages.next() else {
            return;
        };
        while next.len as usize == BLOCK {
            one_block::<M, V, ROUNDS>(proof, &next);
            next = match messages.next() {
                Some(message) => message,
                None => return,
            };
        }
        let mut held = ptr::from_ref(next.key);
        let mut rounds = Rounds::<V, ROUNDS>::load(proof, next.key.round_keys_ptr());
        loop {
            if next.len as usize == BLOCK {
                one_block::<M, V, ROUNDS>(proof, &next);
            } else {
                if !ptr::eq(next.key, held) {
                    held = next.key;
                    rounds = Rounds::load(proof, next.key.round_keys_ptr());
                }
                let mut transform = M::start(rounds, next.iv);
                let (source, target) = (next.source, next.target);
                sweep(proof, &mut transform, source, target, next.len as usize);
            }
            next = match messages.next() {
                Some(message) => message,
                None => return,
            };
        }
    }
}
