//! Buffers that pointers describe: which overlaps are legal. Random ones are in `properties`.

use lanelock_core::buffer::Segment;
use lanelock_core::transform::Direction::{Forward, Reverse};
use lanelock_core::{Buffer, Cipher, Hash, InvalidReason, Mac, Op, Status, Transform};

use crate::support::{IV, KEY, ctr, encrypted, gcm, hmac, session, toy};

/// Offset and length in the memory.
type Piece = (usize, usize);

/// Where a tag or additional data lies in the memory, outside of the buffer's lists.
#[derive(Clone, Copy, Default)]
struct Own {
    iv: Option<usize>,
    aad: Option<Piece>,
    tag: Option<Piece>,
}

/// Runs an operation whose lists and parts lie in `memory`; refused, it must change nothing.
fn run(
    transform: Transform,
    memory: &mut [u8],
    (input, output): (&[Piece], &[Piece]),
    own: Own,
    settle: impl for<'a> FnOnce(Op<'a>) -> Op<'a>,
) -> Status {
    let device = toy();
    let session = session(&device, transform);
    let before = memory.to_vec();
    let base = memory.as_mut_ptr();
    let list = |pieces: &[Piece]| {
        let segment = |&(at, len): &Piece| Segment {
            base: base.wrapping_add(at),
            len,
        };
        pieces.iter().map(segment).collect::<Vec<_>>()
    };
    let (input, output) = (list(input), list(output));
    #[allow(unsafe_code)]
    // SAFETY: all pieces lie in the memory, which nothing else uses until the operation is done.
    let slice = |(at, len)| unsafe { std::slice::from_raw_parts_mut(base.wrapping_add(at), len) };
    #[allow(unsafe_code)]
    // SAFETY: as above.
    let buffer = unsafe { Buffer::from_raw_segments(&input, &output) };
    let mut op = Op::new(&session, buffer);
    if session.iv_len() > 0 {
        op = match own.iv {
            Some(at) => op.iv(slice((at, session.iv_len()))),
            None => op.iv(&IV[..session.iv_len()]),
        };
    }
    if let Some(aad) = own.aad {
        op = op.aad(slice(aad));
    }
    if let Some(tag) = own.tag {
        op = op.tag(slice(tag));
    }
    let mut ops = [settle(op)];
    let _the_status_says_it = device.queue_pair(1).process(&mut ops);
    let (status, error) = (ops[0].status(), ops[0].error());
    if let Some(error) = error {
        assert_eq!(error.reason(), InvalidReason::BufferOverlap, "{error}");
        assert_eq!(
            error.to_string(),
            "buffer: input and output overlap; each byte of the payload must have identical or \
             disjoint input and output"
        );
        assert_eq!(memory, before);
    }
    status
}

fn run_ctr(input: &[Piece], output: &[Piece]) -> Status {
    run(
        ctr(),
        &mut [1; 200],
        (input, output),
        Own::default(),
        |op| op,
    )
}

const LEGAL: Status = Status::Success;
const REFUSED: Status = Status::InvalidArgs;

#[test]
fn identical_and_disjoint_are_legal() {
    assert_eq!(run_ctr(&[(0, 64)], &[(0, 64)]), LEGAL);
    assert_eq!(run_ctr(&[(0, 64)], &[(64, 64)]), LEGAL);
    assert_eq!(run_ctr(&[(64, 64)], &[(0, 64)]), LEGAL);
    assert_eq!(run_ctr(&[(0, 64)], &[(0, 10), (10, 0), (10, 54)]), LEGAL);
}

#[test]
fn an_overlap_that_is_off_by_one_is_refused() {
    assert_eq!(run_ctr(&[(0, 64)], &[(1, 64)]), REFUSED);
    assert_eq!(run_ctr(&[(1, 64)], &[(0, 64)]), REFUSED);
    assert_eq!(run_ctr(&[(0, 64)], &[(63, 64)]), REFUSED);
    assert_eq!(run_ctr(&[(63, 64)], &[(0, 64)]), REFUSED);
    assert_eq!(run_ctr(&[(0, 32), (32, 32)], &[(0, 31), (32, 33)]), REFUSED);
}

#[test]
fn a_trailer_aliased_exactly_is_legal_and_one_byte_beside_is_not() {
    let mut memory = [7; 200];
    let record: (&[Piece], &[Piece]) = (&[(0, 50), (150, 20)], &[(60, 50), (150, 20)]);
    assert_eq!(
        run(ctr(), &mut memory, record, Own::default(), |op| op),
        LEGAL
    );
    let expected = encrypted(&[7; 70]);
    assert_eq!(memory[..60], [7; 60]);
    assert_eq!(memory[60..110], expected[..50]);
    assert_eq!(memory[150..170], expected[50..]);
    assert_eq!(
        run_ctr(&[(0, 50), (150, 20)], &[(60, 50), (151, 20)]),
        REFUSED
    );
    assert_eq!(
        run_ctr(&[(0, 50), (150, 20)], &[(60, 51), (150, 20)]),
        REFUSED
    );
}

