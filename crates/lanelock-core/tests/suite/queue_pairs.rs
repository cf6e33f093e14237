//! Bursts: grouping, order, statuses, counters.

use lanelock_core::queue_pair::BurstOutcome;
use lanelock_core::stats::EngineStats;
use lanelock_core::transform::Direction::{Forward, Reverse};
use lanelock_core::{
    Algorithm, Buffer, Cipher, Device, InvalidReason, Mac, Op, Session, Status, Transform,
};
use lanelock_testkit::{Call, ToyEngine, Trouble};

use crate::support::{IV, KEY, ctr, encrypted, gcm, hmac, session, sum, toy};

fn op<'a>(session: &'a Session, data: &'a mut [u8]) -> Op<'a> {
    Op::new(session, Buffer::in_place(data)).iv(&IV)
}

fn xts() -> Transform {
    let mut key = [7; 32];
    key[0] = 8; // the halves must differ
    Transform::encrypt(Cipher::AesXts, &key)
}

fn call(engine: &'static str, group: u16, lengths: &[usize]) -> Call {
    Call {
        engine,
        group,
        lengths: lengths.to_vec(),
    }
}

#[test]
fn a_burst_is_grouped_by_engine_and_group_in_the_order_of_appearance() {
    let by_kind = |t: &Transform| u16::from(matches!(t.algorithm(), Algorithm::Mac(_)));
    let first = ToyEngine::new("first")
        .only(&[
            Algorithm::Cipher(Cipher::AesCtr),
            Algorithm::Mac(Mac::AesCmac),
        ])
        .group_by(by_kind)
        .recording();
    let second = ToyEngine::new("second").recording();
    let (watch, watch_second) = (first.watch(), second.watch());
    let device = Device::builder().engine(first).engine(second).build();
    let ctr = session(&device, ctr());
    let other_key = session(&device, Transform::encrypt(Cipher::AesCtr, &[1; 32]));
    let cmac = session(&device, Transform::compute(Mac::AesCmac, &KEY));
    let cbc = session(&device, Transform::encrypt(Cipher::AesCbc, &KEY));
    assert_eq!((ctr.engine(), cbc.engine()), ("first", "second"));

    let mut data = vec![[3_u8; 64]; 8];
    let mut tags = vec![[0_u8; 16]; 8];
    let kinds = [&ctr, &cbc, &cmac, &other_key, &cmac, &cbc, &ctr, &other_key];
    let mut ops: Vec<_> = data
        .iter_mut()
        .zip(&mut tags)
        .zip(kinds)
        .enumerate()
        .map(|(i, ((data, tag), session))| {
            let data = &mut data[..16 * (i % 4 + 1)];
            match session.tag_len() {
                0 => op(session, data),
                _ => Op::new(session, Buffer::in_place(data)).tag(tag),
            }
        })
        .collect();
    let outcome = device.queue_pair(1).process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (8, 0));
    assert_eq!(
        watch.take_calls(),
        [
            call("first", 0, &[16, 64, 48, 64]),
            call("first", 1, &[48, 16]),
        ]
    );
    assert_eq!(watch_second.take_calls(), [call("second", 0, &[32, 32])]);
}

#[test]
fn bad_operations_among_good_ones_change_nothing_for_them() {
    let device = toy();
    let session = session(&device, ctr());
    let mut data = vec![vec![5; 33]; 40];
    let mut ops: Vec<_> = data
        .iter_mut()
        .enumerate()
        .map(|(i, data)| {
            let op = op(&session, data);
            if i % 3 == 1 {
                op.cipher_range(0..34)
            } else {
                op
            }
        })
        .collect();
    let outcome = device.queue_pair(1).process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (27, 13));
    for (i, op) in ops.iter().enumerate() {
        let bad = i % 3 == 1;
        assert_eq!(op.status() == Status::InvalidArgs, bad);
        assert_eq!(op.status() == Status::Success, !bad);
        assert_eq!(op.error().is_some(), bad);
    }
    drop(ops);
    for (i, data) in data.iter().enumerate() {
        let expected = if i % 3 == 1 {
            vec![5; 33]
        } else {
            encrypted(&[5; 33])
        };
        assert_eq!(*data, expected);
    }
}

