//! AES-CBC with PKCS #7 padding, alone or with HMAC over additional data, IV and ciphertext: each
//! value is copied into the output, padded, and encrypted there.

use lanelock::{Buffer, Op, QueuePair, Session};
use subtle::ConstantTimeEq;

use crate::failure::Reason;
use crate::nonces::Nonces;
use crate::work::{BURST, Results, Row, Rows, Work, filled, process};

const BLOCK: usize = 16;
/// The longest MAC of a layout.
const MAX_TAG: usize = 32;
/// The bit length of the additional data, of RFC 7518, 5.2.2.1.
const LENGTH: usize = 8;

/// How a ciphertext is laid out: a header, the IV, the ciphertext, the tag.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Stands first, and is the additional data unless the caller gives that.
    pub(crate) header: Vec<u8>,
    /// Bytes of the header, from the first, that a ciphertext may have otherwise.
    pub(crate) header_check: HeaderCheck,
    /// Bytes of the tag; 0 without a MAC.
    pub(crate) tag: usize,
    /// Whether the length of the additional data is authenticated after the ciphertext.
    pub(crate) length: bool,
    /// What a plaintext is wrapped in.
    pub(crate) wrap: Wrap,
}

/// What the header of a ciphertext must have in common with the layout's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HeaderCheck {
    /// Nothing is compared: there is no header.
    None,
    /// Fernet: the version; the time of encryption follows.
    Fernet,
    /// MongoDB: the kind (deterministic or random), the key's identifier, the BSON type.
    MongoDb,
}

/// BSON's representation of the value that is encrypted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wrap {
    None,
    /// A length with the zero that ends the string.
    BsonString,
    /// A length, and the generic subtype.
    BsonBinary,
}

/// The sessions of one key.
pub(crate) struct Key {
    pub(crate) seal: Session,
    pub(crate) open: Session,
    /// HMAC-SHA-512 that makes the IV of additional data and plaintext.
    pub(crate) derive_iv: Option<Session>,
}

pub(crate) struct Seal<'k> {
    pub(crate) keys: &'k [Key],
    pub(crate) layout: &'k Layout,
}

pub(crate) struct Open<'k> {
    pub(crate) keys: &'k [Key],
    pub(crate) layout: &'k Layout,
}

impl Layout {
    fn sealed(&self, len: usize) -> usize {
        let padded = (self.wrap.around() + len) / BLOCK * BLOCK + BLOCK;
        self.header.len() + BLOCK + padded + self.tag
    }

    /// Room after the ciphertext while it is authenticated.
    fn trailer(&self) -> usize {
        if self.length { LENGTH } else { 0 }
    }

    fn check(&self, header: &[u8]) -> Result<(), Reason> {
        match self.header_check {
            HeaderCheck::None => Ok(()),
            HeaderCheck::Fernet if header[0] == 0x80 => Ok(()),
            HeaderCheck::Fernet => Err(Reason::Layout("not a Fernet token of version 0x80")),
            HeaderCheck::MongoDb if !(1..=2).contains(&header[0]) => Err(Reason::Layout(
                "not a ciphertext of client-side field level encryption (kind 1 or 2)",
            )),
            HeaderCheck::MongoDb if header[1..17] != self.header[1..17] => {
                Err(Reason::Layout("a ciphertext of another key identifier"))
            }
            HeaderCheck::MongoDb if header[17] != self.header[17] => {
                Err(Reason::Layout("a ciphertext of another BSON type"))
            }
            HeaderCheck::MongoDb => Ok(()),
        }
    }
}

impl Wrap {
    /// Bytes before and after the value.
    fn around(self) -> usize {
        match self {
            Self::None => 0,
            Self::BsonString | Self::BsonBinary => 5,
        }
    }

    fn write(self, value: &[u8], out: &mut [u8]) {
        // A value of 2 GiB is refused by the room of a 32-bit column, or by the engine.
        let len = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        match self {
            Self::None => out.copy_from_slice(value),
            Self::BsonString => {
                out[..4].copy_from_slice(&len(value.len() + 1));
                out[4..4 + value.len()].copy_from_slice(value);
                out[4 + value.len()] = 0;
            }
            Self::BsonBinary => {
                out[..4].copy_from_slice(&len(value.len()));
                out[4] = 0;
                out[5..].copy_from_slice(value);
            }
        }
    }

