//! Where an operation's bytes are: one slice or a list of segments, rewritten in place or into a
//! separate output.

#![allow(unsafe_code)] // turns slices into pointers whose lifetime the `Buffer` carries

use std::io::{IoSlice, IoSliceMut};
use std::marker::PhantomData;

/// One run of memory in a segment list, laid out as POSIX `struct iovec`.
///
/// Only the raw constructors take it; safe code uses [`IoSlice`] and [`IoSliceMut`].
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::buffer::{Buffer, Segment};
///
/// let mut message = *b"from C";
/// let segments = [Segment { base: message.as_mut_ptr(), len: message.len() }];
/// // SAFETY: the message outlives the buffer, and nothing else reaches it meanwhile.
/// let buffer = unsafe { Buffer::from_raw_segments_in_place(&segments) };
/// assert_eq!(buffer.input_len(), 6);
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Segment {
    /// First byte; may be anything if `len` is 0.
    pub base: *mut u8,
    /// Length in bytes.
    pub len: usize,
}

/// The memory of one operation, borrowed for `'a`.
///
/// Built from anything that converts to [`Source`] and [`Sink`]: slices, arrays, vectors, and
/// lists of [`IoSlice`] / [`IoSliceMut`] with any split; empty segments are legal.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::Buffer;
/// use std::io::IoSliceMut;
///
/// let (mut header, mut body) = ([0; 20], vec![0; 1400]);
/// let mut segments = [IoSliceMut::new(&mut header), IoSliceMut::new(&mut body)];
/// let buffer = Buffer::in_place(&mut segments[..]);
/// assert_eq!(buffer.input_len(), 1420);
/// ```
#[derive(Debug)]
pub struct Buffer<'a> {
    pub(crate) input: Span,
    pub(crate) output: Span,
    pub(crate) access: Access,
    pub(crate) lifetime: PhantomData<&'a mut [u8]>,
}

/// How output relates to input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum Access {
    /// The output replaces the input.
    InPlace = 0,
    /// The output is other memory; its disjointness follows from the borrows.
    Separate,
    /// The output is other memory that a raw constructor named: overlap has to be checked.
    SeparateUnchecked,
    /// There is no output: MACs and hashes with a separate tag.
    ReadOnly,
}

/// Memory that is read.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::buffer::{Buffer, Source};
///
/// let whole = Source::from(b"a message in one run");
/// assert_eq!(Buffer::read_only(whole).input_len(), 20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Source<'a>(Span, PhantomData<&'a [u8]>);

/// Memory that is written.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::buffer::{Buffer, Sink};
///
/// let mut memory = [0; 64];
/// assert_eq!(Buffer::in_place(Sink::from(&mut memory)).input_len(), 64);
/// ```
#[derive(Debug)]
pub struct Sink<'a>(Span, PhantomData<&'a mut [u8]>);

/// Bytes in one run (`segments` is 0, `base` points at them) or in a list (`base` points at
/// `segments` entries of [`Segment`]).
///
/// Invariant: for the lifetime that the owner carries, `base` is valid for reads of the bytes or
/// entries, every entry for its bytes, and likewise for writes where the owner is a [`Sink`].
#[derive(Clone, Copy, Debug)]
#[repr(C)] // as records of other languages
pub(crate) struct Span {
    pub(crate) base: *mut u8,
    pub(crate) size: Size,
}

/// How many bytes in how many segments, in one word: that of a run is its length, whatever that is.
/// Validation refuses what is too long, and describing an operation need not look.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Size(u64);

/// Length of a span that an operation cannot describe.
pub(crate) const TOO_LARGE: u32 = u32::MAX;

impl<'a> Buffer<'a> {
    /// The result replaces the input.
    #[inline]
    #[must_use]
    pub fn in_place(data: impl Into<Sink<'a>>) -> Self {
        let span = data.into().0;
        Self {
            input: span,
            output: span,
            access: Access::InPlace,
            lifetime: PhantomData,
        }
    }

    /// The result goes to `output`, at the operation's output offset; the rest of `output` is not
    /// touched.
    #[inline]
    #[must_use]
    pub fn separate(input: impl Into<Source<'a>>, output: impl Into<Sink<'a>>) -> Self {
        let (input, output) = (input.into().0, output.into().0);
        Self {
            input,
            output,
            access: Access::Separate,
            lifetime: PhantomData,
        }
    }

