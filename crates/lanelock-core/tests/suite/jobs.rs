//! Jobs: back-pressure, order, buffers that come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lanelock_core::transform::Direction::{Forward, Reverse};
use lanelock_core::{Device, InvalidReason, Job, JobBuffer, QueuePair, Session, Status};
use lanelock_testkit::{ToyEngine, Trouble};

use crate::support::{IV, ctr, encrypted, gcm, hmac, session, sum, toy};

fn job(session: &Session, len: usize) -> Job {
    Job::in_place(session, vec![1; len])
        .iv(&IV)
        .user_data(len as u64)
}

fn lengths(jobs: &[Job]) -> Vec<u64> {
    jobs.iter().map(Job::data).collect()
}

fn bytes(job: &Job) -> Vec<u8> {
    job.input().to_vec()
}

#[test]
fn a_full_queue_takes_what_fits_and_leaves_the_rest_untouched() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(64);
    let mut jobs: Vec<_> = (1..=80).map(|len| job(&session, len)).collect();
    assert_eq!(queue.enqueue(&mut jobs), 64);
    assert_eq!((queue.in_flight(), queue.depth(), jobs.len()), (64, 64, 16));
    assert_eq!(queue.enqueue(&mut jobs), 0);
    assert!(lengths(&jobs).into_iter().eq(65..=80));
    for job in &jobs {
        assert_eq!(job.status(), Status::NotProcessed);
        assert!(bytes(job).iter().all(|&byte| byte == 1));
    }

    let mut done = Vec::new();
    assert_eq!(queue.dequeue(&mut done, 10), 10);
    assert_eq!(queue.enqueue(&mut jobs), 10);
    while queue.dequeue(&mut done, 7) > 0 {}
    assert_eq!(queue.enqueue(&mut jobs), 6);
    assert_eq!(queue.dequeue(&mut done, 100), 6);
    assert!(lengths(&done).into_iter().eq(1..=80));
    for job in &done {
        assert_eq!(job.status(), Status::Success);
        let len = bytes(job).len();
        assert_eq!(bytes(job), encrypted(&vec![1; len]), "encrypted once");
    }
    assert_eq!(queue.stats().engines[0].ops, 80);
}

#[test]
fn a_depth_of_zero_holds_one_job() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(0);
    let mut jobs = vec![job(&session, 1), job(&session, 2)];
    assert_eq!((queue.enqueue(&mut jobs), queue.depth()), (1, 1));
}

#[test]
fn order_holds_while_the_queue_wraps_around() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(7);
    let (mut next, mut done) = (1, Vec::new());
    for step in 0..200 {
        let mut jobs: Vec<_> = (next..next + 1 + step % 5)
            .map(|i| job(&session, 1 + i % 90).user_data(i as u64))
            .collect();
        next += queue.enqueue(&mut jobs);
        queue.dequeue(&mut done, step % 4);
    }
    queue.dequeue(&mut done, 100);
    assert!(lengths(&done).into_iter().eq(1..next as u64));
    for job in &done {
        assert_eq!(bytes(job), encrypted(&vec![1; bytes(job).len()]));
    }
    assert_eq!(queue.in_flight(), 0);
}

#[test]
fn asking_for_nothing_runs_nothing() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(4);
    queue.enqueue(&mut vec![job(&session, 1)]);
    assert_eq!(queue.dequeue(&mut Vec::new(), 0), 0);
    assert_eq!((queue.stats().bursts, queue.in_flight()), (0, 1));
}