    /// The value within, as a range.
    fn read(self, wrapped: &[u8]) -> Option<std::ops::Range<usize>> {
        let len = |more: usize| {
            let len = u32::from_le_bytes(*wrapped.first_chunk::<4>()?) as usize;
            (4 + more + len == wrapped.len()).then_some(len)
        };
        match self {
            Self::None => Some(0..wrapped.len()),
            Self::BsonString => {
                let len = len(0)?;
                (len > 0 && wrapped.last() == Some(&0)).then_some(4..3 + len)
            }
            Self::BsonBinary => {
                let len = len(1)?;
                Some(5..5 + len)
            }
        }
    }
}

fn bits(aad: &[u8]) -> [u8; LENGTH] {
    (8 * aad.len() as u64).to_be_bytes()
}

impl Work for Seal<'_> {
    type State = Option<Nonces>;
    type Burst<'a>
        = Rows<Row<'a>>
    where
        Self: 'a;
    const EXACT: bool = true;

    fn state(&self) -> Self::State {
        None
    }

    fn room(&self, len: usize, _: usize) -> Option<usize> {
        Some(self.layout.sealed(len))
    }

    fn nonce_len(&self) -> usize {
        BLOCK
    }

    fn begin(&self, nonces: &mut Self::State, queue: &mut QueuePair) -> Result<(), Reason> {
        match self.keys[0].derive_iv {
            Some(_) => Ok(()),
            None => Nonces::prepare(nonces, queue, BLOCK * BURST),
        }
    }

    fn push<'a>(&'a self, _: &mut Self::State, rows: &mut Rows<Row<'a>>, row: Row<'a>) {
        rows.push(row);
    }

    fn run<'a>(
        &'a self,
        nonces: &mut Self::State,
        queue: &mut QueuePair,
        rows: &mut Rows<Row<'a>>,
    ) -> Results {
        let layout = self.layout;
        let header = layout.header.len();
        let mut ivs = [[0; BLOCK]; BURST];
        if let Err(reason) = self.ivs(nonces, queue, rows, &mut ivs[..rows.len()]) {
            return vec![Err(reason); rows.len()];
        }
        let mut tags = [[0; MAX_TAG]; BURST];
        let mut ops: Rows<Op<'_>> = Rows::new();
        for ((row, iv), tag) in rows.iter_mut().zip(&ivs).zip(&mut tags) {
            let aad = layout.aad(row.aad);
            let end = row.slot.len() - layout.tag;
            let (head, body) = row.slot.split_at_mut(header);
            head.copy_from_slice(&layout.header);
            let text = end - header; // from the IV
            body[..BLOCK].copy_from_slice(iv);
            let unpadded = BLOCK + layout.wrap.around() + row.value.len();
            layout.wrap.write(row.value, &mut body[BLOCK..unpadded]);
            let pad = u8::try_from(text - unpadded).unwrap_or(0);
            body[unpadded..text].fill(pad);
            if layout.length {
                body[text..text + LENGTH].copy_from_slice(&bits(aad));
            }
            let authenticated = text + layout.trailer();
            let op = Op::new(
                &self.keys[row.key].seal,
                Buffer::in_place(&mut body[..authenticated]),
            )
            .iv(iv)
            .cipher_range(BLOCK..text);
            ops.push(if layout.tag == 0 {
                op
            } else {
                op.auth_range(0..authenticated)
                    .aad(aad)
                    .tag(&mut tag[..layout.tag])
            });
        }
        let results = process(queue, &mut ops);
        drop(ops);
        for (row, tag) in rows.iter_mut().zip(&tags) {
            let end = row.slot.len() - layout.tag;
            row.slot[end..].copy_from_slice(&tag[..layout.tag]);
        }
        results
    }
}

impl Layout {
    fn aad<'a>(&'a self, given: &'a [u8]) -> &'a [u8] {
        if self.header.is_empty() {
            given
        } else {
            &self.header
        }
    }
}

