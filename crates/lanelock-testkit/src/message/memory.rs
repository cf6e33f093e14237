//! The memory of one message: every part in one arena, in random order, with known bytes between
//! them, so that a byte written anywhere else is found.

use std::io::IoSliceMut;
use std::ops::Range;

use lanelock_core::{InvalidReason, Status};

use super::{Edge, Message, Observed, Output, Part};
use crate::guard::GuardedPages;

/// Known bytes before the first part and after the last.
const MARGIN: usize = 64;

/// Parts of a message, laid out.
pub(super) struct Arena {
    backing: Backing,
    /// In ascending order of their ranges.
    parts: Vec<(Owner, Range<usize>)>,
}

/// What a part of the arena belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Owner {
    Input(usize),
    Output(usize),
    Iv,
    Aad,
    Tag,
}

enum Backing {
    Heap(Vec<u8>),
    Pages(GuardedPages),
}

/// The parts, borrowed; segments in the message's order.
pub(super) struct Carved<'m> {
    pub(super) input: Vec<IoSliceMut<'m>>,
    pub(super) output: Vec<IoSliceMut<'m>>,
    pub(super) iv: &'m mut [u8],
    pub(super) aad: &'m mut [u8],
    pub(super) tag: &'m mut [u8],
}

impl Arena {
    /// Lays out `message` and fills in its bytes.
    pub(super) fn new(message: &Message) -> Self {
        let mut contents = contents(message);
        let mut rng = fastrand::Rng::with_seed(message.placement.seed);
        rng.shuffle(&mut contents);
        let mut parts = Vec::with_capacity(contents.len());
        let mut at = 0;
        for (i, (owner, bytes)) in contents.iter().enumerate() {
            let tight = rng.usize(..4) == 0; // parts that border on each other
            if i > 0 && !tight {
                at += rng.usize(1..=40);
            }
            parts.push((*owner, at..at + bytes.len()));
            at += bytes.len();
        }
        let (mut backing, shift) = Backing::for_edge(message.placement.edge, at);
        let memory = backing.bytes_mut();
        for (i, byte) in memory.iter_mut().enumerate() {
            *byte = canary(i);
        }
        for ((_, range), (_, bytes)) in parts.iter_mut().zip(&contents) {
            *range = range.start + shift..range.end + shift;
            memory[range.clone()].copy_from_slice(bytes);
        }
        Self { backing, parts }
    }

    /// Borrows each part.
    pub(super) fn carve(&mut self) -> Carved<'_> {
        let mut carved = Carved {
            input: Vec::new(),
            output: Vec::new(),
            iv: &mut [],
            aad: &mut [],
            tag: &mut [],
        };
        let (mut input, mut output) = (Vec::new(), Vec::new());
        let (mut rest, mut at) = (self.backing.bytes_mut(), 0);
        for (owner, range) in &self.parts {
            let (_, tail) = std::mem::take(&mut rest).split_at_mut(range.start - at);
            let (part, tail) = tail.split_at_mut(range.len());
            (rest, at) = (tail, range.end);
            match *owner {
                Owner::Input(i) => input.push((i, IoSliceMut::new(part))),
                Owner::Output(i) => output.push((i, IoSliceMut::new(part))),
                Owner::Iv => carved.iv = part,
                Owner::Aad => carved.aad = part,
                Owner::Tag => carved.tag = part,
            }
        }
        input.sort_by_key(|(i, _)| *i);
        output.sort_by_key(|(i, _)| *i);
        carved.input = input.into_iter().map(|(_, part)| part).collect();
        carved.output = output.into_iter().map(|(_, part)| part).collect();
        carved
    }

    /// Copies the parts out after an operation that ended with `status`, and looks at what lies between them.
    pub(super) fn observe(&self, status: Status, reason: Option<InvalidReason>) -> Observed {
        let memory = self.backing.bytes();
        let gather = |is_wanted: &dyn Fn(Owner) -> Option<usize>| {
            let mut found: Vec<_> = self
                .parts
                .iter()
                .filter_map(|(owner, range)| Some((is_wanted(*owner)?, range.clone())))
                .collect();
            found.sort_by_key(|(i, _)| *i);
            found
                .into_iter()
                .flat_map(|(_, range)| &memory[range])
                .copied()
                .collect::<Vec<u8>>()
        };
        let one = |wanted: Owner| gather(&|owner| (owner == wanted).then_some(0));
        Observed {
            status,
            reason,
            input: gather(&|owner| match owner {
                Owner::Input(i) => Some(i),
                _ => None,
            }),
            output: gather(&|owner| match owner {
                Owner::Output(i) => Some(i),
                _ => None,
            }),
            iv: one(Owner::Iv),
            aad: one(Owner::Aad),
            tag: one(Owner::Tag),
            strays: self.strays(memory),
        }
    }

    /// Bytes between the parts that are not what they were.
    fn strays(&self, memory: &[u8]) -> Vec<String> {
        let mut strays = Vec::new();
        let mut at = 0;
        let mut before = None;
        let end = memory.len()..memory.len();
        let ends = self.parts.iter().map(|(o, r)| (Some(*o), r));
        for (owner, range) in ends.chain([(None, &end)]) {
            let hit = (at..range.start).find(|&i| memory[i] != canary(i));
            if let Some(i) = hit {
                strays.push(match (before, owner) {
                    (Some(part), _) => {
                        format!("wrote {} bytes past the end of {}", i - at + 1, name(part))
                    }
                    (None, Some(part)) => {
                        format!(
                            "wrote {} bytes before the start of {}",
                            range.start - i,
                            name(part)
                        )
                    }
                    (None, None) => "wrote although there is no part".to_owned(),
                });
            }
            (at, before) = (range.end, owner);
        }
        strays
    }
}