#[test]
fn buffers_come_back_in_every_outcome() {
    let engine = ToyEngine::new("toy")
        .trouble_at(13, Trouble::Forget)
        .trouble_at(14, Trouble::Fail);
    let (device, other) = (Device::builder().engine(engine).build(), toy());
    let (ctr_session, open) = (session(&device, ctr()), session(&device, gcm(Reverse)));
    let foreign = session(&other, ctr());
    let forged = Job::separate(&open, vec![1; 20], vec![2; 30])
        .iv(&IV[..12])
        .expected_tag(&[0; 16])
        .output_at(5);
    let mut queue = device.queue_pair(8);
    let mut jobs = vec![
        job(&ctr_session, 12),
        job(&ctr_session, 13),
        job(&ctr_session, 14),
        forged,
        job(&ctr_session, 15).cipher_range(0..16),
        job(&foreign, 16),
    ];
    assert_eq!(queue.enqueue(&mut jobs), 6);
    let mut done = Vec::new();
    assert_eq!(queue.dequeue(&mut done, 6), 6);
    let statuses: Vec<_> = done.iter().map(Job::status).collect();
    assert_eq!(
        statuses,
        [
            Status::Success,
            Status::EngineError,
            Status::EngineError,
            Status::AuthFailed,
            Status::InvalidArgs,
            Status::InvalidArgs
        ]
    );
    let reasons: Vec<_> = done
        .iter()
        .map(|job| job.error().map(|e| e.reason()))
        .collect();
    let (range, session) = (InvalidReason::CipherRange, InvalidReason::ForeignSession);
    assert_eq!(
        reasons,
        [None, None, None, None, Some(range), Some(session)]
    );
    let buffers: Vec<_> = done.into_iter().map(Job::into_buffers).collect();
    assert_eq!(buffers[0].0.to_vec(), encrypted(&[1; 12]));
    assert_eq!(buffers[3].0.to_vec(), [1; 20]);
    assert_eq!(buffers[3].1.as_ref().unwrap().to_vec(), [2; 30]);
    assert_eq!(buffers[4].0.to_vec(), [1; 15]);
    assert_eq!(buffers[5].0.to_vec(), [1; 16]);
    assert!(
        buffers
            .iter()
            .all(|(input, _)| matches!(input, JobBuffer::One(_)))
    );
}

/// Memory that counts its drops.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Counted {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn jobs_in_flight_are_dropped_with_their_queue_pair() {
    let device = toy();
    let session = session(&device, ctr());
    let drops = Arc::new(AtomicUsize::new(0));
    let buffer = || Counted(vec![1; 5], drops.clone());
    let mut queue: QueuePair<Counted> = device.queue_pair_of(8);
    let mut jobs: Vec<_> = (0..4)
        .map(|_| Job::separate(&session, buffer(), buffer()).iv(&IV))
        .collect();
    assert_eq!(queue.enqueue(&mut jobs), 4);
    let mut done = Vec::new();
    assert_eq!(queue.dequeue(&mut done, 1), 1);
    drop((session, device, queue));
    assert_eq!(drops.load(Ordering::SeqCst), 6);
    assert_eq!(done[0].output().unwrap().to_vec(), encrypted(&[1; 5]));
}

#[test]
fn more_segments_than_a_burst_keeps_room_for_are_served() {
    let device = toy();
    let session = session(&device, ctr());
    let message: Vec<u8> = (0..=255).cycle().take(700).collect();
    let split = |step: usize| -> JobBuffer<Vec<u8>> {
        JobBuffer::Segments(message.chunks(step).map(<[u8]>::to_vec).collect())
    };
    let blank = |step: usize| -> JobBuffer<Vec<u8>> {
        JobBuffer::Segments(
            message
                .chunks(step)
                .map(|part| vec![0; part.len()])
                .collect(),
        )
    };
    let mut jobs = vec![
        Job::in_place(&session, split(1)).iv(&IV),
        Job::in_place(&session, message.clone()).iv(&IV),
        Job::separate(&session, split(2), blank(3)).iv(&IV),
        Job::separate(&session, message.clone(), blank(7)).iv(&IV),
        Job::separate(&session, split(5), vec![0; 700]).iv(&IV),
        Job::in_place(&session, JobBuffer::Segments(Vec::new())).iv(&IV),
    ];
    let mut queue = device.queue_pair(8);
    assert_eq!(queue.enqueue(&mut jobs), 6);
    let mut done = Vec::new();
    queue.dequeue(&mut done, 6);
    let expected = encrypted(&message);
    for job in &done[..5] {
        assert_eq!(job.status(), Status::Success, "{:?}", job.error());
        let (result, input) = (job.output(), bytes(job));
        let result = result.map_or_else(|| input.clone(), JobBuffer::to_vec);
        assert_eq!(result, expected);
        assert!(job.output().is_none() || input == message);
    }
    assert_eq!(
        (done[5].status(), bytes(&done[5])),
        (Status::Success, vec![])
    );
    let JobBuffer::Segments(parts) = done[0].input() else {
        panic!("the list came back as one")
    };
    assert_eq!(parts.len(), 700);
}

