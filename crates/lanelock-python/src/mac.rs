//! MACs and hashes: values are only read.

use lanelock::{Buffer, Op, QueuePair, Session, Status};

use crate::failure::Reason;
use crate::work::{Burst, Rows, Size, Work};

/// Computes tags or digests of one length.
pub(crate) struct Digest<'k> {
    pub(crate) keys: &'k [Session],
}

impl Work for Digest<'_> {
    type State = ();
    const EXACT: bool = true;

    fn state(&self) {}

    fn size(&self) -> Size {
        Size::Constant(self.keys[0].tag_len())
    }

    #[inline]
    fn room(&self, _: usize, _: usize) -> Option<usize> {
        Some(self.keys[0].tag_len())
    }

    #[inline]
    fn run(&self, (): &mut (), queue: &mut QueuePair, burst: &mut Burst<'_, '_>) {
        let mut ops: Rows<Op<'_>> = Rows::new();
        for (row, slot) in burst.slots.iter_mut().enumerate() {
            let session = &self.keys[burst.keys[row]];
            let op = Op::new(session, Buffer::read_only(burst.values[row])).tag(slot);
            ops.push(op);
        }
        let outcome = queue.process(&mut ops);
        if outcome.failed > 0 {
            burst.results.extend(ops.iter().map(|op| match op.status() {
                Status::Success => Ok(0),
                _ => Err(Reason::of(op)),
            }));
        }
    }
}
