//! The rules of an operation as sets of bytes, and its result on flat copies: written from the
//! rules' prose, sharing nothing with the core.

use std::collections::HashSet;
use std::ops::Range;

use super::Verdict;
use super::case::{Case, Piece};
use crate::math::{Stream, TOY};
use crate::message::{Message, Output, Part, Setup, compute};

type Memory = [Box<[u8]>];

/// One byte of a case's memory: allocation and offset.
type Place = (usize, usize);

/// A legal operation with every range settled, as lists of places.
pub(super) struct Plan {
    input: Vec<Place>,
    cipher: Range<usize>,
    /// Where each payload byte is written.
    written: Vec<Place>,
    auth: Range<usize>,
    iv: Vec<Place>,
    aad: Vec<Place>,
    tag: Vec<Place>,
    /// The tag's offset in the payload, if it lies there.
    tag_in_payload: Option<usize>,
}

/// The settled operation, or `None` if it has to be refused.
pub(super) fn resolve(case: &Case) -> Option<Plan> {
    let Case { setup, message, .. } = case;
    let input = places(&message.input);
    let output = places(message.destination());
    let (cipher, written) = payload(case, &input, &output)?;
    let auth = match &message.auth {
        _ if !setup.authenticates() => 0..0,
        None => 0..input.len(),
        Some(range) => within(range.clone(), input.len())?,
    };
    let iv = match &message.iv {
        Part::None if setup.iv_len == 0 => Vec::new(),
        Part::Separate(piece) if piece.len == setup.iv_len => places(&[*piece]),
        Part::Inline(range) if setup.iv_len > 0 => {
            let end = range.start.checked_add(setup.iv_len)?;
            input[within(range.start..end, input.len())?].into()
        }
        _ => return None,
    };
    let aad = match &message.aad {
        Part::None => Vec::new(),
        Part::Separate(piece) if setup.takes_aad() || piece.len == 0 => places(&[*piece]),
        Part::Inline(range) if setup.takes_aad() => {
            input[within(range.clone(), input.len())?].into()
        }
        Part::Inline(range) if range.start == range.end => Vec::new(),
        _ => return None,
    };
    let mut plan = Plan {
        input,
        cipher,
        written,
        auth,
        iv,
        aad,
        tag: Vec::new(),
        tag_in_payload: None,
    };
    settle_tag(case, &mut plan, &output)?;
    no_hazard(case, &plan).then_some(plan)
}

fn payload(case: &Case, input: &[Place], output: &[Place]) -> Option<(Range<usize>, Vec<Place>)> {
    let Case { setup, message, .. } = case;
    if !setup.ciphers() {
        return Some((0..0, Vec::new()));
    }
    let cipher = match &message.cipher {
        None => 0..input.len(),
        Some(range) => within(range.clone(), input.len())?,
    };
    let row = setup.algorithm.row();
    if cipher.len() % row.block != 0 || cipher.len() < row.min_payload {
        return None;
    }
    let written = match (&message.output, message.output_at) {
        (Output::ReadOnly, _) | (Output::InPlace, Some(_)) => return None,
        (Output::InPlace, None) => input[cipher.clone()].into(),
        (Output::Separate(_), at) => {
            let at = at.unwrap_or(0);
            output[within(at..at.checked_add(cipher.len())?, output.len())?].into()
        }
    };
    Some((cipher, written))
}

/// Finds the tag, and checks it against the other ranges by their offsets.
fn settle_tag(case: &Case, plan: &mut Plan, output: &[Place]) -> Option<()> {
    let Case { setup, message, .. } = case;
    let (forward, tag_len) = (setup.is_forward(), setup.tag_len);
    let in_place = matches!(message.output, Output::InPlace);
    let start = match &message.tag {
        Part::None => return (tag_len == 0).then_some(()),
        Part::Separate(piece) => {
            plan.tag = places(&[*piece]);
            let is_usable = tag_len == 0 || case.tag_is_writable || !forward;
            return (piece.len == tag_len && is_usable).then_some(());
        }
        Part::Inline(_) if tag_len == 0 => return None,
        Part::Inline(range) => range.start,
    };
    let end = start.checked_add(tag_len)?;
    let (side, payload) = match (forward, &message.output) {
        (false, _) => (&plan.input[..], plan.cipher.clone()),
        (true, Output::ReadOnly) => return None,
        (true, Output::InPlace) => (output, plan.cipher.clone()),
        (true, Output::Separate(_)) => {
            let start = message.output_at.unwrap_or(0);
            (output, start..start + plan.cipher.len())
        }
    };
    let tag = within(start..end, side.len())?;
    plan.tag = side[tag.clone()].into();
    if setup.ciphers() && meets(&tag, &payload) {
        if !setup.is_mac_first() || tag.start < payload.start || tag.end > payload.end {
            return None;
        }
        plan.tag_in_payload = Some(tag.start - payload.start);
    }
    let same_side = in_place || !forward;
    // What the tag replaces, or lies on, in offsets of the input.
    let in_input = match plan.tag_in_payload {
        Some(offset) => Some(plan.cipher.start + offset),
        None => same_side.then_some(tag.start),
    };
    let authenticated =
        in_input.is_some_and(|at| setup.authenticates() && meets(&(at..at + tag_len), &plan.auth));
    let inline = |part: &Part<Piece>, list: &[Place]| match part {
        Part::Inline(range) => meets(&tag, &(range.start..range.start + list.len())),
        _ => false,
    };
    let header = inline(&message.iv, &plan.iv) || inline(&message.aad, &plan.aad);
    (!(authenticated || same_side && header)).then_some(())
}

