//! The layouts in which a known answer is run.

use std::ops::Range;

use super::KnownAnswer;
use crate::message::{Message, Output, Part, Placement, Setup};

/// How a known answer lies in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) name: &'static str,
    separate: bool,
    inline: bool,
    segment: usize,
}

pub(super) const LAYOUTS: [Layout; 4] = [
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
    /// Its message for a session of `setup`, laid out.
    pub(super) fn message(&self, setup: &Setup, layout: Layout) -> Message {
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