/// A burst of one session is looked at as a whole first: what is wrong with one must not get lost, wherever
/// it is.
#[test]
fn one_bad_operation_is_found_at_any_place() {
    let device = toy();
    let xts = session(&device, xts());
    let cbc = session(&device, Transform::encrypt(Cipher::AesCbc, &KEY));
    type Break = for<'a> fn(&'a Session, &'a mut [u8; 32]) -> Op<'a>;
    let whole: Break = |session, data| op(session, data);
    let bad: [(&Session, Break, InvalidReason); 5] = [
        (
            &xts,
            |s, data| op(s, &mut data[..15]),
            InvalidReason::PayloadTooShort,
        ),
        (
            &cbc,
            |s, data| op(s, &mut data[..17]),
            InvalidReason::BlockMultiple,
        ),
        (
            &cbc,
            |s, data| op(s, data).aad(b"more"),
            InvalidReason::AadUnexpected,
        ),
        (
            &xts,
            |s, data| Op::new(s, Buffer::in_place(data)),
            InvalidReason::IvMissing,
        ),
        (
            &cbc,
            |s, data| op(s, data).expected_tag(&[0; 16]),
            InvalidReason::TagUnexpected,
        ),
    ];
    for (session, broken, reason) in bad {
        for place in 0..4 {
            let mut data = [[3; 32]; 4];
            let numbered = (0..).zip(&mut data);
            let mut ops: Vec<_> = numbered
                .map(|(n, data)| if n == place { broken } else { whole }(session, data))
                .collect();
            let outcome = device.queue_pair(1).process(&mut ops);
            assert_eq!((outcome.succeeded, outcome.failed), (3, 1), "{reason:?}");
            let found = ops[place].error().map(|error| error.reason());
            assert_eq!(found, Some(reason), "at {place}");
            drop(ops);
            for (number, data) in data.iter().enumerate() {
                let untouched = *data == [3; 32];
                assert_eq!(untouched, number == place, "{reason:?} at {place}");
            }
        }
    }
}

#[test]
fn one_operation_that_has_run_is_left_alone_at_any_place() {
    let device = toy();
    let session = session(&device, ctr());
    for place in 0..4 {
        let mut data = [[3; 32]; 4];
        let mut ops: Vec<_> = data.iter_mut().map(|data| op(&session, data)).collect();
        let mut queue_pair = device.queue_pair(1);
        let first = queue_pair.process(&mut ops[place..=place]);
        let others = queue_pair.process(&mut ops);
        assert_eq!(
            (first.succeeded, others.succeeded, others.failed),
            (1, 3, 0)
        );
        drop(ops);
        assert!(data.iter().all(|data| data[..] == encrypted(&[3; 32])));
    }
}

/// The longest text of XTS and the shortest have bits together that no text may have.
#[test]
fn lengths_that_no_operation_has_alone_refuse_none() {
    let device = toy();
    let xts = session(&device, xts());
    let mut long = vec![3; 1 << 24];
    let mut short = [3; 16];
    let mut ops = [op(&xts, &mut long), op(&xts, &mut short)];
    let outcome = device.queue_pair(1).process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (2, 0));
    assert_ne!((short, long[long.len() - 1]), ([3; 16], 3));
}

#[test]
fn an_operation_that_the_engine_forgets_has_failed() {
    let engine = ToyEngine::new("toy").trouble_at(13, Trouble::Forget);
    let device = Device::builder().engine(engine).build();
    let session = session(&device, ctr());
    let (mut a, mut b, mut c) = ([1; 12], [1; 13], [1; 14]);
    let mut ops = [
        op(&session, &mut a),
        op(&session, &mut b),
        op(&session, &mut c),
    ];
    let outcome = device.queue_pair(1).process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (2, 1));
    assert_eq!(
        ops.each_ref().map(Op::status),
        [Status::Success, Status::EngineError, Status::Success]
    );
}

