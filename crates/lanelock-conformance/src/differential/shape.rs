//! A message described by lengths and choices, from which its bytes follow: what the generator
//! draws and the shrinker makes smaller.

use std::ops::Range;

use super::edit::{Flip, flip_bit};
use super::fault::Fault;
use crate::message::{Edge, Message, Output, Part, Placement, Setup};
use crate::reference::REFERENCE;
use crate::rng::Rng;

/// A message of a session, without its bytes.
///
/// The input is laid out as
/// `[tag] lead [IV] [additional data] header body trailer [tag] rest`, each bracket only if the
/// part is inline; the separate output as `[tag] before body [tag] after`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Shape {
    /// Of every byte and random choice below.
    pub(crate) seed: u64,
    pub(crate) lead: usize,
    pub(crate) header: usize,
    /// The cipher range; what a MAC or hash authenticates.
    pub(crate) body: usize,
    pub(crate) trailer: usize,
    pub(crate) rest: usize,
    pub(crate) aad: Option<usize>,
    pub(crate) aad_inline: bool,
    pub(crate) iv_inline: bool,
    pub(crate) iv: IvPattern,
    pub(crate) tag: TagPlace,
    /// First and last point of the authenticated range.
    pub(crate) auth: (Point, Point),
    pub(crate) output: OutputShape,
    pub(crate) input_cut: Cut,
    pub(crate) output_cut: Cut,
    pub(crate) edge: Edge,
    pub(crate) flip: Option<Flip>,
    pub(crate) fault: Option<Fault>,
    /// Ranges are stated although they are the defaults.
    pub(crate) explicit: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum IvPattern {
    Random,
    /// All ones: counters wrap at once.
    Ones,
    /// Random, then ones from this byte on: counters carry into the random part.
    OnesFrom(usize),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TagPlace {
    Separate,
    Front,
    Behind,
    /// In the body of a MAC-then-encrypt chain, as in TLS.
    Inside,
}

/// A place in the input at which an authenticated range can begin or end.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Point {
    Lead,
    Header,
    Body,
    InBody,
    BodyEnd,
    TrailerEnd,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OutputShape {
    InPlace,
    ReadOnly,
    Separate { before: usize, after: usize },
}

/// How a buffer is cut into segments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cut {
    /// One slice, no list.
    Whole,
    /// A list of segments of this length.
    Every(usize),
    /// Random lengths up to this one, some of them 0.
    Upto(usize),
}

/// Where the parts of the input are.
struct Input {
    len: usize,
    points: [usize; 6],
    iv: Range<usize>,
    aad: Range<usize>,
    body: Range<usize>,
    tag: Range<usize>,
}

impl Shape {
    /// The same body in the most common form: nothing around it, each part in one piece of its own, no fault. Engines
    /// run such operations by ways of their own, if several follow each other.
    pub(crate) fn plain(self) -> Self {
        Self {
            lead: 0,
            header: 0,
            trailer: 0,
            rest: 0,
            aad_inline: false,
            iv_inline: false,
            tag: TagPlace::Separate,
            auth: (Point::Body, Point::BodyEnd),
            output: match self.output {
                OutputShape::Separate { .. } => OutputShape::Separate {
                    before: 0,
                    after: 0,
                },
                other => other,
            },
            input_cut: Cut::Whole,
            output_cut: Cut::Whole,
            fault: None,
            explicit: false,
            ..self
        }
    }

    /// The message itself.
    pub(crate) fn message(&self, setup: &Setup) -> Message {
        let mut rng = Rng::new(self.seed);
        let tag = self.tag_place(setup);
        let in_output = setup.is_forward() && matches!(self.output, OutputShape::Separate { .. });
        let at = self.input(setup, if in_output { TagPlace::Separate } else { tag });
        let mut message = Message {
            input: rng.bytes(at.len),
            ..Message::default()
        };
        if setup.iv_len > 0 {
            let iv = self.iv_bytes(setup, &mut rng);
            message.iv = part(self.iv_inline, &at.iv, iv, &mut message.input);
        }
        if let (true, Some(len)) = (setup.takes_aad(), self.aad) {
            let aad = rng.bytes(len);
            message.aad = part(self.aad_inline, &at.aad, aad, &mut message.input);
        }
        let inside = (tag == TagPlace::Inside).then(|| {
            let start = at.body.start + rng.below(self.body - setup.tag_len + 1);
            start..start + setup.tag_len
        });
        if setup.ciphers() && (self.explicit || at.body != (0..at.len)) {
            message.cipher = Some(at.body.clone());
        }
        if setup.authenticates() {
            let auth = self.auth(&at, inside.as_ref(), &mut rng);
            if self.explicit || auth != (0..at.len) {
                message.auth = Some(auth);
            }
        }
        if setup.tag_len > 0 {
            message.tag = match (tag, &inside) {
                (_, Some(inside)) => Part::Inline(inside.clone()),
                (TagPlace::Separate, _) => Part::Separate(rng.bytes(setup.tag_len)),
                _ => Part::Inline(at.tag.clone()),
            };
        }
        if !setup.is_forward() {
            message.protect(setup, &REFERENCE);
        }
        self.lay_out_output(setup, &at, tag, &mut rng, &mut message);
        if let Some(flip) = self.flip {
            flip_bit(flip, setup, &mut message, &mut rng);
        }
        message.placement = Placement {
            input_cuts: self.input_cut.lengths(message.input.len(), &mut rng),
            output_cuts: match &message.output {
                Output::Separate(output) => self.output_cut.lengths(output.len(), &mut rng),
                _ => Vec::new(),
            },
            seed: rng.next(),
            edge: self.edge,
        };
        if let Some(fault) = self.fault {
            fault.apply(setup, &mut message);
        }
        message
    }