    /// Input alone, for MACs and hashes whose tag is a separate slice.
    #[inline]
    #[must_use]
    pub fn read_only(input: impl Into<Source<'a>>) -> Self {
        let span = input.into().0;
        Self {
            input: span,
            output: span,
            access: Access::ReadOnly,
            lifetime: PhantomData,
        }
    }

    /// A separate output described by pointers, for callers whose memory Rust does not own. The
    /// two lists may alias: each operation checks that every byte of the payload has identical or
    /// disjoint input and output, that nothing is written twice, and that its IV, additional data,
    /// tag and other authenticated bytes lie outside what is written, and is refused otherwise. The
    /// check compares every pair of segments.
    ///
    /// # Safety
    /// For `'a`, every segment of `input` is valid for reads, every segment of `output` for reads
    /// and writes, and no other reference reads what is written or writes any of them.
    #[must_use]
    pub unsafe fn from_raw_segments(input: &'a [Segment], output: &'a [Segment]) -> Self {
        Self {
            input: Span::of_segments(input),
            output: Span::of_segments(output),
            access: Access::SeparateUnchecked,
            lifetime: PhantomData,
        }
    }

    /// Memory described by pointers that the result replaces.
    ///
    /// # Safety
    /// For `'a`, every segment is valid for reads and writes, overlaps no other, and nothing else
    /// refers to it.
    #[must_use]
    pub unsafe fn from_raw_segments_in_place(segments: &'a [Segment]) -> Self {
        let span = Span::of_segments(segments);
        Self {
            input: span,
            output: span,
            access: Access::InPlace,
            lifetime: PhantomData,
        }
    }

    /// Memory described by pointers that is read alone, as with [`Buffer::read_only`].
    ///
    /// # Safety
    /// For `'a`, every segment is valid for reads, and nothing writes to it.
    #[must_use]
    pub unsafe fn from_raw_segments_read_only(segments: &'a [Segment]) -> Self {
        let span = Span::of_segments(segments);
        Self {
            input: span,
            output: span,
            access: Access::ReadOnly,
            lifetime: PhantomData,
        }
    }

    /// Bytes of input; saturates just below 4 GiB.
    #[must_use]
    pub fn input_len(&self) -> usize {
        self.input.len() as usize
    }
}

/// Whatever can be written can be read.
impl<'a> From<Sink<'a>> for Source<'a> {
    #[inline]
    fn from(sink: Sink<'a>) -> Self {
        Self(sink.0, PhantomData)
    }
}

impl Span {
    #[inline]
    pub(crate) fn contiguous(base: *mut u8, len: usize) -> Self {
        Self {
            base,
            size: Size(len as u64),
        }
    }

    /// Total bytes; `TOO_LARGE` if they do not fit, which validation refuses.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.size.bytes()
    }

    /// 0 for one run.
    #[inline]
    pub(crate) fn segments(&self) -> u32 {
        self.size.segments()
    }

    fn of_segments(segments: &[Segment]) -> Self {
        let total = segments
            .iter()
            .fold(0_usize, |sum, s| sum.saturating_add(s.len));
        match (u32::try_from(total), u32::try_from(segments.len())) {
            // An empty list has no bytes: the same as an empty slice.
            (_, Ok(0)) => Self::contiguous(std::ptr::dangling_mut(), 0),
            (Ok(bytes), Ok(count)) if count <= Size::MAX_SEGMENTS => Self {
                base: segments.as_ptr().cast_mut().cast(),
                size: Size::of_list(bytes, count),
            },
            _ => Self::contiguous(std::ptr::dangling_mut(), TOO_LARGE as usize),
        }
    }

    /// The entries of a list; empty for one run.
    pub(crate) fn list(&self) -> &[Segment] {
        if self.segments() == 0 {
            return &[];
        }
        // SAFETY: the type's invariant: `base` points at `segments` entries.
        unsafe { std::slice::from_raw_parts(self.base.cast(), self.segments() as usize) }
    }
}

impl Size {
    /// Set in that of a list: no run has as many bytes.
    const LIST: u64 = 1 << 63;
    const MAX_SEGMENTS: u32 = u32::MAX >> 1;

    /// `segments` is 1 to [`Size::MAX_SEGMENTS`].
    fn of_list(bytes: u32, segments: u32) -> Self {
        Self(Self::LIST | u64::from(segments) << 32 | u64::from(bytes))
    }

