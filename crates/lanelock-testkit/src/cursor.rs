//! A cursor over arbitrary segments against a position in flat copies.

use std::io::{IoSlice, IoSliceMut};
use std::sync::{Arc, Mutex, PoisonError};

use lanelock_core::cursor::Cursor;
use lanelock_core::{Buffer, Cipher, Device, Op, Status, Transform};

use crate::Probe;
use crate::bytes::Bytes;

/// What the cursor should see and do: both sides flat, and where their segments end.
#[derive(Debug)]
struct Model {
    input: Vec<u8>,
    output: Vec<u8>,
    in_place: bool,
    input_at: usize,
    output_at: usize,
    remaining: usize,
    input_ends: Vec<usize>,
    output_ends: Vec<usize>,
}

/// Walks a payload over random segments with a random script of calls, and compares each run, each
/// copy and the output afterwards with flat copies.
///
/// # Panics
/// If they differ.
pub fn check_cursor(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let in_place = bytes.flag();
    let mut input = segments(&mut bytes);
    let mut output = if in_place {
        Vec::new()
    } else {
        segments(&mut bytes)
    };
    let (flat_in, flat_out) = (input.concat(), output.concat());
    let start = bytes.up_to(flat_in.len());
    let output_at = if in_place {
        start
    } else {
        bytes.up_to(flat_out.len())
    };
    let room = if in_place { &flat_in } else { &flat_out }.len() - output_at;
    let len = bytes.up_to((flat_in.len() - start).min(room));
    let model = Arc::new(Mutex::new(Model {
        input_ends: ends(&input),
        output_ends: ends(if in_place { &input } else { &output }),
        input: flat_in,
        output: flat_out,
        in_place,
        input_at: start,
        output_at,
        remaining: len,
    }));
    let (script, walked) = (data.to_vec(), model.clone());
    let probe = Probe::new(move |op| {
        let mut model = walked.lock().unwrap_or_else(PoisonError::into_inner);
        let half = script.len() / 2;
        walk(op.payload(), &mut model, &mut Bytes::new(&script[half..]));
        Status::Success
    });
    let device = Device::builder().engine(probe).build();
    let session = device
        .session(Transform::encrypt(Cipher::AesCtr, &[0; 16]))
        .expect("the probe offers all");
    let iv = [0; 16];
    let mut read: Vec<IoSlice<'_>> = Vec::new();
    let mut written: Vec<IoSliceMut<'_>> = Vec::new();
    let buffer = if in_place {
        written.extend(input.iter_mut().map(|s| IoSliceMut::new(s)));
        Buffer::in_place(&mut written[..])
    } else {
        read.extend(input.iter().map(|s| IoSlice::new(s)));
        written.extend(output.iter_mut().map(|s| IoSliceMut::new(s)));
        Buffer::separate(&read[..], &mut written[..])
    };
    let mut op = Op::new(&session, buffer)
        .iv(&iv)
        .cipher_range(start..start + len);
    if !in_place {
        op = op.output_at(output_at);
    }
    let mut ops = [op];
    let outcome = device.queue_pair(1).process(&mut ops);
    assert_eq!(outcome.succeeded, 1, "{:?}", ops[0].error());
    let model = model.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(input.concat(), model.input, "input");
    assert_eq!(output.concat(), model.output, "output");
}

