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
    let widen = |(least, most): (usize, usize), &left: &usize| (least.min(left), most.max(left));
    left.iter().fold((usize::MAX, 0), widen)
}
