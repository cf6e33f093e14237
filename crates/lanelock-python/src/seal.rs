//! AEADs whose text has the length of the ciphertext: from the column straight into the output.

use lanelock::{Buffer, Op, QueuePair, Session, SessionError, Transform};

use crate::engine;
use crate::failure::Reason;
use crate::nonces::Nonces;
use crate::work::{BURST, Results, Row, Rows, Size, Work, process};

/// Bytes of a tag.
const TAG: usize = 16;

/// How a ciphertext is laid out: prefix, nonce, ciphertext and tag; for AES-SIV the tag is the
/// synthetic IV, which stands where the nonce would.
#[derive(Clone)]
pub(crate) struct Layout {
    pub(crate) nonce: usize,
    pub(crate) tag_first: bool,
    /// What stands first, for each key.
    pub(crate) prefixes: Vec<Vec<u8>>,
    /// The key that encrypts where no column says which.
    pub(crate) primary: usize,
}

impl Layout {
    fn prefix(&self, key: usize) -> &[u8] {
        self.prefixes.get(key).map_or(&[], Vec::as_slice)
    }

    fn overhead(&self, key: usize) -> usize {
        self.prefix(key).len() + self.nonce + TAG
    }

    /// The key whose prefix a ciphertext has; the longest, as an empty one fits everything.
    fn key_of(&self, value: &[u8]) -> Option<Result<usize, Reason>> {
        if self.prefixes.is_empty() {
            return None;
        }
        let fits = |key: &usize| value.starts_with(&self.prefixes[*key]);
        let found = (0..self.prefixes.len()).filter(fits);
        let longest = found.max_by_key(|key| self.prefixes[*key].len());
        Some(longest.ok_or(Reason::Layout("no key has the prefix of this ciphertext")))
    }
}

/// Encrypts.
pub(crate) struct Seal<'k> {
    pub(crate) keys: &'k [Session],
    pub(crate) layout: &'k Layout,
}

/// Decrypts.
pub(crate) struct Open<'k> {
    pub(crate) keys: &'k [Session],
    pub(crate) layout: &'k Layout,
}

/// Sessions for both directions, of one transform for each key.
pub(crate) fn sessions(
    keys: impl Iterator<Item = (Transform, Transform)>,
) -> Result<(Vec<Session>, Vec<Session>), SessionError> {
    let (mut sealing, mut opening) = (Vec::new(), Vec::new());
    for (seal, open) in keys {
        sealing.push(engine::session(seal)?);
        opening.push(engine::session(open)?);
    }
    Ok((sealing, opening))
}

impl Work for Seal<'_> {
    type State = Option<Nonces>;
    type Burst<'a>
        = Rows<Op<'a>>
    where
        Self: 'a;
    const EXACT: bool = true;

    fn state(&self) -> Self::State {
        None
    }

    fn size(&self) -> Size {
        let first = self.layout.overhead(0);
        match (1..self.keys.len()).all(|key| self.layout.overhead(key) == first) {
            true => Size::Grows(first),
            false => Size::Varies,
        }
    }

    #[inline]
    fn room(&self, len: usize, key: usize) -> Option<usize> {
        Some(len + self.layout.overhead(key))
    }

    fn one_key(&self) -> Option<usize> {
        Some(self.layout.primary)
    }

    fn key_of(&self, _: &[u8]) -> Option<Result<usize, Reason>> {
        Some(Ok(self.layout.primary))
    }

    fn nonce_len(&self) -> usize {
        self.layout.nonce
    }

    #[inline]
    fn begin(&self, nonces: &mut Self::State, queue: &mut QueuePair) -> Result<(), Reason> {
        match self.layout.nonce {
            0 => Ok(()),
            len => Nonces::prepare(nonces, queue, len * BURST),
        }
    }

    #[inline(always)] // an operation is written where it runs, not moved there
    fn push<'a>(&'a self, nonces: &mut Self::State, ops: &mut Rows<Op<'a>>, row: Row<'a>) {
        let prefix = self.layout.prefix(row.key);
        let (head, rest) = row.slot.split_at_mut(prefix.len());
        if !prefix.is_empty() {
            head.copy_from_slice(prefix);
        }
        let (nonce, rest) = rest.split_at_mut(self.layout.nonce);
        match (row.nonce, nonces) {
            (Some(given), _) => nonce.copy_from_slice(given),
            (None, Some(nonces)) => nonces.take(nonce),
            (None, None) => debug_assert!(nonce.is_empty(), "nonces are prepared"),
        }
        let (text, tag) = if self.layout.tag_first {
            let (tag, text) = rest.split_at_mut(TAG);
            (text, tag)
        } else {
            rest.split_at_mut(row.value.len())
        };
        let op = Op::new(&self.keys[row.key], Buffer::separate(row.value, text)).tag(tag);
        let op = if nonce.is_empty() { op } else { op.iv(nonce) };
        ops.push(with_aad(op, row.aad));
    }

    #[inline]
    fn run<'a>(
        &'a self,
        _: &mut Self::State,
        queue: &mut QueuePair,
        ops: &mut Rows<Op<'a>>,
    ) -> Results {
        process(queue, ops)
    }
}

