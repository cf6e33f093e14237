//! A message whose result is known, in several layouts, right and tampered with.

use std::ops::Range;

use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, QueuePair, Session, SessionError};

use crate::Subject;
use crate::message::{
    Message, Mismatch, Outcome, Output, Padded, Part, Placement, Setup, compare, compute, place,
    process,
};

/// A message and its result, from a standard or a test suite.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownAnswer {
    /// The algorithm family.
    pub algorithm: Algorithm,
    /// The cipher's, AEAD's or MAC's key.
    pub key: Vec<u8>,
    /// The key of a chain's MAC.
    pub mac_key: Vec<u8>,
    /// The IV; empty for none.
    pub iv: Vec<u8>,
    /// Additional data.
    pub aad: Vec<u8>,
    /// Authenticated bytes in front of the payload, for chains.
    pub header: Vec<u8>,
    /// The plaintext, or what is authenticated or hashed.
    pub plaintext: Vec<u8>,
    /// The ciphertext; empty for MACs and hashes.
    pub ciphertext: Vec<u8>,
    /// Authenticated bytes behind the payload, for chains.
    pub trailer: Vec<u8>,
    /// The tag or digest; empty for none.
    pub tag: Vec<u8>,
}

/// What was run for one known answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Runs {
    /// Operations that had to give the known result.
    pub right: u64,
    /// Operations that had to be refused because a bit of the message was flipped.
    pub tampered: u64,
}

/// A message laid out for one session, and what should come of it.
struct Case {
    setup: Setup,
    message: Message,
    outcome: Outcome,
    what: String,
}

/// How a known answer lies in memory.
#[derive(Clone, Copy, Debug)]
struct Layout {
    name: &'static str,
    separate: bool,
    inline: bool,
    segment: usize,
}

const LAYOUTS: [Layout; 4] = [
    Layout {
        name: "in place",
        separate: false,
        inline: false,
        segment: 0,
    },
    Layout {
        name: "separate output",
        separate: true,
        inline: false,
        segment: 0,
    },
    Layout {
        name: "in place, segments of 1 to 5 bytes, parts inline",
        separate: false,
        inline: true,
        segment: 5,
    },
    Layout {
        name: "separate output, segments of 1 to 13 bytes, parts inline",
        separate: true,
        inline: true,
        segment: 13,
    },
];

