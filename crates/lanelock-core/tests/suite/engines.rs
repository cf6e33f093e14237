//! What an engine may do with a valid operation, and what it is kept from.

use std::io::{IoSlice, IoSliceMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_core::transform::Direction::{Forward, Reverse};
use lanelock_core::{
    Buffer, Cipher, Device, Hash, InvalidReason, Mac, Op, Session, Status, Transform,
};
use lanelock_testkit::{Probe, ProbeSession};

use crate::support::{IV, KEY, chain, ctr, gcm, session};

/// A device whose engine runs `visit` on each operation.
fn probe(visit: impl Fn(&mut ValidOp<'_, '_>) + Send + Sync + 'static) -> Device {
    let probe = Probe::new(move |op| {
        visit(op);
        Status::Success
    });
    Device::builder().engine(probe).build()
}

fn run(device: &Device, op: Op<'_>) {
    let mut ops = [op];
    let outcome = device.queue_pair(1).process(&mut ops);
    assert_eq!(outcome.succeeded, 1, "{:?}", ops[0].error());
}

/// What a visit saw, for the test to compare.
type Seen<T> = Arc<Mutex<Vec<T>>>;

fn authenticated(op: &ValidOp<'_, '_>, ciphertext: Ciphertext) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let result: Result<(), ()> = op.for_each_authenticated(ciphertext, |piece| {
        pieces.push(piece.to_vec());
        Ok(())
    });
    assert_eq!(result, Ok(()));
    pieces
}

#[test]
fn a_chain_reads_its_range_around_the_payload_from_where_each_part_is() {
    let seen: Seen<Vec<u8>> = Arc::default();
    let log = seen.clone();
    let device = probe(move |op| {
        for from in [Ciphertext::InInput, Ciphertext::InOutput] {
            log.lock().unwrap().push(authenticated(op, from).concat());
        }
    });
    let session = session(&device, chain());
    let input: Vec<u8> = (0..48).collect();
    let mut output = vec![0xee; 64];
    output[10..26].copy_from_slice(&[0xcc; 16]);
    let mut tag = [0; 12];
    let op = Op::new(&session, Buffer::separate(&input, &mut output))
        .iv(&IV)
        .aad(b"AAD")
        .cipher_range(16..32)
        .auth_range(8..40)
        .output_at(10)
        .tag(&mut tag);
    run(&device, op);
    let aad = b"AAD".to_vec();
    let in_input = [&aad[..], &input[8..40]].concat();
    let in_output = [&aad[..], &input[8..16], &[0xcc; 16], &input[32..40]].concat();
    assert_eq!(*seen.lock().unwrap(), [in_input, in_output]);
}

#[test]
fn an_authenticated_range_may_start_and_end_anywhere_beside_the_payload() {
    for auth in [
        0..8,
        0..20,
        20..28,
        18..40,
        40..48,
        0..48,
        16..32,
        24..24,
        48..48,
    ] {
        let seen: Seen<Vec<u8>> = Arc::default();
        let log = seen.clone();
        let device = probe(move |op| {
            let pieces = authenticated(op, Ciphertext::InOutput);
            log.lock().unwrap().push(pieces.concat());
        });
        let session = session(&device, chain());
        let input: Vec<u8> = (0..48).collect();
        let (mut output, mut tag) = (vec![0xcc; 16], [0; 12]);
        let op = Op::new(&session, Buffer::separate(&input, &mut output))
            .iv(&IV)
            .cipher_range(16..32)
            .auth_range(auth.clone())
            .tag(&mut tag);
        run(&device, op);
        let mut view = input.clone();
        view[16..32].fill(0xcc);
        assert_eq!(*seen.lock().unwrap(), [view[auth].to_vec()]);
    }
}

#[test]
fn an_iv_across_segments_is_gathered() {
    let seen: Seen<Vec<u8>> = Arc::default();
    let log = seen.clone();
    let device = probe(move |op| {
        let mut scratch = [0; MAX_IV_LEN];
        log.lock().unwrap().push(op.iv(&mut scratch).to_vec());
    });
    let session = session(&device, ctr());
    let mut message: Vec<u8> = (0..40).collect();
    let (first, rest) = message.split_at_mut(5);
    let (second, third) = rest.split_at_mut(3);
    let mut list = [first, second, &mut [], third].map(IoSliceMut::new);
    let op = Op::new(&session, Buffer::in_place(&mut list[..]))
        .iv_at(2)
        .cipher_range(20..40);
    run(&device, op);
    assert!(seen.lock().unwrap()[0].iter().copied().eq(2..18));
}

