//! The rules of an operation as sets of bytes, and its result on flat copies: written from the
//! rules' prose, sharing nothing with the core.

use std::collections::HashSet;
use std::ops::Range;

use lanelock_core::Transform;

use super::Verdict;
use super::case::{Access, Case, Part, Piece};
use crate::math::{Stream, Sum};
use crate::menu::Item;

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
    let item = case.item;
    let (input, output) = (places(&case.input), places(&case.output));
    let (cipher, written) = payload(case, &input, &output)?;
    let auth = match &case.auth {
        _ if !item.authenticates => 0..0,
        None => 0..input.len(),
        Some(range) => within(range.clone(), input.len())?,
    };
    let iv = match &case.iv {
        Part::Absent if item.iv == 0 => Vec::new(),
        Part::Own { piece, .. } if item.iv == 0 && piece.len == 0 => Vec::new(),
        _ if item.iv == 0 => return None,
        Part::Absent => return None,
        Part::Own { piece, .. } if piece.len == item.iv => places(&[*piece]),
        Part::Own { .. } => return None,
        Part::Inline { at, .. } => {
            input[within(*at..at.checked_add(item.iv)?, input.len())?].into()
        }
    };
    let aad = match &case.aad {
        Part::Absent => Vec::new(),
        Part::Own { piece, .. } if item.aad || piece.len == 0 => places(&[*piece]),
        Part::Own { .. } => return None,
        Part::Inline { at, end } if item.aad => input[within(*at..*end, input.len())?].into(),
        Part::Inline { at, end } if at == end => Vec::new(),
        Part::Inline { .. } => return None,
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
    let item = case.item;
    if !item.ciphers {
        return Some((0..0, Vec::new()));
    }
    let cipher = match &case.cipher {
        None => 0..input.len(),
        Some(range) => within(range.clone(), input.len())?,
    };
    if cipher.len() % item.block != 0 || cipher.len() < item.min {
        return None;
    }
    let written = match (case.access, case.output_at) {
        (Access::ReadOnly, _) | (Access::InPlace, Some(_)) => return None,
        (Access::InPlace, None) => input[cipher.clone()].into(),
        (_, at) => {
            let at = at.unwrap_or(0);
            output[within(at..at.checked_add(cipher.len())?, output.len())?].into()
        }
    };
    Some((cipher, written))
}

/// Finds the tag, and checks it against the other ranges by their offsets.
fn settle_tag(case: &Case, plan: &mut Plan, output: &[Place]) -> Option<()> {
    let item = case.item;
    let at = match &case.tag {
        Part::Absent => return (item.tag == 0).then_some(()),
        Part::Own { piece, .. } if item.tag == 0 && piece.len == 0 => return Some(()),
        _ if item.tag == 0 => return None,
        Part::Own { piece, writable } => {
            plan.tag = places(&[*piece]);
            return (piece.len == item.tag && (*writable || !case.protect)).then_some(());
        }
        Part::Inline { at, .. } => *at,
    };
    let end = at.checked_add(item.tag)?;
    let (side, payload) = if !case.protect {
        (&plan.input[..], plan.cipher.clone())
    } else if case.access == Access::ReadOnly {
        return None;
    } else {
        let start = match case.access {
            Access::InPlace => plan.cipher.start,
            _ => case.output_at.unwrap_or(0),
        };
        (output, start..start + plan.cipher.len())
    };
    let tag = within(at..end, side.len())?;
    plan.tag = side[tag.clone()].into();
    if item.ciphers && meets(&tag, &payload) {
        if !item.mac_first || tag.start < payload.start || tag.end > payload.end {
            return None;
        }
        plan.tag_in_payload = Some(tag.start - payload.start);
    }
    // What the tag replaces, or lies on, in offsets of the input.
    let in_input = match plan.tag_in_payload {
        Some(offset) => Some(plan.cipher.start + offset),
        None if case.access == Access::InPlace || !case.protect => Some(tag.start),
        None => None,
    };
    let authenticated =
        in_input.is_some_and(|at| item.authenticates && meets(&(at..at + item.tag), &plan.auth));
    let same_side = case.access == Access::InPlace || !case.protect;
    let inline = |part: &Part, list: &[Place]| match part {
        Part::Inline { at, .. } => meets(&tag, &(*at..at + list.len())),
        _ => false,
    };
    let header = inline(&case.iv, &plan.iv) || inline(&case.aad, &plan.aad);
    (!(authenticated || same_side && header)).then_some(())
}

