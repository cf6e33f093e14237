//! The loop that keeps lanes filled.
//!
//! Messages that cannot run in parallel with themselves have a lane each. All lanes advance by the
//! same number of blocks: what the shortest of them has left. Its lane then goes on with whatever
//! comes next: more of its message, or a message that waits. When nothing waits, the last lane
//! moves into the gap: the live lanes are always the first ones, and fewer registers run.

#![allow(unsafe_code)] // passes on what a board's methods ask for

/// The lanes of a kernel: where each is in its message.
pub(crate) trait Board {
    /// Blocks left in each live lane, at least one.
    fn left(&mut self) -> &mut [usize];

    /// Runs all live lanes to their ends, if something is faster than [`Board::step`] when each of
    /// them has just `blocks` left. If so, no lane lives any more; if not, nothing was done.
    ///
    /// # Safety
    /// Each live lane has `blocks` left.
    unsafe fn end_together(&mut self, blocks: usize) -> bool;

    /// Runs `blocks` blocks in each live lane, and changes nothing of what is left.
    ///
    /// # Safety
    /// Each live lane has at least `blocks` left.
    unsafe fn step(&mut self, blocks: usize);

    /// Steps over `blocks` blocks in a lane that is not at its end.
    ///
    /// # Safety
    /// `lane` is a live one; what is left no longer counts these blocks.
    unsafe fn advance(&mut self, lane: usize, blocks: usize);

    /// Gives a lane that is at its end more to do; `false` if there is nothing for it.
    ///
    /// # Safety
    /// `lane` is a live one, with nothing left.
    unsafe fn refill(&mut self, lane: usize) -> bool;

    /// Ends the life of the last lane, which takes over the place of this one.
    ///
    /// # Safety
    /// `lane` is a live one, with nothing left to do.
    unsafe fn close(&mut self, lane: usize);
}

/// Messages that wait for lanes.
pub(crate) trait Waiting {
    /// How many blocks message `n` has.
    fn blocks(&self, n: usize) -> usize;

    /// Two of them change places.
    fn swap(&mut self, a: usize, b: usize);
}

/// Of `count` messages of `least` to `most` blocks, puts the long ones first: those with more than half of the blocks
/// of the longest, then likewise of the others. Begun last, they would run on when all others have ended; and where
/// messages are alike, lanes step together for longer.
#[inline(never)]
pub(crate) fn put_long_first(
    waiting: &mut impl Waiting,
    count: usize,
    (least, mut most): (usize, usize),
) {
    let mut place = 0;
    while least < most {
        let (first, mut most_of_others) = (place, 0);
        for n in first..count {
            let blocks = waiting.blocks(n);
            if 2 * blocks > most {
                waiting.swap(n, place);
                place += 1;
            } else {
                most_of_others = blocks.max(most_of_others);
            }
        }
        most = most_of_others;
    }
}

/// Runs all that `board` has to do. At first its lanes have `least` to `most` blocks left.
///
/// # Safety
/// The invariants of the board: what [`Board::left`] says is there.
#[inline(always)]
pub(crate) unsafe fn run(board: &mut impl Board, (mut least, mut most): (usize, usize)) {
    // SAFETY: lanes below the number of live ones; `least` is the smallest of what is left.
    unsafe {
        while !board.left().is_empty() {
            if least == most && board.end_together(least) {
                return;
            }
            board.step(least);
            // From the last lane down: the one that fills a gap has been looked at, and those that
            // end together leave none.
            for lane in (0..board.left().len()).rev() {
                let left = &mut board.left()[lane];
                *left -= least;
                if *left > 0 {
                    board.advance(lane, least);
                } else if !board.refill(lane) {
                    board.close(lane);
                }
            }
            (least, most) = extremes(board.left());
        }
    }
}

/// The fewest and the most blocks that a lane has left.
#[inline(always)]
pub(crate) fn extremes(left: &[usize]) -> (usize, usize) {
    extremes_of(left.iter().copied())
}

/// The least and the largest number.
#[inline(always)]
pub(crate) fn extremes_of(numbers: impl Iterator<Item = usize>) -> (usize, usize) {
    numbers.fold((usize::MAX, 0), |(least, most), number| {
        (least.min(number), most.max(number))
    })
}

#[cfg(test)]
mod tests {
    use super::{Waiting, extremes, put_long_first};
    use crate::testing::Random;

    /// Blocks and numbers.
    struct Numbered(std::vec::Vec<(usize, usize)>);

    impl Waiting for Numbered {
        fn blocks(&self, n: usize) -> usize {
            self.0[n].0
        }

        fn swap(&mut self, a: usize, b: usize) {
            self.0.swap(a, b);
        }
    }

    fn in_order(blocks: &[usize]) -> std::vec::Vec<(usize, usize)> {
        let mut waiting = Numbered(blocks.iter().copied().zip(0..).collect());
        put_long_first(&mut waiting, blocks.len(), extremes(blocks));
        waiting.0
    }

    #[test]
    fn every_message_is_there_once_and_none_behind_one_of_half_its_blocks() {
        let mut random = Random::new(5);
        for count in 1..80 {
            let blocks: std::vec::Vec<_> = (0..count).map(|_| 1 + random.below(100)).collect();
            let order = in_order(&blocks);
            let mut numbers: std::vec::Vec<_> = order.iter().map(|&(_, number)| number).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..count), "{blocks:?}");
            for (n, &(here, number)) in order.iter().enumerate() {
                assert_eq!(here, blocks[number], "{blocks:?}");
                let late = order[n..].iter().find(|&&(behind, _)| behind >= 2 * here);
                assert_eq!(late, None, "{blocks:?}: behind {here} blocks");
            }
        }
    }

    #[test]
    fn messages_that_are_alike_stay_where_they_are() {
        assert_eq!(in_order(&[7, 7, 7]), [(7, 0), (7, 1), (7, 2)]);
        assert_eq!(in_order(&[4, 94, 36]), [(94, 1), (36, 2), (4, 0)]);
    }
}