#[test]
fn the_first_error_ends_a_walk() {
    let device = probe(|op| {
        let mut calls = 0;
        let result = op.for_each_authenticated(Ciphertext::InInput, |_| {
            calls += 1;
            if calls == 2 { Err("stop") } else { Ok(()) }
        });
        assert_eq!((result, calls), (Err("stop"), 2));
    });
    let session = session(&device, Transform::compute(Mac::Hmac(Hash::Sha1), &KEY));
    let (mut a, mut b, mut c) = ([1; 3], [1; 3], [1; 3]);
    let mut list = [&mut a, &mut b, &mut c].map(|part| IoSliceMut::new(part));
    let mut tag = [0; 20];
    run(
        &device,
        Op::new(&session, Buffer::in_place(&mut list[..])).tag(&mut tag),
    );
}

#[test]
fn a_tag_that_is_to_be_compared_cannot_be_written() {
    let refused: Seen<bool> = Arc::default();
    let log = refused.clone();
    let device = probe(move |op| {
        let write = AssertUnwindSafe(|| op.write_tag(&[0xff; 64]));
        log.lock().unwrap().push(catch_unwind(write).is_err());
    });
    let verify = session(&device, Transform::verify(Mac::Hmac(Hash::Sha1), &KEY));
    static EXPECTED: [u8; 20] = [1; 20]; // read-only memory: a write would be a fault
    run(
        &device,
        Op::new(&verify, Buffer::read_only(&[2; 30])).expected_tag(&EXPECTED),
    );
    let input = [3; 50];
    let inline = Op::new(&verify, Buffer::read_only(&input))
        .auth_range(0..30)
        .tag_at(30);
    run(&device, inline);
    assert_eq!(*refused.lock().unwrap(), [true, true]);
    assert_eq!(input, [3; 50]);
}

#[test]
fn a_tag_is_written_as_one_slice_where_it_is_one() {
    let slices: Seen<bool> = Arc::default();
    let log = slices.clone();
    let device = probe(move |op| {
        let slice = op.tag_mut().map(|tag| tag.fill(8));
        log.lock().unwrap().push(slice.is_some());
        op.write_tag(&[9; 64]);
    });
    let session = session(
        &device,
        Transform::compute(Mac::Hmac(Hash::Sha1), &KEY).tag_len(10),
    );
    let (mut own, mut inline) = ([0; 10], [0; 30]);
    run(
        &device,
        Op::new(&session, Buffer::read_only(&[1; 4])).tag(&mut own),
    );
    let op = Op::new(&session, Buffer::in_place(&mut inline));
    run(&device, op.auth_range(0..4).tag_at(15));
    let (mut a, mut b) = ([0; 20], [0; 10]);
    let mut list = [IoSliceMut::new(&mut a), IoSliceMut::new(&mut b)];
    let op = Op::new(&session, Buffer::in_place(&mut list[..]));
    run(&device, op.auth_range(0..4).tag_at(15));
    assert_eq!(*slices.lock().unwrap(), [true, true, false]);
    let expected = [[0; 15].as_slice(), &[9; 10], &[0; 5]].concat();
    assert_eq!(
        (own, inline.to_vec(), [&a[..], &b].concat()),
        ([9; 10], expected.clone(), expected)
    );
}

#[test]
fn a_tag_is_compared_over_its_whole_length() {
    let matches: Seen<[bool; 3]> = Arc::default();
    let log = matches.clone();
    let device = probe(move |op| {
        let (mut first, mut last) = ([5; 64], [5; 64]);
        (first[0], last[15]) = (4, 4);
        let all = [[5; 64], first, last];
        log.lock()
            .unwrap()
            .push(all.map(|tag| op.tag_matches(&tag)));
    });
    let session = session(&device, gcm(Reverse));
    let mut data = [1; 8];
    let op = Op::new(&session, Buffer::in_place(&mut data))
        .iv(&IV[..12])
        .expected_tag(&[5; 16]);
    run(&device, op);
    // Across segments.
    let (mut a, mut b) = ([5; 10], [5; 14]);
    let mut list = [IoSliceMut::new(&mut a), IoSliceMut::new(&mut b)];
    let op = Op::new(&session, Buffer::in_place(&mut list[..]))
        .iv(&IV[..12])
        .cipher_range(0..8)
        .tag_at(8);
    run(&device, op);
    assert_eq!(*matches.lock().unwrap(), [[true, false, false]; 2]);
}