impl KnownAnswer {
    /// Nothing but an algorithm.
    #[must_use]
    pub fn empty(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            key: Vec::new(),
            mac_key: Vec::new(),
            iv: Vec::new(),
            aad: Vec::new(),
            header: Vec::new(),
            plaintext: Vec::new(),
            ciphertext: Vec::new(),
            trailer: Vec::new(),
            tag: Vec::new(),
        }
    }

    /// Runs it on `subject` in each layout and direction, and if `tamper`, with bits flipped.
    ///
    /// # Errors
    /// Whatever the engine said when a session was to be made.
    pub fn check(
        &self,
        subject: &Subject,
        tamper: bool,
    ) -> Result<Result<Runs, Mismatch>, SessionError> {
        let mut cases = Vec::new();
        let mut runs = Runs::default();
        for layout in LAYOUTS {
            for direction in self.directions() {
                cases.push(self.case(layout, direction));
                runs.right += 1;
            }
            if tamper && self.is_authenticated() {
                let tampered = self.tampered(layout);
                runs.tampered += tampered.len() as u64;
                cases.extend(tampered);
            }
        }
        Ok(run(subject, &cases)?.map_or(Ok(runs), Err))
    }

    /// Runs it on `subject` in each layout as a message that does not verify.
    ///
    /// # Errors
    /// Whatever the engine said when the session was to be made.
    pub fn check_refused(&self, subject: &Subject) -> Result<Result<Runs, Mismatch>, SessionError> {
        let cases: Vec<Case> = LAYOUTS
            .map(|layout| {
                let mut case = self.case(layout, Direction::Reverse);
                case.outcome.refused = true;
                case
            })
            .into();
        let runs = Runs {
            right: cases.len() as u64,
            tampered: 0,
        };
        Ok(run(subject, &cases)?.map_or(Ok(runs), Err))
    }

    /// The session for one direction.
    #[must_use]
    pub fn setup(&self, direction: Direction) -> Setup {
        Setup {
            algorithm: self.algorithm,
            direction,
            key: self.key.clone(),
            mac_key: self.mac_key.clone(),
            iv_len: self.iv.len(),
            tag_len: self.tag.len(),
        }
    }

    fn directions(&self) -> impl Iterator<Item = Direction> {
        let hash = matches!(self.algorithm, Algorithm::Hash(_));
        [Direction::Forward, Direction::Reverse]
            .into_iter()
            .take(if hash { 1 } else { 2 })
    }

    fn is_authenticated(&self) -> bool {
        !matches!(self.algorithm, Algorithm::Cipher(_) | Algorithm::Hash(_))
    }

    fn case(&self, layout: Layout, direction: Direction) -> Case {
        let setup = self.setup(direction);
        let message = self.message(&setup, layout);
        let (outcome, verb) = match direction {
            Direction::Forward => (&self.ciphertext, "protect"),
            Direction::Reverse => (&self.plaintext, "undo"),
        };
        let payload = if setup.ciphers() {
            outcome.clone()
        } else {
            Vec::new()
        };
        Case {
            setup,
            message,
            outcome: Outcome {
                payload,
                tag: self.tag.clone(),
                refused: false,
            },
            what: format!("{verb}, {}", layout.name),
        }
    }

    fn message(&self, setup: &Setup, layout: Layout) -> Message {
        let mut input = Vec::new();
        let mut add = |bytes: &[u8]| {
            let start = input.len();
            input.extend_from_slice(bytes);
            start..input.len()
        };
        let (mut iv, mut aad) = (Part::None, Part::None);
        for (part, bytes) in [(&mut iv, &self.iv), (&mut aad, &self.aad)] {
            *part = match bytes.is_empty() {
                true => Part::None,
                false if layout.inline => Part::Inline(add(bytes)),
                false => Part::Separate(bytes.clone()),
            };
        }
        let header = add(&self.header);
        let before = if setup.is_forward() || !setup.ciphers() {
            &self.plaintext
        } else {
            &self.ciphertext
        };
        let payload = add(before);
        let trailer = add(&self.trailer);
        let tag = self.tag_part(setup, layout, add);
        let cuts = |len| segments(len, layout.segment);
        let after_payload = if matches!(tag, Part::Inline(_)) && setup.is_forward() {
            self.tag.len()
        } else {
            0
        };
        let (mut tag, mut output, mut output_at) = (tag, Output::InPlace, None);
        if layout.separate && setup.ciphers() {
            let at = 5;
            output = Output::Separate(vec![0x3c; at + payload.len() + after_payload + 3]);
            output_at = Some(at);
            if after_payload > 0 {
                let end = at + payload.len();
                tag = Part::Inline(end..end + self.tag.len());
            }
        }
        let output_len = match &output {
            Output::Separate(output) => output.len(),
            _ => 0,
        };
        let placement = Placement {
            input_cuts: cuts(input.len()),
            output_cuts: cuts(output_len),
            seed: input.len() as u64,
            ..Placement::default()
        };
        Message {
            output,
            cipher: setup.ciphers().then(|| payload.clone()),
            auth: setup.authenticates().then_some(header.start..trailer.end),
            iv,
            aad,
            tag,
            output_at,
            placement,
            refusal: None,
            input,
        }
    }

    fn tag_part(
        &self,
        setup: &Setup,
        layout: Layout,
        mut add: impl FnMut(&[u8]) -> Range<usize>,
    ) -> Part {
        let room = vec![0x3c; self.tag.len()];
        let bytes = if setup.is_forward() { &room } else { &self.tag };
        match self.tag.is_empty() {
            true => Part::None,
            false if layout.inline => Part::Inline(add(bytes)),
            false => Part::Separate(bytes.clone()),
        }
    }

    /// The message with one bit flipped, once in each place that the tag protects.
    fn tampered(&self, layout: Layout) -> Vec<Case> {
        let reverse = self.case(layout, Direction::Reverse);
        let iv_counts = match self.algorithm {
            Algorithm::Chain(..) => false, // unless it is part of the header
            _ => !self.iv.is_empty(),
        };
        let body = if reverse.setup.ciphers() {
            reverse.message.cipher.clone()
        } else {
            reverse.message.auth.clone()
        };
        let body = body.map_or(Part::None, Part::Inline);
        let header = match self.algorithm {
            Algorithm::Chain(..) => reverse
                .message
                .auth
                .clone()
                .map_or(Part::None, Part::Inline),
            _ => Part::None,
        };
        let mut cases = Vec::new();
        for (name, part, counts) in [
            ("tag", &reverse.message.tag, true),
            ("message", &body, true),
            ("header or trailer", &header, true),
            ("additional data", &reverse.message.aad, true),
            ("IV", &reverse.message.iv, iv_counts),
        ] {
            for last in [false, true] {
                let mut message = reverse.message.clone();
                // The reference has a say: under a degenerate Poly1305 key (RFC 8439, A.3, has
                // some) many messages share a tag.
                if counts
                    && flip(&mut message, part, last)
                    && compute(&reverse.setup, &message).refused
                {
                    cases.push(Case {
                        setup: reverse.setup.clone(),
                        message,
                        outcome: Outcome {
                            refused: true,
                            ..Outcome::default()
                        },
                        what: format!("a bit of the {name} flipped, {}", layout.name),
                    });
                }
            }
        }
        cases
    }
}

