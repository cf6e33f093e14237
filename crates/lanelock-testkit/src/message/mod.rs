//! One operation written down completely: its session, its bytes, the place of each part, the
//! segments; and its result, by a reference and by an engine.
//!
//! ```text
//! Setup, Message ─→ process, enqueue_and_dequeue ─→ Observed ─┐
//!          └──────→ expect (compute, place) ──────→ Expected ─┴─→ compare ─→ Mismatch
//! ```

mod borrowed;
mod compare;
mod expect;
mod memory;
mod owned;
mod reference;
mod setup;

pub use borrowed::{TagMemory, process};
pub use compare::{Mismatch, compare};
pub use expect::{Outcome, compute, expect, place};
pub use owned::{Padded, enqueue_and_dequeue, fits};
pub use reference::Reference;
pub use setup::Setup;

use std::ops::Range;

use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, InvalidReason, Status};

/// What a caller says of one operation; each field is one call of `Op`'s builder.
///
/// A buffer is a `B` and a part outside of the buffers a `P`: bytes, which are copied to memory of
/// their own, or places in memory that exists and may overlap.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Message<B = Vec<u8>, P = B> {
    /// The input; bytes of segments are joined.
    pub input: B,
    /// Where the result goes.
    pub output: Output<B>,
    /// The cipher range, if one is given.
    pub cipher: Option<Range<usize>>,
    /// The authenticated range, if one is given.
    pub auth: Option<Range<usize>>,
    /// The IV.
    pub iv: Part<P>,
    /// Additional data.
    pub aad: Part<P>,
    /// The tag to compare, or room for the one to compute.
    pub tag: Part<P>,
    /// The output offset, if one is given.
    pub output_at: Option<usize>,
    /// How memory is allocated for bytes.
    pub placement: Placement,
    /// Why it must be refused, if it must and the caller knows.
    pub refusal: Option<InvalidReason>,
}

/// Where the result of a message goes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Output<B = Vec<u8>> {
    /// It replaces the input.
    #[default]
    InPlace,
    /// Nowhere but the tag.
    ReadOnly,
    /// Into memory of its own, which holds these bytes before.
    Separate(B),
}

/// An IV, additional data, or a tag.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Part<P = Vec<u8>> {
    /// Not given.
    #[default]
    None,
    /// These bytes of the buffer.
    Inline(Range<usize>),
    /// A slice of its own.
    Separate(P),
}

/// How the memory of a message is allocated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Placement {
    /// Lengths of the input's segments; empty for one slice.
    pub input_cuts: Vec<usize>,
    /// Lengths of the separate output's segments; empty for one slice.
    pub output_cuts: Vec<usize>,
    /// Determines the order of the parts in memory and the gaps between them.
    pub seed: u64,
    /// What lies next to them.
    pub edge: Edge,
}

/// What borders on a message's memory.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Edge {
    /// Known bytes, which are checked afterwards.
    #[default]
    Canary,
    /// The same, and an inaccessible page right after the last part.
    PageBehind,
    /// The same, and an inaccessible page right before the first part.
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
    /// Writes outside of what may be written, in words.
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

impl Expected {
    /// The status that the operation should have.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }
}

impl<B, P> Message<B, P> {
    /// The buffer that the result is written to.
    pub fn destination(&self) -> &B {
        match &self.output {
            Output::Separate(output) => output,
            _ => &self.input,
        }
    }
}

impl Message {
    /// The bytes to encrypt or decrypt, for sessions with a cipher.
    #[must_use]
    pub fn cipher_range(&self) -> Range<usize> {
        self.cipher.clone().unwrap_or(0..self.input.len())
    }

    /// The bytes to authenticate, for sessions with such a range.
    #[must_use]
    pub fn auth_range(&self) -> Range<usize> {
        self.auth.clone().unwrap_or(0..self.input.len())
    }

    /// Where the payload goes, in offsets of the buffer that is written.
    #[must_use]
    pub fn payload_at(&self) -> usize {
        match self.output {
            Output::Separate(_) => self.output_at.unwrap_or(0),
            _ => self.cipher_range().start,
        }
    }

    /// The bytes of a part that is read from the input.
    #[must_use]
    pub fn bytes<'m>(&'m self, part: &'m Part) -> &'m [u8] {
        match part {
            Part::None => &[],
            Part::Inline(range) => &self.input[range.clone()],
            Part::Separate(bytes) => bytes,
        }
    }

    /// Makes an in-place message one that verifies: protects its bytes as `reference` does. A
    /// cipher has nothing to verify and leaves the message as it is.
    ///
    /// # Panics
    /// If a range extends past the end of the input.
    pub fn protect(&mut self, setup: &Setup, reference: &Reference) {
        if matches!(setup.algorithm, Algorithm::Cipher(_)) {
            return;
        }
        let forward = setup.with_direction(Direction::Forward);
        let Outcome { payload, tag, .. } = compute(&forward, self, reference);
        let cipher = self.cipher_range();
        let inside = match &self.tag {
            Part::Inline(at) => setup.ciphers() && at.start < cipher.end && at.end > cipher.start,
            _ => false,
        };
        if setup.ciphers() {
            self.input[cipher].copy_from_slice(&payload);
        }
        match &mut self.tag {
            _ if inside => {}
            Part::Inline(at) => self.input[at.clone()].copy_from_slice(&tag),
            Part::Separate(bytes) => *bytes = tag,
            Part::None => {}
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
