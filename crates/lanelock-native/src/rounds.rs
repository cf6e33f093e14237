//! Messages in pieces, in lanes all the same: in each round a kernel runs the next piece of every
//! message.

use arrayvec::ArrayVec;
use lanelock_core::cursor::Cursor;
use lanelock_kernels::aes::{BLOCK, Part};

use crate::burst::{BURST, Text};
use crate::cipher::Scattered;

/// Hands `run` the next parts of at most [`BURST`] messages of a mode with an IV of one block, until
/// none is left; the kernel leaves the last block of a chain where it found the IV. Parts are valid
/// until `run` returns, the source and target of each alike or disjoint, and disjoint from others'.
///
/// # Panics
/// If there are more messages, or an IV is not one block.
pub(crate) fn in_rounds<'k, C: 'k, K: 'k>(
    messages: impl Iterator<Item = Scattered<'k, C>>,
    key: impl Fn(&'k C) -> &'k K,
    mut run: impl FnMut(&mut [Part<'k, K>]),
) {
    let mut parts = ArrayVec::<Part<'k, K>, BURST>::new();
    let mut payloads = ArrayVec::<Cursor<'k>, BURST>::new();
    for message in messages {
        let Text {
            source,
            target,
            len,
        } = Text::EMPTY;
        parts.push(Part {
            source,
            target,
            len,
            key: key(message.cipher),
            iv: message
                .iv
                .as_slice()
                .try_into()
                .expect("an IV of one block"),
        });
        payloads.push(message.payload);
    }
    let mut straddling = [[0; BLOCK]; BURST];
    loop {
        for n in (0..payloads.len()).rev() {
            if payloads[n].remaining() == 0 {
                payloads.swap_remove(n);
                parts.swap_remove(n);
            }
        }
        if payloads.is_empty() {
            return;
        }
        for ((part, payload), block) in parts.iter_mut().zip(&mut payloads).zip(&mut straddling) {
            let text = next(payload, block);
            (part.source, part.target, part.len) = (text.source, text.target, text.len);
        }
        run(&mut parts);
        for ((part, payload), block) in parts.iter().zip(&mut payloads).zip(&straddling) {
            if part.target.cast_const() == block.as_ptr() {
                payload.copy_out(&block[..part.len]);
            }
        }
    }
}

/// The next whole blocks where they lie, or a copy of the one that straddles a boundary, which the
/// payload then has yet to pass.
fn next(payload: &mut Cursor<'_>, straddling: &mut [u8; BLOCK]) -> Text {
    if let Some(run) = payload.next_block_run(BLOCK) {
        return run.into();
    }
    let len = payload.remaining().min(BLOCK);
    payload.copy_in(&mut straddling[..len]);
    let target = straddling.as_mut_ptr();
    Text {
        source: target,
        target,
        len,
    }
}
