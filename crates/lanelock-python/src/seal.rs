//! AEADs whose text has the length of the ciphertext: from the column straight into the output.

use lanelock::{Buffer, Op, QueuePair, Session, SessionError, Status, Transform};

use crate::engine;
use crate::failure::Reason;
use crate::nonces::Nonces;
use crate::work::{Burst, Rows, Size, Work};

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

    fn key_of(&self, _: &[u8]) -> Option<Result<usize, Reason>> {
        Some(Ok(self.layout.primary))
    }

    fn nonce_len(&self) -> usize {
        self.layout.nonce
    }

    #[inline]
    fn run(&self, nonces: &mut Self::State, queue: &mut QueuePair, burst: &mut Burst<'_, '_>) {
        let len = self.layout.nonce;
        let count = burst.values.len();
        let drawn = if len > 0 && burst.nonces.is_empty() {
            match draw(nonces, queue, count * len) {
                Some(drawn) => drawn,
                None => {
                    return burst
                        .results
                        .extend((0..count).map(|_| Err(Reason::Engine)));
                }
            }
        } else {
            &[]
        };
        let mut ops: Rows<Op<'_>> = Rows::new();
        for (row, slot) in burst.slots.iter_mut().enumerate() {
            let (key, value) = (burst.keys[row], burst.values[row]);
            let prefix = self.layout.prefix(key);
            let (head, rest) = slot.split_at_mut(prefix.len());
            if !prefix.is_empty() {
                head.copy_from_slice(prefix);
            }
            let (nonce, rest) = rest.split_at_mut(len);
            match burst.nonces.get(row) {
                Some(given) => nonce.copy_from_slice(given),
                None if len == 12 => nonce.copy_from_slice(&drawn[row * 12..row * 12 + 12]),
                None if len > 0 => nonce.copy_from_slice(&drawn[row * len..(row + 1) * len]),
                None => {}
            }
            let (text, tag) = if self.layout.tag_first {
                let (tag, text) = rest.split_at_mut(TAG);
                (text, tag)
            } else {
                rest.split_at_mut(value.len())
            };
            let op = Op::new(&self.keys[key], Buffer::separate(value, text)).tag(tag);
            let op = if len > 0 { op.iv(nonce) } else { op };
            ops.push(with_aad(op, burst.aads[row]));
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

/// Additional data that is empty has no memory: the kernels need not look for it.
#[inline]
fn with_aad<'a>(op: Op<'a>, aad: &'a [u8]) -> Op<'a> {
    if aad.is_empty() { op } else { op.aad(aad) }
}

fn draw<'n>(nonces: &'n mut Option<Nonces>, queue: &mut QueuePair, len: usize) -> Option<&'n [u8]> {
    if nonces.is_none() {
        *nonces = Some(Nonces::new().ok()?);
    }
    nonces.as_mut()?.draw(queue, len).ok()
}

impl Work for Open<'_> {
    type State = ();
    const EXACT: bool = true;

    fn state(&self) {}

    #[inline]
    fn room(&self, len: usize, key: usize) -> Option<usize> {
        len.checked_sub(self.layout.overhead(key))
    }

    fn refusal(&self, _: usize, key: usize) -> Reason {
        Reason::Short(self.layout.overhead(key))
    }

    fn key_of(&self, value: &[u8]) -> Option<Result<usize, Reason>> {
        self.layout.key_of(value)
    }

    #[inline]
    fn run(&self, (): &mut (), queue: &mut QueuePair, burst: &mut Burst<'_, '_>) {
        let mut ops: Rows<Op<'_>> = Rows::new();
        let mut wrong = Rows::<usize>::new();
        for (row, slot) in burst.slots.iter_mut().enumerate() {
            let (key, value) = (burst.keys[row], burst.values[row]);
            let prefix = self.layout.prefix(key);
            let (head, rest) = value.split_at(prefix.len());
            // A comparison of nothing is slow where one of the slices has no memory.
            if !prefix.is_empty() && head != prefix {
                wrong.push(row);
            }
            let (nonce, rest) = rest.split_at(self.layout.nonce);
            let (text, tag) = if self.layout.tag_first {
                let (tag, text) = rest.split_at(TAG);
                (text, tag)
            } else {
                rest.split_at(slot.len())
            };
            let op = Op::new(&self.keys[key], Buffer::separate(text, &mut **slot));
            let op = if nonce.is_empty() { op } else { op.iv(nonce) };
            ops.push(with_aad(op.expected_tag(tag), burst.aads[row]));
        }
        let outcome = queue.process(&mut ops);
        if outcome.failed == 0 && wrong.is_empty() {
            return;
        }
        let results = ops.iter().enumerate().map(|(row, op)| match op.status() {
            _ if wrong.contains(&row) => Err(Reason::Layout("another prefix than the key's")),
            Status::Success => Ok(0),
            _ => Err(Reason::of(op)),
        });
        burst.results.extend(results);
    }
}
