//! What the sessions of every algorithm share: how many messages a kernel is given at a time, and
//! what is known of a message while it is.

#![allow(unsafe_code)] // writes behind the end of a vector that is not full

use arrayvec::ArrayVec;
use lanelock_core::cursor::{Cursor, Run};
use lanelock_core::engine::{EngineSession, Fed, LastSession, ValidOp};
use lanelock_core::session::SessionMemory;
use lanelock_kernels::Machine;

/// Messages of one kernel call: twice the lanes of the widest tier.
pub(crate) const BURST: usize = 64;

/// Messages of one call of a kernel whose lanes take the next message when one ends: with messages of many
/// lengths, lanes are idle only behind the last ones.
pub(crate) const LONG_BURST: usize = 256;

/// A text in one piece, without the borrow that [`Run`] has. Source and target are the same memory
/// or disjoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    pub(crate) source: *const u8,
    pub(crate) target: *mut u8,
    /// Bytes of either.
    pub(crate) len: usize,
}

impl Text {
    /// No bytes.
    pub(crate) const EMPTY: Self = Self {
        source: std::ptr::null(),
        target: std::ptr::null_mut(),
        len: 0,
    };
}

impl From<Run<'_>> for Text {
    #[inline(always)]
    fn from(run: Run<'_>) -> Self {
        Self {
            source: run.input(),
            target: run.output(),
            len: run.len(),
        }
    }
}

/// Hands `run` a scattered payload piece by piece, each of whole blocks of `block` bytes but for the
/// last. A piece is valid until `run` returns.
pub(crate) fn for_each_block_run(payload: Cursor<'_>, block: usize, mut run: impl FnMut(Text)) {
    let _infallible: Result<(), std::convert::Infallible> =
        payload.for_each_block_run(block, |piece| {
            run(piece.into());
            Ok(())
        });
}

/// An iterator with each item turned into another, always inlined, unlike the standard library's:
/// a kernel's loop takes in all of what yields its messages.
pub(crate) struct Mapped<I, F>(I, F);

impl<I: Iterator, T, F: FnMut(I::Item) -> T> Mapped<I, F> {
    #[inline(always)]
    pub(crate) fn new(items: I, turn: F) -> Self {
        Self(items, turn)
    }
}

impl<I: Iterator, T, F: FnMut(I::Item) -> T> Iterator for Mapped<I, F> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        match self.0.next() {
            Some(item) => Some((self.1)(item)),
            None => None,
        }
    }
}

/// Appends items, for all of which there is room: as `extend`, but always inlined, and with the length
/// in a register. Each is made in its place: a `push` would look for room once it is made, and copy
/// it.
#[inline(always)]
pub(crate) fn append<T, const N: usize>(
    to: &mut ArrayVec<T, N>,
    mut items: impl Iterator<Item = T>,
) {
    let before = to.len();
    let mut room = to.spare_capacity_mut().iter_mut();
    let mut written = 0;
    while let Some(slot) = room.next()
        && let Some(item) = items.next()
    {
        slot.write(item);
        written += 1;
    }
    // SAFETY: so many items are initialised, within the capacity.
    unsafe { to.set_len(before + written) };
    debug_assert!(items.next().is_none(), "there is room for every item");
}

/// Every burst, if messages are best taken one by one.
pub(crate) fn fed_if(one_by_one: bool) -> Fed {
    if one_by_one { Fed::ALL } else { Fed::NONE }
}

/// For ciphers of independent blocks: every burst on some machines, and on others a few messages, long ones, and those
/// of many keys.
pub(crate) fn fed_blocks_on(machine: Machine) -> Fed {
    if !machine.is_fed_few() {
        return fed_if(machine.is_fed());
    }
    Fed {
        few: 7,
        most: u32::MAX,
        lengths: [machine.fed_from(), u32::MAX],
        many_keys: true,
        ..Fed::NONE
    }
}

/// The engine's part of an operation's session.
///
/// # Panics
/// If it is of another type, which its group's number rules out.
#[inline]
pub(crate) fn session_of<'a, S: EngineSession>(
    op: &ValidOp<'_, 'a>,
    last: &mut LastSession<'a, S>,
) -> &'a S {
    op.session_after(last)
        .expect("the sessions of a group are of one type")
}

/// All that a session holds, keys included; queue pairs hold nothing.
pub(crate) fn memory<S>() -> SessionMemory {
    SessionMemory {
        session: size_of::<S>(),
        per_queue_pair: 0,
    }
}