#[test]
fn what_a_forgotten_operation_decrypted_is_wiped() {
    let engine = ToyEngine::new("toy").trouble_at(13, Trouble::Forget);
    let device = Device::builder().engine(engine).build();
    let session = session(&device, gcm(Reverse));
    let mut data = [1; 20];
    let mut ops = [Op::new(&session, Buffer::in_place(&mut data))
        .iv(&IV[..12])
        .cipher_range(2..15)
        .expected_tag(&[0; 16])];
    let _one_failed = device.queue_pair(1).process(&mut ops);
    assert_eq!(ops[0].status(), Status::EngineError);
    assert_eq!(data[..2], [1; 2]);
    assert_eq!(data[2..15], [0; 13]);
    assert_eq!(data[15..], [1; 5]);
}

#[test]
fn operations_in_the_hands_of_a_panicking_engine_do_not_run_again() {
    let engine = ToyEngine::new("toy")
        .trouble_at(13, Trouble::Panic)
        .group_by(|t| u16::from(matches!(t.algorithm(), Algorithm::Mac(_))));
    let device = Device::builder().engine(engine).build();
    let (ctr, hmac) = (session(&device, ctr()), session(&device, hmac()));
    let (mut a, mut b, c) = ([1; 12], [1; 13], [1; 14]);
    let mut tag = [0; 20];
    let mut queue = device.queue_pair(1);
    let mut ops = [
        op(&ctr, &mut a),
        op(&ctr, &mut b),
        Op::new(&hmac, Buffer::read_only(&c)).tag(&mut tag),
    ];
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| queue.process(&mut ops)));
    assert!(panic.is_err());
    let (first, failed, waits) = (Status::Success, Status::EngineError, Status::NotProcessed);
    assert_eq!(ops.each_ref().map(Op::status), [first, failed, waits]);
    // The group that was not started waits still, and the queue pair goes on.
    assert_eq!(queue.process(&mut ops).succeeded, 1);
    assert_eq!(queue.stats().engines[0].by_status, [0, 2, 0, 0, 1]);
    assert_eq!(
        (a[..].to_vec(), tag.to_vec()),
        (encrypted(&[1; 12]), sum(&c))
    );
    assert_eq!(b[..], encrypted(&[1; 13]));
}

#[test]
fn a_burst_handed_over_twice_runs_once() {
    let device = toy();
    let session = session(&device, ctr());
    let mut data = [1; 40];
    let mut queue = device.queue_pair(1);
    let mut ops = [op(&session, &mut data)];
    assert_eq!(queue.process(&mut ops).succeeded, 1);
    assert_eq!(queue.process(&mut ops), BurstOutcome::default());
    assert_eq!(ops[0].status(), Status::Success);
    assert_eq!(queue.stats().engines[0].ops, 1);
    assert_eq!(data[..], encrypted(&[1; 40]));
}

#[test]
fn bursts_beyond_a_slice_run_whole_and_in_order() {
    let engine = ToyEngine::new("toy").recording();
    let watch = engine.watch();
    let device = Device::builder().engine(engine).build();
    let session = session(&device, ctr());
    let mut data: Vec<_> = (1..=600).map(|len| vec![2; len]).collect();
    let mut ops: Vec<_> = data.iter_mut().map(|data| op(&session, data)).collect();
    let mut queue = device.queue_pair(1);
    assert_eq!(queue.process(&mut ops).succeeded, 600);
    let lengths: Vec<usize> = watch
        .take_calls()
        .into_iter()
        .flat_map(|c| c.lengths)
        .collect();
    assert!(lengths.into_iter().eq(1..=600));
    assert_eq!(queue.stats().bursts, 1);
    drop(ops);
    assert!(
        data.iter()
            .all(|data| *data == encrypted(&vec![2; data.len()]))
    );
}

