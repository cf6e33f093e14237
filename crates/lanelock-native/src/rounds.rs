//! Messages in pieces, in lanes all the same: in each round a kernel runs the next pieces of every
//! message.

#![allow(unsafe_code)] // writes blocks that kernels know by their addresses

use std::mem::MaybeUninit;

use arrayvec::ArrayVec;
use lanelock_core::cursor::Cursor;
use lanelock_kernels::aes::{BLOCK, Part, Piece};
use zeroize::Zeroize;

use crate::burst::{BURST, Mapped, append};
use crate::cipher::Scattered;

/// Pieces of a message in a round.
pub(crate) const PIECES: usize = 8;
/// Blocks among them that straddle a boundary.
pub(crate) const STRADDLING: usize = 4;

/// A message on its way through a kernel that takes pieces of many.
pub(crate) trait InRounds<'k> {
    /// What the kernel takes of it at a time.
    type Part<'p>;

    /// Whether zeros fill up the last block, or it is as long as the message.
    const PADDED: bool;

    /// What is left of its text.
    fn payload(&mut self) -> &mut Cursor<'k>;

    /// The part of these pieces, which the payload has moved past; no pieces of a message without a
    /// text.
    fn part<'p>(&self, pieces: &'p [Piece]) -> Self::Part<'p>
    where
        'k: 'p;

    /// Takes over what the next part goes on with.
    fn after(&mut self, part: &Self::Part<'_>);
}

/// Hands `run` the next parts of at most [`BURST`] messages, until none is left: one at least of each.
/// Pieces are in whole blocks, but for the last of a message that is not padded. They are valid until
/// `run` returns, the source and target of each alike or disjoint, and disjoint from others'.
///
/// # Panics
/// If there are more messages.
#[inline(always)]
pub(crate) fn run_in_rounds<'k, M: InRounds<'k>>(
    messages: &mut [M],
    run: impl Fn(&mut [M::Part<'_>]),
) {
    let mut left: ArrayVec<&mut M, BURST> = messages.iter_mut().collect();
    let mut straddling = Straddling::new();
    while !left.is_empty() {
        let mut pieces = ArrayVec::<Piece, { BURST * PIECES }>::new();
        let mut ends = ArrayVec::<usize, BURST>::new();
        for message in &mut left {
            take(message.payload(), M::PADDED, &mut pieces, &mut straddling);
            ends.push(pieces.len());
        }
        let mut parts = ArrayVec::<M::Part<'_>, BURST>::new();
        let mut start = 0;
        append(
            &mut parts,
            Mapped::new(left.iter().zip(&ends), |(message, &end)| {
                let part = message.part(&pieces[start..end]);
                start = end;
                part
            }),
        );
        run(&mut parts);
        for (message, part) in left.iter_mut().zip(&parts) {
            message.after(part);
        }
        straddling.scatter();
        left.retain(|message| message.payload().remaining() > 0);
    }
}

/// [`run_in_rounds`] for a mode with an IV of one block; the kernel leaves the last block of a chain
/// where it found the IV.
///
/// # Panics
/// If there are more messages, or an IV is not one block.
#[inline(never)]
pub(crate) fn in_rounds<'k, C: 'k, K: 'static>(
    messages: impl Iterator<Item = Scattered<'k, C>>,
    key: impl Fn(&'k C) -> &'k K,
    run: impl Fn(&mut [Part<'_, K>]),
) {
    let mut left = ArrayVec::<_, BURST>::new();
    for Scattered {
        cipher,
        iv,
        payload,
    } in messages
    {
        if payload.remaining() > 0 {
            let iv = iv.as_slice().try_into().expect("an IV of one block");
            let key = key(cipher);
            left.push(Message { key, iv, payload });
        }
    }
    run_in_rounds(&mut left, run);
}

/// What is left of a message, which has a text.
struct Message<'k, K> {
    key: &'k K,
    iv: [u8; BLOCK],
    payload: Cursor<'k>,
}

impl<'k, K: 'static> InRounds<'k> for Message<'k, K> {
    type Part<'p> = Part<'p, K>;

    const PADDED: bool = true;

    #[inline]
    fn payload(&mut self) -> &mut Cursor<'k> {
        &mut self.payload
    }

    #[inline]
    fn part<'p>(&self, pieces: &'p [Piece]) -> Part<'p, K>
    where
        'k: 'p,
    {
        let Piece {
            source,
            target,
            len,
        } = pieces[0];
        Part {
            source,
            target,
            len,
            more: &pieces[1..],
            key: self.key,
            iv: self.iv,
        }
    }

    #[inline]
    fn after(&mut self, part: &Part<'_, K>) {
        self.iv = part.iv;
    }
}

/// Appends the next pieces of a payload, one at least if anything is left of it, and moves past them.
#[inline]
fn take<'k>(
    payload: &mut Cursor<'k>,
    padded: bool,
    pieces: &mut ArrayVec<Piece, { BURST * PIECES }>,
    straddling: &mut Straddling<'k>,
) {
    let before = pieces.len();
    let (mut taken, mut straddles) = (0, 0);
    for room in pieces.spare_capacity_mut().iter_mut().take(PIECES) {
        if payload.remaining() == 0 {
            break;
        }
        // Each is made in its place: a copy would wait for the stores of its fields.
        match payload.next_whole_blocks(BLOCK) {
            Some(run) => room.write(Piece {
                source: run.input(),
                target: run.output(),
                len: run.len(),
            }),
            None if straddles == STRADDLING => break,
            None => {
                straddles += 1;
                room.write(straddling.take(payload, padded))
            }
        };
        taken += 1;
    }
    // SAFETY: so many more are initialised.
    unsafe { pieces.set_len(before + taken) };
}

/// Blocks that straddle a boundary, or end with a message before they are whole.
struct Straddling<'k> {
    /// As numbers, which are wiped in one store.
    blocks: [MaybeUninit<u128>; BURST * STRADDLING],
    /// Where each goes. Invariant: as many blocks are initialised.
    places: ArrayVec<Cursor<'k>, { BURST * STRADDLING }>,
}

impl<'k> Straddling<'k> {
    fn new() -> Self {
        Self {
            blocks: [MaybeUninit::uninit(); _],
            places: ArrayVec::new(),
        }
    }

    /// A copy of the next block of a payload, which moves past it; the last one as long as it is, if it
    /// is not `padded`.
    fn take(&mut self, payload: &mut Cursor<'k>, padded: bool) -> Piece {
        let place = payload.take_front(payload.remaining().min(BLOCK));
        let mut block = [0; BLOCK];
        let len = if padded { BLOCK } else { place.remaining() };
        place.copy_in(&mut block[..place.remaining()]);
        // By one pointer to all: those to other blocks stay valid.
        let target = self.blocks.as_mut_ptr().wrapping_add(self.places.len());
        self.places.push(place);
        let target: *mut [u8; BLOCK] = target.cast();
        // SAFETY: there are as many blocks as places.
        unsafe { target.write(block) };
        Piece {
            source: target.cast(),
            target: target.cast(),
            len,
        }
    }

    /// Copies each to its place, and forgets it.
    fn scatter(&mut self) {
        for (mut place, block) in self.places.drain(..).zip(&mut self.blocks) {
            // SAFETY: the invariant.
            let block = unsafe { block.assume_init_mut() };
            place.copy_out(&block.to_ne_bytes()[..place.remaining()]);
            block.zeroize();
        }
    }
}