/// Whether no byte is written that is needed afterwards, or written twice.
fn no_hazard(case: &Case, plan: &Plan) -> bool {
    let written: HashSet<_> = plan.written.iter().collect();
    let tag: HashSet<_> = plan.tag.iter().collect();
    let apart =
        |list: &[Place], set: &HashSet<&Place>| list.iter().all(|place| !set.contains(place));
    let header = apart(&plan.iv, &written) && apart(&plan.aad, &written);
    match case.message.output {
        _ if case.is_raw => {}
        Output::InPlace => return header,
        Output::Separate(_) | Output::ReadOnly => return true,
    }
    let source = &plan.input[plan.cipher.clone()];
    let aliases_itself_alone = plan.written.iter().enumerate().all(|(i, place)| {
        source
            .iter()
            .enumerate()
            .all(|(j, other)| place != other || i == j)
    });
    let outside: Vec<_> = plan
        .auth
        .clone()
        .filter(|at| !plan.cipher.contains(at))
        .map(|at| plan.input[at])
        .collect();
    let tag_is_apart = plan.tag_in_payload.is_some() || apart(&plan.tag, &written);
    let tag_spoils_nothing = !case.setup.is_forward()
        || plan.tag_in_payload.is_some()
        || (tag.len() == plan.tag.len()
            && apart(source, &tag)
            && apart(&plan.iv, &tag)
            && apart(&plan.aad, &tag)
            && apart(&outside, &tag));
    header
        && aliases_itself_alone
        && written.len() == plan.written.len()
        && apart(&outside, &written)
        && tag_is_apart
        && tag_spoils_nothing
}

/// Puts the tag that verifies where the operation reads it.
pub(super) fn plant_tag(case: &mut Case, plan: &Plan) {
    let setup = &case.setup;
    if setup.is_forward() || setup.tag_len == 0 {
        return;
    }
    let mut flat = plan.flat(&case.memory, setup);
    let iv = flat.bytes(&flat.iv).to_vec();
    Stream::new(&setup.key, &iv).decrypt(&mut flat.input[plan.cipher.clone()]);
    flat.protect(setup, &TOY);
    scatter(&mut case.memory, &plan.tag, flat.bytes(&flat.tag));
}

/// What the operation does to `memory`.
pub(super) fn apply(memory: &mut Memory, setup: &Setup, plan: &Plan) -> Verdict {
    let outcome = compute(setup, &plan.flat(memory, setup), &TOY);
    if outcome.refused {
        if setup.is_mac_first() {
            scatter(memory, &plan.written, &vec![0; plan.written.len()]);
        }
        return Verdict::AuthFailed;
    }
    scatter(memory, &plan.written, &outcome.payload);
    if setup.is_forward() && plan.tag_in_payload.is_none() {
        scatter(memory, &plan.tag, &outcome.tag);
    }
    Verdict::Processed
}

impl Plan {
    /// The message that the operation reads, in place, with the parts apart.
    fn flat(&self, memory: &Memory, setup: &Setup) -> Message {
        let part = |places: &[Place]| Part::Separate(gather(memory, places));
        Message {
            input: gather(memory, &self.input),
            cipher: Some(self.cipher.clone()),
            auth: Some(self.auth.clone()),
            iv: part(&self.iv),
            aad: part(&self.aad),
            tag: match self.tag_in_payload {
                Some(offset) => {
                    let start = self.cipher.start + offset;
                    Part::Inline(start..start + setup.tag_len)
                }
                None => part(&self.tag),
            },
            ..Message::default()
        }
    }
}

fn places(pieces: &[Piece]) -> Vec<Place> {
    let bytes = |piece: &Piece| {
        let allocation = piece.allocation;
        (piece.at..piece.at + piece.len).map(move |at| (allocation, at))
    };
    pieces.iter().flat_map(bytes).collect()
}

fn gather(memory: &Memory, places: &[Place]) -> Vec<u8> {
    places.iter().map(|&(m, at)| memory[m][at]).collect()
}

fn scatter(memory: &mut Memory, places: &[Place], bytes: &[u8]) {
    for (&(m, at), &byte) in places.iter().zip(bytes) {
        memory[m][at] = byte;
    }
}

fn within(range: Range<usize>, len: usize) -> Option<Range<usize>> {
    (range.start <= range.end && range.end <= len).then_some(range)
}

fn meets(a: &Range<usize>, b: &Range<usize>) -> bool {
    !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
}
