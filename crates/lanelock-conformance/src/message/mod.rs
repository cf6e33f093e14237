//! One operation written down completely: its session, its bytes, where each part lies, how the
//! memory is cut; and what came, or should come, of it.

mod borrowed;
mod compare;
mod expect;
mod memory;
mod owned;
mod setup;

pub use compare::Mismatch;
pub(crate) use compare::compare;
pub(crate) use expect::{Outcome, compute, expect, place};
pub use setup::Setup;

pub(crate) use borrowed::process;
pub(crate) use owned::{Padded, enqueue_and_dequeue, fits};

use std::ops::Range;

use lanelock_core::{InvalidReason, Status};

/// What a caller says of one operation; each field is one call of `Op`'s builder.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Message {
    /// The bytes of the input, segments joined.
    pub input: Vec<u8>,
    /// Where the result goes.
    pub output: Output,
    /// The cipher range, if one is given.
    pub cipher: Option<Range<usize>>,
    /// The authenticated range, if one is given.
    pub auth: Option<Range<usize>>,
    /// The IV.
    pub iv: Part,
    /// Additional data.
    pub aad: Part,
    /// The tag to compare, or room for the one to compute.
    pub tag: Part,
    /// The output offset, if one is given.
    pub output_at: Option<usize>,
    /// How the operation's memory lies.
    pub placement: Placement,
    /// Why it must be refused, if it must.
    pub refusal: Option<InvalidReason>,
}

/// Where the result of a message goes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Output {
    /// It replaces the input.
    #[default]
    InPlace,
    /// Nowhere but the tag.
    ReadOnly,
    /// Into memory of its own, which holds these bytes before.
    Separate(Vec<u8>),
}

/// An IV, additional data, or a tag.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Part {
    /// Not given.
    #[default]
    None,
    /// These bytes of the buffer.
    Inline(Range<usize>),
    /// A slice of its own.
    Separate(Vec<u8>),
}

/// How the memory of a message lies.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Placement {
    /// Lengths of the input's segments; empty for one slice.
    pub input_cuts: Vec<usize>,
    /// Lengths of the separate output's segments; empty for one slice.
    pub output_cuts: Vec<usize>,
    /// Where the parts lie relative to each other.
    pub seed: u64,
    /// What lies next to them.
    pub edge: Edge,
}

/// What borders on a message's memory.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Edge {
    /// Known bytes, which are looked at afterwards.
    #[default]
    Canary,
    /// The same, and behind the last part a page that cannot be touched.
    PageBehind,
    /// The same, with a page before the first part that cannot be touched.
    PageInFront,
}

/// What the message's memory holds afterwards.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Observed {
    pub(crate) status: Status,
    pub(crate) reason: Option<InvalidReason>,
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    pub(crate) iv: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) tag: Vec<u8>,
    /// What was written where nothing should be, in words.
    pub(crate) strays: Vec<String>,
}

/// What it should hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Expected {
    pub(crate) status: Status,
    pub(crate) reason: Option<InvalidReason>,
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    pub(crate) tag: Vec<u8>,
    /// Where unauthenticated plaintext would be: these bytes may be zero instead.
    pub(crate) may_be_zeroed: Range<usize>,
}

impl Message {
    /// The bytes to encrypt or decrypt, for sessions with a cipher.
    pub(crate) fn cipher_range(&self) -> Range<usize> {
        self.cipher.clone().unwrap_or(0..self.input.len())
    }

    /// The bytes to authenticate, for sessions with such a range.
    pub(crate) fn auth_range(&self) -> Range<usize> {
        self.auth.clone().unwrap_or(0..self.input.len())
    }

    /// Where the payload goes, in offsets of the buffer that is written.
    pub(crate) fn payload_at(&self) -> usize {
        match self.output {
            Output::Separate(_) => self.output_at.unwrap_or(0),
            _ => self.cipher_range().start,
        }
    }

    /// The bytes of a part that is read from the input.
    pub(crate) fn bytes<'m>(&'m self, part: &'m Part) -> &'m [u8] {
        match part {
            Part::None => &[],
            Part::Inline(range) => &self.input[range.clone()],
            Part::Separate(bytes) => bytes,
        }
    }

    /// The buffer that a result is written to, before.
    pub(crate) fn destination(&self) -> &[u8] {
        match &self.output {
            Output::Separate(output) => output,
            _ => &self.input,
        }
    }
}

impl Part {
    pub(crate) fn separate(&self) -> &[u8] {
        match self {
            Self::Separate(bytes) => bytes,
            _ => &[],
        }
    }
}
