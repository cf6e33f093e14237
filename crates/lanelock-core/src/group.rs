//! From a burst as the application ordered it to groups as the engines want them.

use crate::op::{Likeness, Op, Plain, ValidOp};
use crate::session::SessionInner;
use crate::status::Status;

/// Operations validated and grouped at a time. Larger bursts are taken in slices of this many, so
/// that a queue pair's scratch memory is fixed.
pub(crate) const SLICE: usize = Grouping::SLICE;

/// Which operations may run in one call: same device, engine and engine-chosen group, packed
/// so that one comparison tells.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
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
    /// Which of them, in what order; `None` for all as they lie.
    order: Option<&'b [u16]>,
    /// Whether they are plain.
    ///
    /// Invariant: if so, the invariant of [`Plain`] holds, and there is no order.
    plain: bool,
    likeness: Likeness,
    /// All have [`Status::Success`], and none has been lent out since.
    succeeded: bool,
}

/// A walk over the operations of a batch.
#[derive(Debug)]
pub struct Ops<'w, 'a> {
    ops: &'w mut [Op<'a>],
    order: Option<&'w [u16]>,
    next: usize,
}

impl<'b, 'a> Batch<'b, 'a> {
    /// All of `ops`, at least one; their sessions are of one kind, and validation's `Whole` has
    /// admitted each. `aad` says whether any has additional data.
    #[inline]
    pub(crate) fn alike(ops: &'b mut [Op<'a>], aad: bool, likeness: Likeness) -> Self {
        let plain = !aad || ops[0].session.rules.is_of_aead();
        Self {
            ops,
            order: None,
            plain,
            likeness,
            succeeded: false,
        }
    }

    /// The operations of `ops` at the indices `order`, each of which has passed validation.
    pub(crate) fn new(ops: &'b mut [Op<'a>], order: &'b [u16]) -> Self {
        Self {
            ops,
            order: Some(order),
            plain: false,
            likeness: Likeness::default(),
            succeeded: false,
        }
    }

    /// Number of operations; at least 1.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.map_or(self.ops.len(), <[u16]>::len)
    }

    /// Always false: a batch has operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The operation at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`Batch::len`].
    #[inline]
    pub fn get(&mut self, index: usize) -> ValidOp<'_, 'a> {
        self.succeeded = false;
        let index = self.order.map_or(index, |order| order[index].into());
        ValidOp(&mut self.ops[index])
    }

    /// A walk over the operations, in the burst's order.
    #[inline]
    pub fn ops(&mut self) -> Ops<'_, 'a> {
        self.succeeded = false;
        Ops {
            ops: self.ops,
            order: self.order,
            next: 0,
        }
    }

    /// The operations, in the burst's order, each borrowed for as long as the batch is.
    pub fn all(&mut self) -> impl Iterator<Item = ValidOp<'_, 'a>> {
        self.succeeded = false;
        // Ascending: grouping keeps the burst's order.
        let mut order = self.order.map(|order| order.iter().peekable());
        let mut is_next = move |index: usize| match &mut order {
            None => true,
            Some(order) => order.next_if(|&&at| usize::from(at) == index).is_some(),
        };
        let ops = self.ops.iter_mut().enumerate();
        ops.filter_map(move |(index, op)| is_next(index).then_some(ValidOp(op)))
    }

    /// The operations in a form that kernels read without checking each one; `None` unless all are
    /// plain and their sessions of one kind. Core decides this before it calls the engine: this
    /// call only reads a flag.
    #[inline]
    pub fn plain(&mut self) -> Option<Plain<'_, 'a>> {
        self.succeeded = false;
        self.plain.then(|| Plain::new(self.ops, self.likeness))
    }

    /// Calls `f` with each operation, in the burst's order.
    #[inline]
    pub fn for_each(&mut self, mut f: impl FnMut(ValidOp<'_, 'a>)) {
        let mut ops = self.ops();
        while let Some(op) = ops.next() {
            f(op);
        }
    }

    /// Calls `f` with stretches of up to `len` operations, in the burst's order.
    ///
    /// # Panics
    /// If `len` is 0.
    #[inline]
    pub fn for_each_stretch(&mut self, len: usize, mut f: impl FnMut(&mut Batch<'_, 'a>)) {
        if self.len() <= len {
            return f(self);
        }
        self.cut(len, f);
    }

    /// [`Batch::for_each_stretch`] for several; on its own, so that the only one costs nothing more.
    #[inline(never)]
    fn cut(&mut self, len: usize, mut f: impl FnMut(&mut Batch<'_, 'a>)) {
        let mut succeeded = true;
        let mut run = |mut stretch: Batch<'_, 'a>| {
            f(&mut stretch);
            succeeded &= stretch.succeeded;
        };
        match self.order {
            None => self.ops.chunks_mut(len).for_each(|ops| {
                run(Batch {
                    ops,
                    order: None,
                    plain: self.plain,
                    likeness: self.likeness,
                    succeeded: false,
                });
            }),
            Some(order) => order
                .chunks(len)
                .for_each(|order| run(Batch::new(self.ops, order))),
        }
        self.succeeded = succeeded;
    }

    /// Calls `f` with the operations that have no result yet, if there are any. They stay plain if
    /// that is all of them.
    pub fn pending(&mut self, f: impl FnOnce(&mut Batch<'_, 'a>)) {
        self.succeeded = false;
        let index_of = |n: usize| self.order.map_or(n, |order| order[n].into());
        let is_pending = |n| self.ops[index_of(n)].status == Status::NotProcessed;
        if (0..self.len()).all(is_pending) {
            return f(self);
        }
        let (mut order, mut len) = ([0; SLICE], 0);
        for (at, n) in (0_u16..).zip(0..self.len()) {
            if is_pending(n) {
                order[len] = self.order.map_or(at, |order| order[n]);
                len += 1;
            }
        }
        if len > 0 {
            f(&mut Batch::new(self.ops, &order[..len]));
        }
    }

    /// Records the same result for each operation.
    #[inline]
    pub fn complete(&mut self, status: Status) {
        match (&mut *self.ops, self.order) {
            // The way into an unrolled loop is longer than all of this.
            ([op], None) => op.status = status,
            (ops, None) => ops.iter_mut().for_each(|op| op.status = status),
            (_, Some(_)) => self.for_each(|mut op| op.complete(status)),
        }
        self.succeeded = status == Status::Success;
    }

    /// Whether all are known to have succeeded.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.succeeded
    }

    /// The session whose engine runs the batch.
    #[inline(always)]
    pub(crate) fn session(&self) -> &'a SessionInner {
        let first = self.order.map_or(0, |order| order[0].into());
        self.ops[first].session
    }
}

