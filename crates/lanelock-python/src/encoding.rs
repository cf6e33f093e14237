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

/// A form of text that bytes have.
pub(crate) trait Text: Sync {
    /// The length of the text of so many bytes.
    fn encoded_len(&self, raw: usize) -> usize;

    fn encode(&self, raw: &[u8], text: &mut [u8]);

    /// The most bytes that a text of this length stands for; `None` if there is no such text.
    fn decoded_len(&self, text: usize) -> Option<usize>;

    /// Writes what a text stands for to the start of `raw`, which has [`Text::decoded_len`] bytes.
    fn decode<'t>(&self, text: &'t [u8], raw: &mut [u8]) -> Result<Decoded<'t>, Reason>;

    /// Additional data that every text stands for.
    fn aad(&self) -> Option<&[u8]> {
        None
    }
}

/// What a text stands for.
pub(crate) struct Decoded<'t> {
    pub(crate) len: usize,
    /// Additional data that stands in the text.
    pub(crate) aad: Option<&'t [u8]>,
}

/// An encoding, after a constant prefix that decoding does not expect.
pub(crate) struct Plain {
    pub(crate) encoding: Encoding,
    pub(crate) prefix: Vec<u8>,
}

/// Encodes what `inner` makes of each value.
pub(crate) struct Encode<'t, W, T> {
    pub(crate) inner: W,
    pub(crate) text: &'t T,
}

/// Decodes each value before `inner` runs on it.
pub(crate) struct Decode<'t, W, T> {
    pub(crate) inner: W,
    pub(crate) text: &'t T,
}

impl Text for Plain {
    fn encoded_len(&self, raw: usize) -> usize {
        self.prefix.len() + self.encoding.encode_len(raw)
    }

    fn encode(&self, raw: &[u8], text: &mut [u8]) {
        let (head, rest) = text.split_at_mut(self.prefix.len());
        head.copy_from_slice(&self.prefix);
        self.encoding.encode_mut(raw, rest);
    }

    fn decoded_len(&self, text: usize) -> Option<usize> {
        self.encoding.decode_len(text).ok()
    }

    fn decode<'t>(&self, text: &'t [u8], raw: &mut [u8]) -> Result<Decoded<'t>, Reason> {
        let len = self.encoding.decode_mut(text, raw);
        let len = len.map_err(|_| NOT_ENCODED)?;
        Ok(Decoded { len, aad: None })
    }
}

impl<W: Work, T: Text> Work for Encode<'_, W, T> {
    type State = (W::State, Vec<u8>);
    type Burst<'a>
        = Rows<Row<'a>>
    where
        Self: 'a;
    const EXACT: bool = W::EXACT;
    const AHEAD: bool = W::AHEAD;

    fn state(&self) -> Self::State {
        (self.inner.state(), Vec::new())
    }

    fn room(&self, len: usize, key: usize) -> Option<usize> {
        Some(self.text.encoded_len(self.inner.room(len, key)?))
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
            let aad = self.text.aad().unwrap_or(row.aad);
            let row = Row { aad, slot, ..*row };
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
                let len = self.text.encoded_len(raw.len());
                self.text.encode(raw, &mut row.slot[..len]);
                len
            })
        });
        texts.collect()
    }
}

impl<W: Work, T: Text> Work for Decode<'_, W, T> {
    type State = (W::State, Vec<u8>);
    type Burst<'a>
        = Rows<Row<'a>>
    where
        Self: 'a;
    const EXACT: bool = false;

    fn state(&self) -> Self::State {
        (self.inner.state(), Vec::new())
    }

    /// A bound: only the text says how long a value is.
    fn room(&self, len: usize, _: usize) -> Option<usize> {
        Some(self.text.decoded_len(len)? + MOST_GROWTH)
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
        let len = |row: &Row<'_>| self.text.decoded_len(row.value.len()).unwrap_or(0);
        let lens: Rows<usize> = rows.iter().map(len).collect();
        scratch.clear();
        scratch.resize(lens.iter().sum(), 0);
        let mut rest = &mut scratch[..];
        let decoded = rows.iter().zip(&lens).map(|(row, len)| {
            let raw = rest.split_off_mut(..*len).unwrap_or_default();
            let decoded = self.text.decode(row.value, raw)?;
            Ok((&raw[..decoded.len], decoded.aad.unwrap_or(row.aad)))
        });
        let decoded: Rows<Result<_, Reason>> = decoded.collect();
        let mut within = W::Burst::default();
        // What is known of a row before it runs: the length of its slot, or why it does not run.
        let mut known = Results::new();
        for (row, decoded) in rows.drain(..).zip(decoded) {
            known.push(decoded.and_then(|(value, aad)| {
                let room = self.inner.room(value.len(), row.key);
                let room = room.ok_or_else(|| self.inner.refusal(value.len(), row.key))?;
                debug_assert!(room <= value.len() + MOST_GROWTH);
                let slot = &mut row.slot[..room];
                let row = Row {
                    value,
                    aad,
                    slot,
                    ..row
                };
                self.inner.push(state, &mut within, row);
                Ok(room)
            }));
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