/// Flips a bit of the first or the last byte of a part of `message`; false if it has none.
fn flip(message: &mut Message, part: &Part, last: bool) -> bool {
    let index = |len: usize| if last { len - 1 } else { 0 };
    let byte = match part {
        Part::Inline(range) if !range.is_empty() => {
            &mut message.input[range.start + index(range.len())]
        }
        Part::Separate(bytes) if !bytes.is_empty() => {
            let own = [&mut message.iv, &mut message.aad, &mut message.tag]
                .into_iter()
                .find(|own| *own == part);
            let Some(Part::Separate(own)) = own else {
                return false;
            };
            let at = index(own.len());
            &mut own[at]
        }
        _ => return false,
    };
    *byte ^= if last { 0x80 } else { 1 };
    true
}

/// Segment lengths from 1 up to `longest`, over and over, with an empty one at each round.
fn segments(len: usize, longest: usize) -> Vec<usize> {
    if longest == 0 {
        return Vec::new();
    }
    let mut cuts = Vec::new();
    let mut left = len;
    for want in (0..=longest).cycle() {
        if left == 0 {
            break;
        }
        cuts.push(want.min(left));
        left -= want.min(left);
    }
    cuts
}

/// Runs the cases in one burst; the first that went wrong.
fn run(subject: &Subject, cases: &[Case]) -> Result<Option<Mismatch>, SessionError> {
    let mut sessions: Vec<(&Setup, Session)> = Vec::new();
    for case in cases {
        if !sessions.iter().any(|(setup, _)| *setup == &case.setup) {
            sessions.push((&case.setup, subject.session(&case.setup)?));
        }
    }
    let session = |case: &Case| {
        let found = sessions.iter().find(|(setup, _)| *setup == &case.setup);
        &found.expect("made above").1
    };
    let burst: Vec<_> = cases.iter().map(|c| (session(c), &c.message)).collect();
    let mut queue: QueuePair<Padded> = subject.device().queue_pair_of(1);
    let observed = process(&mut queue, &burst);
    Ok(cases.iter().zip(observed).find_map(|(case, observed)| {
        let expected = place(&case.setup, &case.message, case.outcome.clone());
        let mut mismatch = compare(&case.message, &expected, &observed)?;
        mismatch.what = format!("{}: {}", case.what, mismatch.what);
        Some(mismatch)
    }))
}
