//! Modes whose blocks do not wait for each other, for messages that come one by one: what the caller does to
//! find the next runs while the CPU waits for the rounds of those before.

use core::marker::PhantomData;
use core::{iter, ptr};

use super::key::Schedule;
use super::message::in_records;
use super::rounds::{PerRounds, Rounds};
use super::sweep::{Mode, alone, one_block, run_records, sweep};
use super::{BLOCK, KeySize, Message};
use crate::arch::blocks::Vector;
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

/// Runs each message when it is yielded, on a machine that [is fed](Machine::is_fed), or
/// [is fed a few](Machine::is_fed_few), else several at a time.
///
/// # Safety
/// Sources, targets and IVs are as for [`run_records`], from when a message is yielded until this
/// returns. Every key has `size`.
#[inline(always)]
pub(super) unsafe fn run_fed<'k, M: Mode>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k, M::Key>>,
) where
    M::Key: 'k,
{
    if !machine.is_fed() && !machine.is_fed_few() {
        // SAFETY: the caller's contract.
        return unsafe { run_several::<M>(machine, size, messages) };
    }
    // SAFETY: the caller's contract.
    unsafe {
        machine
            .blocks
            .run_sized(size, Fed::<M, _>(messages, PhantomData));
    }
}

/// Runs the message that `message` makes, which no other follows: nothing is prepared that a loop would use
/// again.
///
/// # Safety
/// As for [`run_fed`].
#[inline(always)]
pub(super) unsafe fn run_lone<'k, M: Mode>(
    machine: Machine,
    size: KeySize,
    message: impl FnOnce() -> Message<'k, M::Key>,
) where
    M::Key: 'k,
{
    // SAFETY: the caller's contract.
    unsafe {
        if !machine.is_fed() && !machine.is_fed_few() {
            run_several::<M>(machine, size, iter::once(message()));
        } else {
            machine
                .blocks
                .run_sized(size, Lone::<M, _>(message, PhantomData));
        }
    }
}

/// # Safety
/// As for [`run_fed`].
#[cold]
#[inline(never)]
unsafe fn run_several<'k, M: Mode>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k, M::Key>>,
) where
    M::Key: 'k,
{
    in_records(messages, |records| {
        // SAFETY: the caller's contract.
        unsafe { run_records::<M>(machine, size, records) }
    });
}

/// Messages for a machine that is fed.
struct Fed<M, I>(I, PhantomData<M>);

impl<'k, M: Mode, I: Iterator<Item = Message<'k, M::Key>>> PerRounds for Fed<M, I>
where
    M::Key: 'k,
{
    /// # Safety
    /// As for [`run_fed`].
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        if const { !V::FED } {
            unreachable!("a machine that is fed");
        }
        // SAFETY: the caller's promises.
        unsafe {
            if const { V::BLOCKS < WIDE } {
                for message in self.0 {
                    any::<M, V, ROUNDS>(proof, message);
                }
            } else {
                take_each::<M, V, ROUNDS>(proof, self.0);
            }
        }
        V::forget(proof);
    }
}

/// What makes a message for a machine that is fed.
struct Lone<M, F>(F, PhantomData<M>);

impl<'k, M: Mode, F: FnOnce() -> Message<'k, M::Key>> PerRounds for Lone<M, F>
where
    M::Key: 'k,
{
    /// # Safety
    /// As for [`run_lone`].
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        if const { !V::FED } {
            unreachable!("a machine that is fed");
        }
        let message = (self.0)();
        let len = message.len as usize;
        // SAFETY: the caller's promises.
        unsafe { any::<M, V, ROUNDS>(proof, message) };
        if len > SHORT {
            V::forget(proof);
        }
    }
}

/// A message that nothing is prepared for.
///
/// # Safety
/// As for [`run_lone`], under [`Vector::enter`]; schedules have `ROUNDS` rounds.
#[inline(always)]
unsafe fn any<M: Mode, V: Vector, const ROUNDS: usize>(
    proof: V::Proof,
    message: Message<'_, M::Key>,
) {
    // SAFETY: the caller's promises.
    unsafe {
        if !M::admits(message.iv) {
            M::run_other::<V, ROUNDS>(proof, message);
        } else {
            alone::<M, V, ROUNDS>(proof, &message);
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
                if M::admits(next.iv) {
                    let mut transform = M::start(rounds, next.iv);
                    let (source, target) = (next.source, next.target);
                    sweep(proof, &mut transform, source, target, next.len as usize);
                } else {
                    let schedule = next.key.round_keys_ptr();
                    M::run_other::<V, ROUNDS>(proof, next);
                    // So that no register outlives the call: saving one costs the others.
                    rounds = Rounds::load(proof, schedule);
                }
            }
            next = match messages.next() {
                Some(message) => message,
                None => return,
            };
        }
    }
}