/// Whether no byte is written that is needed afterwards, or written twice.
fn no_hazard(case: &Case, plan: &Plan) -> bool {
    let written: HashSet<_> = plan.written.iter().collect();
    let tag: HashSet<_> = plan.tag.iter().collect();
    let apart =
        |list: &[Place], set: &HashSet<&Place>| list.iter().all(|place| !set.contains(place));
    let header = apart(&plan.iv, &written) && apart(&plan.aad, &written);
    match case.access {
        Access::Raw => {}
        Access::InPlace => return header,
        Access::Separate | Access::ReadOnly => return true,
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
    let tag_spoils_nothing = !case.protect
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
pub(super) fn plant_tag(case: &mut Case, plan: &Plan, transform: &Transform) {
    if case.protect || case.item.tag == 0 {
        return;
    }
    let (_, mut tag) = undo(&case.memory, case.item, plan, transform);
    let mut target = plan.tag.clone();
    if let Some(offset) = plan.tag_in_payload {
        let mut padded = vec![0; offset];
        padded.extend_from_slice(&tag);
        let iv = gather(&case.memory, &plan.iv);
        Stream::new(transform.key(), &iv).encrypt(&mut padded);
        tag = padded.split_off(offset);
        target = plan.input[plan.cipher.clone()][offset..offset + tag.len()].into();
    }
    scatter(&mut case.memory, &target, &tag);
}

/// What the operation does to `memory`.
pub(super) fn apply(
    memory: &mut Memory,
    case: &Case,
    plan: &Plan,
    transform: &Transform,
) -> Verdict {
    if case.protect {
        let (payload, tag) = protect(memory, case.item, plan, transform);
        scatter(memory, &plan.written, &payload);
        if plan.tag_in_payload.is_none() {
            scatter(memory, &plan.tag, &tag);
        }
        return Verdict::Processed;
    }
    let (payload, tag) = undo(memory, case.item, plan, transform);
    let given = match plan.tag_in_payload {
        Some(offset) => payload[offset..offset + tag.len()].to_vec(),
        None => gather(memory, &plan.tag),
    };
    if tag == given {
        scatter(memory, &plan.written, &payload);
        return Verdict::Processed;
    }
    if case.item.mac_first {
        scatter(memory, &plan.written, &vec![0; payload.len()]);
    }
    Verdict::AuthFailed
}

/// The encrypted payload and the tag.
fn protect(memory: &Memory, item: Item, plan: &Plan, transform: &Transform) -> (Vec<u8>, Vec<u8>) {
    let message = gather(memory, &plan.input);
    let (iv, aad) = (gather(memory, &plan.iv), gather(memory, &plan.aad));
    let mut payload = message[plan.cipher.clone()].to_vec();
    let mut stream = Stream::new(transform.key(), &iv);
    if item.mac_first {
        let tag = sum(item, transform, &iv, &[&aad, &message[plan.auth.clone()]]);
        if let Some(offset) = plan.tag_in_payload {
            payload[offset..offset + tag.len()].copy_from_slice(&tag);
        }
        stream.encrypt(&mut payload);
        return (payload, tag);
    }
    stream.encrypt(&mut payload);
    let tag = sum(
        item,
        transform,
        &iv,
        &[&aad, &protected(item, plan, &message, &payload)],
    );
    (payload, tag)
}

/// The decrypted payload and the tag that would verify.
fn undo(memory: &Memory, item: Item, plan: &Plan, transform: &Transform) -> (Vec<u8>, Vec<u8>) {
    let message = gather(memory, &plan.input);
    let (iv, aad) = (gather(memory, &plan.iv), gather(memory, &plan.aad));
    let mut payload = message[plan.cipher.clone()].to_vec();
    Stream::new(transform.key(), &iv).decrypt(&mut payload);
    let covered = if item.mac_first {
        protected(item, plan, &message, &payload)
    } else {
        protected(item, plan, &message, &message[plan.cipher.clone()])
    };
    let tag = sum(item, transform, &iv, &[&aad, &covered]);
    (payload, tag)
}

/// What the tag covers besides additional data, with `payload` in the place of the cipher range.
fn protected(item: Item, plan: &Plan, message: &[u8], payload: &[u8]) -> Vec<u8> {
    if !item.authenticates {
        return payload.to_vec();
    }
    let mut message = message.to_vec();
    message[plan.cipher.clone()].copy_from_slice(payload);
    message[plan.auth.clone()].to_vec()
}

fn sum(item: Item, transform: &Transform, iv: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let chain = item.ciphers && item.authenticates;
    let mut sum = if chain {
        Sum::new(transform.mac_key(), &[])
    } else {
        Sum::new(transform.key(), iv)
    };
    parts.iter().for_each(|part| sum.add(part));
    sum.tag()[..item.tag].to_vec()
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
