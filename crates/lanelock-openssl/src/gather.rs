//! One run out of a payload in segments, for algorithms whose implementation takes a message whole.

use lanelock_core::cursor::{Cursor, Run};
use zeroize::Zeroizing;

use crate::ffi::Failed;

/// Hands the payload to `f` as one run: as it lies if it is contiguous, else through `scratch`,
/// which grows to the longest message seen and is wiped when it is replaced or dropped.
#[inline]
pub(crate) fn gathered<E: From<Failed>>(
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
    let whole = room(scratch, len)?;
    payload.copy_in(whole);
    f(Run::in_place(whole))?;
    payload.copy_out(whole);
    Ok(())
}

/// `len` bytes of `scratch`; fails without memory for them, which a message may take 2 GiB of.
pub(crate) fn room(scratch: &mut Zeroizing<Vec<u8>>, len: usize) -> Result<&mut [u8], Failed> {
    if scratch.len() < len {
        // A new vector, as growing in place may leave the old one's bytes there unwiped.
        let rounded = len.checked_next_power_of_two().ok_or(Failed::MISUSE)?;
        let mut larger = Zeroizing::new(Vec::new());
        larger
            .try_reserve_exact(rounded)
            .map_err(|_| Failed::MISUSE)?;
        larger.resize(rounded, 0);
        *scratch = larger;
    }
    Ok(&mut scratch[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_memory_to_gather_it_in_fails() {
        let mut scratch = Zeroizing::new(vec![7; 4]);
        assert_eq!(room(&mut scratch, isize::MAX as usize), Err(Failed::MISUSE));
        assert_eq!(room(&mut scratch, usize::MAX), Err(Failed::MISUSE));
        assert_eq!(scratch[..], [7; 4]);
        assert_eq!(room(&mut scratch, 5), Ok(&mut [0; 5][..]));
    }
}