    /// The length of a run; of a list it is more than any.
    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        self.0
    }

    /// At most [`TOO_LARGE`].
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the low half, or a small word"
    )]
    fn bytes(self) -> u32 {
        if self.0 & Self::LIST != 0 {
            self.0 as u32
        } else {
            self.0.min(TOO_LARGE.into()) as u32
        }
    }

    /// 0 for one run.
    #[inline]
    fn segments(self) -> u32 {
        if self.0 & Self::LIST == 0 {
            return 0;
        }
        (self.0 >> 32) as u32 & Self::MAX_SEGMENTS
    }
}

impl<'a> From<&'a [u8]> for Source<'a> {
    #[inline]
    fn from(data: &'a [u8]) -> Self {
        Self(
            Span::contiguous(data.as_ptr().cast_mut(), data.len()),
            PhantomData,
        )
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Source<'a> {
    #[inline]
    fn from(data: &'a [u8; N]) -> Self {
        data.as_slice().into()
    }
}

impl<'a> From<&'a Vec<u8>> for Source<'a> {
    #[inline]
    fn from(data: &'a Vec<u8>) -> Self {
        data.as_slice().into()
    }
}

impl<'a, 's: 'a> From<&'a [IoSlice<'s>]> for Source<'a> {
    fn from(list: &'a [IoSlice<'s>]) -> Self {
        // SAFETY: on Unix `IoSlice` has the layout of `struct iovec`, which `Segment` repeats;
        // the entries live for 'a, and the bytes behind them for 's, which is longer.
        let segments =
            unsafe { std::slice::from_raw_parts(list.as_ptr().cast::<Segment>(), list.len()) };
        Self(Span::of_segments(segments), PhantomData)
    }
}

impl<'a> From<&'a mut [u8]> for Sink<'a> {
    #[inline]
    fn from(data: &'a mut [u8]) -> Self {
        Self(Span::contiguous(data.as_mut_ptr(), data.len()), PhantomData)
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for Sink<'a> {
    #[inline]
    fn from(data: &'a mut [u8; N]) -> Self {
        data.as_mut_slice().into()
    }
}

impl<'a> From<&'a mut Vec<u8>> for Sink<'a> {
    #[inline]
    fn from(data: &'a mut Vec<u8>) -> Self {
        data.as_mut_slice().into()
    }
}

impl<'a, 's: 'a> From<&'a mut [IoSliceMut<'s>]> for Sink<'a> {
    fn from(list: &'a mut [IoSliceMut<'s>]) -> Self {
        // SAFETY: as for `IoSlice`; the exclusive borrows make the bytes valid for writes.
        let segments =
            unsafe { std::slice::from_raw_parts(list.as_ptr().cast::<Segment>(), list.len()) };
        Self(Span::of_segments(segments), PhantomData)
    }
}

#[cfg(not(unix))]
compile_error!("segment lists rely on IoSlice having the layout of struct iovec, as on Unix");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reports_the_sum_of_its_segments() {
        let parts = [IoSlice::new(b"abc"), IoSlice::new(b""), IoSlice::new(b"de")];
        let buffer = Buffer::read_only(&parts[..]);
        assert_eq!(buffer.input_len(), 5);
        assert_eq!(
            buffer
                .input
                .list()
                .iter()
                .map(|s| s.len)
                .collect::<Vec<_>>(),
            [3, 0, 2]
        );
    }

    #[test]
    fn an_empty_list_is_an_empty_buffer() {
        assert_eq!(Buffer::read_only(&[] as &[IoSlice<'_>]).input_len(), 0);
    }

    #[test]
    fn a_run_beyond_four_gib_saturates() {
        for (len, seen) in [(0, 0), (1 << 31, 1 << 31), (1 << 32, TOO_LARGE)] {
            let run = Span::contiguous(std::ptr::dangling_mut(), len);
            assert_eq!((run.len(), run.segments()), (seen, 0));
            assert_eq!(run.size.word(), len as u64);
        }
        let most = Size::of_list(7, Size::MAX_SEGMENTS);
        assert_eq!((most.bytes(), most.segments()), (7, Size::MAX_SEGMENTS));
        assert!(most.word() > isize::MAX as u64);
    }

    #[test]
    fn a_sum_beyond_four_gib_saturates() {
        let huge = Segment {
            base: std::ptr::dangling_mut(),
            len: usize::MAX,
        };
        let list = [huge, huge];
        // SAFETY: the buffer is only measured.
        let buffer = unsafe { Buffer::from_raw_segments_in_place(&list) };
        assert_eq!(buffer.input.len(), TOO_LARGE);
    }
}