#[test]
fn counters_are_exact() {
    let first = ToyEngine::new("first")
        .only(&[Algorithm::Cipher(Cipher::AesCtr)])
        .trouble_at(7, Trouble::Fail);
    let device = Device::builder()
        .engine(first)
        .engine(ToyEngine::new("second"))
        .build();
    let (ctr, open) = (session(&device, ctr()), session(&device, gcm(Reverse)));
    let mut queue = device.queue_pair(1);
    let reader = queue.stats_reader();

    let mut data = vec![vec![1; 10]; 5];
    let mut ops: Vec<_> = data.iter_mut().map(|data| op(&ctr, data)).collect();
    let _all_succeed = queue.process(&mut ops);

    let (mut failing, mut refused, mut forged) = ([1; 7], [1; 8], [1; 9]);
    let mut ops = [
        op(&ctr, &mut failing),
        op(&ctr, &mut refused).iv_at(0),
        Op::new(&open, Buffer::in_place(&mut forged))
            .iv(&IV[..12])
            .expected_tag(&[0; 16]),
    ];
    let outcome = queue.process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (0, 3));

    let stats = queue.stats();
    assert_eq!((stats.bursts, stats.refused), (2, 1));
    let mut sizes = [0; 9];
    (sizes[0], sizes[2]) = (1, 1);
    assert_eq!(
        stats.engines[0],
        EngineStats {
            engine: "first",
            ops: 6,
            bytes: 50,
            by_status: [0, 5, 0, 0, 1],
            groups: 2,
            group_sizes: sizes,
        }
    );
    sizes[2] = 0;
    assert_eq!(
        stats.engines[1],
        EngineStats {
            engine: "second",
            ops: 1,
            bytes: 0,
            by_status: [0, 0, 1, 0, 0],
            groups: 1,
            group_sizes: sizes,
        }
    );
    drop(queue);
    assert_eq!(
        reader.snapshot(),
        stats,
        "the counters outlive the queue pair"
    );
}

#[test]
fn group_sizes_are_counted_by_powers_of_two() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(1);
    for len in [1, 2, 3, 4, 255, 256, 300] {
        let mut data = vec![[1; 4]; len];
        let mut ops: Vec<_> = data.iter_mut().map(|data| op(&session, data)).collect();
        assert_eq!(queue.process(&mut ops).succeeded, len);
    }
    // 300 run as 256 and 44.
    assert_eq!(
        queue.stats().engines[0].group_sizes,
        [1, 2, 1, 0, 0, 1, 0, 1, 2]
    );
}

#[test]
fn an_authenticated_burst_round_trips_and_a_forgery_leaves_no_plaintext() {
    let device = toy();
    let (seal, open) = (
        session(&device, gcm(Forward)),
        session(&device, gcm(Reverse)),
    );
    let mut queue = device.queue_pair(1);
    let (mut data, mut tag) = ([9; 50], [0; 16]);
    let mut ops = [Op::new(&seal, Buffer::in_place(&mut data))
        .iv(&IV[..12])
        .aad(b"header")
        .tag(&mut tag)];
    assert_eq!(queue.process(&mut ops).succeeded, 1);
    let sealed = data;
    for (aad, expected) in [
        (&b"header"[..], Status::Success),
        (b"HEADER", Status::AuthFailed),
    ] {
        let mut data = sealed;
        let mut ops = [Op::new(&open, Buffer::in_place(&mut data))
            .iv(&IV[..12])
            .aad(aad)
            .expected_tag(&tag)];
        let _the_status_says_it = queue.process(&mut ops);
        assert_eq!(ops[0].status(), expected);
        let plain = if expected == Status::Success {
            [9; 50]
        } else {
            sealed
        };
        assert_eq!(data, plain);
    }
}
