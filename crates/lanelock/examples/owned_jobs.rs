//! Jobs own their memory: they are handed over with `enqueue`, come back with `dequeue` in every
//! outcome, and are armed again for the next message without an allocation.
//!
//! `cargo run --release --example owned_jobs`

use lanelock::{Hash, Job, JobBuffer, Mac, Status, Transform};

const RECORDS: u32 = 100;
const DEPTH: usize = 16;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = lanelock::open()?;
    let hmac = Mac::Hmac(Hash::Sha256);
    let session = device.session(Transform::compute(hmac, b"the database's key"))?;
    let mut queue_pair = device.queue_pair(DEPTH);

    let mut records = 0..RECORDS;
    let new = |number| Job::in_place(&session, record(number)).user_data(number.into());
    let mut ready: Vec<Job> = records.by_ref().take(DEPTH).map(new).collect();
    let mut done: Vec<Job> = Vec::new();
    let mut tags = vec![Vec::new(); RECORDS as usize];
    while !ready.is_empty() || queue_pair.in_flight() > 0 {
        queue_pair.enqueue(&mut ready); // what does not fit stays in `ready`
        queue_pair.dequeue(&mut done, DEPTH);
        for mut job in done.drain(..) {
            assert_eq!(job.status(), Status::Success);
            tags[usize::try_from(job.data())?] = job.tag().to_vec();
            if let Some(number) = records.next() {
                *job.input_mut() = JobBuffer::One(record(number));
                job.rearm();
                ready.push(job.user_data(number.into()));
            }
        }
    }

    // The same with borrowed memory, one at a time.
    for number in 0..RECORDS {
        let (message, mut tag) = (record(number), [0; 32]);
        let buffer = lanelock::Buffer::read_only(&message);
        let op = lanelock::Op::new(&session, buffer).tag(&mut tag);
        assert_eq!(queue_pair.process(&mut [op]).succeeded, 1);
        assert_eq!(tags[number as usize], tag);
    }
    println!(
        "{RECORDS} records authenticated on engine {}",
        session.engine()
    );
    Ok(())
}

fn record(number: u32) -> Vec<u8> {
    format!("record {number}").into_bytes()
}