    /// Where the tag can really go in this session.
    fn tag_place(&self, setup: &Setup) -> TagPlace {
        match self.tag {
            _ if setup.tag_len == 0 => TagPlace::Separate,
            _ if setup.is_forward() && self.output == OutputShape::ReadOnly => TagPlace::Separate,
            TagPlace::Inside if !setup.is_mac_first() || self.body < setup.tag_len => {
                TagPlace::Separate
            }
            place => place,
        }
    }

    fn input(&self, setup: &Setup, tag: TagPlace) -> Input {
        let mut at = 0;
        let mut take = |len: usize| {
            let start = at;
            at += len;
            start..at
        };
        let tag_len = |here: bool| if here { setup.tag_len } else { 0 };
        let inline_aad = if setup.takes_aad() && self.aad_inline {
            self.aad.unwrap_or(0)
        } else {
            0
        };
        let front = take(tag_len(tag == TagPlace::Front));
        let lead = take(self.lead);
        let iv = take(if self.iv_inline { setup.iv_len } else { 0 });
        let aad = take(inline_aad);
        let header = take(self.header);
        let body = take(self.body);
        let trailer = take(self.trailer);
        let behind = take(tag_len(tag == TagPlace::Behind));
        let rest = take(self.rest);
        Input {
            len: rest.end,
            points: [
                lead.start,
                header.start,
                body.start,
                body.start + body.len() / 2,
                body.end,
                trailer.end,
            ],
            iv,
            aad,
            body,
            tag: if front.is_empty() { behind } else { front },
        }
    }

    fn iv_bytes(&self, setup: &Setup, rng: &mut Rng) -> Vec<u8> {
        let mut iv = rng.bytes(setup.iv_len);
        let from = match self.iv {
            IvPattern::Random => setup.iv_len,
            IvPattern::Ones => 0,
            IvPattern::OnesFrom(from) => from.min(setup.iv_len),
        };
        iv[from..].fill(0xff);
        iv
    }

    fn auth(&self, at: &Input, inside: Option<&Range<usize>>, rng: &mut Rng) -> Range<usize> {
        let (first, last) = (self.auth.0.min(self.auth.1), self.auth.0.max(self.auth.1));
        let mut range = at.points[first as usize]..at.points[last as usize];
        if first == Point::InBody && last == Point::InBody {
            range.end = at.points[Point::BodyEnd as usize].min(range.start + rng.below(20));
        }
        if let Some(tag) = inside {
            range.end = range.end.min(tag.start);
            range.start = range.start.min(range.end);
        }
        range
    }

    /// Turns an in-place message into one with another output, if that is wanted and can be.
    fn lay_out_output(
        &self,
        setup: &Setup,
        at: &Input,
        tag: TagPlace,
        rng: &mut Rng,
        message: &mut Message,
    ) {
        match self.output {
            OutputShape::InPlace => {}
            OutputShape::ReadOnly if setup.ciphers() => {}
            OutputShape::ReadOnly => message.output = Output::ReadOnly,
            OutputShape::Separate { before, after } => {
                let room = |here: TagPlace| {
                    if setup.is_forward() && tag == here {
                        setup.tag_len
                    } else {
                        0
                    }
                };
                let body = if setup.ciphers() { self.body } else { 0 };
                let start = room(TagPlace::Front) + before;
                let end = start + body;
                let len = end + room(TagPlace::Behind) + after;
                message.output = Output::Separate(rng.bytes(len));
                if setup.ciphers() && (start > 0 || self.explicit) {
                    message.output_at = Some(start);
                }
                if let (true, Part::Inline(range)) = (setup.is_forward(), &mut message.tag) {
                    *range = match tag {
                        TagPlace::Front => 0..setup.tag_len,
                        TagPlace::Behind => end..end + setup.tag_len,
                        _ => {
                            let offset = range.start - at.body.start + start;
                            offset..offset + setup.tag_len
                        }
                    };
                }
            }
        }
    }
}

/// Puts `bytes` where the part is to lie.
fn part(inline: bool, at: &Range<usize>, bytes: Vec<u8>, input: &mut [u8]) -> Part {
    if !inline {
        return Part::Separate(bytes);
    }
    input[at.clone()].copy_from_slice(&bytes);
    Part::Inline(at.clone())
}

impl Cut {
    fn lengths(self, len: usize, rng: &mut Rng) -> Vec<usize> {
        let longest = match self {
            Self::Whole => return Vec::new(),
            Self::Every(longest) | Self::Upto(longest) => longest.max(1),
        };
        let mut cuts = Vec::new();
        let mut left = len;
        while left > 0 {
            let want = match self {
                Self::Upto(_) => rng.below(longest + 1),
                _ => longest,
            };
            cuts.push(want.min(left));
            left -= want.min(left);
        }
        if cuts.is_empty() {
            cuts.push(0);
        }
        cuts
    }
}