impl Backing {
    /// Room for `len` bytes of parts, and the offset of the first.
    fn for_edge(edge: Edge, len: usize) -> (Self, usize) {
        let pages = |len| GuardedPages::new(len).expect("the system has memory for a few pages");
        match edge {
            Edge::Canary => (Self::Heap(vec![0; len + 2 * MARGIN]), MARGIN),
            Edge::PageInFront => (Self::Pages(pages(len + MARGIN)), 0),
            Edge::PageBehind => {
                let pages = pages(len + MARGIN);
                let shift = pages.as_slice().len() - len;
                (Self::Pages(pages), shift)
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages.as_slice(),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages.as_mut_slice(),
        }
    }
}

/// Each part with its bytes, in the message's order.
fn contents(message: &Message) -> Vec<(Owner, &[u8])> {
    let mut parts = Vec::new();
    let input = cut(&message.input, &message.placement.input_cuts);
    parts.extend(input.enumerate().map(|(i, s)| (Owner::Input(i), s)));
    if let Output::Separate(output) = &message.output {
        let output = cut(output, &message.placement.output_cuts);
        parts.extend(output.enumerate().map(|(i, s)| (Owner::Output(i), s)));
    }
    for (owner, part) in [
        (Owner::Iv, &message.iv),
        (Owner::Aad, &message.aad),
        (Owner::Tag, &message.tag),
    ] {
        if let Part::Separate(bytes) = part {
            parts.push((owner, bytes));
        }
    }
    parts
}

/// `data` in segments of these lengths; one if there are none.
pub(super) fn cut<'a>(data: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let whole = cuts.is_empty().then_some(data);
    whole.into_iter().chain(cuts.iter().scan(0, |at, len| {
        let start = *at;
        *at += len;
        Some(&data[start..*at])
    }))
}

/// The byte that belongs at offset `i` between parts; 251 is prime, so runs do not line up.
#[expect(clippy::cast_possible_truncation, reason = "below 251")]
pub(super) fn canary(i: usize) -> u8 {
    (i % 251) as u8 ^ 0xa5
}

fn name(owner: Owner) -> String {
    match owner {
        Owner::Input(i) => format!("input segment {i}"),
        Owner::Output(i) => format!("output segment {i}"),
        Owner::Iv => "the IV".to_owned(),
        Owner::Aad => "the additional data".to_owned(),
        Owner::Tag => "the tag".to_owned(),
    }
}