fn walk(mut cursor: Cursor<'_>, model: &mut Model, bytes: &mut Bytes<'_>) {
    while !bytes.is_empty() {
        assert_eq!(cursor.remaining(), model.remaining);
        match bytes.byte() % 10 {
            0 | 1 => {
                let limit = bytes.up_to(70);
                let Some(mut run) = cursor.next_run(limit) else {
                    assert!(limit == 0 || model.remaining == 0, "an early end");
                    continue;
                };
                let expected = model.run_len().min(limit);
                assert_eq!(run.len(), expected, "runs are as long as they can be");
                assert_eq!(run.input_bytes(), model.next(expected));
                let fill = bytes.byte();
                run.output_bytes().fill(fill);
                model.write(&vec![fill; expected]);
            }
            2 => {
                let len = bytes.up_to(model.remaining);
                cursor.advance(len);
                model.step(len);
            }
            3 => {
                let mut copy = vec![0; bytes.up_to(model.remaining)];
                cursor.copy_in(&mut copy);
                assert_eq!(copy, model.next(copy.len()));
            }
            4 => {
                let len = bytes.up_to(model.remaining);
                let new = bytes.fill(len);
                cursor.copy_out(&new);
                model.write(&new);
            }
            5 => {
                let len = bytes.up_to(model.remaining);
                let (mut front, back) = cursor.split_at(len);
                assert_eq!(front.remaining(), len);
                while let Some(run) = front.next_run(usize::MAX) {
                    assert_eq!(run.input_bytes(), model.next(run.len()));
                    model.step(run.len());
                }
                cursor = back;
            }
            6 => {
                let offset = bytes.up_to(model.remaining);
                let mut copy = vec![0; bytes.up_to(model.remaining - offset)];
                cursor.copy_in_at(offset, &mut copy);
                assert_eq!(copy, model.next(offset + copy.len())[offset..]);
            }
            7 => {
                let whole = model.remaining > 0 && model.run_len() == model.remaining;
                let run = cursor.next_if_whole();
                assert_eq!(run.is_some(), whole);
                if let Some(run) = run {
                    assert_eq!(run.input_bytes(), model.next(model.remaining));
                    model.step(run.len());
                }
            }
            8 => {
                let Some(run) = cursor.next_run(64) else {
                    continue;
                };
                let at = bytes.up_to(run.len());
                let (mut front, mut back) = run.split_at(at);
                assert_eq!(front.len(), at);
                let expected = model.next(at + back.len()).to_vec();
                assert_eq!([front.input_bytes(), back.input_bytes()].concat(), expected);
                back.output_bytes().fill(1);
                front.output_bytes().fill(2);
                model.write(&vec![2; at]);
                model.write(&vec![1; expected.len() - at]);
            }
            _ => {
                let keystream = bytes.fill(64);
                let Some(mut run) = cursor.next_run(64) else {
                    continue;
                };
                run.xor_through(&keystream);
                let new: Vec<u8> = model
                    .next(run.len())
                    .iter()
                    .zip(&keystream)
                    .map(|(byte, key)| byte ^ key)
                    .collect();
                model.write(&new);
            }
        }
        if bytes.once_in(8) {
            break;
        }
    }
    walk_blocks(cursor, model, bytes);
}

fn walk_blocks(cursor: Cursor<'_>, model: &mut Model, bytes: &mut Bytes<'_>) {
    let block = *bytes.pick(&[1, 8, 16, 64, 2, 3, 5, 7, 63]);
    let stop_after = if bytes.once_in(4) {
        bytes.up_to(5)
    } else {
        usize::MAX
    };
    let mut count = 0;
    let result = cursor.for_each_block_run(block, |mut run| {
        if count == stop_after {
            return Err(count);
        }
        count += 1;
        assert!(!run.is_empty());
        assert_eq!(run.input_bytes(), model.next(run.len()));
        let last = run.len() == model.remaining;
        assert!(
            run.len() % block == 0 || last,
            "a part of a block in the middle"
        );
        run.copy_through();
        run.output_bytes()
            .iter_mut()
            .for_each(|b| *b = b.wrapping_add(1));
        let new: Vec<u8> = model
            .next(run.len())
            .iter()
            .map(|b| b.wrapping_add(1))
            .collect();
        model.write(&new);
        Ok(())
    });
    match result {
        Ok(()) => assert_eq!(model.remaining, 0),
        Err(at) => assert_eq!(at, stop_after),
    }
}

impl Model {
    fn next(&self, len: usize) -> &[u8] {
        &self.input[self.input_at..self.input_at + len]
    }

    fn write(&mut self, new: &[u8]) {
        let side = if self.in_place {
            &mut self.input
        } else {
            &mut self.output
        };
        side[self.output_at..self.output_at + new.len()].copy_from_slice(new);
        self.step(new.len());
    }

    fn step(&mut self, len: usize) {
        self.input_at += len;
        self.output_at += len;
        self.remaining -= len;
    }

    /// Bytes up to the next boundary of either side, or the end.
    fn run_len(&self) -> usize {
        let left = |ends: &[usize], at: usize| {
            let next = ends.iter().find(|&&end| end > at);
            next.map_or(0, |end| end - at)
        };
        left(&self.input_ends, self.input_at)
            .min(left(&self.output_ends, self.output_at))
            .min(self.remaining)
    }
}

fn segments(bytes: &mut Bytes<'_>) -> Vec<Box<[u8]>> {
    bytes
        .lengths(8, 90)
        .into_iter()
        .map(|len| bytes.fill(len).into())
        .collect()
}

fn ends(segments: &[Box<[u8]>]) -> Vec<usize> {
    let mut sum = 0;
    segments
        .iter()
        .map(|segment| {
            sum += segment.len();
            sum
        })
        .collect()
}
