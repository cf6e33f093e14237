//! The messages that a thread works on: memory laid out once, content derived from seeds.

use std::io::IoSliceMut;

use lanelock::Session;
use lanelock::buffer::Sink;

use super::content;
use super::content::Fnv;
use super::operation::Operation;
use super::shape::{Layout, Shape};

/// The memory of a pool; [`Memory::messages`] borrows it.
#[derive(Debug)]
pub struct Memory {
    inputs: Area,
    outputs: Area,
    tags: Area,
    ivs: Area,
    aads: Area,
}

/// One message and what belongs to it.
#[derive(Debug)]
pub struct Message<'p> {
    /// Whose key it uses.
    pub session: &'p Session,
    /// Its bytes.
    pub input: Part<'p>,
    /// Where the result goes; `None` if over the input, or if there is only a tag.
    pub output: Option<Part<'p>>,
    /// Its IV; empty for none.
    pub iv: &'p mut [u8],
    /// Its additional data; empty for none.
    pub aad: &'p mut [u8],
    /// Its tag or digest; empty for none.
    pub tag: &'p mut [u8],
}

/// Bytes in one run or in several.
#[derive(Debug)]
pub enum Part<'p> {
    /// One run.
    Whole(&'p mut [u8]),
    /// Several, in order.
    Pieces(Vec<IoSliceMut<'p>>),
}

impl Memory {
    /// Room for the pool of one thread.
    pub fn new(shape: &Shape) -> Self {
        let messages = shape.pool * shape.stride();
        let apart = shape.has_output() && shape.layout != Layout::InPlace;
        Self {
            inputs: Area::new(messages),
            outputs: Area::new(if apart { messages } else { 0 }),
            tags: Area::new(shape.pool * TAG_SLOT),
            ivs: Area::new(shape.pool * IV_SLOT),
            aads: Area::new(shape.pool * aad_slot(shape)),
        }
    }

    /// The messages in their first content; message `n` uses session `n` modulo their number.
    pub fn messages<'p>(&'p mut self, shape: &Shape, sessions: &'p [Session]) -> Vec<Message<'p>> {
        let pattern = shape.mix.pattern();
        let mut inputs = self.inputs.slots(shape.stride());
        let mut outputs = self.outputs.slots(shape.stride());
        let mut tags = self.tags.slots(TAG_SLOT);
        let mut ivs = self.ivs.slots(IV_SLOT);
        let mut aads = self.aads.slots(aad_slot(shape));
        let mut messages: Vec<_> = (0..shape.pool)
            .map(|n| {
                let len = pattern[n % pattern.len()] as usize;
                let part = |slot: &'p mut [u8]| Part::new(&mut slot[..len], shape.segments);
                let session = &sessions[n % sessions.len()];
                Message {
                    session,
                    input: part(inputs.next().expect("a slot for each message")),
                    output: outputs.next().map(part),
                    iv: &mut ivs.next().expect("as many")[..session.iv_len()],
                    aad: &mut aads.next().unwrap_or_default()[..shape.aad],
                    tag: &mut tags.next().expect("as many")[..session.tag_len()],
                }
            })
            .collect();
        refill(&mut messages);
        messages
    }
}

/// Brings every message back to its first content and clears outputs and tags.
pub fn refill(messages: &mut [Message<'_>]) {
    for (n, message) in (0_u64..).zip(messages) {
        content::fill(message.iv, content::IV + n);
        content::fill(message.aad, content::AAD + n);
        message.tag.fill(0);
        message.input.fill(content::DATA + n);
        if let Some(output) = &mut message.output {
            output.clear();
        }
    }
}

/// Checksum over what the operations produced, as the peers compute it: of each message the
/// output and the tag, for a verified MAC a byte that says so.
pub fn digest(messages: &[Message<'_>], shape: &Shape) -> u64 {
    let mut hash = Fnv::new();
    for message in messages {
        if shape.has_output() {
            message
                .output
                .as_ref()
                .unwrap_or(&message.input)
                .hash(&mut hash);
        }
        match shape.operation {
            Operation::Encrypt | Operation::Compute => hash.update(message.tag),
            Operation::Verify => hash.update(&[1]),
            Operation::Decrypt => {}
        }
    }
    hash.finish()
}

impl<'p> Part<'p> {
    /// `bytes` in `count` pieces, of which the later ones may be empty.
    fn new(bytes: &'p mut [u8], count: usize) -> Self {
        if count == 1 {
            return Self::Whole(bytes);
        }
        let each = bytes.len().div_ceil(count).max(1);
        let mut pieces: Vec<_> = bytes.chunks_mut(each).map(IoSliceMut::new).collect();
        pieces.resize_with(count, || IoSliceMut::new(&mut []));
        Self::Pieces(pieces)
    }

    /// As what an operation reads and writes.
    #[inline]
    pub fn sink(&mut self) -> Sink<'_> {
        match self {
            Self::Whole(bytes) => (&mut **bytes).into(),
            Self::Pieces(pieces) => (&mut pieces[..]).into(),
        }
    }

    /// The one run that it is.
    ///
    /// # Panics
    /// If it is in pieces.
    #[inline]
    pub fn whole(&mut self) -> &mut [u8] {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Pieces(_) => unreachable!("the pool was made in one piece"),
        }
    }

    fn fill(&mut self, seed: u64) {
        match self {
            Self::Whole(bytes) => content::fill(bytes, seed),
            Self::Pieces(pieces) => {
                let len = pieces.iter().map(|piece| piece.len()).sum();
                let mut from = &content::bytes(len, seed)[..];
                for piece in pieces {
                    let (now, later) = from.split_at(piece.len());
                    piece.copy_from_slice(now);
                    from = later;
                }
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Whole(bytes) => bytes.fill(0),
            Self::Pieces(pieces) => pieces.iter_mut().for_each(|piece| piece.fill(0)),
        }
    }

    fn hash(&self, hash: &mut Fnv) {
        match self {
            Self::Whole(bytes) => hash.update(bytes),
            Self::Pieces(pieces) => pieces.iter().for_each(|piece| hash.update(piece)),
        }
    }
}

/// Memory that starts on a cache line, every page of it present.
#[derive(Debug)]
struct Area {
    bytes: Vec<u8>,
    start: usize,
}

impl Area {
    fn new(len: usize) -> Self {
        // Zeroed memory would be mapped when first touched; other bytes are written at once.
        let bytes = vec![0xff; len.next_multiple_of(CACHE_LINE) + CACHE_LINE];
        let start = bytes.as_ptr().align_offset(CACHE_LINE);
        Self { bytes, start }
    }

    /// One slot after the other; none if there is no memory or a slot has none.
    fn slots(&mut self, len: usize) -> impl Iterator<Item = &mut [u8]> {
        let end = self.bytes.len() - CACHE_LINE;
        let area = if len == 0 { 0 } else { end };
        self.bytes[self.start..][..area].chunks_exact_mut(len.max(1))
    }
}

fn aad_slot(shape: &Shape) -> usize {
    shape.aad.next_multiple_of(16)
}

const CACHE_LINE: usize = 64;
/// The longest tag.
const TAG_SLOT: usize = 64;
/// The longest IV of a session that chooses none, 24 bytes, in whole AES blocks.
const IV_SLOT: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_the_same_content_as_one_run() {
        let (mut whole, mut split) = ([0; 50], [0; 50]);
        let mut hashes = Vec::new();
        for (bytes, count) in [(&mut whole, 1), (&mut split, 7)] {
            let mut part = Part::new(&mut bytes[..], count);
            part.fill(9);
            let mut hash = Fnv::new();
            part.hash(&mut hash);
            hashes.push(hash.finish());
        }
        assert_eq!(whole, split);
        assert_eq!(hashes[0], hashes[1]);
    }

    #[test]
    fn a_message_shorter_than_its_pieces_ends_in_empty_ones() {
        let mut bytes = [1, 2, 3];
        let Part::Pieces(pieces) = Part::new(&mut bytes, 5) else {
            panic!("one run")
        };
        assert_eq!(
            pieces.iter().map(|p| p.len()).collect::<Vec<_>>(),
            [1, 1, 1, 0, 0]
        );
    }
}
