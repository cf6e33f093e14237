//! From a burst as the application ordered it to groups as the engines want them.

use crate::op::{Op, ValidOp};
use crate::session::SessionInner;

/// Operations validated and grouped at a time. Larger bursts are taken in slices of this many, so
/// that a queue pair's scratch memory is fixed.
pub(crate) const SLICE: usize = 256;

/// Which operations may run in one call: same device, engine and engine-chosen group, packed
/// so that one comparison tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct GroupId(u64);

impl GroupId {
    pub(crate) fn new(device: u32, engine: u16, group: u16) -> Self {
        Self(u64::from(device) << 32 | u64::from(engine) << 16 | u64::from(group))
    }

    #[inline]
    pub(crate) fn device(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(crate) fn engine(self) -> usize {
        (self.0 >> 16) as usize & 0xffff
    }
}

/// The operations of a burst that run together on one engine.
#[derive(Debug)]
pub struct Batch<'b, 'a> {
    ops: &'b mut [Op<'a>],
    order: &'b [u16],
}

impl<'b, 'a> Batch<'b, 'a> {
    /// The operations of `ops` at the indices `order`, each of which has passed validation.
    pub(crate) fn new(ops: &'b mut [Op<'a>], order: &'b [u16]) -> Self {
        Self { ops, order }
    }

    /// Number of operations; at least 1.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Never: a batch has operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The operation at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`Batch::len`].
    #[inline]
    pub fn get(&mut self, index: usize) -> ValidOp<'_, 'a> {
        ValidOp(&mut self.ops[usize::from(self.order[index])])
    }

    /// Calls `f` with each operation, in the burst's order.
    #[inline]
    pub fn for_each(&mut self, mut f: impl FnMut(ValidOp<'_, 'a>)) {
        for &index in self.order {
            f(ValidOp(&mut self.ops[usize::from(index)]));
        }
    }

    /// The session whose engine runs the batch.
    pub(crate) fn session(&self) -> &'a SessionInner {
        self.ops[usize::from(self.order[0])].session
    }
}

/// Indices of a slice's valid operations, and the scratch to sort them by group.
#[derive(Debug)]
pub(crate) struct Grouping {
    order: [u16; SLICE],
    rest: [u16; SLICE],
    len: usize,
}

impl Grouping {
    pub(crate) const fn new() -> Self {
        Self {
            order: [0; SLICE],
            rest: [0; SLICE],
            len: 0,
        }
    }

    /// Notes a valid operation by its index, as the `n`-th.
    #[inline]
    pub(crate) fn set(&mut self, n: usize, index: u16) {
        self.order[n] = index;
    }

    /// There are `len` valid operations.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = len;
    }

    /// Calls `run` once for each group, groups and operations in the order of their first
    /// appearance. `uniform` says that there is one group, which saves looking.
    #[inline]
    pub(crate) fn for_each_group<'a>(
        &mut self,
        ops: &mut [Op<'a>],
        uniform: bool,
        mut run: impl FnMut(Batch<'_, 'a>),
    ) {
        if self.len == 0 {
            return;
        }
        if uniform {
            return run(Batch::new(ops, &self.order[..self.len]));
        }
        let mut left = self.len;
        while left > 0 {
            let group = ops[usize::from(self.order[0])].session.rules.group;
            let (mut same, mut other) = (0, 0);
            for i in 0..left {
                let index = self.order[i];
                if ops[usize::from(index)].session.rules.group == group {
                    self.order[same] = index;
                    same += 1;
                } else {
                    self.rest[other] = index;
                    other += 1;
                }
            }
            run(Batch::new(ops, &self.order[..same]));
            self.order[..other].copy_from_slice(&self.rest[..other]);
            left = other;
        }
    }
}
