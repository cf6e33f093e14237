//! Strings of bytes in and out of lanes.

#![allow(clippy::needless_range_loop)] // an index names the word on both sides

use crate::arch::digits::{DigitLanes, MAX_LANES, Words};
use crate::wipe::wipe;

/// Numbers of 64 N bits, least significant word first, one number in each lane.
pub(super) type Columns<const N: usize = 4> = [Words; N];

/// Puts a little-endian string into a lane.
#[inline]
pub(super) fn put<const N: usize>(columns: &mut Columns<N>, lane: usize, bytes: &[u8]) {
    for (column, word) in columns.iter_mut().zip(bytes.as_chunks().0) {
        column[lane] = u64::from_le_bytes(*word);
    }
}

/// The little-endian string of a lane.
#[inline]
pub(super) fn get(columns: &Columns, lane: usize) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (column, to) in columns.iter().zip(bytes.chunks_exact_mut(8)) {
        to.copy_from_slice(&column[lane].to_le_bytes());
    }
    bytes
}

/// A little-endian string as words, least significant first.
#[inline]
pub(super) fn to_words(bytes: &[u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

#[inline(always)]
pub(super) fn load<V: DigitLanes, const N: usize>(proof: V::Proof, columns: &Columns<N>) -> [V; N] {
    let mut words = [V::zero(proof); N];
    for i in 0..N {
        words[i] = V::load(proof, &columns[i]);
    }
    words
}

#[inline(always)]
pub(super) fn store<V: DigitLanes>(words: [V; 4], columns: &mut Columns) {
    for i in 0..4 {
        words[i].store(&mut columns[i]);
    }
}

/// Columns of secrets: wiped on drop.
#[repr(align(64))]
pub(super) struct Secret<const N: usize = 4>(pub(super) Columns<N>);

impl<const N: usize> Secret<N> {
    #[inline]
    pub(super) const fn new() -> Self {
        Self([[0; MAX_LANES]; N])
    }
}

impl<const N: usize> Drop for Secret<N> {
    #[inline]
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}
