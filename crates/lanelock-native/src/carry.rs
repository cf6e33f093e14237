//! Pieces of any length as stretches of whole blocks and a last one.

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

#[cfg(test)]
mod tests {
    use super::Carry;

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
                }
            }
        }
    }
}
