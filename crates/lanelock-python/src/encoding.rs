//! Work whose results, or values, are text: hexadecimal digits or base64.

use data_encoding::{BASE64, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER};
use lanelock::QueuePair;

use crate::failure::Reason;
use crate::work::{Results, Row, Rows, Work, filled};

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
    type Burst<'a>
        = Rows<Row<'a>>
    where
        Self: 'a;
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

    fn one_key(&self) -> Option<usize> {
        self.inner.one_key()
    }

    fn key_of(&self, value: &[u8]) -> Option<Result<usize, Reason>> {
        self.inner.key_of(value)
    }

    fn nonce_len(&self) -> usize {
        self.inner.nonce_len()
    }

    fn begin(&self, (state, _): &mut Self::State, queue: &mut QueuePair) -> Result<(), Reason> {
        self.inner.begin(state, queue)
    }

    fn push<'a>(&'a self, _: &mut Self::State, rows: &mut Rows<Row<'a>>, row: Row<'a>) {
        rows.push(row);
    }

    fn run<'a>(
        &'a self,
        (state, scratch): &mut Self::State,
        queue: &mut QueuePair,
        rows: &mut Rows<Row<'a>>,
    ) -> Results {
        let room = |row: &Row<'_>| self.inner.room(row.value.len(), row.key).unwrap_or(0);
        let rooms: Rows<_> = rows.iter().map(room).collect();
        scratch.clear();
        scratch.resize(rooms.iter().sum(), 0);
        let (mut within, mut rest) = (W::Burst::default(), &mut scratch[..]);
        for (row, room) in rows.iter().zip(&rooms) {
            let slot = rest.split_off_mut(..*room).unwrap_or_default();
            let row = Row { slot, ..*row };
            self.inner.push(state, &mut within, row);
        }
        let ran = self.inner.run(state, queue, &mut within);
        drop(within);
        let results = filled(ran, rows.len());
        let mut rest = &scratch[..];
        let texts = rows.drain(..).zip(rooms).zip(results);
        let texts = texts.map(|((row, room), result)| {
            let raw = rest.split_off(..room).unwrap_or_default();
            result.map(|len| {
                let raw = if W::EXACT { raw } else { &raw[..len] };
                let (head, rest) = row.slot.split_at_mut(self.prefix.len());
                head.copy_from_slice(&self.prefix);
                let text = &mut rest[..self.encoding.encode_len(raw.len())];
                self.encoding.encode_mut(raw, text);
                head.len() + text.len()
            })
        });
        texts.collect()
    }
}

impl<W: Work> Work for Decode<W> {
    type State = (W::State, Vec<u8>);
    type Burst<'a>
        = Rows<Row<'a>>
    where
        Self: 'a;
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

    fn begin(&self, (state, _): &mut Self::State, queue: &mut QueuePair) -> Result<(), Reason> {
        self.inner.begin(state, queue)
    }

    fn push<'a>(&'a self, _: &mut Self::State, rows: &mut Rows<Row<'a>>, row: Row<'a>) {
        rows.push(row);
    }

    fn run<'a>(
        &'a self,
        (state, scratch): &mut Self::State,
        queue: &mut QueuePair,
        rows: &mut Rows<Row<'a>>,
    ) -> Results {
        let len = |row: &Row<'_>| self.encoding.decode_len(row.value.len()).unwrap_or(0);
        let lens: Rows<usize> = rows.iter().map(len).collect();
        scratch.clear();
        scratch.resize(lens.iter().sum(), 0);
        // The decoded values, in the order of those that can be decoded.
        let mut rest = &mut scratch[..];
        let decoded = rows.iter().zip(&lens).map(|(row, len)| {
            let raw = rest.split_off_mut(..*len).unwrap_or_default();
            let len = self.encoding.decode_mut(row.value, raw).ok()?;
            Some(&raw[..len])
        });
        let decoded: Rows<Option<&[u8]>> = decoded.collect();
        let mut within = W::Burst::default();
        // What is known of a row before it runs: the length of its slot, or why it does not run.
        let mut known = Results::new();
        for (row, raw) in rows.drain(..).zip(decoded) {
            let room = raw.map(|raw| (raw, self.inner.room(raw.len(), row.key)));
            known.push(match room {
                None => Err(NOT_ENCODED),
                Some((raw, None)) => Err(self.inner.refusal(raw.len(), row.key)),
                Some((value, Some(room))) => {
                    debug_assert!(room <= value.len() + MOST_GROWTH);
                    let slot = &mut row.slot[..room];
                    let row = Row { value, slot, ..row };
                    self.inner.push(state, &mut within, row);
                    Ok(room)
                }
            });
        }
        let ran = known.iter().filter(|known| known.is_ok()).count();
        let mut results = filled(self.inner.run(state, queue, &mut within), ran).into_iter();
        let all = known.into_iter().map(|known| {
            let room = known?;
            let len = results.next().unwrap_or(Err(Reason::Engine))?;
            Ok(if W::EXACT { room } else { len })
        });
        all.collect()
    }
}

/// No work that decrypts needs more room than its value and this.
const MOST_GROWTH: usize = 16;

const NOT_ENCODED: Reason = Reason::Layout("the value is not in the encoding of this layout");
