//! Pieces of any length as stretches of whole blocks and a last one.

#![allow(unsafe_code)] // reads pieces without the borrow of their operation

use std::{ptr, slice};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;

/// Collects what does not fill a block, and holds back the last block until it is known not to be
/// the last.
#[derive(Debug, Default)]
pub(crate) struct Carry {
    block: [u8; BLOCK],
    filled: usize,
}

impl Carry {
    /// Takes the next piece and hands on what is certain to be followed by more: multiples of a
    /// block.
    pub(crate) fn push(&mut self, mut piece: &[u8], mut whole: impl FnMut(&[u8])) {
        if self.filled > 0 {
            let (now, later) = piece.split_at(piece.len().min(BLOCK - self.filled));
            self.block[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            piece = later;
        }
        if piece.is_empty() {
            return;
        }
        if self.filled > 0 {
            whole(&self.block);
        }
        let (blocks, rest) = piece.split_at((piece.len() - 1) / BLOCK * BLOCK);
        if !blocks.is_empty() {
            whole(blocks);
        }
        self.block[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    /// The last 1 to 16 bytes; empty if there were none at all.
    pub(crate) fn last(&self) -> &[u8] {
        &self.block[..self.filled]
    }
}

/// What is left of a message whose pieces are known: stretches of whole blocks, and a last one.
#[derive(Clone, Debug)]
pub(crate) struct Stretches<'p> {
    /// The first of them is `now`.
    pieces: slice::Iter<'p, *const [u8]>,
    now: *const [u8],
    /// Bytes left in all.
    left: usize,
}

impl<'p> Stretches<'p> {
    pub(crate) fn new(first: *const [u8], more: &'p [*const [u8]]) -> Self {
        let left = more.iter().map(|piece| piece.len()).sum::<usize>() + first.len();
        Self {
            pieces: more.iter(),
            now: first,
            left,
        }
    }

    /// The next stretch and whether it is the last, which has 1 to any number of bytes, or none if
    /// there never were any. It lies in a piece, or in `block` if it is one that lies across pieces.
    ///
    /// # Safety
    /// The pieces are valid for reads.
    pub(crate) unsafe fn next(&mut self, block: &mut [u8; BLOCK]) -> (*const [u8], bool) {
        while self.now.len() < self.left && self.now.is_empty() {
            self.open();
        }
        let here = self.now.len();
        if here == self.left {
            self.left = 0;
            return (self.now, true);
        }
        if here >= BLOCK {
            return (self.take(here / BLOCK * BLOCK), false);
        }
        let len = self.left.min(BLOCK);
        let mut filled = 0;
        while filled < len {
            while self.now.is_empty() {
                self.open();
            }
            let part = self.take(self.now.len().min(len - filled));
            // SAFETY: the caller's promise, and nothing writes while this reads.
            block[filled..][..part.len()].copy_from_slice(unsafe { &*part });
            filled += part.len();
        }
        (&raw const block[..len], self.left == 0)
    }

    fn open(&mut self) {
        self.now = *self.pieces.next().expect("bytes are left");
    }

    fn take(&mut self, len: usize) -> *const [u8] {
        let at = self.now.cast::<u8>();
        self.now = ptr::slice_from_raw_parts(at.wrapping_add(len), self.now.len() - len);
        self.left -= len;
        ptr::slice_from_raw_parts(at, len)
    }
}

#[cfg(test)]
mod tests {
    use super::{Carry, Stretches};

    #[test]
    fn every_split_gives_the_same_bytes_and_keeps_a_last_block() {
        let message: Vec<u8> = (0..70).collect();
        for len in 0..message.len() {
            for first in 0..=len {
                for second in [0, 1, 15, 16, 17] {
                    let second = second.min(len - first);
                    let (mut carry, mut seen) = (Carry::default(), Vec::new());
                    for piece in [
                        &message[..first],
                        &message[first..first + second],
                        &message[first + second..len],
                    ] {
                        carry.push(piece, |blocks| {
                            assert!(!blocks.is_empty() && blocks.len().is_multiple_of(16));
                            seen.extend_from_slice(blocks);
                        });
                    }
                    assert_eq!(carry.last().is_empty(), len == 0);
                    seen.extend_from_slice(carry.last());
                    assert_eq!(seen, message[..len]);

                    let more: [*const [u8]; 2] = [
                        &message[first..first + second],
                        &message[first + second..len],
                    ];
                    let mut stretches = Stretches::new(&message[..first], &more);
                    let (mut pulled, mut block) = (Vec::new(), [0; 16]);
                    loop {
                        // SAFETY: pieces of the message.
                        let (stretch, last) = unsafe {
                            let (stretch, last) = stretches.next(&mut block);
                            (&*stretch, last)
                        };
                        pulled.extend_from_slice(stretch);
                        if last {
                            assert_eq!(stretch.is_empty(), len == 0);
                            break;
                        }
                        assert!(!stretch.is_empty() && stretch.len().is_multiple_of(16));
                    }
                    assert_eq!(pulled, message[..len]);
                }
            }
        }
    }
}
