//! A burst of rows, and what a kind of work does with it.

use arrayvec::ArrayVec;
use lanelock::QueuePair;

use crate::failure::Reason;

/// Rows that run together. Their operations lie on the stack.
pub(crate) const BURST: usize = 64;

pub(crate) type Rows<T> = ArrayVec<T, BURST>;

/// Rows with what each of them has, side by side.
#[derive(Default)]
pub(crate) struct Burst<'a, 'o> {
    pub(crate) values: Rows<&'a [u8]>,
    /// Empty slices where there is no additional data.
    pub(crate) aads: Rows<&'a [u8]>,
    /// Positions of keys.
    pub(crate) keys: Rows<usize>,
    /// Nonces that the caller gives; none if they are drawn.
    pub(crate) nonces: Rows<&'a [u8]>,
    /// Where the results go: as many bytes as [`Work::room`] says.
    pub(crate) slots: Rows<&'o mut [u8]>,
    /// The length of each result, which starts its slot, or why there is none. Of a failed row the
    /// slot may hold anything that is not plaintext. Empty if every result fills its slot.
    pub(crate) results: Vec<Result<usize, Reason>>,
}

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
    /// What a thread needs for some thousand rows.
    type State;

    /// Whether every result fills its slot, unless its row fails: lengths in `results` do not count.
    const EXACT: bool;

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

    /// The position of a row's key, for ciphertexts that name it.
    fn key_of(&self, _value: &[u8]) -> Option<Result<usize, Reason>> {
        None
    }

    /// The length of a nonce that the caller may give.
    fn nonce_len(&self) -> usize {
        0
    }

    /// Runs a burst, and gives each row its result.
    fn run(&self, state: &mut Self::State, queue: &mut QueuePair, burst: &mut Burst<'_, '_>);
}
