//! Strings of 32 bytes in and out of lanes.

#![allow(clippy::needless_range_loop)] // an index names the word on both sides

use crate::arch::digits::{LANES, Lanes, Words};
use crate::wipe::wipe;

/// Numbers below 2²⁵⁶, least significant word first, one number in each lane.
pub(super) type Columns = [Words; 4];

/// Puts a little-endian string into a lane.
#[inline]
pub(super) fn put(columns: &mut Columns, lane: usize, bytes: &[u8; 32]) {
    for (column, word) in columns.iter_mut().zip(to_words(bytes)) {
        column[lane] = word;
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
    for i in 0..4 {
        for j in 0..8 {
            words[i] |= u64::from(bytes[8 * i + j]) << (8 * j);
        }
    }
    words
}

#[inline(always)]
pub(super) fn load<V: Lanes>(proof: V::Proof, columns: &Columns) -> [V; 4] {
    let mut words = [V::zero(proof); 4];
    for i in 0..4 {
        words[i] = V::load(proof, &columns[i]);
    }
    words
}

#[inline(always)]
pub(super) fn store<V: Lanes>(words: [V; 4], columns: &mut Columns) {
    for i in 0..4 {
        words[i].store(&mut columns[i]);
    }
}

/// Columns of secrets: wiped on drop.
#[repr(align(64))]
pub(super) struct Secret(pub(super) Columns);

impl Secret {
    #[inline]
    pub(super) const fn new() -> Self {
        Self([[0; LANES]; 4])
    }
}

impl Drop for Secret {
    #[inline]
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}
