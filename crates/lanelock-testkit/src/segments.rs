//! One message whole and cut up: the reference's bytes, tag and status every way.

use lanelock_core::transform::Direction;
use lanelock_core::{Device, QueuePair, Status};

use crate::ToyEngine;
use crate::bytes::{Bytes, cut};
use crate::math::TOY;
use crate::menu::MENU;
use crate::message::{
    Edge, Message, Observed, Output, Padded, Part, Placement, compare, enqueue_and_dequeue, expect,
    process,
};

/// Runs a message in one piece, then in segments: in place, into a separate output, and as jobs
/// of both kinds; each must leave behind what the toy's arithmetic says.
///
/// # Panics
/// If one does not.
pub fn check_segments(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let forward = bytes.pick(&MENU);
    let setup = forward.with_direction(match forward.is_one_way() || bytes.flag() {
        true => Direction::Forward,
        false => Direction::Reverse,
    });
    let good_tag = !bytes.once_in(3);
    let (input_cuts, output_cuts) = (bytes.lengths(12, 40), bytes.lengths(12, 40));
    let row = setup.algorithm.row();
    let header = bytes.up_to(40);
    let len = row.min_payload + bytes.up_to(700) / row.block * row.block;
    let mut whole = Message {
        input: bytes.fill(header + len),
        iv: match bytes.fill(setup.iv_len) {
            iv if iv.is_empty() => Part::None,
            iv => Part::Separate(iv),
        },
        aad: match setup.takes_aad() {
            true => Part::Inline(0..bytes.up_to(header)),
            false => Part::None,
        },
        cipher: Some(header..header + len),
        auth: Some(bytes.up_to(header)..header + bytes.up_to(len)),
        tag: match setup.tag_len {
            0 => Part::None,
            len => Part::Separate(vec![0; len]),
        },
        placement: Placement {
            edge: *bytes.pick(&[Edge::Canary, Edge::PageBehind, Edge::PageInFront]),
            seed: bytes.byte().into(),
            ..Placement::default()
        },
        ..Message::default()
    };
    if !setup.is_forward() && good_tag {
        whole.protect(&setup, &TOY);
    }
    let lengths = |cuts: &[usize]| cut(header + len, cuts).into_iter().map(|range| range.len());
    let mut in_place = whole.clone();
    in_place.placement.input_cuts = lengths(&input_cuts).collect();
    let mut separate = in_place.clone();
    separate.output = Output::Separate(whole.input.clone());
    separate.output_at = Some(header);
    separate.placement.output_cuts = lengths(&output_cuts).collect();

    let device = Device::builder().engine(ToyEngine::new("toy")).build();
    let session = device
        .session(setup.transform())
        .expect("the menu is valid");
    let mut queue: QueuePair<Padded> = device.queue_pair_of(4);
    let judge = |how: &str, message: &Message, observed: &Observed| {
        let expected = expect(&setup, message, &TOY);
        if setup.is_forward() || good_tag || setup.tag_len == 0 {
            assert_eq!(expected.status(), Status::Success, "{message:?}");
        }
        if let Some(mismatch) = compare(message, &expected, observed) {
            panic!("{how}: {mismatch}\n{setup:?}\n{message:?}");
        }
    };
    for message in [&whole, &in_place, &separate] {
        let observed = process(&mut queue, &[(&session, message)]);
        judge("an operation", message, &observed[0]);
    }
    let burst = [(&session, &in_place), (&session, &separate)];
    for ((_, message), observed) in burst.iter().zip(enqueue_and_dequeue(&mut queue, &burst, 2)) {
        judge("a job", message, &observed);
    }
}