#[test]
fn a_tag_is_kept_in_the_job_or_written_where_asked() {
    let device = toy();
    let session = session(&device, hmac());
    let mut queue = device.queue_pair(2);
    let mut jobs = vec![
        Job::in_place(&session, vec![1; 30]),
        Job::in_place(&session, vec![1; 50])
            .auth_range(0..30)
            .tag_at(30),
    ];
    queue.enqueue(&mut jobs);
    let mut done = Vec::new();
    queue.dequeue(&mut done, 2);
    assert_eq!(done[0].tag(), sum(&[1; 30]));
    assert_eq!(done[1].tag(), b"");
    assert_eq!(bytes(&done[1])[30..], sum(&[1; 30]));
}

#[test]
fn a_job_goes_round_after_rearm() {
    let device = toy();
    let (seal, open) = (
        session(&device, gcm(Forward)),
        session(&device, gcm(Reverse)),
    );
    let mut queue = device.queue_pair(2);
    let mut done = Vec::new();
    let mut jobs = vec![Job::in_place(&seal, vec![1; 30]).iv(&IV[..12]).aad(b"a")];
    for round in 0..3_u8 {
        jobs[0].set_iv(&[round; 12]);
        let JobBuffer::One(data) = jobs[0].input_mut() else {
            panic!("one buffer went in")
        };
        data.fill(round);
        queue.enqueue(&mut jobs);
        queue.dequeue(&mut done, 1);
        assert_eq!(done[0].status(), Status::Success);
        let mut check = vec![
            Job::in_place(&open, bytes(&done[0]))
                .iv(&[round; 12])
                .aad(b"a")
                .expected_tag(done[0].tag()),
        ];
        queue.enqueue(&mut check);
        queue.dequeue(&mut check, 1);
        assert_eq!(check[0].status(), Status::Success);
        assert_eq!(bytes(&check[0]), [round; 30]);
        let mut job = done.pop().unwrap();
        job.rearm();
        assert_eq!((job.status(), job.error()), (Status::NotProcessed, None));
        jobs.push(job);
    }
}

#[test]
fn a_finished_job_enqueued_again_keeps_its_result() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(2);
    let mut jobs = vec![job(&session, 5), job(&session, 6).cipher_range(0..7)];
    for _ in 0..2 {
        assert_eq!(queue.enqueue(&mut jobs), 2);
        assert_eq!(queue.dequeue(&mut jobs, 2), 2);
        assert_eq!(jobs[0].status(), Status::Success);
        assert_eq!(bytes(&jobs[0]), encrypted(&[1; 5]));
        assert_eq!(jobs[1].status(), Status::InvalidArgs);
        let reason = jobs[1].error().map(|error| error.reason());
        assert_eq!(reason, Some(InvalidReason::CipherRange));
    }
}

#[test]
fn jobs_of_a_panicking_engine_come_back_and_do_not_run_again() {
    let engine = ToyEngine::new("toy").trouble_at(13, Trouble::Panic);
    let device = Device::builder().engine(engine).build();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(100);
    let mut jobs: Vec<_> = (1..=80).map(|len| job(&session, len)).collect();
    queue.enqueue(&mut jobs);
    let mut done = Vec::new();
    let run = std::panic::AssertUnwindSafe(|| queue.dequeue(&mut done, 80));
    assert!(std::panic::catch_unwind(run).is_err());
    assert_eq!((queue.in_flight(), queue.dequeue(&mut done, 80)), (80, 80));
    assert!(lengths(&done).into_iter().eq(1..=80));
    for job in &done {
        let (len, once) = (bytes(job).len(), encrypted(&vec![1; bytes(job).len()]));
        let untouched = vec![1; len];
        match len {
            // The burst that the panic ended: done once, or not at all.
            1..=13 => assert_eq!((job.status(), bytes(job)), (Status::EngineError, once)),
            14..=64 => assert_eq!((job.status(), bytes(job)), (Status::EngineError, untouched)),
            _ => assert_eq!((job.status(), bytes(job)), (Status::Success, once)),
        }
    }
}

#[test]
fn results_that_wait_are_not_handed_to_the_engine_again() {
    let device = toy();
    let session = session(&device, ctr());
    let mut queue = device.queue_pair(8);
    queue.enqueue(&mut (1..=5).map(|len| job(&session, len)).collect());
    let mut done = Vec::new();
    for _ in 0..5 {
        queue.dequeue(&mut done, 1);
        assert_eq!(queue.stats().bursts, 1);
    }
    assert_eq!(done.len(), 5);
}
