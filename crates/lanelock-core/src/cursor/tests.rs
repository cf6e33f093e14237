//! Edges by name; random walks against flat copies are in `tests/suite/properties.rs`.

use std::io::{IoSlice, IoSliceMut};

use super::*;
use crate::buffer::Buffer;

/// `bytes` cut at the given lengths.
fn cut(bytes: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    lengths
        .iter()
        .map(|&len| {
            let (now, later) = rest.split_at(len);
            rest = later;
            now.to_vec()
        })
        .collect()
}

/// A cursor over 0, 1, 2, … in segments of these lengths, from `offset` for `len` bytes, in place;
/// returns the bytes afterwards.
fn in_place(lengths: &[usize], offset: u32, len: u32, walk: impl FnOnce(Cursor<'_>)) -> Vec<u8> {
    let bytes: Vec<u8> = (0..=255).cycle().take(lengths.iter().sum()).collect();
    let mut parts = cut(&bytes, lengths);
    let mut list: Vec<_> = parts.iter_mut().map(|part| IoSliceMut::new(part)).collect();
    let buffer = Buffer::in_place(&mut list[..]);
    // SAFETY: the list outlives the cursor, and each test asks for bytes that it has.
    walk(unsafe { Cursor::new(&buffer.input, offset, &buffer.output, offset, len) });
    parts.concat()
}

fn runs(mut cursor: Cursor<'_>, limit: usize) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| cursor.next_run(limit).map(|run| run.input_bytes().to_vec())).collect()
}

#[test]
fn empty_segments_are_passed_over() {
    in_place(&[0, 0, 3, 0, 2, 0], 0, 5, |cursor| {
        assert_eq!(runs(cursor, usize::MAX), [vec![0, 1, 2], vec![3, 4]]);
    });
    in_place(&[0, 0], 0, 0, |cursor| assert!(runs(cursor, 9).is_empty()));
    in_place(&[], 0, 0, |cursor| assert!(runs(cursor, 9).is_empty()));
}

#[test]
fn a_limit_splits_a_run_and_a_limit_of_zero_yields_none() {
    in_place(&[5, 2], 0, 7, |cursor| {
        assert_eq!(runs(cursor, 3), [vec![0, 1, 2], vec![3, 4], vec![5, 6]]);
    });
    in_place(&[5], 0, 5, |mut cursor| {
        assert!(cursor.next_run(0).is_none());
        assert_eq!(cursor.remaining(), 5);
    });
}

#[test]
fn an_offset_may_fall_on_a_boundary_inside_or_at_the_end() {
    let first = |offset| {
        let mut first = None;
        in_place(&[4, 0, 4], offset, 8 - offset, |cursor| {
            first = runs(cursor, usize::MAX).first().cloned();
        });
        first
    };
    assert_eq!(first(3), Some(vec![3]));
    assert_eq!(first(4), Some(vec![4, 5, 6, 7]));
    assert_eq!(first(5), Some(vec![5, 6, 7]));
    assert_eq!(first(8), None);
}

#[test]
fn advance_steps_across_segments() {
    in_place(&[3, 0, 1, 1, 4], 0, 9, |mut cursor| {
        cursor.advance(1);
        cursor.advance(5);
        assert_eq!(cursor.remaining(), 3);
        assert_eq!(runs(cursor, usize::MAX), [vec![6, 7, 8]]);
    });
}

#[test]
#[should_panic(expected = "advance stays in the payload")]
fn advance_beyond_the_payload_panics_though_the_segment_goes_on() {
    in_place(&[9], 0, 5, |mut cursor| cursor.advance(6));
}

#[test]
#[should_panic(expected = "copy_in stays in the payload")]
fn copy_in_beyond_the_payload_panics() {
    in_place(&[9], 0, 5, |cursor| cursor.copy_in(&mut [0; 6]));
}

#[test]
#[should_panic(expected = "copy_out stays in the payload")]
fn copy_out_beyond_the_payload_panics() {
    in_place(&[9], 0, 5, |mut cursor| cursor.copy_out(&[0; 6]));
}

#[test]
fn copies_cross_segments_and_only_copy_out_moves() {
    let after = in_place(&[2, 0, 3, 4], 1, 7, |mut cursor| {
        let mut copy = [0; 7];
        cursor.copy_in(&mut copy);
        assert_eq!(copy, [1, 2, 3, 4, 5, 6, 7]);
        cursor.copy_out(&[91, 92, 93, 94, 95]);
        cursor.copy_in(&mut copy[..2]);
        assert_eq!(copy[..2], [6, 7]);
    });
    assert_eq!(after, [0, 91, 92, 93, 94, 95, 6, 7, 8]);
}

/// The lengths of the block runs over segments of these lengths.
fn block_runs(lengths: &[usize], block: usize) -> Vec<usize> {
    let mut seen = Vec::new();
    let total = lengths.iter().sum::<usize>();
    let after = in_place(lengths, 0, u32::try_from(total).unwrap(), |cursor| {
        let result = cursor.for_each_block_run(block, |mut run| {
            seen.push(run.len());
            run.output_bytes().iter_mut().for_each(|b| *b ^= 0xff);
            Ok::<_, ()>(())
        });
        assert_eq!(result, Ok(()));
    });
    let flipped = (0..=255_u8).cycle().take(total).map(|b| b ^ 0xff);
    assert!(after.into_iter().eq(flipped), "each byte once");
    seen
}

#[test]
fn a_block_across_a_boundary_comes_by_itself() {
    assert_eq!(block_runs(&[16, 16], 16), [16, 16]);
    assert_eq!(block_runs(&[40, 24], 16), [32, 16, 16]);
    assert_eq!(block_runs(&[1, 1, 1, 13, 16], 16), [16, 16]);
    assert_eq!(block_runs(&[15, 2, 15], 16), [16, 16]);
}

#[test]
fn only_the_last_run_ends_in_a_part_of_a_block() {
    assert_eq!(block_runs(&[35], 16), [35]);
    assert_eq!(block_runs(&[16, 3], 16), [16, 3]);
    assert_eq!(block_runs(&[17, 18], 16), [16, 16, 3]);
    assert_eq!(block_runs(&[32, 1, 1], 16), [32, 2]);
}

#[test]
fn a_block_walk_ends_at_the_first_error_and_writes_nothing_more() {
    let after = in_place(&[8, 8, 16], 0, 32, |cursor| {
        let result = cursor.for_each_block_run(16, |mut run| {
            run.output_bytes().fill(0xee);
            Err("stop")
        });
        assert_eq!(result, Err("stop"));
    });
    // The gathered block was not scattered.
    assert!(after.into_iter().eq(0..32));
}

#[test]
#[should_panic(expected = "block of 65 bytes")]
fn a_block_beyond_the_gathering_room_panics() {
    in_place(&[9], 0, 5, |cursor| {
        let _never: Result<(), ()> = cursor.for_each_block_run(65, |_| Ok(()));
    });
}

#[test]
fn runs_end_where_either_side_ends() {
    let input: Vec<u8> = (0..10).collect();
    let parts = cut(&input, &[6, 4]);
    let list: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut target = cut(&[0; 12], &[5, 2, 5]);
    let mut target_list: Vec<_> = target
        .iter_mut()
        .map(|part| IoSliceMut::new(part))
        .collect();
    let buffer = Buffer::separate(&list[..], &mut target_list[..]);
    // SAFETY: both lists outlive the cursor and have the bytes asked for.
    let mut cursor = unsafe { Cursor::new(&buffer.input, 1, &buffer.output, 2, 9) };
    let mut lengths = Vec::new();
    while let Some(mut run) = cursor.next_run(usize::MAX) {
        run.copy_through();
        assert_eq!(run.input(), run.output().cast_const());
        lengths.push(run.len());
    }
    assert_eq!(lengths, [3, 2, 4]);
    assert_eq!(target.concat(), [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
}

#[test]
fn xor_through_leaves_the_input_of_a_separate_buffer_alone() {
    let (input, mut output) = ([0b1100; 4], [0; 4]);
    let buffer = Buffer::separate(&input, &mut output);
    // SAFETY: both arrays outlive the cursor.
    let mut cursor = unsafe { Cursor::new(&buffer.input, 0, &buffer.output, 0, 4) };
    cursor.next_run(9).unwrap().xor_through(&[0b1010; 8]);
    assert_eq!((input, output), ([0b1100; 4], [0b0110; 4]));
}

#[test]
#[should_panic(expected = "out of range")]
fn a_keystream_shorter_than_the_run_panics() {
    Run::in_place(&mut [0; 4]).xor_through(&[0; 3]);
}
