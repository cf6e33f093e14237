//! Batches too small for lanes.

use super::*;

#[test]
fn batches_of_too_few_operations_for_lanes_run_on_the_next_engine() {
    let (device, log) = device_with("lanes", Some("single"), 3);
    let sessions = [1, 2].map(|key| session(&device, KeyKind::Ed25519, key));
    let [first, second] = &sessions;
    assert_eq!((first.engine(), first.lanes()), ("lanes", 4));
    assert_eq!(first.break_even(), 3);
    let memory = first.memory().session;
    let mut queue = device.key_queue(8, FlushPolicy::default());
    let mut outputs = [[0; 64]; 6];
    // Four fill the lanes; two are left.
    let mut ops: Vec<_> = [first, first, second, second, second, first]
        .into_iter()
        .zip(&mut outputs)
        .map(|(session, output)| KeyOp::sign(session, b"ab", output))
        .collect();
    assert_eq!(queue.process(&mut ops).succeeded, 6, "{ops:?}");
    assert_eq!(ops[4].result(), b"ab".map(|byte| byte ^ 2));
    let runs = [
        ("lanes", vec![1, 1, 2, 2]),
        ("single", vec![2]),
        ("single", vec![1]),
    ];
    assert_eq!(taken(&log), runs);
    let stats = queue.stats();
    assert_eq!((stats.batches, stats.in_lanes, stats.single), (1, 4, 2));
    let by_engine = queue.engine_stats().engines;
    assert_eq!((by_engine[0].groups, by_engine[1].groups), (1, 2));
    assert!(first.memory().session > memory, "the key is there twice");

    // Jobs alike; the session is the same for a batch that is long enough.
    let now = Instant::now();
    for count in [1, 3] {
        for _ in 0..count {
            queue.enqueue(job(first, b"m"), now).unwrap();
        }
        assert_eq!(queue.flush(), count);
    }
    assert_eq!(taken(&log), [("single", vec![1]), ("lanes", vec![1, 1, 1])]);
}

#[test]
fn without_another_engine_for_every_operation_a_short_batch_runs_in_lanes() {
    let sign = |queue: &mut KeyQueue, sessions: &[&KeySession]| {
        let mut outputs = vec![[0; 64]; sessions.len()];
        let ops = sessions.iter().zip(&mut outputs);
        let mut ops: Vec<_> = ops
            .map(|(session, output)| KeyOp::sign(session, b"ab", output))
            .collect();
        assert_eq!(queue.process(&mut ops).succeeded, sessions.len());
    };
    let (lone, log) = device_with("lanes", None, 3);
    let only = session(&lone, KeyKind::Ed25519, 1);
    sign(&mut lone.key_queue(1, FlushPolicy::default()), &[&only]);
    assert_eq!(taken(&log), [("lanes", vec![1])]);

    // The neighbour's engine was asked for by name.
    let (device, log) = device_with("lanes", Some("single"), 3);
    let chosen = session(&device, KeyKind::Ed25519, 1);
    let key = SecretKey::raw(KeyKind::Ed25519, &[2; 32]).unwrap();
    let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
    let named = device.key_session_on("lanes", &transform).unwrap();
    assert_eq!((chosen.break_even(), named.break_even()), (3, 3));
    let mut queue = device.key_queue(1, FlushPolicy::default());
    sign(&mut queue, &[&chosen, &named]);
    sign(&mut queue, &[&named]);
    let runs = [("lanes", vec![1, 2]), ("lanes", vec![2])];
    assert_eq!(taken(&log), runs);
}

#[test]
fn whoever_waits_learns_whether_enough_others_do() {
    let (device, _) = device_with("lanes", None, 3);
    let key = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(8, FlushPolicy::default());
    let now = Instant::now();
    let first = queue.enqueue(job(&key, b"1"), now).expect("room");
    let second = queue.enqueue(job(&key, b"2"), now).expect("room");
    assert_eq!(queue.is_worth_lanes(first), Some(false));
    let third = queue.enqueue(job(&key, b"3"), now).expect("room");
    assert_eq!(queue.is_worth_lanes(first), Some(true));
    assert_eq!(queue.is_worth_lanes(third), Some(true));
    assert!(queue.cancel(second).is_some());
    assert_eq!(queue.is_worth_lanes(second), None);
    assert_eq!(queue.is_worth_lanes(third), Some(false));
    queue.flush();
    assert_eq!(queue.is_worth_lanes(first), None);
}