impl Seal<'_> {
    /// Given, derived, or random IVs.
    fn ivs(
        &self,
        nonces: &mut Option<Nonces>,
        queue: &mut QueuePair,
        rows: &[Row<'_>],
        ivs: &mut [[u8; BLOCK]],
    ) -> Result<(), Reason> {
        if rows.iter().all(|row| row.nonce.is_some()) {
            for (iv, row) in ivs.iter_mut().zip(rows) {
                iv.copy_from_slice(row.nonce.unwrap_or_default());
            }
            return Ok(());
        }
        if self.keys[0].derive_iv.is_some() {
            // HMAC over additional data, its length, and the plaintext as it is encrypted.
            let wrap = self.layout.wrap;
            let message = |row: &Row<'_>| {
                let mut message = vec![0; LENGTH + wrap.around() + row.value.len()];
                message[..LENGTH].copy_from_slice(&bits(self.layout.aad(row.aad)));
                wrap.write(row.value, &mut message[LENGTH..]);
                zeroize::Zeroizing::new(message)
            };
            let messages: Vec<_> = rows.iter().map(message).collect();
            let mut ops: Rows<Op<'_>> = Rows::new();
            for ((row, message), iv) in rows.iter().zip(&messages).zip(ivs) {
                let session = &self.keys[row.key].derive_iv;
                let session = session.as_ref().ok_or(Reason::Engine)?;
                let op = Op::new(session, Buffer::read_only(&message[..]));
                ops.push(op.aad(self.layout.aad(row.aad)).tag(iv));
            }
            let failed = process(queue, &mut ops).into_iter().find_map(Result::err);
            return failed.map_or(Ok(()), Err);
        }
        let nonces = nonces.as_mut().ok_or(Reason::Engine)?;
        for iv in ivs {
            nonces.take(iv);
        }
        Ok(())
    }
}

impl Work for Open<'_> {
    type State = ();
    type Burst<'a>
        = Rows<Row<'a>>
    where
        Self: 'a;
    const EXACT: bool = false;

    fn state(&self) {}

    /// The value itself without its header: it is decrypted where the plaintext will be.
    fn room(&self, len: usize, _: usize) -> Option<usize> {
        let layout = self.layout;
        let text = len.checked_sub(layout.header.len() + layout.tag)?;
        let whole = text >= 2 * BLOCK && text.is_multiple_of(BLOCK);
        whole.then_some(text + layout.trailer())
    }

    fn refusal(&self, len: usize, _: usize) -> Reason {
        let least = self.layout.header.len() + 2 * BLOCK + self.layout.tag;
        if len < least {
            return Reason::Short(least);
        }
        Reason::Layout("the ciphertext is not a whole number of blocks")
    }

    fn push<'a>(&'a self, (): &mut (), rows: &mut Rows<Row<'a>>, row: Row<'a>) {
        rows.push(row);
    }

    fn run<'a>(&'a self, (): &mut (), queue: &mut QueuePair, rows: &mut Rows<Row<'a>>) -> Results {
        let layout = self.layout;
        let header = layout.header.len();
        let mut checks: Rows<Result<(), Reason>> = Rows::new();
        let mut ops: Rows<Op<'_>> = Rows::new();
        for row in rows.iter_mut() {
            let (head, body) = row.value.split_at(header);
            let (text, tag) = body.split_at(body.len() - layout.tag);
            let aad = if header > 0 { head } else { row.aad };
            checks.push(layout.check(head));
            row.slot[..text.len()].copy_from_slice(text);
            if layout.length {
                row.slot[text.len()..].copy_from_slice(&bits(aad));
            }
            let authenticated = row.slot.len();
            let op = Op::new(&self.keys[row.key].open, Buffer::in_place(&mut *row.slot))
                .iv(&text[..BLOCK])
                .cipher_range(BLOCK..text.len());
            ops.push(if layout.tag == 0 {
                op
            } else {
                op.auth_range(0..authenticated).aad(aad).expected_tag(tag)
            });
        }
        let statuses = filled(process(queue, &mut ops), ops.len());
        drop(ops);
        let rows = rows.iter_mut().zip(checks).zip(statuses);
        let results = rows.map(|((row, check), status)| {
            check.and(status).and_then(|_| {
                let end = row.slot.len() - layout.trailer();
                let text = &row.slot[BLOCK..end];
                let unpadded = unpad(text).ok_or(if layout.tag == 0 {
                    Reason::Forged
                } else {
                    Reason::Layout("the padding is not PKCS #7")
                })?;
                let value = layout.wrap.read(&text[..unpadded]);
                let value = value.ok_or(Reason::Layout("not a value of the BSON type"))?;
                row.slot
                    .copy_within(BLOCK + value.start..BLOCK + value.end, 0);
                Ok(value.len())
            })
        });
        results.collect()
    }
}

/// The length without PKCS #7 padding, found without a branch on the text.
fn unpad(text: &[u8]) -> Option<usize> {
    let last = text.last_chunk::<BLOCK>()?;
    let pad = last[BLOCK - 1];
    let mut wrong = u8::from(pad == 0) | u8::from(pad > 16);
    for (at, byte) in (1..=16_u8).zip(last.iter().rev()) {
        wrong |= u8::from(at <= pad) & !byte.ct_eq(&pad).unwrap_u8() & 1;
    }
    (wrong == 0).then(|| text.len() - usize::from(pad))
}