impl<'a> Ops<'_, 'a> {
    /// The next operation; `None` after the last one.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator could not lend what it yields"
    )]
    pub fn next(&mut self) -> Option<ValidOp<'_, 'a>> {
        let at = self.next;
        self.next += 1;
        let index = match self.order {
            None => at,
            Some(order) => usize::from(*order.get(at)?),
        };
        self.ops.get_mut(index).map(ValidOp)
    }
}

/// Indices of a slice's valid operations, and the scratch to sort them by group.
#[derive(Debug)]
pub struct Grouping {
    order: [u16; SLICE],
    rest: [u16; SLICE],
    len: usize,
}

impl Grouping {
    /// Most operations of a slice.
    pub const SLICE: usize = 256;

    /// Of no operation.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a kilobyte of scratch is asked for by name"
    )]
    pub const fn new() -> Self {
        Self {
            order: [0; SLICE],
            rest: [0; SLICE],
            len: 0,
        }
    }

    /// Notes a valid operation by its index, as the `n`-th.
    ///
    /// # Panics
    /// If `n` is not below [`Grouping::SLICE`].
    #[inline]
    pub fn set(&mut self, n: usize, index: u16) {
        self.order[n] = index;
    }

    /// There are `len` valid operations.
    #[inline]
    pub fn set_len(&mut self, len: usize) {
        self.len = len;
    }

    /// Calls `run` once for each group, with `ops` and the indices of its operations: groups and
    /// operations in the order of their first appearance. `group` says of which an operation is;
    /// `uniform` that all are of one, which saves looking.
    ///
    /// # Panics
    /// If an index is not one of `ops`.
    #[inline]
    pub fn for_each_group<T, G: PartialEq>(
        &mut self,
        ops: &mut [T],
        uniform: bool,
        group: impl Fn(&T) -> G,
        mut run: impl FnMut(&mut [T], &[u16]),
    ) {
        if self.len == 0 {
            return;
        }
        if uniform {
            return run(ops, &self.order[..self.len]);
        }
        let mut left = self.len;
        while left > 0 {
            let first = group(&ops[usize::from(self.order[0])]);
            let (mut same, mut other) = (0, 0);
            for i in 0..left {
                let index = self.order[i];
                if group(&ops[usize::from(index)]) == first {
                    self.order[same] = index;
                    same += 1;
                } else {
                    self.rest[other] = index;
                    other += 1;
                }
            }
            run(ops, &self.order[..same]);
            self.order[..other].copy_from_slice(&self.rest[..other]);
            left = other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Capability, Ciphertext, Engine, EngineSession};
    use crate::per_queue::QueueToken;
    use crate::session::SessionMemory;
    use crate::transform::Direction;
    use crate::{Aead, Algorithm, Buffer, Cipher, Device, Mac, Session, SessionError, Transform};

    const ONE_SESSION: Likeness = Likeness {
        one_session: true,
        one_length: false,
    };

    /// An engine that only chooses groups: that of a session is its key's first byte.
    struct Groups(u16);

    impl Engine for Groups {
        fn name(&self) -> &'static str {
            "groups"
        }

        fn version(&self) -> String {
            String::new()
        }

        fn capabilities(&self) -> &[Capability] {
            &[]
        }

        fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
            Ok(Box::new(Self(transform.key()[0].into())))
        }
    }

    impl EngineSession for Groups {
        fn group(&self) -> u16 {
            self.0
        }

        fn process(&self, _: &mut QueueToken, _: &mut Batch<'_, '_>) {}

        fn memory(&self) -> SessionMemory {
            SessionMemory::default()
        }
    }

    /// Groups the operations at the indices `valid`, whose sessions are of `groups`.
    fn grouped(groups: &[u8], valid: &[u16], uniform: bool) -> Vec<Vec<u16>> {
        let device = Device::builder().engine(Groups(0)).build();
        let session = |&group: &u8| {
            let key = [group; 16];
            device
                .session(Transform::encrypt(Cipher::AesEcb, &key))
                .unwrap()
        };
        let sessions: Vec<Session> = groups.iter().map(session).collect();
        let mut ops: Vec<_> = sessions
            .iter()
            .map(|session| Op::new(session, Buffer::in_place(&mut [0_u8; 0])))
            .collect();
        let mut grouping = Grouping::new();
        valid
            .iter()
            .enumerate()
            .for_each(|(n, &index)| grouping.set(n, index));
        grouping.set_len(valid.len());
        let mut found = Vec::new();
        let group = |op: &Op<'_>| op.session.rules.group;
        grouping.for_each_group(&mut ops, uniform, group, |ops, order| {
            let mut batch = Batch::new(ops, order);
            let order = batch.order.expect("grouping names the operations").to_vec();
            assert_eq!((batch.is_empty(), batch.len()), (false, order.len()));
            let mut visited = 0;
            batch.for_each(|_| visited += 1);
            let mut walk = batch.ops();
            while walk.next().is_some() {
                visited += 1;
            }
            assert_eq!(visited, 2 * batch.len());
            batch.get(0).complete(Status::Success);
            let mut pending = Vec::new();
            batch.pending(|batch| pending = batch.order.expect("named").to_vec());
            assert_eq!(pending, order[1..]);
            found.push(order);
        });
        found
    }

    #[test]
    fn groups_and_operations_keep_the_order_of_their_appearance() {
        let groups = [3, 1, 3, 2, 1, 3, 2];
        let all = [0, 1, 2, 3, 4, 5, 6];
        assert_eq!(
            grouped(&groups, &all, false),
            [vec![0, 2, 5], vec![1, 4], vec![3, 6]]
        );
    }

    #[test]
    fn invalid_operations_are_passed_over() {
        let groups = [3, 1, 3, 2, 1, 3, 2];
        assert_eq!(
            grouped(&groups, &[1, 2, 4, 6], false),
            [vec![1, 4], vec![2], vec![6]]
        );
        assert!(grouped(&groups, &[], false).is_empty());
        assert!(grouped(&groups, &[], true).is_empty());
    }

    #[test]
    fn a_uniform_burst_is_one_group() {
        assert_eq!(grouped(&[5; 4], &[0, 1, 3], true), [vec![0, 1, 3]]);
        assert_eq!(grouped(&[5; 4], &[0, 1, 3], false), [vec![0, 1, 3]]);
    }

    fn payloads(batch: &mut Batch<'_, '_>) -> usize {
        let count = |mut plain: Plain<'_, '_>| plain.payloads::<Groups>().columns().count;
        batch.plain().map_or(0, count)
    }

    #[test]
    fn a_batch_has_succeeded_until_an_operation_is_lent() {
        let device = Device::builder().engine(Groups(0)).build();
        let session = device
            .session(Transform::encrypt(Cipher::AesEcb, &[0; 16]))
            .unwrap();
        let mut ops: Vec<_> = (0..3)
            .map(|_| Op::new(&session, Buffer::in_place(&mut [0_u8; 0])))
            .collect();
        let order = [0, 2];
        for alike in [true, false] {
            let mut batch = if alike {
                Batch::alike(&mut ops, false, ONE_SESSION)
            } else {
                Batch::new(&mut ops, &order)
            };
            let lend: [fn(&mut Batch<'_, '_>); 6] = [
                |batch| batch.get(0).complete(Status::AuthFailed),
                |batch| batch.for_each(|mut op| op.complete(Status::AuthFailed)),
                |batch| batch.complete(Status::EngineError),
                |batch| batch.for_each_stretch(1, |batch| batch.complete(Status::EngineError)),
                |batch| batch.pending(|_| ()),
                |batch| assert_eq!(payloads(batch) % 3, 0),
            ];
            for lend in lend {
                assert!(!batch.has_succeeded());
                batch.complete(Status::Success);
                assert!(batch.has_succeeded());
                lend(&mut batch);
            }
            assert_eq!(batch.plain().is_some(), alike);
        }
    }

    /// Operations of one session of `transform`.
    fn with_ops(transform: Transform, f: impl FnOnce(&mut [Op<'_>])) {
        let device = Device::builder().engine(Groups(0)).build();
        let session = device.session(transform).unwrap();
        let mut ops: Vec<_> = (0..3)
            .map(|_| Op::new(&session, Buffer::in_place(&mut [0_u8; 0])))
            .collect();
        f(&mut ops);
    }

    #[test]
    fn additional_data_is_plain_for_an_aead_alone() {
        let aead = Transform::seal(Aead::AesGcm, &[0; 16]);
        let mac = Transform::compute(Mac::AesCmac, &[0; 16]);
        for (transform, with_aad) in [(aead, true), (mac, false)] {
            with_ops(transform, |ops| {
                for (aad, plain) in [(false, true), (true, with_aad)] {
                    assert_eq!(Batch::alike(ops, aad, ONE_SESSION).plain().is_some(), plain);
                }
            });
        }
    }

    #[test]
    fn stretches_are_as_plain_as_their_batch() {
        with_ops(Transform::compute(Mac::AesCmac, &[0; 16]), |ops| {
            for aad in [false, true] {
                let mut lengths = Vec::new();
                Batch::alike(ops, aad, ONE_SESSION).for_each_stretch(2, |batch| {
                    assert_eq!(batch.plain().is_some(), !aad);
                    lengths.push(batch.len());
                });
                assert_eq!(lengths, [2, 1]);
            }
        });
    }

    #[test]
    fn pending_operations_stay_plain_if_that_is_all_of_them() {
        with_ops(Transform::encrypt(Cipher::AesEcb, &[0; 16]), |ops| {
            let mut batch = Batch::alike(ops, false, ONE_SESSION);
            let mut found = Vec::new();
            for done in 0..=3 {
                batch.pending(|batch| found.push((batch.len(), batch.plain().is_some())));
                if done < 3 {
                    batch.get(done).complete(Status::AuthFailed);
                }
            }
            assert_eq!(found, [(3, true), (2, false), (1, false)]);
        });
    }

    #[test]
    fn a_tag_to_compare_is_not_lent_for_writing() {
        let (mut data, mut tags) = ([0; 16], [[0; 16]; 2]);
        let [written, expected] = &mut tags;
        for (direction, len) in [(Direction::Forward, 16), (Direction::Reverse, 0)] {
            let algorithm = Algorithm::Mac(Mac::AesCmac);
            let transform = Transform::new(algorithm, direction, &[0; 16], &[]);
            let device = Device::builder().engine(Groups(0)).build();
            let session = device.session(transform).unwrap();
            let op = Op::new(&session, Buffer::in_place(&mut data));
            let mut ops = [match direction {
                Direction::Forward => op.tag(written),
                Direction::Reverse => op.expected_tag(expected),
            }];
            let mut batch = Batch::alike(&mut ops, false, ONE_SESSION);
            let mut plain = batch.plain().expect("plain");
            for found in plain.tags::<Groups>(Ciphertext::InInput) {
                assert_eq!((found.message.len(), found.tag.len()), (16, len));
            }
        }
    }

    #[test]
    #[should_panic(expected = "sessions of a MAC, hash or chain")]
    fn tags_are_of_sessions_that_authenticate_a_range() {
        with_ops(Transform::encrypt(Cipher::AesEcb, &[0; 16]), |ops| {
            let mut batch = Batch::alike(ops, false, ONE_SESSION);
            let mut plain = batch.plain().expect("plain");
            let _tags = plain.tags::<Groups>(Ciphertext::InInput);
        });
    }

    #[test]
    #[should_panic(expected = "sessions of an AEAD")]
    fn messages_of_an_aead_are_of_its_sessions() {
        with_ops(Transform::encrypt(Cipher::AesEcb, &[0; 16]), |ops| {
            let mut batch = Batch::alike(ops, false, ONE_SESSION);
            let _messages = batch.plain().expect("plain").aeads::<Groups>();
        });
    }

    #[test]
    fn a_full_slice_of_groups_of_one_is_served() {
        let groups: Vec<u8> = (0..=255).collect();
        let all: Vec<u16> = (0..256).collect();
        let found = grouped(&groups, &all, false);
        assert!(
            found
                .into_iter()
                .eq(all.into_iter().map(|index| vec![index]))
        );
    }
}