#[test]
fn an_output_that_overlaps_itself_is_refused() {
    assert_eq!(run_ctr(&[(0, 64)], &[(100, 32), (131, 32)]), REFUSED);
    assert_eq!(run_ctr(&[(0, 32), (0, 32)], &[(100, 64)]), LEGAL);
}

#[test]
fn bytes_outside_the_payload_may_overlap() {
    let mut memory = [1; 200];
    let lists: (&[Piece], &[Piece]) = (&[(0, 64)], &[(32, 64)]);
    assert_eq!(
        run(ctr(), &mut memory, lists, Own::default(), |op| op
            .cipher_range(0..33)),
        REFUSED
    );
    assert_eq!(
        run(ctr(), &mut memory, lists, Own::default(), |op| op
            .cipher_range(0..32)),
        LEGAL
    );
}

#[test]
fn parts_that_the_output_overwrites_are_refused() {
    let lists: (&[Piece], &[Piece]) = (&[(0, 64)], &[(100, 64)]);
    let run = |own| run(gcm(Forward), &mut [1; 200], lists, own, |op| op);
    let own = Own {
        tag: Some((180, 16)),
        ..Own::default()
    };
    assert_eq!(run(own), LEGAL);
    assert_eq!(
        run(Own {
            iv: Some(88),
            ..own
        }),
        LEGAL
    );
    assert_eq!(
        run(Own {
            iv: Some(89),
            ..own
        }),
        REFUSED
    );
    assert_eq!(
        run(Own {
            aad: Some((164, 10)),
            ..own
        }),
        LEGAL
    );
    assert_eq!(
        run(Own {
            aad: Some((163, 10)),
            ..own
        }),
        REFUSED
    );
    assert_eq!(
        run(Own {
            tag: Some((84, 16)),
            ..own
        }),
        LEGAL
    );
    assert_eq!(
        run(Own {
            tag: Some((85, 16)),
            ..own
        }),
        REFUSED
    );
    assert_eq!(
        run(Own {
            tag: Some((63, 16)),
            ..own
        }),
        REFUSED,
        "the tag overwrites the payload's input"
    );
    let beside = Own {
        aad: Some((170, 11)),
        ..own
    };
    assert_eq!(run(beside), REFUSED, "the tag overwrites additional data");
}

#[test]
fn a_tag_to_compare_must_not_be_overwritten() {
    let lists: (&[Piece], &[Piece]) = (&[(0, 80)], &[(64, 64)]);
    let status = run(gcm(Reverse), &mut [1; 200], lists, Own::default(), |op| {
        op.cipher_range(0..64).tag_at(64)
    });
    assert_eq!(status, REFUSED);
    let lists: (&[Piece], &[Piece]) = (&[(0, 80)], &[(80, 64)]);
    let status = run(gcm(Reverse), &mut [1; 200], lists, Own::default(), |op| {
        op.cipher_range(0..64).tag_at(64)
    });
    assert_eq!(status, Status::AuthFailed);
}

#[test]
fn a_computed_tag_must_not_fall_on_what_it_covers() {
    let at = |output: Piece| {
        let lists: (&[Piece], &[Piece]) = (&[(0, 64)], &[output]);
        run(hmac(), &mut [1; 200], lists, Own::default(), |op| {
            op.tag_at(0)
        })
    };
    assert_eq!(at((64, 20)), LEGAL);
    assert_eq!(at((63, 20)), REFUSED);
}

#[test]
fn authenticated_bytes_outside_the_payload_must_not_be_overwritten() {
    let chain = || {
        Transform::encrypt_then_mac(Cipher::AesCtr, &KEY, Mac::Hmac(Hash::Sha1), &KEY).tag_len(12)
    };
    let run = |output: usize| {
        let lists: (&[Piece], &[Piece]) = (&[(0, 64)], &[(output, 64)]);
        let own = Own {
            tag: Some((180, 12)),
            ..Own::default()
        };
        run(chain(), &mut [1; 200], lists, own, |op| {
            op.cipher_range(20..40).auth_range(10..50)
        })
    };
    assert_eq!(run(50), LEGAL);
    assert_eq!(run(49), REFUSED);
}

#[test]
fn segments_without_bytes_may_point_anywhere() {
    let (device, mut memory) = (toy(), [1; 40]);
    let session = session(&device, ctr());
    let nothing = Segment {
        base: std::ptr::null_mut(),
        len: 0,
    };
    let all = Segment {
        base: memory.as_mut_ptr(),
        len: 40,
    };
    let list = [nothing, all, nothing];
    #[allow(unsafe_code)]
    // SAFETY: one segment has bytes, those of `memory`.
    let buffer = unsafe { Buffer::from_raw_segments_in_place(&list) };
    let mut ops = [Op::new(&session, buffer).iv(&IV)];
    assert_eq!(device.queue_pair(1).process(&mut ops).succeeded, 1);
    assert_eq!(memory[..], encrypted(&[1; 40]));
}
