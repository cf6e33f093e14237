//! One message whole and cut up: the same bytes, tag and status every way.

use std::io::{IoSlice, IoSliceMut};
use std::ops::Range;

use lanelock_core::{Buffer, Device, Job, JobBuffer, Op, QueuePair, Session, Status};

use crate::ToyEngine;
use crate::bytes::{Bytes, cut};
use crate::menu::MENU;

/// A message with header, payload and room for a tag.
#[derive(Debug)]
struct Message {
    bytes: Vec<u8>,
    iv: Vec<u8>,
    aad: Option<Range<usize>>,
    cipher: Range<usize>,
    auth: Range<usize>,
    tag: Vec<u8>,
}

/// Status, message afterwards, and tag.
type Outcome = (Status, Vec<u8>, Vec<u8>);

/// Runs a message in one piece, then in segments: in place, into a separate output, and as jobs
/// of both kinds; the outcomes must be equal.
///
/// # Panics
/// If they differ.
pub fn check_segments(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let item = *bytes.pick(MENU);
    let protect = item.one_way || bytes.flag();
    let good_tag = !bytes.once_in(3);
    let (input_cuts, output_cuts) = (bytes.lengths(12, 40), bytes.lengths(12, 40));
    let header = bytes.up_to(40);
    let len = item.min + bytes.up_to(700) / item.block * item.block;
    let mut message = Message {
        bytes: bytes.fill(header + len),
        iv: bytes.fill(item.iv),
        aad: item.aad.then(|| 0..bytes.up_to(header)),
        cipher: header..header + len,
        auth: bytes.up_to(header)..header + bytes.up_to(len),
        tag: vec![0; item.tag],
    };
    let device = Device::builder().engine(ToyEngine::new("toy")).build();
    let session = |protect| {
        device
            .session(item.transform(protect))
            .expect("the menu is valid")
    };
    let mut queue = device.queue_pair(4);
    if !protect && good_tag {
        // Protect the message first, so that there is something to verify.
        let (status, protected, tag) = contiguous(&mut queue, &session(true), &message);
        assert_eq!(status, Status::Success);
        (message.bytes, message.tag) = (protected, tag);
    }
    let session = session(protect);
    let expected = contiguous(&mut queue, &session, &message);
    if protect || good_tag || item.tag == 0 {
        assert_eq!(expected.0, Status::Success, "{message:?}");
    }
    let cuts = [&input_cuts[..], &output_cuts[..]];
    assert_eq!(
        in_place(&mut queue, &session, &message, cuts[0]),
        expected,
        "in place"
    );
    assert_eq!(
        separate(&mut queue, &session, &message, cuts),
        expected,
        "separate"
    );
    assert_eq!(
        jobs(&mut queue, &session, &message, cuts),
        [expected.clone(), expected],
        "jobs"
    );
}

fn contiguous(queue: &mut QueuePair, session: &Session, message: &Message) -> Outcome {
    let (mut bytes, mut tag) = (message.bytes.clone(), message.tag.clone());
    let op = op(session, message, Buffer::in_place(&mut bytes), &mut tag);
    let status = run(queue, op);
    (status, bytes, tag)
}

fn in_place(
    queue: &mut QueuePair,
    session: &Session,
    message: &Message,
    lengths: &[usize],
) -> Outcome {
    let (mut parts, mut tag) = (split(&message.bytes, lengths), message.tag.clone());
    let mut list: Vec<_> = parts.iter_mut().map(|part| IoSliceMut::new(part)).collect();
    let buffer = Buffer::in_place(&mut list[..]);
    let status = run(queue, op(session, message, buffer, &mut tag));
    (status, parts.concat(), tag)
}

fn separate(
    queue: &mut QueuePair,
    session: &Session,
    message: &Message,
    [input, output]: [&[usize]; 2],
) -> Outcome {
    let parts = split(&message.bytes, input);
    let mut target = split(&message.bytes, output);
    let mut tag = message.tag.clone();
    let list: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut target_list: Vec<_> = target
        .iter_mut()
        .map(|part| IoSliceMut::new(part))
        .collect();
    let buffer = Buffer::separate(&list[..], &mut target_list[..]);
    let op = op(session, message, buffer, &mut tag).output_at(message.cipher.start);
    let status = run(queue, op);
    (status, target.concat(), tag)
}

fn run(queue: &mut QueuePair, op: Op<'_>) -> Status {
    let mut ops = [op];
    let _the_status_says_it = queue.process(&mut ops);
    assert_eq!(ops[0].error(), None);
    ops[0].status()
}

fn op<'a>(
    session: &'a Session,
    message: &'a Message,
    buffer: Buffer<'a>,
    tag: &'a mut [u8],
) -> Op<'a> {
    let mut op = Op::new(session, buffer)
        .cipher_range(message.cipher.clone())
        .auth_range(message.auth.clone());
    if !message.iv.is_empty() {
        op = op.iv(&message.iv);
    }
    if let Some(range) = message.aad.clone() {
        op = op.aad_range(range);
    }
    if !tag.is_empty() {
        op = op.tag(tag);
    }
    op
}

fn jobs(
    queue: &mut QueuePair,
    session: &Session,
    message: &Message,
    [input, output]: [&[usize]; 2],
) -> [Outcome; 2] {
    let owned = |lengths| {
        let parts = split(&message.bytes, lengths);
        JobBuffer::Segments(parts.into_iter().map(Vec::from).collect())
    };
    let settle = |job: Job| {
        let mut job = job
            .iv(&message.iv)
            .expected_tag(&message.tag)
            .cipher_range(message.cipher.clone())
            .auth_range(message.auth.clone());
        if let Some(range) = message.aad.clone() {
            job = job.aad_range(range);
        }
        job
    };
    let mut waiting = vec![
        settle(Job::in_place(session, owned(input))),
        settle(Job::separate(session, owned(input), owned(output)).output_at(message.cipher.start)),
    ];
    assert_eq!(queue.enqueue(&mut waiting), 2);
    let mut done = Vec::new();
    assert_eq!(queue.dequeue(&mut done, 2), 2);
    let outcome = |job: Job| {
        assert_eq!(job.error(), None);
        let (status, tag) = (job.status(), job.tag().to_vec());
        let (input, output) = job.into_buffers();
        (status, output.unwrap_or(input).to_vec(), tag)
    };
    let second = done.pop().map(outcome).expect("two jobs");
    let first = done.pop().map(outcome).expect("two jobs");
    [first, second]
}

fn split(bytes: &[u8], lengths: &[usize]) -> Vec<Box<[u8]>> {
    cut(bytes.len(), lengths)
        .into_iter()
        .map(|range| bytes[range].into())
        .collect()
}
