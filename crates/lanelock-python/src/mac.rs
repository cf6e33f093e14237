//! MACs and hashes: values are only read.

use lanelock::{Buffer, Op, QueuePair, Session};

use crate::work::{Results, Row, Rows, Size, Work, process};

/// Computes tags or digests of one length.
pub(crate) struct Digest<'k> {
    pub(crate) keys: &'k [Session],
}

impl Work for Digest<'_> {
    type State = ();
    type Burst<'a>
        = Rows<Op<'a>>
    where
        Self: 'a;
    const EXACT: bool = true;
    const AHEAD: bool = true;

    fn state(&self) {}

    fn size(&self) -> Size {
        Size::Constant(self.keys[0].tag_len())
    }

    #[inline]
    fn room(&self, _: usize, _: usize) -> Option<usize> {
        Some(self.keys[0].tag_len())
    }

    #[inline(always)] // an operation is written where it runs, not moved there
    fn push<'a>(&'a self, (): &mut (), ops: &mut Rows<Op<'a>>, row: Row<'a>) {
        ops.push(Op::new(&self.keys[row.key], Buffer::read_only(row.value)).tag(row.slot));
    }

    #[inline]
    fn run<'a>(&'a self, (): &mut (), queue: &mut QueuePair, ops: &mut Rows<Op<'a>>) -> Results {
        process(queue, ops)
    }
}
