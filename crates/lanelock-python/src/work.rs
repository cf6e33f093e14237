//! What is done to each value of a column: rows become operations, which run in bursts.

use arrayvec::ArrayVec;
use lanelock::{Op, QueuePair, Status};

use crate::failure::Reason;

/// Rows that run together. Their operations lie on the stack.
pub(crate) const BURST: usize = 64;

pub(crate) type Rows<T> = ArrayVec<T, BURST>;

/// What a row has.
pub(crate) struct Row<'a> {
    pub(crate) value: &'a [u8],
    /// Empty where there is no additional data.
    pub(crate) aad: &'a [u8],
    /// The position of its key.
    pub(crate) key: usize,
    /// The nonce that the caller gives, as long as [`Work::nonce_len`] says.
    pub(crate) nonce: Option<&'a [u8]>,
    /// Where the result goes: as many bytes as [`Work::room`] says.
    pub(crate) slot: &'a mut [u8],
}

/// The length of each result, which starts its slot, or why there is none. Of a failed row the slot
/// may hold anything that is not plaintext. Empty if every result fills its slot.
pub(crate) type Results = Vec<Result<usize, Reason>>;

/// How many bytes the results of some work have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// Those of the value, and so many more.
    Grows(usize),
    /// So many, whatever the value.
    Constant(usize),
    Varies,
}

/// What is done to each value of a column.
pub(crate) trait Work: Sync {
    /// What a thread needs for all its rows.
    type State;

    /// Rows that have come, up to [`BURST`] of them.
    type Burst<'a>: Default
    where
        Self: 'a;

    /// Whether every result fills its slot, unless its row fails: lengths in the results do not
    /// count.
    const EXACT: bool;

    /// Whether the next burst's values are asked for before one runs. It pays where each value has a
    /// lane: the lanes' loads are far apart, and the CPU's own prefetchers lose them.
    const AHEAD: bool = false;

    /// How many bytes results have, if that needs no look at each value.
    fn size(&self) -> Size {
        Size::Varies
    }

    fn state(&self) -> Self::State;

    /// The bytes of a slot for a value of `len` bytes; `None` if its length is wrong.
    fn room(&self, len: usize, key: usize) -> Option<usize>;

    /// Why there is no room for a value of `len` bytes.
    fn refusal(&self, _len: usize, _key: usize) -> Reason {
        Reason::Engine
    }

    /// The position of the key of all rows, where neither a column nor ciphertexts name it.
    fn one_key(&self) -> Option<usize> {
        Some(0)
    }

    /// The position of a row's key, for ciphertexts that name it.
    fn key_of(&self, _value: &[u8]) -> Option<Result<usize, Reason>> {
        None
    }

    /// The length of a nonce that the caller may give.
    fn nonce_len(&self) -> usize {
        0
    }

    /// Before the rows of each burst.
    fn begin(&self, _state: &mut Self::State, _queue: &mut QueuePair) -> Result<(), Reason> {
        Ok(())
    }

    /// Adds a row to a burst that has begun and is not full.
    fn push<'a>(&'a self, state: &mut Self::State, burst: &mut Self::Burst<'a>, row: Row<'a>);

    /// Runs a burst, and gives each row its result.
    fn run<'a>(
        &'a self,
        state: &mut Self::State,
        queue: &mut QueuePair,
        burst: &mut Self::Burst<'a>,
    ) -> Results;
}

/// Runs operations whose results fill their slots.
#[inline]
pub(crate) fn process(queue: &mut QueuePair, ops: &mut [Op<'_>]) -> Results {
    match queue.process(ops).failed {
        0 => Results::new(),
        _ => ops.iter().map(result).collect(),
    }
}

#[cold]
fn result(op: &Op<'_>) -> Result<usize, Reason> {
    match op.status() {
        Status::Success => Ok(0),
        _ => Err(Reason::of(op)),
    }
}

/// The results of `count` rows, where an empty list stands for success.
pub(crate) fn filled(mut results: Results, count: usize) -> Results {
    results.resize(count, Ok(0));
    results
}
