//! One session on many queue pairs on many threads; a queue pair that changes its thread.

use std::sync::Barrier;
use std::thread;

use lanelock_core::transform::Direction::{Forward, Reverse};
use lanelock_core::{Buffer, Device, Op, Session};
use lanelock_testkit::ToyEngine;

use crate::support::{IV, ctr, encrypted, gcm, session, toy};

const THREADS: usize = 8;
const ROUNDS: usize = 100;
const BURST: usize = 32;

/// Seals and opens bursts whose IVs and contents differ by thread and round.
fn round_trips(device: &Device, seal: &Session, open: &Session, thread: usize) {
    let mut queue = device.queue_pair(1);
    for round in 0..ROUNDS {
        let fill = |i: usize| u8::try_from((thread * 31 + round * 7 + i) % 256).unwrap();
        let mut data: Vec<_> = (0..BURST).map(|i| vec![fill(i); 40 + i]).collect();
        let mut tags = [[0; 16]; BURST];
        let ivs: Vec<_> = (0..BURST).map(|i| [fill(i + 1); 12]).collect();
        let mut ops: Vec<_> = data
            .iter_mut()
            .zip(&mut tags)
            .zip(&ivs)
            .map(|((data, tag), iv)| Op::new(seal, Buffer::in_place(data)).iv(iv).tag(tag))
            .collect();
        assert_eq!(queue.process(&mut ops).succeeded, BURST);
        let mut ops: Vec<_> = data
            .iter_mut()
            .zip(&tags)
            .zip(&ivs)
            .map(|((data, tag), iv)| {
                Op::new(open, Buffer::in_place(data))
                    .iv(iv)
                    .expected_tag(tag)
            })
            .collect();
        assert_eq!(queue.process(&mut ops).succeeded, BURST);
        for (i, data) in data.iter().enumerate() {
            assert_eq!(*data, vec![fill(i); 40 + i]);
        }
    }
}

#[test]
fn sessions_serve_many_threads_at_once() {
    let engine = ToyEngine::new("toy");
    let watch = engine.watch();
    let device = Device::builder().engine(engine).build();
    let (seal, open) = (
        session(&device, gcm(Forward)),
        session(&device, gcm(Reverse)),
    );
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (device, seal, open, barrier) = (&device, &seal, &open, &barrier);
            scope.spawn(move || {
                barrier.wait();
                round_trips(device, seal, open, thread);
            });
        }
    });
    assert_eq!(watch.contexts(), 0, "the queue pairs are gone");
}

#[test]
fn a_queue_pair_moves_between_threads_and_is_read_from_another() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(1);
    let reader = queue.stats_reader();
    for n in 1..=5 {
        let session = session.clone();
        queue = thread::spawn(move || {
            let mut data = [1; 20];
            let mut ops = [Op::new(&session, Buffer::in_place(&mut data)).iv(&IV)];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
            assert_eq!(data[..], encrypted(&[1; 20]));
            queue
        })
        .join()
        .unwrap();
        assert_eq!(reader.snapshot().engines[0].bytes, 20 * n);
    }
}

#[test]
fn counters_are_read_while_they_are_written() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(1);
    let reader = queue.stats_reader();
    thread::scope(|scope| {
        let writer = scope.spawn(move || {
            for _ in 0..2000 {
                let mut data = [1; 20];
                let mut ops = [Op::new(&session, Buffer::in_place(&mut data)).iv(&IV)];
                assert_eq!(queue.process(&mut ops).succeeded, 1);
            }
        });
        let mut last = 0;
        while !writer.is_finished() {
            let now = reader.snapshot().engines[0].ops;
            assert!(now >= last, "a counter went back");
            last = now;
        }
    });
    assert_eq!(reader.snapshot().engines[0].ops, 2000);
}