/// Additional data that is empty has no memory: the kernels need not look for it.
#[inline]
fn with_aad<'a>(op: Op<'a>, aad: &'a [u8]) -> Op<'a> {
    if aad.is_empty() { op } else { op.aad(aad) }
}

/// Ciphertexts that have come, and the positions of those with another prefix than their key's.
#[derive(Default)]
pub(crate) struct Ciphertexts<'a> {
    ops: Rows<Op<'a>>,
    wrong: Vec<usize>,
}

impl Work for Open<'_> {
    type State = ();
    type Burst<'a>
        = Ciphertexts<'a>
    where
        Self: 'a;
    const EXACT: bool = true;

    fn state(&self) {}

    #[inline]
    fn room(&self, len: usize, key: usize) -> Option<usize> {
        len.checked_sub(self.layout.overhead(key))
    }

    fn refusal(&self, _: usize, key: usize) -> Reason {
        Reason::Short(self.layout.overhead(key))
    }

    fn one_key(&self) -> Option<usize> {
        self.layout.prefixes.is_empty().then_some(0)
    }

    fn key_of(&self, value: &[u8]) -> Option<Result<usize, Reason>> {
        self.layout.key_of(value)
    }

    #[inline(always)] // an operation is written where it runs, not moved there
    fn push<'a>(&'a self, (): &mut (), burst: &mut Ciphertexts<'a>, row: Row<'a>) {
        let prefix = self.layout.prefix(row.key);
        let (head, rest) = row.value.split_at(prefix.len());
        // A comparison of nothing is slow where one of the slices has no memory.
        if !prefix.is_empty() && head != prefix {
            burst.wrong.push(burst.ops.len());
        }
        let (nonce, rest) = rest.split_at(self.layout.nonce);
        let (text, tag) = if self.layout.tag_first {
            let (tag, text) = rest.split_at(TAG);
            (text, tag)
        } else {
            rest.split_at(row.slot.len())
        };
        let op = Op::new(&self.keys[row.key], Buffer::separate(text, row.slot));
        let op = if nonce.is_empty() { op } else { op.iv(nonce) };
        burst.ops.push(with_aad(op.expected_tag(tag), row.aad));
    }

    #[inline]
    fn run<'a>(
        &'a self,
        (): &mut (),
        queue: &mut QueuePair,
        burst: &mut Ciphertexts<'a>,
    ) -> Results {
        let mut results = process(queue, &mut burst.ops);
        if !burst.wrong.is_empty() {
            results.resize(burst.ops.len(), Ok(0));
            for row in burst.wrong.drain(..) {
                results[row] = Err(Reason::Layout("another prefix than the key's"));
            }
        }
        results
    }
}