#[test]
fn a_wipe_zeroes_the_payload_and_nothing_else() {
    let device = probe(|op| op.wipe_output());
    let session = session(&device, gcm(Forward));
    let (input, mut output, mut tag) = ([7; 20], [7; 30], [7; 16]);
    let op = Op::new(&session, Buffer::separate(&input, &mut output))
        .iv(&IV[..12])
        .output_at(5)
        .tag(&mut tag);
    run(&device, op);
    assert_eq!(output, [[7; 5].as_slice(), &[0; 20], &[7; 5]].concat()[..]);
    assert_eq!((input, tag), ([7; 20], [7; 16]));
}

#[test]
fn a_separate_payload_is_copied_through_to_go_on_there() {
    let device = probe(|op| {
        op.copy_payload_to_output();
        let mut run = op.output_payload().next_run(usize::MAX).unwrap();
        assert_eq!(run.input(), run.output().cast_const());
        run.output_bytes()[0] = 9;
    });
    let session = session(&device, ctr());
    let (input, mut output) = ([7; 20], [0; 20]);
    run(
        &device,
        Op::new(&session, Buffer::separate(&input, &mut output)).iv(&IV),
    );
    assert_eq!((output[0], &output[1..]), (9, &[7; 19][..]));
}

#[test]
fn another_engines_session_type_is_not_found() {
    let device = probe(|op| {
        assert!(op.session::<Other>().is_none() && op.session::<ProbeSession>().is_some())
    });
    let session: Session = session(&device, Transform::encrypt(Cipher::AesCtr, &KEY));
    let mut data = [1; 4];
    run(
        &device,
        Op::new(&session, Buffer::in_place(&mut data)).iv(&IV),
    );
}

/// The longest digest fills its field of the signature that the quick check compares.
#[test]
fn the_longest_digest_still_gets_the_closer_look() {
    let device = probe(|op| op.write_tag(&[5; 65_535]));
    let session = session(&device, Transform::hash(Hash::Shake128).tag_len(65_535));
    let mut tags = [
        vec![0; 65_535],
        vec![0; 70_000],
        vec![0; 65_535],
        vec![0; 65_535],
    ];
    let [good, long, beside, large] = &mut tags;
    let mib = vec![1; 1 << 20];
    let four_gib = vec![IoSlice::new(&mib); 4096];
    let mut small = [0; 8];
    let mut ops = [
        Op::new(&session, Buffer::read_only(&[1; 8])).tag(good),
        Op::new(&session, Buffer::read_only(&[1; 8])).tag(long),
        Op::new(&session, Buffer::in_place(&mut small))
            .tag(beside)
            .tag_at(4),
        Op::new(&session, Buffer::read_only(&four_gib[..])).tag(large),
    ];
    let _one_succeeds = device.queue_pair(1).process(&mut ops);
    let reasons = ops.each_ref().map(|op| op.error().map(|e| e.reason()));
    use InvalidReason as Bad;
    let expected = [Bad::TagLength, Bad::TagRange, Bad::TooLarge].map(Some);
    assert_eq!((reasons[0], &reasons[1..]), (None, &expected[..]));
    assert_eq!(small, [0; 8]);
    assert_eq!((tags[0][65_534], tags[1][0]), (5, 0));
}

struct Other;

impl lanelock_core::engine::EngineSession for Other {
    fn group(&self) -> u16 {
        0
    }

    fn process(
        &self,
        _: &mut lanelock_core::engine::QueueToken,
        _: &mut lanelock_core::engine::Batch<'_, '_>,
    ) {
    }

    fn memory(&self) -> lanelock_core::session::SessionMemory {
        lanelock_core::session::SessionMemory::default()
    }
}
