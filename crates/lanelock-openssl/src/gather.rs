//! One run out of a payload in segments, for algorithms whose implementation takes a message whole.

use lanelock_core::cursor::{Cursor, Run};
use zeroize::Zeroizing;

/// Hands the payload to `f` as one run: as it lies if it is contiguous, else through `scratch`,
/// which grows to the longest message seen and is wiped when it is replaced or dropped.
#[inline]
pub(crate) fn gathered<E>(
    mut payload: Cursor<'_>,
    scratch: &mut Zeroizing<Vec<u8>>,
    f: impl FnOnce(Run<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let len = payload.remaining();
    if len == 0 {
        return f(Run::in_place(&mut []));
    }
    if let Some(run) = payload.next_if_whole() {
        return f(run);
    }
    let whole = room(scratch, len);
    payload.copy_in(whole);
    f(Run::in_place(whole))?;
    payload.copy_out(whole);
    Ok(())
}

/// `len` bytes of `scratch`.
pub(crate) fn room(scratch: &mut Zeroizing<Vec<u8>>, len: usize) -> &mut [u8] {
    if scratch.len() < len {
        // A new vector, as growing in place may leave the old one's bytes behind unwiped.
        *scratch = Zeroizing::new(vec![0; len.next_power_of_two()]);
    }
    &mut scratch[..len]
}
