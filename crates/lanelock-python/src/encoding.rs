//! Work whose results, or values, are text: hexadecimal digits or base64.

use data_encoding::{BASE64, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER};
use lanelock::QueuePair;

use crate::failure::Reason;
use crate::work::{Burst, Rows, Work};

/// An encoding by its name.
pub(crate) fn named(name: &str) -> Option<Encoding> {
    Some(match name {
        "hex" => HEXLOWER,
        "base64" => BASE64,
        "base64url" => BASE64URL,
        "base64url-nopad" => BASE64URL_NOPAD,
        _ => return None,
    })
}

pub(crate) const NAMES: &str = "hex, base64, base64url, base64url-nopad";

/// Encodes what `inner` makes of each value, after a constant prefix.
pub(crate) struct Encode<W> {
    pub(crate) inner: W,
    pub(crate) encoding: Encoding,
    pub(crate) prefix: Vec<u8>,
}

/// Decodes each value before `inner` runs on it.
pub(crate) struct Decode<W> {
    pub(crate) inner: W,
    pub(crate) encoding: Encoding,
}

impl<W: Work> Work for Encode<W> {
    type State = (W::State, Vec<u8>);
    const EXACT: bool = W::EXACT;

    fn state(&self) -> Self::State {
        (self.inner.state(), Vec::new())
    }

    fn room(&self, len: usize, key: usize) -> Option<usize> {
        let inner = self.inner.room(len, key)?;
        Some(self.prefix.len() + self.encoding.encode_len(inner))
    }

    fn refusal(&self, len: usize, key: usize) -> Reason {
        self.inner.refusal(len, key)
    }

    fn key_of(&self, value: &[u8]) -> Option<Result<usize, Reason>> {
        self.inner.key_of(value)
    }

    fn nonce_len(&self) -> usize {
        self.inner.nonce_len()
    }

    fn run(
        &self,
        (state, scratch): &mut Self::State,
        queue: &mut QueuePair,
        burst: &mut Burst<'_, '_>,
    ) {
        let room = |(value, key): (&&[u8], &usize)| self.inner.room(value.len(), *key).unwrap_or(0);
        let rooms: Rows<_> = burst.values.iter().zip(&burst.keys).map(room).collect();
        scratch.clear();
        scratch.resize(rooms.iter().sum(), 0);
        let mut within = Burst {
            values: burst.values.clone(),
            aads: burst.aads.clone(),
            keys: burst.keys.clone(),
            nonces: burst.nonces.clone(),
            ..Burst::default()
        };
        let mut rest = &mut scratch[..];
        for room in &rooms {
            let (slot, others) = rest.split_at_mut(*room);
            within.slots.push(slot);
            rest = others;
        }
        self.inner.run(state, queue, &mut within);
        let results = filled(within.results, within.slots.len());
        for ((slot, raw), result) in burst.slots.iter_mut().zip(&within.slots).zip(results) {
            burst.results.push(result.map(|len| {
                let raw = if W::EXACT { &raw[..] } else { &raw[..len] };
                let (head, rest) = slot.split_at_mut(self.prefix.len());
                head.copy_from_slice(&self.prefix);
                let text = &mut rest[..self.encoding.encode_len(raw.len())];
                self.encoding.encode_mut(raw, text);
                head.len() + text.len()
            }));
        }
    }
}

impl<W: Work> Work for Decode<W> {
    type State = (W::State, Vec<u8>);
    const EXACT: bool = false;

    fn state(&self) -> Self::State {
        (self.inner.state(), Vec::new())
    }

    /// The padding says how long a value is, so this is a bound.
    fn room(&self, len: usize, _: usize) -> Option<usize> {
        Some(self.encoding.decode_len(len).ok()? + MOST_GROWTH)
    }

    fn refusal(&self, _: usize, _: usize) -> Reason {
        NOT_ENCODED
    }

    fn run(
        &self,
        (state, scratch): &mut Self::State,
        queue: &mut QueuePair,
        burst: &mut Burst<'_, '_>,
    ) {
        let len = |value: &&[u8]| self.encoding.decode_len(value.len()).unwrap_or(0);
        let lens: Rows<usize> = burst.values.iter().map(len).collect();
        scratch.clear();
        scratch.resize(lens.iter().sum(), 0);
        // The decoded values, in the order of those that can be decoded.
        let (mut decoded, mut rest) = (Rows::new(), &mut scratch[..]);
        for (value, len) in burst.values.iter().zip(&lens) {
            let (raw, others) = rest.split_at_mut(*len);
            rest = others;
            let len = self.encoding.decode_mut(value, raw);
            decoded.push(len.ok().map(|len| &raw[..len]));
        }
        let mut within = Burst::default();
        let slots = burst.slots.iter_mut();
        for (row, (raw, slot)) in decoded.iter().zip(slots).enumerate() {
            let Some(raw) = raw else { continue };
            let key = burst.keys[row];
            let Some(room) = self.inner.room(raw.len(), key) else {
                continue;
            };
            within.values.push(raw);
            within.aads.push(burst.aads[row]);
            within.keys.push(key);
            debug_assert!(room <= raw.len() + MOST_GROWTH);
            within.slots.push(&mut slot[..room]);
        }
        self.inner.run(state, queue, &mut within);
        let lens: Rows<usize> = within.slots.iter().map(|slot| slot.len()).collect();
        let results = filled(within.results, lens.len());
        let mut results = results.into_iter().zip(lens);
        for (row, raw) in decoded.iter().enumerate() {
            burst.results.push(match raw {
                None => Err(NOT_ENCODED),
                Some(raw) => match self.inner.room(raw.len(), burst.keys[row]) {
                    None => Err(self.inner.refusal(raw.len(), burst.keys[row])),
                    Some(_) => match results.next() {
                        Some((Ok(_), len)) if W::EXACT => Ok(len),
                        Some((result, _)) => result,
                        None => Err(Reason::Engine),
                    },
                },
            });
        }
    }
}

/// The results of `count` rows, where an empty list stands for success.
fn filled(results: Vec<Result<usize, Reason>>, count: usize) -> Vec<Result<usize, Reason>> {
    if results.is_empty() {
        vec![Ok(0); count]
    } else {
        results
    }
}

/// No work that decrypts needs more room than its value and this.
const MOST_GROWTH: usize = 16;

const NOT_ENCODED: Reason = Reason::Layout("the value is not in the encoding of this layout");
