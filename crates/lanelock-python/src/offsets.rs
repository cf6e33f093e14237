//! The ends of values as Arrow's offsets, of 32 or 64 bits.

use crate::buffer::Buffer;

/// The bytes of an offset.
pub(crate) fn width(large: bool) -> usize {
    if large { 8 } else { 4 }
}

/// The ends of the values of a unit.
pub(crate) struct Ends<'o> {
    pub(crate) bytes: &'o mut [u8],
    pub(crate) large: bool,
    /// Where the unit's output starts in the array's: ends count from there.
    pub(crate) base: usize,
}

impl Ends<'_> {
    #[inline]
    pub(crate) fn set(&mut self, at: usize, end: usize) {
        write(self.bytes, self.large, at, self.base + end);
    }

    pub(crate) fn get(&self, at: usize) -> usize {
        read(self.bytes, self.large, at) - self.base
    }
}

#[inline]
fn write(bytes: &mut [u8], large: bool, at: usize, end: usize) {
    let end = (end as u64).to_le_bytes();
    if large {
        bytes.as_chunks_mut::<8>().0[at] = end;
    } else {
        bytes.as_chunks_mut::<4>().0[at].copy_from_slice(&end[..4]);
    }
}

/// The offset at a position.
#[inline]
pub(crate) fn read(bytes: &[u8], large: bool, at: usize) -> usize {
    let mut end = [0; 8];
    if large {
        end = bytes.as_chunks::<8>().0[at];
    } else {
        end[..4].copy_from_slice(&bytes.as_chunks::<4>().0[at]);
    }
    usize::try_from(u64::from_le_bytes(end)).unwrap_or(usize::MAX)
}

/// Closes the gaps between units that did not fill their room: each has used so many bytes of it.
pub(crate) fn compact(
    offsets: &mut Buffer,
    data: &mut Buffer,
    units: impl Iterator<Item = (usize, usize)>,
    large: bool,
) {
    let width = width(large);
    let count = offsets.bytes().len() / width - 1;
    let (mut from, mut to, mut row) = (0, 0, 0);
    for (used, room) in units {
        data.bytes_mut().copy_within(from..from + used, to);
        // The offsets of this unit are those up to its own last end.
        while row < count && read(&offsets.bytes()[width..], large, row) <= from + used {
            let end = read(&offsets.bytes()[width..], large, row) - from + to;
            write(&mut offsets.bytes_mut()[width..], large, row, end);
            row += 1;
        }
        from += room;
        to += used;
    }
    data.truncate(to);
}
